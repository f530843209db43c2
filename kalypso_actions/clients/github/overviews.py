"""Read much with one GraphQL request: a repository, a proposal, the heads of registered folders."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

from github.PullRequest import PullRequest as ListedPullRequest

from kalypso_actions.clients.github import issues, rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.errors import GitHubError, Json
from kalypso_actions.clients.github.statuses import STATUS_FIELDS, by_context, login
from kalypso_actions.errors import Location
from kalypso_actions.model.counts import counted
from kalypso_actions.model.github import (
    Commit,
    CommitView,
    OpenIssue,
    PathHead,
    ProposalOverview,
    PullRequest,
    PullRequestView,
    RegisteredPath,
    RepositoryOverview,
)
from kalypso_actions.model.object_ids import is_commit_id

log = logging.getLogger(__name__)

T = TypeVar("T")

BATCH_SIZE: Final = 20
"""The maximum number of branches and commits in one request: GitHub counts the history of each."""

VIEWS: Final = 100
"""The commits in one request that does not count their history."""

MOST_PULL_REQUESTS: Final = 50

_VIEW: Final = f"messageHeadline committedDate author {{ name user {{ login }} }} {STATUS_FIELDS}"
_COMMIT: Final = f"... on Commit {{ history(first: 0) {{ totalCount }} {_VIEW} }}"
_NEWEST: Final = "orderBy: {field: CREATED_AT, direction: DESC}"
_PULL_REQUESTS: Final = (
    f"pullRequests(states: [OPEN], first: {MOST_PULL_REQUESTS}, {_NEWEST}) {{ totalCount nodes {{ "
    "number title url isDraft createdAt baseRefName headRefName author { __typename login } "
    "mergeable "
    "commits(last: 1) { nodes { commit { status { contexts { context state } } } } } } }"
)
_ISSUES: Final = (
    f"issues(states: [OPEN], labels: $labels, first: 100, {_NEWEST}) {{ totalCount "
    "nodes { number title url body } }"
)


def read(
    github: GitHub,
    repository: str,
    *,
    branches: Collection[str],
    commits: Collection[str] = (),
    label: str,
) -> RepositoryOverview:
    """Read a repository, with its issues that have `label`. Raises GitHubError.

    One request reads up to twenty branches and commits. If there are more open pull requests or
    issues than it lists, such as in a GitOps repository of many environments, list them all.
    """
    names = list(dict.fromkeys(branches))
    # GitHub refuses the whole query for one text that is not an object id.
    ids = list(dict.fromkeys(filter(is_commit_id, commits)))
    failure = f"{repository} cannot be read"
    overview = RepositoryOverview({}, {})
    for start in range(0, max(len(names), len(ids), 1), BATCH_SIZE):
        some_names, some_ids = (part[start : start + BATCH_SIZE] for part in (names, ids))
        data = github.query_repository(
            repository,
            failure,
            query(len(some_names), len(some_ids)),
            variables(some_names, some_ids, label),
            "contents: read, statuses: read, pull_requests: read and issues: read",
        )
        overview = _merged(overview, data, some_names, some_ids)
    if data["pullRequests"]["totalCount"] > len(overview.pull_requests):
        pulls = github.call(
            repository,
            failure,
            lambda target: tuple(map(_listed_pull_request, rest.all_of(target.get_pulls("open")))),
        )
        overview = replace(overview, pull_requests=pulls)
    if data["issues"]["totalCount"] > len(overview.issues):
        found = issues.find_all(github, repository, label=label)
        listed = (OpenIssue(each.number, each.title, each.url, each.body) for each in found)
        overview = replace(overview, issues=tuple(listed))
    return overview


def commit_views(
    github: GitHub, repository: str, commits: Collection[str]
) -> Mapping[str, CommitView]:
    """Return the commits that the repository has, without their `length`, by id.

    One request reads a hundred commits. Raises GitHubError.
    """
    views: dict[str, CommitView] = {}
    ids = list(dict.fromkeys(filter(is_commit_id, commits)))
    for start in range(0, len(ids), VIEWS):
        batch = ids[start : start + VIEWS]
        data = github.query_repository(
            repository,
            f"{counted(len(batch), 'commit')} cannot be read",
            query_of_views(len(batch)),
            {f"commit{n}": commit for n, commit in enumerate(batch)},
            "contents: read and statuses: read",
        )
        read = (_commit(data[f"c{n}"]) for n in range(len(batch)))
        views |= {view.id: view for view in read if view}
    return views


def query_of_views(count: int) -> str:
    """Return the GraphQL query for `count` commits: `commit0`, `commit1`, …."""
    given = "".join(f", $commit{n}: GitObjectID!" for n in range(count))
    objects = (
        f"    c{n}: object(oid: $commit{n}) {{ ... on Commit {{ {_VIEW} }} }}" for n in range(count)
    )
    return (
        f"query Commits($owner: String!, $name: String!{given}) {{\n"
        "  repository(owner: $owner, name: $name) {\n" + "\n".join(objects) + "\n  }\n}"
    )


def query(branches: int, commits: int) -> str:
    """Return the GraphQL query for these numbers of branches and commits."""
    given = [f"$ref{n}: String!" for n in range(branches)]
    given += [f"$commit{n}: GitObjectID!" for n in range(commits)]
    parts = [
        f"r{n}: ref(qualifiedName: $ref{n}) {{ target {{ {_COMMIT} }} }}" for n in range(branches)
    ]
    parts += [f"c{n}: object(oid: $commit{n}) {{ {_COMMIT} }}" for n in range(commits)]
    return (
        "query Overview($owner: String!, $name: String!, $labels: [String!]"
        f"{''.join(f', {each}' for each in given)}) {{\n"
        "  repository(owner: $owner, name: $name) {\n    "
        + "\n    ".join((*parts, _PULL_REQUESTS, _ISSUES))
        + "\n  }\n}"
    )


def variables(branches: Sequence[str], commits: Sequence[str], label: str) -> dict[str, Json]:
    """Return the variables of the query, except owner and name."""
    refs = {f"ref{n}": f"refs/heads/{branch}" for n, branch in enumerate(branches)}
    ids = {f"commit{n}": commit for n, commit in enumerate(commits)}
    return {"labels": [label], **refs, **ids}


def _merged(
    known: RepositoryOverview, data: Json, branches: Sequence[str], commits: Sequence[str]
) -> RepositoryOverview:
    pulls = data["pullRequests"]
    refs = (data[f"r{n}"] for n in range(len(branches)))
    heads = (_commit(ref and ref["target"]) for ref in refs)
    return RepositoryOverview(
        {**known.heads, **dict(zip(branches, heads, strict=True))},
        {**known.commits, **{each: _commit(data[f"c{n}"]) for n, each in enumerate(commits)}},
        tuple(_pull_request(node) for node in pulls["nodes"]),
        tuple(
            OpenIssue(node["number"], node["title"], node["url"], node["body"])
            for node in data["issues"]["nodes"]
        ),
    )


def _commit(node: Json) -> CommitView | None:
    """Convert a commit; an object of another type is `{}`, a missing one is null."""
    if not node:
        return None
    author = node["author"] or {}
    return CommitView(
        id=node["oid"],
        subject=node["messageHeadline"],
        author=(author.get("user") or {}).get("login") or author.get("name") or "",
        committed_at=datetime.fromisoformat(node["committedDate"]),
        length=node["history"]["totalCount"] if "history" in node else 0,
        statuses=by_context(node["status"]),
    )


def _listed_pull_request(pull: ListedPullRequest) -> PullRequestView:
    return PullRequestView(
        number=pull.number,
        title=pull.title,
        url=pull.html_url,
        base=pull.base.ref,
        head=pull.head.ref,
        author=rest.login_of(pull.user),
        created_at=pull.created_at,
        is_draft=pull.draft,
    )


FAILED: Final = frozenset({"ERROR", "FAILURE"})


def _pull_request(node: Json) -> PullRequestView:
    """Convert a pull request. The statuses of a fork's head are in the base repository, too."""
    heads = (each["commit"]["status"] for each in node["commits"]["nodes"] if each)
    contexts = [each for head in heads if head for each in head["contexts"]]
    return PullRequestView(
        number=node["number"],
        title=node["title"],
        url=node["url"],
        base=node["baseRefName"],
        head=node["headRefName"],
        author=login(node["author"]),
        created_at=datetime.fromisoformat(node["createdAt"]),
        is_draft=node["isDraft"],
        failed=tuple(each["context"] for each in contexts if each["state"] in FAILED),
        conflicts=node["mergeable"] == "CONFLICTING",
    )


MERGE_STATES: Final = {
    "MERGEABLE": (True, "unknown"),
    "CONFLICTING": (False, "dirty"),
    "UNKNOWN": (None, "unknown"),
}
"""GraphQL's `mergeable` -> REST's `mergeable` and `mergeable_state`.

The query omits the exact state, which older servers return only for a special header.
"""

_OWN_COMMIT: Final = """
    own: object(oid: $commit) { ... on Commit {
      oid message committedDate tree { oid } parents(first: 100) { totalCount nodes { oid } }
    } }"""


def read_proposal(
    github: GitHub, repository: str, *, head: str, base: str, commit: str | None
) -> ProposalOverview:
    """Read the context of a proposal from `head` to `base`; `commit` is that of `head`, if any.

    This replaces six to eight requests of the REST API. A part that GitHub does not return
    completely is None, and the caller reads it with the REST API. Raises GitHubError.
    """
    owner, _, name = repository.partition("/")
    failure = f"the pull requests from {head} into {base} cannot be read"
    data, errors = github.graphql(
        owner,
        failure,
        proposal_query(with_commit=bool(commit)),
        proposal_variables(owner, name, head, base, commit),
    )
    overview = data.get("repository")
    if errors or overview is None:
        return ProposalOverview()
    branch = overview["ref"] or {}
    return ProposalOverview(
        from_branch=_all(overview["from"], partial(_own_pull, overview["nameWithOwner"])),
        into_branch=_all(overview["into"], lambda node: int(node["number"])),
        has_closed=overview["closed"]["totalCount"] > 0,
        labels=_all(overview["labels"], lambda node: str(node["name"])),
        requires_signatures=_requires_signatures(branch),
        own_commit=_own_commit(overview.get("own")),
        visibility=overview["visibility"].lower(),
    )


def proposal_query(*, with_commit: bool) -> str:
    """Return the GraphQL query, with or without a commit."""
    return (
        "query Proposal($owner: String!, $name: String!, $head: String!, $base: String!, "
        f"$ref: String!{', $commit: GitObjectID!' if with_commit else ''})"
        """ {
  repository(owner: $owner, name: $name) {
    nameWithOwner visibility
    from: pullRequests(headRefName: $head, states: [OPEN], first: 10) {
      totalCount nodes {
        id number url title body isCrossRepository headRefName headRefOid baseRefName mergeable
        author { __typename login }
        labels(first: 100) { totalCount nodes { name } }
        autoMergeRequest { enabledBy { __typename login } }
      }
    }
    into: pullRequests(baseRefName: $base, states: [OPEN], first: 100) {
      totalCount nodes { number }
    }
    closed: pullRequests(
      headRefName: $head, baseRefName: $base, states: [CLOSED, MERGED], first: 1
    ) { totalCount }
    labels(first: 100) { totalCount nodes { name } }
    ref(qualifiedName: $ref) {
      refUpdateRule { requiresSignatures }
      rules(first: 100) { totalCount nodes { type } }
    }"""
        f"{_OWN_COMMIT if with_commit else ''}"
        "\n  }\n}"
    )


def proposal_variables(
    owner: str, name: str, head: str, base: str, commit: str | None
) -> dict[str, str]:
    """Return the variables of `proposal_query`."""
    given = {"owner": owner, "name": name, "head": head, "base": base}
    given["ref"] = f"refs/heads/{base}"
    return {**given, "commit": commit} if commit else given


def _own_pull(repository: str, node: Json) -> PullRequest | None:
    """Convert an open pull request from the repository itself; None if it is from a fork."""
    if node["isCrossRepository"]:
        return None
    auto_merge = node["autoMergeRequest"]
    mergeable, merge_state = MERGE_STATES[node["mergeable"]]
    return PullRequest(
        number=node["number"],
        url=node["url"],
        title=node["title"],
        body=node["body"],
        state="open",
        merged=False,
        merge_commit="",
        head_repository=repository,
        head_branch=node["headRefName"],
        head_commit=node["headRefOid"],
        base_branch=node["baseRefName"],
        labels=_all(node["labels"], lambda label: str(label["name"])) or (),
        author=login(node["author"]),
        mergeable=mergeable,
        merge_state=merge_state,
        node_id=node["id"],
        auto_merge_by=(login(auto_merge["enabledBy"]) or "ghost") if auto_merge else "",
    )


def _all(connection: Json, value: Callable[[Json], T | None]) -> tuple[T, ...] | None:
    """Return the values of a connection's nodes except None; None if GitHub left out a node."""
    if connection is None or None in connection["nodes"]:
        return None
    nodes = connection["nodes"]
    if connection["totalCount"] > len(nodes):
        return None
    values = map(value, nodes)
    return tuple(each for each in values if each is not None)


def _requires_signatures(branch: Json) -> bool | None:
    """Whether a rule of a ref requires signatures: in rulesets, or in a classic protection."""
    if (branch.get("refUpdateRule") or {}).get("requiresSignatures"):
        return True
    types = _all(branch.get("rules"), lambda node: str(node["type"]))
    return None if types is None else "REQUIRED_SIGNATURES" in types


def _own_commit(node: Json) -> Commit | None:
    """Convert a commit; an object of another type is `{}`, a missing one is null."""
    parents = _all(node["parents"], lambda parent: str(parent["oid"])) if node else None
    if parents is None:
        return None
    return Commit(
        id=node["oid"],
        tree=node["tree"]["oid"],
        parents=parents,
        message=node["message"],
        committed_at=datetime.fromisoformat(node["committedDate"]),
    )


HEADS_BATCH_SIZE: Final = 100

INVISIBLE: Final = frozenset({"NOT_FOUND", "FORBIDDEN"})
"""Types of the errors for a repository that the token may not see."""


def read_registered_heads(
    github: GitHub, paths: Collection[RegisteredPath]
) -> Mapping[RegisteredPath, PathHead | None]:
    """Return the commit of each path's branch and the tree of its folder.

    One request reads up to a hundred paths. A head is None if the repository or the branch does not
    exist or was renamed, or if the token may not see it. (For a renamed repository that may be
    read, git follows the new name.) `tree` is None if the branch has no such folder. Raises
    GitHubError if GitHub does not answer completely.
    """
    heads: dict[RegisteredPath, PathHead | None] = {}
    by_owner: dict[str, list[RegisteredPath]] = {}
    for path in dict.fromkeys(paths):
        by_owner.setdefault(_owner(path), []).append(path)
    for credential_owner, owners in github.group_by_credential(by_owner).items():
        group = [path for owner in owners for path in by_owner[owner]]
        for start in range(0, len(group), HEADS_BATCH_SIZE):
            heads |= _read_batch(github, credential_owner, group[start : start + HEADS_BATCH_SIZE])
    return heads


def heads_query(count: int) -> str:
    """Return the GraphQL query for `count` registered paths.

    User-supplied values are variables: `owner0`, `name0`, `ref0` (the branch as `refs/heads/…`),
    `path0` (`refs/heads/…:folder`), and so on.
    """
    variables = ", ".join(
        f"$owner{n}: String!, $name{n}: String!, $ref{n}: String!, $path{n}: String!"
        for n in range(count)
    )
    repositories = "\n".join(
        f"  r{n}: repository(owner: $owner{n}, name: $name{n}, followRenames: false) {{\n"
        f"    ref(qualifiedName: $ref{n}) {{ target {{ oid }} }}\n"
        f"    object(expression: $path{n}) {{ __typename oid }}\n"
        "  }"
        for n in range(count)
    )
    return f"query Heads({variables}) {{\n{repositories}\n}}"


def heads_variables(paths: Sequence[RegisteredPath]) -> dict[str, str]:
    """Return the variables of `heads_query(len(paths))`."""
    variables: dict[str, str] = {}
    for n, path in enumerate(paths):
        owner, _, name = path.repository.partition("/")
        ref = f"refs/heads/{path.branch}"
        folder = posixpath.normpath(path.path or ".").strip("/")
        # After the colon, an empty path is the root.
        folder = "" if folder == "." else folder
        variables |= {f"owner{n}": owner, f"name{n}": name}
        variables |= {f"ref{n}": ref, f"path{n}": f"{ref}:{folder}"}
    return variables


def _read_batch(
    github: GitHub, owner: str, paths: Sequence[RegisteredPath]
) -> dict[RegisteredPath, PathHead | None]:
    failure = f"the heads of {len(paths)} registered folders cannot be read"
    data, errors = github.graphql(owner, failure, heads_query(len(paths)), heads_variables(paths))
    for error in errors:
        _check_invisible(error, paths, failure, owner)
    return {path: _head(data.get(f"r{n}")) for n, path in enumerate(paths)}


def _head(repository: Json) -> PathHead | None:
    if repository is None or repository["ref"] is None:
        return None
    folder = repository["object"]
    is_tree = folder is not None and folder["__typename"] == "Tree"
    return PathHead(
        commit=repository["ref"]["target"]["oid"], tree=folder["oid"] if is_tree else None
    )


def _check_invisible(
    error: Json, paths: Sequence[RegisteredPath], failure: str, owner: str
) -> None:
    """Log the error of a repository that the token may not see; raise any other error."""
    path = [str(key) for key in error.get("path") or ()]
    message = str(error.get("message", ""))
    if error.get("type") not in INVISIBLE or len(path) != 1:
        advice = "try again later"
        raise GitHubError(f"{failure}: GitHub says: {message}", Location(owner), advice)
    repository = paths[int(path[0].removeprefix("r"))].repository
    log.info("the token may not see %s: %s", repository, message)


def _owner(path: RegisteredPath) -> str:
    return path.repository.partition("/")[0].lower()
