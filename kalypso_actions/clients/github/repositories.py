"""Facts about a repository."""

from __future__ import annotations

from datetime import datetime

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.messages import Json
from kalypso_actions.model.github import RepositoryFacts, Visibility


def get(github: GitHub, repository: str) -> RepositoryFacts:
    """Return the facts about a repository. Raises GitHubError."""
    answer = rest.read(github, repository, "the repository cannot be read", "")
    permissions = answer.get("permissions") or {}
    return RepositoryFacts(
        id=answer["id"],
        name=answer["full_name"],
        owner_id=answer["owner"]["id"],
        is_organization=answer["owner"]["type"] == "Organization",
        default_branch=answer["default_branch"],
        may_push=permissions.get("push", True),
        is_archived=answer["archived"],
        created_at=datetime.fromisoformat(answer["created_at"]),
        visibility=_visibility(answer),
    )


def id_of_name(github: GitHub, name: str, repository: str) -> int:
    """Return the id of the repository that a name leads to, with the credential for `repository`.

    GitHub redirects former names, even those of another owner (developer.github.com/changes/
    2015-04-17-preview-repository-redirects), where an App need not be installed. Raises
    GitHubError.
    """
    path = "/".join(map(rest.segment, name.split("/")))

    def read() -> int:
        return int(github.send(repository, "GET", f"/repos/{path}").body["id"])

    return github.call(repository, f"the repository cannot be read by the name {name}", read)


def _visibility(answer: Json) -> Visibility:
    """Return the visibility; servers that do not know internal repositories only say `private`."""
    if answer["private"]:
        return "internal" if answer.get("visibility") == "internal" else "private"
    return "public"
