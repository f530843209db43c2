"""The permissions that the token of each command needs, by repository, with reasons.

The table is complete, but for reading public repositories and metadata, which any token may do.

A job's own token (`github.token`) works in the job's repository alone: `permissions:` of the
workflow grants it the rows of that place. A GitHub App works in all repositories where it is
installed, and gets the highest level of all rows.

https://docs.github.com/rest/authentication/permissions-required-for-github-apps
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

Place = Literal["control plane", "GitOps repositories", "registered repositories"]
Level = Literal["read", "write"]

CONTROL_PLANE: Final = "control plane"
GITOPS: Final = "GitOps repositories"
REGISTERED: Final = "registered repositories"
"""Repositories of applications, and those that BaseRepo objects name."""

OF_JOBS_ALONE: Final = frozenset({"id-token"})
"""Permissions that only jobs have, and no App."""


@dataclass(frozen=True, slots=True)
class Permission:
    """One permission in the repositories of one place.

    `name` is as in `permissions:` of a workflow; write includes read. `only` is the condition of
    the need ("": any run may need it), `reason` the use.
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

VERIFY_ONLY: Final[Mapping[str, tuple[Permission, ...]]] = {
    "cd": (READS_MAIN, RECORDS),
    "check-promote": (READS_MAIN, READS_GITOPS, RECORDS),
}
"""The permissions of commands with `verify-only`."""

PERMISSIONS: Final[Mapping[str, tuple[Permission, ...]]] = {
    "ci": (
        READS_MAIN,
        Permission(
            CONTROL_PLANE, "statuses", "write", "posts the status `kalypso / ci`; else a warning"
        ),
        Permission(
            CONTROL_PLANE, "actions", "write", "starts `cd.yaml`", "on a push to main, or start-cd"
        ),
        Permission(GITOPS, "contents", "read", "reports what would change; else a warning"),
        READS_WORKLOADS,
    ),
    "cd": (
        Permission(CONTROL_PLANE, "contents", "write", "writes `base-repo.yaml` to a branch"),
        Permission(CONTROL_PLANE, "statuses", "write", "posts the state of the commit"),
        Permission(
            CONTROL_PLANE, "actions", "write", "starts `schedule.yaml`", "the branch has the commit"
        ),
        Permission(
            CONTROL_PLANE,
            "pull-requests",
            "write",
            "proposes the commit to the branch",
            "mode: pull-request",
        ),
    ),
    "schedule": (
        READS_MAIN,
        Permission(
            CONTROL_PLANE,
            "statuses",
            "write",
            "reads whether the commit is deployed; records its inputs for poll",
        ),
        Permission(
            CONTROL_PLANE,
            "actions",
            "write",
            "starts `check-promote.yaml`",
            "auto-merge, or its start after a merge was lost",
        ),
        Permission(
            GITOPS,
            "contents",
            "write",
            "pushes the branch of the proposal; merges, with auto-merge",
        ),
        Permission(GITOPS, "pull-requests", "write", "proposes the tree, with labels"),
        Permission(GITOPS, "issues", "write", "opens and closes issues about failing assignments"),
        READS_WORKLOADS,
    ),
    "notify": (
        READS_GITOPS,
        READS_MAIN,
        Permission(
            CONTROL_PLANE,
            "statuses",
            "write",
            "reads whether the commit is deployed; records the start for poll",
        ),
        Permission(CONTROL_PLANE, "actions", "write", "starts `check-promote.yaml`"),
    ),
    "check-promote": (
        READS_MAIN,
        Permission(CONTROL_PLANE, "statuses", "write", "posts the state of the commit"),
        Permission(
            CONTROL_PLANE, "actions", "write", "starts `cd.yaml`, or itself after some hours"
        ),
        Permission(
            CONTROL_PLANE, "id-token", "write", "signs in to Azure", "with OIDC: azure-client-id"
        ),
        READS_GITOPS,
    ),
    "poll": (
        READS_MAIN,
        Permission(CONTROL_PLANE, "statuses", "write", "reads and writes the records of starts"),
        Permission(
            CONTROL_PLANE, "actions", "write", "starts `schedule.yaml`; repeats lost starts"
        ),
        READS_GITOPS,
        Permission(GITOPS, "pull-requests", "read", "reads the proposals"),
        READS_WORKLOADS,
    ),
    "start-schedule": (
        READS_MAIN,
        Permission(
            CONTROL_PLANE, "statuses", "write", "records the start; else poll may repeat it"
        ),
        Permission(CONTROL_PLANE, "actions", "write", "starts `schedule.yaml`"),
    ),
}
"""By the names of the commands."""


def highest(rows: Iterable[Permission]) -> dict[str, Level]:
    """Return the highest level of each permission, by name."""
    levels: dict[str, Level] = {}
    for row in rows:
        if levels.get(row.name) != "write":
            levels[row.name] = row.level
    return levels


def of_job(command: str, place: Place, *, verify_only: bool = False) -> dict[str, Level]:
    """Return the `permissions:` of a job that runs a command by its token in a repository.

    Raises KeyError for an unknown command.
    """
    table = VERIFY_ONLY if verify_only else PERMISSIONS
    return highest(row for row in table[command] if row.place == place)


def of_app(commands: Iterable[str] = PERMISSIONS) -> dict[str, Level]:
    """Return the permissions of a GitHub App for these commands, by the names of GitHub's API.

    Raises KeyError for an unknown command.
    """
    rows = (row for command in commands for row in PERMISSIONS[command])
    levels = highest(row for row in rows if row.name not in OF_JOBS_ALONE)
    return {name.replace("-", "_"): level for name, level in sorted(levels.items())}
