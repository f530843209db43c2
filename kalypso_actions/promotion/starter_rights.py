"""Who started a run, and what the run may do for that account.

Everybody with the permission `actions: write` can start each workflow on each branch with any
inputs, and can run old runs again. The notifier of a GitOps repository has just this permission. So
a run that a dispatch or the clock started first checks its start:

    who                           may
    people, trusted dispatchers   start everything, on the default branch
    any other account             start runs without the inputs of `PERSONS_ALONE`. `promoted-from`
                                  and `force` count only with a start record, which the starter
                                  posts first: it needs the permission `statuses: write`

The commands of an application's chain have the same table. There, `force` and the commit that
app-deploy names count for people and trusted dispatchers alone: from others, the commit is a hint.

A run that somebody starts again counts as started by both accounts. Runs of other events (a push, a
pull request) take their inputs from the workflow file, and runs outside of GitHub Actions belong to
the person who holds the token.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.own_account import is_bot
from kalypso_actions.promotion.start_records import StartRecord

DISPATCHED: Final = frozenset({"workflow_dispatch", "repository_dispatch", "schedule"})
"""Events whose runs are checked. Only for `workflow_dispatch` does the starter choose the ref."""

PersonsInput = Literal[
    "promoted-from", "allow-rollback", "override", "allow-removals", "rollback", "adopt"
]

PERSONS_ALONE: Final[dict[PersonsInput, str]] = {
    "promoted-from": "leave promoted-from empty",
    "allow-rollback": "give allow-rollback",
    "override": "give override",
    "allow-removals": "give allow-removals",
    "rollback": "start a rollback",
    "adopt": "give adopt",
}
"""What only a person may do."""


@dataclass(frozen=True, slots=True)
class RunStart:
    """The start of a run: its event, its ref, and the accounts that started it.

    `actor` started the run, `triggering_actor` its present attempt. `event` is "" outside of
    GitHub Actions. `trusted` are the logins of bots that a team uses on purpose.
    """

    event: str
    ref: str
    actor: str
    triggering_actor: str
    trusted: Collection[str] = ()

    @property
    def bot(self) -> str | None:
        """The account that is neither a person nor trusted; None if there is none."""
        if self.event not in DISPATCHED:
            return None
        trusted = {login.lower() for login in self.trusted}
        for login in (self.actor, self.triggering_actor or self.actor):
            known = not is_bot(login) or login.lower() in trusted
            if not (login and known):
                return login or "an unknown account"
        return None

    def refusal(
        self, asked: Collection[PersonsInput], branches: Collection[str], where: Location
    ) -> Problem | None:
        """Return why the run must not go on; None if it may.

        `asked` are the rights of people that the run uses, `branches` those of the control plane at
        `where` on which runs may be started.
        """
        if self.event == "workflow_dispatch" and self.ref not in {
            f"refs/heads/{branch}" for branch in branches
        }:
            return Problem(
                f"the run was started on {self.ref or 'no branch'}",
                where,
                f"start the workflow on the branch {' or '.join(sorted(branches))}",
            )
        if asked and (bot := self.bot):
            what = " or ".join(PERSONS_ALONE[name] for name in asked)
            return Problem(
                f"{bot} started the run, but only a person may {what}",
                where,
                "start the workflow yourself; if the account may do what people may, name it in "
                "trusted-dispatchers",
            )
        return None

    def unrecorded(
        self, promoted_from: str, *, is_recorded: bool, status_context: str, where: Location
    ) -> Problem | None:
        """Return that nobody recorded the start of cd with `promoted_from`; None if that is fine.

        `is_recorded`: the chain has posted the record under the context.
        """
        bot = self.bot
        if bot is None or is_recorded:
            return None
        return Problem(
            f"{bot} started the run from {promoted_from}, but no status '{status_context}' of the "
            "commit records that",
            where,
            "start cd yourself, without promoted-from; if Kalypso started the run, grant its token "
            "statuses: write; if the account may do what people may, name it in "
            "trusted-dispatchers",
        )

    def may_force(self, latest: StartRecord | None) -> bool:
        """Whether `force` counts; `latest` is the record on the head of the environment's branch.

        The record of a start with `force` ends with the run, so that a doubled one changes nothing.
        """
        is_recorded = latest is not None and latest.kind == "starting" and latest.force
        return self.bot is None or is_recorded
