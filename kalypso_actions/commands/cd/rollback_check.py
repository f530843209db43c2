"""Commits that cd withholds after a rollback."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.environment_branch import EnvironmentState
from kalypso_actions.commands.runtime.environment_history import (
    EnvironmentCommit,
    EnvironmentHistory,
)
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.promotion.environments import FROM_CI


@dataclass(frozen=True, slots=True)
class Rollback:
    """Why a commit is not written, and the commit that people went back to ("" for none)."""

    reason: str
    back_to: str


class RollbackCheck:
    """Looks whether people have gone back from the commit that the inputs bring.

    A person's own dispatch, without `promoted_from`, may bring any commit.
    """

    def __init__(self, inputs: CdInputs, context: CommandContext) -> None:
        self._inputs = inputs
        self._session = context
        self._looks: dict[str, Rollback | None] = {}
        self._before: EnvironmentCommit | None = None

    def look(self, standing: EnvironmentState) -> Rollback | None:
        """Why the commit is not written now; None if it may be.

        An open pull request that brings the commit is for people to decide. Raises KalypsoError.
        """
        if not self._inputs.promoted_from or standing.brings(self._inputs.commit):
            return None
        if standing.head not in self._looks:
            self._looks[standing.head] = self._rolled_back(standing)
        return self._looks[standing.head] or self._withdrawn()

    def _rolled_back(self, standing: EnvironmentState) -> Rollback | None:
        """Whether this environment was rolled back from the commit, or past it."""
        environments = self._session.environments()
        environment = environments[self._inputs.environment]
        history = EnvironmentHistory(self._session, environment, environments)
        back_to = history.rolled_back_to(self._inputs.commit, standing.base.commit, standing.head)
        if back_to is None:
            return None
        reason = f"{environment.name} was rolled back to {back_to[:7]}; start cd by hand, without "
        return Rollback(f"{reason}promoted-from, to bring {self._inputs.commit[:7]} back", back_to)

    def _withdrawn(self) -> Rollback | None:
        """Whether the environment before has gone back from the commit meanwhile."""
        name = self._inputs.promoted_from
        if name == FROM_CI:
            return None
        if self._before is None:
            environment = self._session.environments().get(name)
            if environment is None:
                return Rollback(f"there is no Environment {name!r} that it comes from", "")
            self._before = EnvironmentCommit(self._session, environment)
        named = self._before.look()
        if not self._before.has_left(self._inputs.commit):
            return None
        back_to = named or ""
        told = back_to[:7] if back_to else "no commit"
        return Rollback(f"base-repo.yaml of {name}, which it comes from, names {told}", back_to)
