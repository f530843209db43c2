"""Pull requests merged, exactly as they were looked at, or the reason why GitHub does not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.clients.github import idempotent_writes, pull_requests, rest
from kalypso_actions.clients.github.connection import GitHub, GitHubError

Method = Literal["merge", "squash", "rebase"]

REFUSALS: Final = frozenset({405, 409, 422})
"""It cannot be merged, or not now; the head has changed; the rules do not allow it."""

STILL_THINKING: Final = "Base branch was modified"
"""What GitHub says, too, while it has not found out yet whether a new head can be merged."""


METHODS: Final[tuple[Method, ...]] = ("merge", "squash", "rebase")

OTHER_METHOD: Final = re.compile(
    "are not allowed on this repository|must not contain merge commits", re.IGNORECASE
)
"""GitHub's words where the settings, or a rule of the branch, leave other methods."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The commit on the base branch."""

    commit: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Why the pull request stays as it is, in GitHub's words."""

    reason: str


def merge(
    github: GitHub, repository: str, number: int, *, head: str, method: Method = "merge"
) -> Merged | Refused:
    """Merge a pull request whose head is still the commit `head`.

    A refusal (missing review or check, conflict, rules, another head) is a value: the pull request
    stays open for people. Raises GitHubError for everything else.
    """

    def find() -> Merged | Refused | None:
        pull = pull_requests.get(github, repository, number)
        if not pull.merged:
            return None
        if pull.head_commit != head:
            return Refused(f"it was merged already, with its head at {pull.head_commit}")
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
            if error.status not in REFUSALS:
                raise
            delay = next(delays, None) if STILL_THINKING in error.reason else None
            if delay is None:
                return Refused(error.reason)
            github.sleep(delay)


def merge_as_allowed(
    github: GitHub, repository: str, number: int, *, head: str
) -> Merged | Refused:
    """Merge by the first method that the repository allows: see `merge`."""
    for method in METHODS:
        result = merge(github, repository, number, head=head, method=method)
        if isinstance(result, Merged) or not OTHER_METHOD.search(result.reason):
            break
    return result
