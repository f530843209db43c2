"""Show a preview on GitHub: one comment on the pull request, and a commit status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kalypso_actions.clients.github import GitHubError, comments, pull_requests, statuses
from kalypso_actions.commands.preview.request import PreviewRequest
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.errors import Problem
from kalypso_actions.model.github import CommitStatus, StatusState
from kalypso_actions.report.preview_documents import CommentState

REFUSALS: Final = frozenset({403, 404})
"""GitHub's answers to a token that may not write."""


def write_comment(
    context: CommandContext, request: PreviewRequest, mark: str, body: str
) -> tuple[CommentState, tuple[Problem, ...]]:
    """Create or update our comment, unless the pull request has a newer head.

    Return whether another job has to write it, because the token may not, with warnings if that is
    unexpected.
    """
    number = request.pull_request
    if number is None:
        return "none", ()

    if not request.is_restricted:  # a restricted token may get 404 for other reasons
        context.github.recent_writes.add_issue(context.control_plane, number)

    def write() -> None:
        pull = pull_requests.get(context.github, context.control_plane, number)
        if pull.head_commit == request.head_commit:
            comments.ensure(context.github, context.control_plane, number, mark, body)
            comments.delete_of_other_bots(context.github, context.control_plane, number, mark)

    refusal = _refusal(write)
    if refusal is None:
        return "written", ()
    return "pending", () if request.is_restricted else refusal.problems


def post_status(
    context: CommandContext, request: PreviewRequest, status: str, state: StatusState, text: str
) -> tuple[Problem, ...]:
    """Post the status with the context `status`; return warnings if the token may not."""
    commit = request.status_commit
    if not (commit and status):
        return ()
    new = CommitStatus(status, state, text, context.runtime.job.run_url)
    refusal = _refusal(lambda: statuses.post(context.github, context.control_plane, commit, new))
    return () if refusal is None or request.is_restricted else refusal.problems


def _refusal(write: Callable[[], object]) -> GitHubError | None:
    """Return GitHub's refusal of a write for lack of permission. Raises other GitHubErrors."""
    try:
        write()
    except GitHubError as error:
        if error.status not in REFUSALS:
            raise
        return error
    return None
