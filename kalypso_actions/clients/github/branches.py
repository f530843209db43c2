"""The heads of branches, and their protection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub, GitHubError
from kalypso_actions.clients.github.messages import Json
from kalypso_actions.model.github import BranchRules

WITHOUT_RULESETS: Final = frozenset({403, 404})
"""The status of `rules` where the account's plan, or an old server, has no rulesets."""

SIGNATURES: Final = """\
query Signatures($owner: String!, $name: String!, $ref: String!) {
  repository(owner: $owner, name: $name) {
    ref(qualifiedName: $ref) { refUpdateRule { requiresSignatures } }
  }
}"""

FAILURE: Final = "the rules of the branch {} cannot be read"


def head(github: GitHub, repository: str, branch: str) -> str | None:
    """Return the commit of a branch; None if it does not exist.

    `git/ref` matches this name exactly; `git/refs` would match every branch with this prefix.
    Raises GitHubError.
    """
    failure = f"the branch {branch} cannot be read"
    try:
        answer = rest.read_optional(github, repository, failure, f"/git/ref/heads/{quote(branch)}")
    except GitHubError as error:
        # An empty repository has no branches.
        if error.status == 409 and "empty" in error.reason.lower():
            return None
        raise
    return None if answer is None else str(answer["object"]["sha"])


def rules(github: GitHub, repository: str, branch: str) -> BranchRules:
    """Return the rules of the active rulesets for a branch, which need not exist.

    GitHub does not say whether the token may bypass them. The result includes a classic protection
    only if there are no rulesets and the branch exists. Raises GitHubError.
    https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
    """
    active = _active_rules(github, repository, branch)
    reviews = [
        rule["parameters"]
        for rule in active
        if rule["type"] == "pull_request" and rule.get("parameters")
    ]
    return BranchRules(
        types=tuple(dict.fromkeys(rule["type"] for rule in active)),
        required_approvals=max(
            (review["required_approving_review_count"] for review in reviews), default=0
        ),
        dismisses_stale_approvals=any(
            review["dismiss_stale_reviews_on_push"] for review in reviews
        ),
        is_classic=not active and _is_protected(github, repository, branch),
    )


def requires_signatures(
    github: GitHub, repository: str, branch: str, *, exists: bool = True
) -> bool:
    """Whether a rule that the token can read refuses unsigned commits on a branch.

    `exists`: whether the branch may exist. GitHub shows the rulesets also for a branch that does
    not exist. It shows the requirement of a classic protection, a rule "viewable by non-admins",
    only for existing branches. Raises GitHubError.
    https://docs.github.com/graphql/reference/objects#refupdaterule
    """
    try:
        active = _active_rules(github, repository, branch)
    except GitHubError as error:
        if error.status not in WITHOUT_RULESETS:
            raise
        active = ()
    return any(rule["type"] == "required_signatures" for rule in active) or (
        exists and _is_classic_with_signatures(github, repository, branch)
    )


def _active_rules(github: GitHub, repository: str, branch: str) -> Sequence[Json]:
    path = f"/rules/branches/{rest.segment(branch)}"
    return rest.read_all(github, repository, FAILURE.format(branch), path)


def _is_classic_with_signatures(github: GitHub, repository: str, branch: str) -> bool:
    owner, _, name = repository.partition("/")
    variables = {"owner": owner, "name": name, "ref": f"refs/heads/{branch}"}
    data, _ = github.graphql(owner, FAILURE.format(branch), SIGNATURES, variables)
    ref = (data["repository"] or {}).get("ref") or {}
    return bool((ref.get("refUpdateRule") or {}).get("requiresSignatures"))


def _is_protected(github: GitHub, repository: str, branch: str) -> bool:
    path = f"/branches/{rest.segment(branch)}"
    answer = rest.read_optional(github, repository, FAILURE.format(branch), path)
    return answer is not None and bool(answer["protected"])
