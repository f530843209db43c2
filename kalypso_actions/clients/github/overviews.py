"""Read a repository with one request: heads, commits, statuses, pull requests, issues."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from github.PullRequest import PullRequest

from kalypso_actions.clients.github import issues, rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.errors import Json
from kalypso_actions.clients.github.statuses import STATUS_FIELDS, by_context, login
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.overviews import (
    CommitView,
    OpenIssue,
    PullRequestView,
    RepositoryOverview,
)

BATCH_SIZE: Final = 20
"""The maximum number of branches and commits in one request: GitHub counts the history of each."""

MOST_PULL_REQUESTS: Final = 50

_COMMIT: Final = (
    "... on Commit { messageHeadline committedDate author { name user { login } } "
    f"history(first: 0) {{ totalCount }} {STATUS_FIELDS} }}"
)
_NEWEST: Final = "orderBy: {field: CREATED_AT, direction: DESC}"
_PULL_REQUESTS: Final = (
    f"pullRequests(states: [OPEN], first: {MOST_PULL_REQUESTS}, {_NEWEST}) {{ totalCount nodes {{ "
    "number title url isDraft createdAt baseRefName headRefName author { __typename login } } }"
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
        length=node["history"]["totalCount"],
        statuses=by_context(node["status"]),
    )


def _listed_pull_request(pull: PullRequest) -> PullRequestView:
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


def _pull_request(node: Json) -> PullRequestView:
    return PullRequestView(
        number=node["number"],
        title=node["title"],
        url=node["url"],
        base=node["baseRefName"],
        head=node["headRefName"],
        author=login(node["author"]),
        created_at=datetime.fromisoformat(node["createdAt"]),
        is_draft=node["isDraft"],
    )
