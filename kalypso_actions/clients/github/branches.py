"""Where branches stand, and what protects them."""

from __future__ import annotations

from urllib.parse import quote

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub, GitHubError
from kalypso_actions.model.github import BranchRules


def head(github: GitHub, repository: str, branch: str) -> str | None:
    """The commit of a branch, None where there is no such branch.

    Asked of `git/ref`, which answers for exactly this name; `git/refs` would answer for every
    branch that begins like it. Raises GitHubError.
    """
    failure = f"the branch {branch} cannot be read"
    try:
        answer = rest.read_optional(github, repository, failure, f"/git/ref/heads/{quote(branch)}")
    except GitHubError as error:
        # A repository without any commit has no branch either.
        if error.status == 409 and "empty" in error.reason.lower():
            return None
        raise
    return None if answer is None else str(answer["object"]["sha"])


def rules(github: GitHub, repository: str, branch: str) -> BranchRules:
    """What the active rulesets ask of pushes and merges to a branch, which need not exist.

    Whether they bind whoever asks, GitHub does not say. A classic protection is seen where there is
    no ruleset, and the branch exists. Raises GitHubError.
    https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
    """
    failure = f"the rules of the branch {branch} cannot be read"
    found = rest.read_all(github, repository, failure, f"/rules/branches/{quote(branch, safe='')}")
    reviews = [
        one["parameters"]
        for one in found
        if one["type"] == "pull_request" and one.get("parameters")
    ]
    return BranchRules(
        types=tuple(dict.fromkeys(one["type"] for one in found)),
        required_approvals=max(
            (one["required_approving_review_count"] for one in reviews), default=0
        ),
        dismisses_stale_approvals=any(one["dismiss_stale_reviews_on_push"] for one in reviews),
        is_classic=not found and _is_protected(github, repository, branch, failure),
    )


def _is_protected(github: GitHub, repository: str, branch: str, failure: str) -> bool:
    path = f"/branches/{quote(branch, safe='')}"
    answer = rest.read_optional(github, repository, failure, path)
    return answer is not None and bool(answer["protected"])
