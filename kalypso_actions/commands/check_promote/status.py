"""The status of the promoted commit in an environment, as check-promote posts it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kalypso_actions.clients.github import statuses
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.own_statuses import own_statuses
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion.requests import PromotionRequest
from kalypso_actions.promotion.statuses import failed, is_deployed


class DeploymentStatus:
    """The status of the promoted commit; a configuration change has none.

    The status `Deployed` is final: a second run for the same merge does not revoke the verdict of
    the first.
    """

    def __init__(self, context: CommandContext, request: PromotionRequest) -> None:
        self._context = context
        self._request = request

    def post(self, status: CommitStatus) -> None:
        """Post a status unless the latest says the same. Raise GitHubError if that fails."""
        promoted_commit = self._request.promoted_commit
        if promoted_commit is None:
            return
        github, repository = self._context.github, self._context.control_plane
        latest = own_statuses(self._context, promoted_commit).get(status.context.lower())
        if not is_deployed(latest):
            run_url = self._context.runtime.job.run_url
            statuses.post(github, repository, promoted_commit, status, run_url=run_url)

    @contextmanager
    def failure_of_run(self) -> Iterator[None]:
        """If an error ends the run, post it as a failure, and raise it again.

        Otherwise a cancelled job or a bug would leave the commit at `Deploying`. A killed run
        cannot post: then a person runs the job again, or the next merge continues.
        """
        try:
            yield
        except BaseException as error:
            self._fail(_reason(error))
            raise

    def _fail(self, reason: str) -> None:
        try:
            self.post(failed(self._request.environment, reason))
        except KalypsoError as error:
            self._context.runtime.log(f"The failure cannot be posted: {error.problem.message}")


def _reason(error: BaseException) -> str:
    match error:
        case KalypsoError():
            return error.problem.message
        case KeyboardInterrupt():
            return "the run was cancelled"
    return f"check-promote ended with an error of its own ({type(error).__name__})"
