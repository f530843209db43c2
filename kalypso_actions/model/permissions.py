"""Permissions of a command's token, each for the repositories of one place.

https://docs.github.com/rest/authentication/permissions-required-for-github-apps
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

Place = Literal["control plane", "GitOps repositories", "registered repositories"]
Level = Literal["read", "write"]

CONTROL_PLANE: Final = "control plane"
GITOPS: Final = "GitOps repositories"
REGISTERED: Final = "registered repositories"
"""Repositories of applications, and repositories that BaseRepo objects name."""

OF_JOBS_ALONE: Final = frozenset({"id-token"})
"""Permissions that jobs can have and Apps cannot."""


@dataclass(frozen=True, slots=True)
class Permission:
    """One permission in the repositories of one place.

    `name` is as in `permissions:` of a workflow; write includes read. `only` is the condition under
    which a run needs the permission ("": any run may need it), `reason` is its use.
    """

    place: Place
    name: str
    level: Level
    reason: str
    only: str = ""


READS_MAIN: Final = Permission(
    CONTROL_PLANE, "contents", "read", "reads main and the environment branches"
)
READS_GITOPS: Final = Permission(GITOPS, "contents", "read", "reads the GitOps branches")
READS_WORKLOADS: Final = Permission(REGISTERED, "contents", "read", "reads the registered folders")

RECORDS: Final = Permission(
    CONTROL_PLANE, "statuses", "write", "records that the run has begun; else poll may repeat it"
)


def highest(rows: Iterable[Permission]) -> dict[str, Level]:
    """Return the highest level of each permission, by name."""
    levels: dict[str, Level] = {}
    for row in rows:
        if levels.get(row.name) != "write":
            levels[row.name] = row.level
    return levels
