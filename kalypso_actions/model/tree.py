"""A GitOps tree as it is, and what one run makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import FileEntry, Reading, Revision
from kalypso_actions.model.kinds import (
    MAIN_BASE_REPO,
    BaseRepo,
    Fleet,
    Workload,
    WorkloadRegistration,
)


@dataclass(frozen=True, slots=True)
class BaseTree:
    """The existing content of a GitOps branch: every file, and the texts of the tracking files.

    `path` is the folder that the tree lives under ("" for the root).
    """

    repository: str
    branch: str
    path: str
    entries: Mapping[str, FileEntry]
    promoted_commit: bytes | None = None
    sources: bytes | None = None


@dataclass(frozen=True, slots=True)
class RegistrationReading:
    """What a registration contributes, and why it is not its head where it is not.

    head        what stands on the branch now
    last-good   the branch cannot be used (`problems`): the commit that the last tree was made of
    kept        nothing can be read: folders of its targets stay as they are

    `is_readable` is false where reading failed, and may succeed another time. Content that is not
    valid stays so.
    """

    registration: WorkloadRegistration
    state: Literal["head", "last-good", "kept"]
    revision: Revision | None
    workloads: tuple[Workload, ...]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    is_readable: bool = True


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that one run has read, once.

    `fleet` is the control plane's without what the registrations deliver; `base_trees` are those of
    its GitOpsRepos, in their order; `problems` are those of the control plane: with any of them
    nothing may be written.
    """

    environment: str
    own: Reading
    bases: tuple[tuple[BaseRepo, Reading], ...]
    fleet: Fleet
    registrations: tuple[RegistrationReading, ...]
    base_trees: tuple[BaseTree, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]

    @property
    def promoted_commit(self) -> str | None:
        """The commit of main that base-repo.yaml names; None where it names none."""
        commits = (base.commit for base, _ in self.bases if base.name == MAIN_BASE_REPO)
        return next(commits, None)


@dataclass(frozen=True, slots=True)
class TreeChanges:
    """The proposed tree, and how it differs from the base.

    `files` are all files of ours with their content, by path from the repository's root. The lists
    of paths are sorted bytewise and leave `sources.json` out, which alone is no change.
    `foreign_deleted` are those among `deleted` that were not ours but lay in a target's folder.
    `removed_folders` are target folders that go, out of `existing_folders` in the base;
    `kept_folders` are those that stay because what belongs into them is not known.
    """

    files: Mapping[str, bytes]
    added: tuple[str, ...]
    modified: tuple[str, ...]
    deleted: tuple[str, ...]
    unchanged: tuple[str, ...]
    foreign_deleted: tuple[str, ...] = ()
    removed_folders: tuple[str, ...] = ()
    kept_folders: tuple[str, ...] = ()
    existing_folders: int = 0
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
