"""The pull request of a preview that ran without the right to comment."""

from __future__ import annotations

from collections.abc import Iterable

from kalypso_actions.model.github import PullRequest


def previewed_pull_request(
    pulls: Iterable[PullRequest], *, head_repository: str, head_branch: str, head_commit: str
) -> PullRequest | None:
    """Return the only open pull request with the head that a run of a fork names.

    The run does not name its pull request, and a fork controls the content of its artifact. None if
    no pull request or several have the head, or if its branch has moved.
    """
    matching = [
        pull
        for pull in pulls
        if pull.state == "open"
        and pull.head_repository.lower() == head_repository.lower()
        and (pull.head_branch, pull.head_commit) == (head_branch, head_commit)
    ]
    return matching[0] if len(matching) == 1 else None
