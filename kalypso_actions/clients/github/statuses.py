"""Commit statuses: those of one commit or of many, and new ones where they say something new."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from kalypso_actions.clients.github import from_json, idempotent_writes, length_limits, rest
from kalypso_actions.clients.github.connection import GitHub, GitHubError
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.object_ids import is_commit_id

ADVICE: Final = {
    "maximum number of statuses": "GitHub takes 1000 statuses of one context on one commit, and"
    " deletes none: go on with a new commit",
    "no commit found": "check the commit's id, and that it was pushed to this repository",
}

BATCH: Final = 100

_STATUS: Final = "oid status { contexts { context state description createdAt targetUrl } }"


def latest(github: GitHub, repository: str, commit: str) -> Mapping[str, CommitStatus]:
    """The latest status of every context, by the context in lower case (GitHub ignores case).

    GitHub's own summary of them is not looked at: it says `pending` where there is none.
    Raises GitHubError.
    """
    found = rest.read_all(
        github,
        repository,
        f"the statuses of commit {commit} cannot be read",
        f"/commits/{rest.segment(commit)}/status",
        item="statuses",
    )
    statuses = map(from_json.commit_status, found)
    return {status.context.lower(): status for status in statuses}


def history(github: GitHub, repository: str, commit: str) -> tuple[CommitStatus, ...]:
    """Return every status of a commit, newest first, those of one context too.

    Raises GitHubError.
    """
    failure = f"the statuses of commit {commit} cannot be read"
    found = rest.read_all(github, repository, failure, f"/commits/{rest.segment(commit)}/statuses")
    return tuple(map(from_json.commit_status, found))


def of_commits(
    github: GitHub, repository: str, commits: Collection[str]
) -> Mapping[str, Mapping[str, CommitStatus]]:
    """Return the statuses of many commits by commit id, each as `latest` does.

    One request reads a hundred commits. The result lacks what is no commit of the repository; a
    commit without statuses has an empty mapping. Raises GitHubError where GitHub does not answer,
    or not completely.
    """
    found: dict[str, Mapping[str, CommitStatus]] = {}
    # GitHub refuses a whole query for one text that is no object id.
    ids = list(dict.fromkeys(filter(is_commit_id, commits)))
    for start in range(0, len(ids), BATCH):
        some = ids[start : start + BATCH]
        failure = f"the statuses of {len(some)} commits cannot be read"
        variables = {f"commit{n}": commit for n, commit in enumerate(some)}
        data = _query(github, repository, failure, query_of_commits(len(some)), variables)
        found |= _by_commit(data[f"c{n}"] for n in range(len(some)))
    return found


def of_history(
    github: GitHub, repository: str, branch: str, most: int
) -> Mapping[str, Mapping[str, CommitStatus]]:
    """Return the statuses of the newest commits of a branch, newest commit first.

    One request reads `most` commits, 100 at most, in the order of `git log`: the commits that a
    merge brought are among them. A branch that does not exist has none. Raises GitHubError.
    """
    failure = f"the statuses of the newest commits of {branch} cannot be read"
    variables = {"ref": f"refs/heads/{branch}", "most": most}
    ref = _query(github, repository, failure, QUERY_OF_HISTORY, variables)["ref"]
    return {} if ref is None else _by_commit(ref["target"]["history"]["nodes"])


QUERY_OF_HISTORY: Final = f"""\
query History($owner: String!, $name: String!, $ref: String!, $most: Int!) {{
  repository(owner: $owner, name: $name) {{
    ref(qualifiedName: $ref) {{
      target {{ ... on Commit {{ history(first: $most) {{ nodes {{ {_STATUS} }} }} }} }}
    }}
  }}
}}
"""


def query_of_commits(count: int) -> str:
    """Return the GraphQL query for `count` commits: `owner`, `name`, `commit0`, `commit1`, …."""
    variables = "".join(f", $commit{n}: GitObjectID!" for n in range(count))
    objects = "\n".join(
        f"    c{n}: object(oid: $commit{n}) {{ ... on Commit {{ {_STATUS} }} }}"
        for n in range(count)
    )
    return (
        f"query Statuses($owner: String!, $name: String!{variables}) {{\n"
        f"  repository(owner: $owner, name: $name) {{\n{objects}\n  }}\n}}"
    )


def post(github: GitHub, repository: str, commit: str, status: CommitStatus) -> bool:
    """Post a status unless the context's latest says the same; whether it was posted.

    The description is cut to what GitHub takes. A status that a proxy delivers twice stays twice:
    GitHub deletes none, and the latest counts. Raises GitHubError, and KalypsoError for a context
    that is too long.
    """
    if len(status.context) > length_limits.STATUS_CONTEXT:
        raise KalypsoError(
            f"the context of a status has more than {length_limits.STATUS_CONTEXT} characters:"
            f" {status.context}",
            Location(repository),
            "shorten the environment's name, which the context begins with",
        )
    description = length_limits.truncate(status.description, length_limits.STATUS_DESCRIPTION)
    wanted = replace(status, description=description)

    def find() -> CommitStatus | None:
        found = latest(github, repository, commit).get(wanted.context.lower())
        return found if found and replace(found, context=wanted.context) == wanted else None

    def write() -> CommitStatus:
        _send(github, repository, commit, wanted)
        return wanted

    return idempotent_writes.write_if_absent(github, find, write)[1]


def _send(github: GitHub, repository: str, commit: str, status: CommitStatus) -> None:
    body = {
        "state": status.state,
        "context": status.context,
        "description": status.description,
    }
    if status.target_url:
        body["target_url"] = status.target_url
    failure = f"the status “{status.context}” of commit {commit} cannot be posted"
    path = f"/statuses/{rest.segment(commit)}"
    rest.write(github, repository, failure, "POST", path, body, advice=ADVICE)


def _query(
    github: GitHub, repository: str, failure: str, query: str, variables: Mapping[str, rest.Json]
) -> rest.Json:
    """Return the answer about one repository. Raises GitHubError where a part is missing."""
    owner, _, name = repository.partition("/")
    named = {"owner": owner, "name": name, **variables}
    data, errors = github.graphql(owner, failure, query, named)
    if errors:
        message = f"{failure}: GitHub says: {errors[0].get('message', '')}"
        advice = "give the token the permissions contents: read and statuses: read"
        raise GitHubError(message, Location(repository), advice)
    return data["repository"]


def _by_commit(nodes: Iterable[rest.Json]) -> dict[str, Mapping[str, CommitStatus]]:
    """Read GraphQL's commits. An object of another type is `{}`, and an absent one null."""
    return {node["oid"]: _contexts(node["status"]) for node in nodes if node}


def _contexts(status: rest.Json) -> Mapping[str, CommitStatus]:
    listed: Sequence[rest.Json] = [] if status is None else status["contexts"]
    found = (
        CommitStatus(
            context=one["context"],
            state=one["state"].lower(),
            description=one["description"] or "",
            target_url=one["targetUrl"] or "",
            created_at=datetime.fromisoformat(one["createdAt"]),
        )
        for one in listed
    )
    return {one.context.lower(): one for one in found}
