"""Federated credentials, by which jobs sign in to Azure, and the subjects of jobs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from kalypso_actions.model.github import RepositoryFacts

MAX_CREDENTIALS: Final = 20
"""The most credentials of one app registration or managed identity.

https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
"""

GITHUB: Final = "https://github.com"

IDS_SINCE: Final = datetime(2026, 7, 15, tzinfo=UTC)
"""Repositories created since then use their ids to sign in."""

OWNER_ID: Final = "OWNER-ID"
REPOSITORY_ID: Final = "REPOSITORY-ID"
"""Placeholders for unknown ids."""


def subject_prefixes(
    repository: str, server: str, facts: RepositoryFacts | None
) -> tuple[tuple[str, str], ...]:
    """Return the possible beginnings of subjects, each with a suffix for the credential's name.

    `facts` is None if nobody asked GitHub. One form has the names of `repository`; the other adds
    ids, which never change. Repositories created, renamed or moved since July 2026 use the form
    with ids, and others may opt in. GitHub Enterprise Server uses names alone.
    https://docs.github.com/actions/reference/security/oidc
    """
    owner, _, name = repository.partition("/")
    by_name = ("", f"repo:{owner}/{name}")
    if is_enterprise_server(server):
        return (by_name,)
    owner_id = facts.owner_id if facts else OWNER_ID
    repository_id = facts.id if facts else REPOSITORY_ID
    by_id = ("-by-id", f"repo:{owner}@{owner_id}/{name}@{repository_id}")
    is_new = facts is not None and facts.created_at >= IDS_SINCE
    return (by_id,) if is_new else (by_name, by_id)


def is_enterprise_server(server: str) -> bool:
    """Whether a URL belongs to GitHub Enterprise Server, which companies run themselves."""
    return server != GITHUB and not urlsplit(server).netloc.endswith(".ghe.com")
