"""Merge a pull request at the reviewed head, or return GitHub's reason to refuse."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.clients.github import idempotent_writes, pull_requests, rest
from kalypso_actions.clients.github.connection import GitHub, GitHubError

Method = Literal["merge", "squash", "rebase"]

REFUSAL_STATUSES: Final = frozenset({405, 409, 422})
"""The statuses of refusals: not mergeable (now); the head has changed; a rule forbids the merge."""

MERGEABILITY_UNKNOWN: Final = "Base branch was modified"
"""GitHub also sends this message while it computes whether a new head can be merged."""

METHODS: Final[tuple[Method, ...]] = ("merge", "squash", "rebase")

METHOD_NOT_ALLOWED: Final = re.compile(
    "are not allowed on this repository|must not contain merge commits", re.IGNORECASE
)
"""GitHub's messages if the settings or a rule of the branch exclude the method."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The commit on the base branch."""

    commit: str


@dataclass(frozen=True, slots=True)
class Refused:
    """GitHub's reason to refuse the merge."""

    reason: str


def merge(
    github: GitHub, repository: str, number: int, *, head: str, method: Method = "merge"
) -> Merged | Refused:
    """Merge a pull request if its head is still the commit `head`.

    A refusal (missing review or check, conflict, rule, another head) is a return value: the pull
    request stays open for people. Raises GitHubError for every other failure.
    """

    def find() -> Merged | Refused | None:
        pull = pull_requests.with_head(github, repository, number, head)
        if not pull.merged:
            return None
        if pull.head_commit != head:
            return Refused(f"it is already merged, with the head {pull.head_commit}")
        return Merged(pull.merge_commit)

    def write() -> Merged | Refused:
        content = {"sha": head, "merge_method": method}
        failure = f"pull request #{number} cannot be merged"
        path = f"/pulls/{number}/merge"
        return Merged(rest.write(github, repository, failure, "PUT", path, content)["sha"])

    delays = iter(idempotent_writes.DELAYS)
    while True:
        try:
            return idempotent_writes.write_if_absent(github, find, write)[0]
        except GitHubError as error:
            if error.status not in REFUSAL_STATUSES:
                raise
            delay = next(delays, None) if MERGEABILITY_UNKNOWN in error.reason else None
            if delay is None:
                return Refused(error.reason)
            github.sleep(delay)


def merge_as_allowed(
    github: GitHub, repository: str, number: int, *, head: str
) -> Merged | Refused:
    """Merge as `merge` does, with the first method that the repository allows."""
    for method in METHODS:
        result = merge(github, repository, number, head=head, method=method)
        if isinstance(result, Merged) or not METHOD_NOT_ALLOWED.search(result.reason):
            break
    return result
