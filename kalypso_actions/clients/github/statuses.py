"""Read the statuses of commits; post a status if it differs from the latest one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from kalypso_actions.clients.github import idempotent_writes, rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.errors import Json
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.object_ids import is_commit_id

ADVICE: Final = {
    "maximum number of statuses": "GitHub accepts 1000 statuses of one context on one commit, and"
    " deletes none: continue with a new commit",
    "no commit found": "check the commit's id, and that it was pushed to this repository",
}

BATCH_SIZE: Final = 100

PERMISSIONS: Final = "contents: read and statuses: read"

STATUS_FIELDS: Final = (
    "oid status { contexts { context state description createdAt targetUrl "
    "creator { __typename login } } }"
)
"""The fields of a commit that `by_context` reads."""


def of_commits(
    github: GitHub, repository: str, commits: Collection[str]
) -> Mapping[str, Mapping[str, CommitStatus]]:
    """Return the statuses of many commits by commit id, by context in lower case.

    GitHub ignores the case of contexts. One request reads a hundred commits. The result omits ids
    that are not commits of the repository; a commit without statuses has an empty mapping. Raises
    GitHubError if GitHub does not answer completely.
    """
    statuses: dict[str, Mapping[str, CommitStatus]] = {}
    # GitHub refuses the whole query for one text that is not an object id.
    ids = list(dict.fromkeys(filter(is_commit_id, commits)))
    for start in range(0, len(ids), BATCH_SIZE):
        batch = ids[start : start + BATCH_SIZE]
        failure = f"the statuses of {len(batch)} commits cannot be read"
        variables = {f"commit{n}": commit for n, commit in enumerate(batch)}
        data = github.query_repository(
            repository, failure, query_of_commits(len(batch)), variables, PERMISSIONS
        )
        statuses |= _by_commit(data[f"c{n}"] for n in range(len(batch)))
    return statuses


def of_history(
    github: GitHub, repository: str, branch: str, most: int
) -> Mapping[str, Mapping[str, CommitStatus]]:
    """Return the statuses of the newest commits of a branch, newest commit first.

    One request reads `most` commits (at most 100) in the order of `git log`, including the commits
    that a merge brought. A branch that does not exist has none. Raises GitHubError.
    """
    failure = f"the statuses of the newest commits of {branch} cannot be read"
    variables = {"ref": f"refs/heads/{branch}", "most": most}
    query = QUERY_OF_HISTORY
    ref = github.query_repository(repository, failure, query, variables, PERMISSIONS)["ref"]
    return {} if ref is None else _by_commit(ref["target"]["history"]["nodes"])


QUERY_OF_HISTORY: Final = f"""\
query History($owner: String!, $name: String!, $ref: String!, $most: Int!) {{
  repository(owner: $owner, name: $name) {{
    ref(qualifiedName: $ref) {{
      target {{ ... on Commit {{ history(first: $most) {{ nodes {{ {STATUS_FIELDS} }} }} }} }}
    }}
  }}
}}
"""


def history(github: GitHub, repository: str, commit: str) -> tuple[CommitStatus, ...]:
    """Return all statuses that a commit ever had, newest first. Raises GitHubError."""
    failure = f"the statuses of commit {commit} cannot be read"
    path, query = f"/commits/{rest.segment(commit)}/statuses", {"per_page": "100"}
    listed = github.call(repository, failure, lambda target: rest.read_all(target, path, query))
    return tuple(
        CommitStatus(
            context=status["context"],
            state=status["state"],
            description=status["description"] or "",
            target_url=status["target_url"] or "",
            author=(status["creator"] or {}).get("login", ""),
            created_at=datetime.fromisoformat(status["created_at"]),
        )
        for status in listed
    )


def query_of_commits(count: int) -> str:
    """Return the GraphQL query for `count` commits: `owner`, `name`, `commit0`, `commit1`, …."""
    variables = "".join(f", $commit{n}: GitObjectID!" for n in range(count))
    objects = "\n".join(
        f"    c{n}: object(oid: $commit{n}) {{ ... on Commit {{ {STATUS_FIELDS} }} }}"
        for n in range(count)
    )
    return (
        f"query Statuses($owner: String!, $name: String!{variables}) {{\n"
        f"  repository(owner: $owner, name: $name) {{\n{objects}\n  }}\n}}"
    )


def post(
    github: GitHub,
    repository: str,
    commit: str,
    status: CommitStatus,
    *,
    run_url: str = "",
    is_new: bool = False,
) -> bool:
    """Post a status unless the latest one of its context is equal; return whether it was posted.

    An equal status by an account outside of the chain does not count, since the readers of statuses
    ignore it. Truncate a long description. If a proxy delivers a status twice, GitHub keeps both,
    and the latest counts. `run_url` becomes the link of a new status; a different link alone
    does not cause a post. `is_new`: the caller has just read that the latest status differs. Raises
    GitHubError, and KalypsoError for a context that is too long.
    """
    if len(status.context) > idempotent_writes.STATUS_CONTEXT:
        raise KalypsoError(
            f"the context of a status has more than {idempotent_writes.STATUS_CONTEXT} characters:"
            f" {status.context}",
            Location(repository),
            "shorten the environment's name, with which the context begins",
        )
    description = idempotent_writes.truncate(
        status.description, idempotent_writes.STATUS_DESCRIPTION
    )
    new = replace(status, description=description)

    def find() -> CommitStatus | None:
        posted = of_commits(github, repository, [commit]).get(commit, {})
        current = posted.get(new.context.lower())
        if current is None:
            return None
        link = new.target_url if run_url else current.target_url
        is_equal = replace(current, context=new.context, target_url=link) == new
        if is_equal and github.identity(repository).is_of_chain(current.author):
            return current
        return None

    def write() -> CommitStatus:
        _send(github, repository, commit, replace(new, target_url=run_url or new.target_url))
        return new

    if is_new:
        idempotent_writes.write_verified(github, find, write)
        return True
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
    # PyGithub would read the commit first.
    github.call(
        repository, failure, lambda target: rest.send(target, "POST", path, body), advice=ADVICE
    )


def _by_commit(nodes: Iterable[Json]) -> dict[str, Mapping[str, CommitStatus]]:
    """Convert GraphQL's commits; an object of another type is `{}`, a missing one is null."""
    return {node["oid"]: by_context(node["status"]) for node in nodes if node}


def by_context(status: Json) -> Mapping[str, CommitStatus]:
    """Return the statuses in a commit's `status` (`STATUS_FIELDS`), by context in lower case."""
    contexts: Sequence[Json] = [] if status is None else status["contexts"]
    return {
        context["context"].lower(): CommitStatus(
            context=context["context"],
            state=context["state"].lower(),
            description=context["description"] or "",
            target_url=context["targetUrl"] or "",
            author=login(context["creator"]),
            created_at=datetime.fromisoformat(context["createdAt"]),
        )
        for context in contexts
    }


def login(actor: Json) -> str:
    """Return an actor's login as REST writes it: GraphQL omits the `[bot]`."""
    if actor is None:
        return ""
    name = str(actor["login"]).removesuffix("[bot]")
    return f"{name}[bot]" if actor["__typename"] == "Bot" else name
