"""Merge a pull request at the reviewed head, at once or by GitHub's auto-merge.

With auto-merge, GitHub merges a pull request once its requirements are met. It needs the
repository's setting `allow_auto_merge` and a requirement that is not met yet; without them, GitHub
answers "Auto merge is not allowed for this repository", or "Pull request is in clean status"
(peter-evans/enable-pull-request-automerge#343). Later pushes leave it enabled:
https://docs.github.com/graphql/reference/mutations#enablepullrequestautomerge
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from kalypso_actions.clients.github import idempotent_writes, pull_requests
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.errors import GitHubError
from kalypso_actions.model.github import PullRequest

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


ENABLE: Final = """\
mutation Enable(
  $pull: ID!, $head: GitObjectID!, $method: PullRequestMergeMethod!, $headline: String
) {
  enablePullRequestAutoMerge(
    input: {
      pullRequestId: $pull, expectedHeadOid: $head, mergeMethod: $method, commitHeadline: $headline
    }
  ) { clientMutationId }
}"""

DISABLE: Final = """\
mutation Disable($pull: ID!) {
  disablePullRequestAutoMerge(input: {pullRequestId: $pull}) { clientMutationId }
}"""

MUTATION_REFUSALS: Final = frozenset({422, 501})
"""GitHub refuses the mutation, or this server lacks it."""

MERGEABLE: Final = frozenset({"clean", "unstable", "has_hooks"})

NOT_NEEDED: Final = re.compile(r"in (clean|unstable|has_hooks) status", re.IGNORECASE)
"""GitHub's messages if the pull request can be merged directly."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The commit on the base branch."""

    commit: str


@dataclass(frozen=True, slots=True)
class Refused:
    """GitHub's reason to refuse the merge."""

    reason: str


@dataclass(frozen=True, slots=True)
class Enabled:
    """GitHub merges the pull request later; `reason` says why it cannot merge now."""

    reason: str


def merge(
    github: GitHub,
    repository: str,
    number: int,
    *,
    head: str,
    method: Method = "merge",
    title: str = "",
) -> Merged | Refused:
    """Merge a pull request if its head is still the commit `head`.

    `title` is the first line of the message; without it, and for a rebase, GitHub makes it.

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
        return github.call(
            repository,
            f"pull request #{number} cannot be merged",
            lambda target: Merged(target.get_pull(number).merge(**given).sha),
        )

    given: dict[str, Any] = {"sha": head, "merge_method": method}
    if title:
        given["commit_title"] = title

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
    github: GitHub, repository: str, number: int, *, head: str, title: str = ""
) -> Merged | Refused:
    """Merge as `merge` does, with the first method that the repository allows."""
    for method in METHODS:
        result = merge(github, repository, number, head=head, method=method, title=title)
        if isinstance(result, Merged) or not METHOD_NOT_ALLOWED.search(result.reason):
            break
    return result


def merge_when_allowed(
    github: GitHub, repository: str, number: int, *, head: str, title: str = ""
) -> Merged | Enabled | Refused:
    """Merge a pull request at `head`, or let GitHub merge it as soon as the rules allow the merge.

    Raises GitHubError for failures other than refusals.
    """
    pull = pull_requests.with_head(github, repository, number, head)
    if pull.auto_merge_by and pull.state == "open" and pull.merge_state not in MERGEABLE:
        return Enabled(f"its state is {pull.merge_state}")
    merged = merge_as_allowed(github, repository, number, head=head, title=title)
    if isinstance(merged, Merged):
        return merged
    refused = enable_auto_merge(github, repository, number, head=head, title=title)
    if refused is None:
        return Enabled(merged.reason)
    if NOT_NEEDED.search(refused.reason):
        return merge_as_allowed(github, repository, number, head=head, title=title)
    return merged


def enable_auto_merge(
    github: GitHub, repository: str, number: int, *, head: str, title: str = ""
) -> Refused | None:
    """Enable the auto-merge of an open pull request at `head`, unless it is enabled already.

    Return GitHub's refusal; None if the auto-merge is enabled now. Raises GitHubError.
    """

    def find() -> PullRequest | None:
        pull = pull_requests.get(github, repository, number)
        return pull if pull.auto_merge_by else None

    pull = pull_requests.get(github, repository, number)
    if pull.auto_merge_by:
        return None
    failure = f"the auto-merge of #{number} cannot be enabled"
    variables = {"pull": pull.node_id, "head": head}

    def headline(method: str) -> dict[str, str]:
        # GitHub refuses a message for a rebase.
        return {"headline": title} if title and method != "rebase" else {}

    def write(method: str) -> PullRequest:
        values = {**variables, "method": method.upper(), **headline(method)}
        github.mutate(repository, failure, ENABLE, values)
        return pull

    refused = None
    for method in METHODS:
        try:
            idempotent_writes.write_verified(github, find, partial(write, method))
        except GitHubError as error:
            if error.status not in MUTATION_REFUSALS:
                raise
            refused = Refused(error.reason)
            if not METHOD_NOT_ALLOWED.search(error.reason):
                break
        else:
            return None
    return refused


def disable_auto_merge(github: GitHub, repository: str, number: int) -> PullRequest:
    """Disable the auto-merge of a pull request, and return the resulting pull request.

    It may have been merged in the meantime. Raises GitHubError.
    """

    def find() -> PullRequest | None:
        pull = pull_requests.get(github, repository, number)
        return pull if pull.state == "closed" or not pull.auto_merge_by else None

    def write() -> PullRequest:
        pull = pull_requests.get(github, repository, number)
        failure = f"the auto-merge of #{number} cannot be disabled"
        github.mutate(repository, failure, DISABLE, {"pull": pull.node_id})
        return pull_requests.get(github, repository, number)

    return idempotent_writes.write_if_absent(github, find, write)[0]
