"""Branches: their heads and rules; create, move and delete them.

Each write names the expected head of the branch, and never overwrites another commit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal
from urllib.parse import quote

from github.GitRef import GitRef
from github.Repository import Repository

from kalypso_actions.clients.github import idempotent_writes, rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.errors import GitHubError, Json
from kalypso_actions.errors import Location
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


ABSENT: Final = "0" * 40
"""In `updateRefs`, the id of a branch that does not exist."""

UPDATE_REFS: Final = """\
mutation Move(
  $repository: ID!, $ref: GitRefname!, $before: GitObjectID!, $after: GitObjectID!, $force: Boolean!
) {
  updateRefs(input: {
    repositoryId: $repository
    refUpdates: [{name: $ref, beforeOid: $before, afterOid: $after, force: $force}]
  }) { clientMutationId }
}"""

MISSING_MUTATION: Final = 501

WITHOUT_MUTATION: Final = (
    "this server cannot replace a commit of a branch safely by its API: delete the branch, or use "
    "commit-by: git"
)

ADVICE: Final = {
    "object does not exist": "push the commit to the repository first",
    "reference does not exist": "the branch was deleted during this run: run again",
    "not a fast forward": "the commit does not descend from the branch's head: run again",
    "protected": "let the token's identity bypass the branch's rules",
}


class RefConflictError(GitHubError):
    """The branch is not at the expected commit but at `head` (None: it does not exist)."""

    def __init__(
        self, repository: str, branch: str, expected: str | None, head: str | None
    ) -> None:
        super().__init__(
            f"the branch {branch} {_state(head)}, but the run expected that it {_state(expected)}",
            Location(repository),
            "another run or a person has changed it: run again",
        )
        self.head = head


def head(github: GitHub, repository: str, branch: str) -> str | None:
    """Return the commit of a branch; None if it does not exist.

    `git/ref` matches this name exactly; `git/refs` would match every branch with this prefix.
    Raises GitHubError.
    """
    failure = f"the branch {branch} cannot be read"
    try:
        return github.call_optional(
            repository,
            failure,
            lambda target: str(target.get_git_ref(f"heads/{branch}").object.sha),
        )
    except GitHubError as error:
        # An empty repository has no branches.
        if error.status == 409 and "empty" in error.reason.lower():
            return None
        raise


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
    failure = FAILURE.format(branch)
    return github.call(repository, failure, lambda target: rest.read_all(target, path))


def _is_classic_with_signatures(github: GitHub, repository: str, branch: str) -> bool:
    owner, _, name = repository.partition("/")
    variables = {"owner": owner, "name": name, "ref": f"refs/heads/{branch}"}
    data, _ = github.graphql(owner, FAILURE.format(branch), SIGNATURES, variables)
    ref = (data["repository"] or {}).get("ref") or {}
    return bool((ref.get("refUpdateRule") or {}).get("requiresSignatures"))


def _is_protected(github: GitHub, repository: str, branch: str) -> bool:
    is_protected = github.call_optional(
        repository, FAILURE.format(branch), lambda target: target.get_branch(branch).protected
    )
    return bool(is_protected)


def create(
    github: GitHub, repository: str, branch: str, commit: str
) -> Literal["created", "unchanged"]:
    """Create a branch at a commit of the repository.

    Raises RefConflictError if the branch exists at another commit, and GitHubError.
    """

    def write() -> None:
        github.call(
            repository,
            f"the branch {branch} cannot be created at {commit}",
            lambda target: target.create_git_ref(f"refs/heads/{branch}", commit),
            advice=ADVICE,
        )

    written = _write_once(github, repository, branch, None, commit, write)
    return "created" if written else "unchanged"


def update(
    github: GitHub, repository: str, branch: str, commit: str, *, expected: str
) -> Literal["updated", "unchanged"]:
    """Fast-forward a branch from `expected` to a descendant.

    This never sets `force`: if another commit arrives first, GitHub refuses the update. Raises
    RefConflictError if the branch is at another commit, and GitHubError.
    """

    def write() -> None:
        github.call(
            repository,
            f"the branch {branch} cannot be moved from {expected} to {commit}",
            lambda target: _ref(target, branch).edit(commit, force=False),
            advice=ADVICE,
        )

    written = _write_once(github, repository, branch, expected, commit, write)
    return "updated" if written else "unchanged"


def move(
    github: GitHub,
    repository: str,
    branch: str,
    commit: str,
    *,
    expected: str | None,
    fast_forward: bool,
) -> Literal["updated", "unchanged"]:
    """Move a branch from `expected` to a commit; create the branch if `expected` is None.

    GitHub compares the head with `expected` at the moment of the change. A server that lacks the
    mutation only creates and fast-forwards branches (`fast_forward`: the commit descends from
    `expected`). Raises RefConflictError if the branch is at another commit, and GitHubError.
    """
    failure = f"the branch {branch} cannot be moved to {commit}"

    def write() -> None:
        variables = {
            "repository": github.call(repository, failure, lambda target: target.node_id),
            "ref": f"refs/heads/{branch}",
            "before": expected or ABSENT,
            "after": commit,
            "force": not fast_forward,
        }
        github.mutate(repository, failure, UPDATE_REFS, variables)

    try:
        written = _write_once(github, repository, branch, expected, commit, write)
    except GitHubError as error:
        if error.status != MISSING_MUTATION:
            raise
        if expected is None:
            create(github, repository, branch, commit)
        elif fast_forward:
            return update(github, repository, branch, commit, expected=expected)
        else:
            error.advise(WITHOUT_MUTATION)
            raise
        written = True
    return "updated" if written else "unchanged"


def delete(
    github: GitHub, repository: str, branch: str, *, expected: str
) -> Literal["deleted", "unchanged"]:
    """Delete a branch at `expected`, if it exists.

    GitHub deletes without comparing: a commit that arrives between the check and the deletion is
    lost with the branch. Raises RefConflictError, GitHubError.
    """

    def write() -> None:
        github.call(
            repository,
            f"the branch {branch} cannot be deleted",
            lambda target: _ref(target, branch).delete(),
            advice=ADVICE,
        )

    written = _write_once(github, repository, branch, expected, None, write)
    return "deleted" if written else "unchanged"


def _write_once(
    github: GitHub,
    repository: str,
    branch: str,
    expected: str | None,
    new: str | None,
    write: Callable[[], None],
) -> bool:
    """Move a branch from `expected` to `new` by `write`; return False if it was at `new` before.

    None means that the branch does not exist. Raises RefConflictError if the branch is at neither,
    and GitHubError.
    """

    def find() -> Literal[True] | None:
        current = head(github, repository, branch)
        if current not in {expected, new}:
            raise RefConflictError(repository, branch, expected, current)
        return True if current == new else None

    def write_and_return() -> Literal[True]:
        write()
        return True

    return idempotent_writes.write_if_absent(github, find, write_and_return)[1]


def _ref(target: Repository, branch: str) -> GitRef:
    """Return a branch to change; `get_git_ref` has the URL of reading."""
    url = f"{target.url}/git/refs/heads/{quote(branch)}"
    return GitRef(target.requester, url=url)


def _state(head: str | None) -> str:
    return "does not exist" if head is None else f"is at {head}"
