"""The status of the promoted commit in an environment, as check-promote posts it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kalypso_actions.clients.github import statuses
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.verification import Claim


class DeploymentStatus:
    """Posts on the promoted commit; silent for a configuration change.

    Silent, too, once the commit is `Deployed`: a run that was doubled, or is repeated, does not
    take back what another one has found.
    """

    def __init__(self, context: CommandContext, claim: Claim) -> None:
        self._session = context
        self._claim = claim

    def post(self, status: CommitStatus) -> None:
        """Post a status unless the latest says the same. Raises GitHubError."""
        commit = self._claim.promoted_commit
        if commit is None:
            return
        github, repository = self._session.github, self._session.control_plane
        latest = statuses.latest(github, repository, commit).get(status.context.lower())
        if not table.is_deployed(latest):
            statuses.post(github, repository, commit, status)

    @contextmanager
    def told_where_it_ends(self) -> Iterator[None]:
        """An error that ends the run is told as a failure, and raised.

        So that the commit does not stand at `Deploying` for ever; whatever comes in between, be it
        a cancelled job or a bug of ours. A run that is killed can tell nothing: there, the job is
        run again, or the next merge goes on.
        """
        try:
            yield
        except BaseException as error:
            self._fail(_reason(error))
            raise

    def _fail(self, reason: str) -> None:
        try:
            self.post(table.failed(self._claim.environment, reason))
        except KalypsoError as error:
            self._session.runtime.log(f"The failure cannot be told: {error.problem.message}")


def _reason(error: BaseException) -> str:
    match error:
        case KalypsoError():
            return error.problem.message
        case KeyboardInterrupt():
            return "the run was cancelled"
    return f"check-promote ended with an error of its own ({type(error).__name__})"
