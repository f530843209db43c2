"""Commit statuses: the latest of each context, and new ones where they say something new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from kalypso_actions.clients.github import answers, lengths, rest, writing
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.github import CommitStatus

ADVICE: Final = {
    "maximum number of statuses": "GitHub takes 1000 statuses of one context on one commit, and"
    " deletes none: go on with a new commit",
    "no commit found": "check the commit's id, and that it was pushed to this repository",
}


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
    statuses = map(answers.commit_status, found)
    return {status.context.lower(): status for status in statuses}


def post(github: GitHub, repository: str, commit: str, status: CommitStatus) -> bool:
    """Post a status unless the context's latest says the same; whether it was posted.

    The description is cut to what GitHub takes. A status that a proxy delivers twice stays twice:
    GitHub deletes none, and the latest counts. Raises GitHubError, and KalypsoError for a context
    that is too long.
    """
    if len(status.context) > lengths.STATUS_CONTEXT:
        raise KalypsoError(
            f"the context of a status has more than {lengths.STATUS_CONTEXT} characters:"
            f" {status.context}",
            Location(repository),
            "shorten the environment's name, which the context begins with",
        )
    description = lengths.cut(status.description, lengths.STATUS_DESCRIPTION)
    wanted = replace(status, description=description)

    def find() -> CommitStatus | None:
        found = latest(github, repository, commit).get(wanted.context.lower())
        return found if found and replace(found, context=wanted.context) == wanted else None

    def write() -> CommitStatus:
        _send(github, repository, commit, wanted)
        return wanted

    return writing.once(github, find, write)[1]


def _send(github: GitHub, repository: str, commit: str, status: CommitStatus) -> None:
    body = {
        "state": status.state,
        "context": status.context,
        "description": status.description,
    }
    if status.target_url:
        body["target_url"] = status.target_url
    what = f"the status “{status.context}” of commit {commit} cannot be posted"
    path = f"/statuses/{rest.segment(commit)}"
    rest.write(github, repository, what, "POST", path, body, advice=ADVICE)
