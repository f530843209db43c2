"""Read the context of a proposal with one request: pull requests, labels, rules, a commit.

It replaces six to eight requests of the REST API. A part that GitHub does not return completely
is None, and the caller reads it with the REST API.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.errors import Json
from kalypso_actions.clients.github.statuses import login
from kalypso_actions.model.github import Commit, PullRequest
from kalypso_actions.model.overviews import ProposalOverview

T = TypeVar("T")

MERGE_STATES: Final = {
    "MERGEABLE": (True, "unknown"),
    "CONFLICTING": (False, "dirty"),
    "UNKNOWN": (None, "unknown"),
}
"""GraphQL's `mergeable` -> REST's `mergeable` and `mergeable_state`.

The query omits the exact state, which older servers return only for a special header.
"""

_COMMIT: Final = """
    own: object(oid: $commit) { ... on Commit {
      oid message committedDate tree { oid } parents(first: 100) { totalCount nodes { oid } }
    } }"""


def read(
    github: GitHub, repository: str, *, head: str, base: str, commit: str | None
) -> ProposalOverview:
    """Read the context of a proposal from `head` to `base`; `commit` is that of `head`, if any.

    Raises GitHubError.
    """
    owner, _, name = repository.partition("/")
    failure = f"the pull requests from {head} into {base} cannot be read"
    parameters = variables(repository_owner=owner, name=name, head=head, base=base, commit=commit)
    data, errors = github.graphql(owner, failure, query(with_commit=bool(commit)), parameters)
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
        own_commit=_commit(overview.get("own")),
        visibility=overview["visibility"].lower(),
    )


def query(*, with_commit: bool) -> str:
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
        f"{_COMMIT if with_commit else ''}"
        "\n  }\n}"
    )


def variables(
    *, repository_owner: str, name: str, head: str, base: str, commit: str | None
) -> dict[str, str]:
    """Return the variables of `query`."""
    given = {"owner": repository_owner, "name": name, "head": head, "base": base}
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


def _commit(node: Json) -> Commit | None:
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
