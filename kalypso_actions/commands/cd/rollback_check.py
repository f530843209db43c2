"""Check whether people rolled back from the commit that cd brings."""

from __future__ import annotations

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import EnvironmentState
from kalypso_actions.commands.shared.environment_history import (
    EnvironmentCommit,
    EnvironmentHistory,
)
from kalypso_actions.inputs.cd import CdInputs
from kalypso_actions.promotion.environments import FROM_CI
from kalypso_actions.promotion.rollbacks import (
    Rollback,
    rollback_of,
    rollback_of_origin,
    unknown_origin,
)


class RollbackCheck:
    """Finds rollbacks of the environment, and of the environment from which the commit comes.

    A person's own dispatch, without `promoted_from`, may bring any commit.
    """

    def __init__(self, inputs: CdInputs, context: CommandContext) -> None:
        self._inputs = inputs
        self._context = context
        self._rollbacks: dict[str, Rollback | None] = {}
        self._origin: EnvironmentCommit | None = None

    def find(self, state: EnvironmentState) -> Rollback | None:
        """Return why cd must not write the commit; None if it may.

        If an open pull request brings the commit, people decide. Raises KalypsoError.
        """
        if not self._inputs.promoted_from or state.brings(self._inputs.commit):
            return None
        if state.head not in self._rollbacks:
            self._rollbacks[state.head] = self._of_environment(state)
        return self._rollbacks[state.head] or self._of_origin()

    def _of_environment(self, state: EnvironmentState) -> Rollback | None:
        """Return the rollback of this environment that the commit would undo, if any."""
        environments = self._context.environments()
        environment = environments[self._inputs.environment]
        history = EnvironmentHistory(self._context, environment, environments)
        promoted_commit = self._inputs.commit
        back_to = history.rolled_back_to(promoted_commit, state.base.promoted_commit, state.head)
        return rollback_of(environment.name, promoted_commit, back_to) if back_to else None

    def _of_origin(self) -> Rollback | None:
        """Return the rollback of the environment from which the commit comes."""
        name = self._inputs.promoted_from
        if name == FROM_CI:
            return None
        if self._origin is None:
            environment = self._context.environments().get(name)
            if environment is None:
                return unknown_origin(name)
            self._origin = EnvironmentCommit(self._context, environment)
        current_commit = self._origin.current()
        has_left = self._origin.has_left(self._inputs.commit)
        return rollback_of_origin(name, current_commit) if has_left else None
