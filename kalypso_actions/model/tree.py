"""The GitOps tree before and after a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, NamedTuple

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import Document, FileEntry, Reading, Revision
from kalypso_actions.model.kinds import (
    MAIN_BASE_REPO,
    BaseRepo,
    Environment,
    Fleet,
    RepositoryPath,
    Workload,
    WorkloadRegistration,
)
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.tree_listing import ListedFolder, TreeListing

MAX_REMOVAL_PERCENT: Final = 30
"""The default share of assignments that a run may remove at once."""


@dataclass(frozen=True, slots=True)
class BaseTree:
    """The content of a GitOps branch: all files, and the texts of the tracking files.

    `path` is the folder of the tree ("" for the root). `is_as_written` is whether a run of ours
    wrote exactly this tree, including its `sources`. `ignore_files` are the `.sourceignore` files
    of people in and above its folder, by path.
    """

    repository: str
    branch: str
    path: str
    entries: Mapping[str, FileEntry]
    promoted_commit: bytes | None = None
    sources: bytes | None = None
    placements: bytes | None = None
    is_as_written: bool = False
    ignore_files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        """The beginning of the paths of its files: its folder with a slash, "" for the root."""
        return f"{self.path}/" if self.path else ""

    def folders(self, outer: str = "") -> Mapping[str, ListedFolder]:
        """Return the folders in a folder of the tree by name, if git listed its files."""
        path = "/".join(filter(None, (self.path, outer)))
        return self.entries.folders(path) if isinstance(self.entries, TreeListing) else {}

    def without(self, folders: Collection[ListedFolder]) -> BaseTree:
        """Return the tree without the files of some folders, which are not parsed."""
        if not isinstance(self.entries, TreeListing):
            return self
        return replace(self, entries=self.entries.without(folders))


@dataclass(frozen=True, slots=True)
class GitOpsBranch:
    """A branch to which an environment's manifests are merged, and our own branch beside it.

    `repository` is `owner/name`, `url` is for git. The tree lies in `folder` ("" is the root);
    `where` and `gitops_repo` are the place and the name of the GitOpsRepo. Two such values are
    equal if they name the same tree.

    The other fields are what a run has read: `head` is the commit of the branch, `base_tree` its
    content, `own_head` the head of `own_branch` (None: absent), and `own_pulls` the heads of our
    open pull requests into the branch, by number.
    """

    repository: str
    url: str
    branch: str
    folder: str
    where: Location = field(compare=False)
    gitops_repo: str = field(default="", compare=False)
    own_branch: str = field(default="", compare=False)
    own_head: str | None = field(default=None, compare=False)
    head: str = field(default="", compare=False)
    base_tree: BaseTree | None = field(default=None, compare=False, repr=False)
    own_pulls: Mapping[int, str] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """The name for people."""
        below = f", folder {self.folder}" if self.folder else ""
        return f"{self.repository}, branch {self.branch}{below}"

    def path_of(self, place: str) -> str:
        """Return the path of a file of the tree from the repository's root."""
        return f"{self.folder}/{place}" if self.folder else place

    @property
    def tree(self) -> BaseTree:
        """The content of the branch. Raises ValueError if the run has not read it."""
        if self.base_tree is None:
            raise ValueError(f"{self.name} has not been read")
        return self.base_tree


@dataclass(frozen=True, slots=True)
class RegistrationReading:
    """The workloads of a registration, and the reason if they are not from its head.

    head        the head of the branch
    last-good   the head is unusable (`problems`): the commit from which the last tree was made
    kept        no usable commit: the folders of its targets stay as they are

    `is_readable` is false if reading failed; a later run may then succeed. `unusable` are the
    Workloads of an unusable head, as far as they are known, and `last_good` is the place from which
    the last tree was made instead: a folder and its commit (None: unknown, or another repository).
    """

    registration: WorkloadRegistration
    state: Literal["head", "last-good", "kept"]
    revision: Revision | None
    workloads: tuple[Workload, ...]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    is_readable: bool = True
    documents: tuple[Document, ...] = ()
    unusable: tuple[Workload, ...] = ()
    last_good: tuple[RepositoryPath, str] | None = None


class LeftOutApplication(NamedTuple):
    """A registration whose head is not rendered.

    Its folders in the tree stay as they are, or come from its last good `commit`; without either of
    these, it is missing from the tree. `assignments` is the number that is frozen or missing; None
    if it is not known.
    """

    registration: str
    is_missing: bool
    assignments: int | None
    commit: str = ""

    @property
    def state(self) -> Literal["frozen", "missing"]:
        """The state in one word."""
        return "missing" if self.is_missing else "frozen"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that one run reads, once.

    `fleet` is the control plane's, without the registrations' workloads; `base_trees` belong to its
    GitOpsRepos, in order. `unpromoted_templates` are on main, but not in the environment's commit
    of main. `lacking` are the problems of documents that the environment's branch lacks, `declared`
    is the Environment object, if it is known, and `now` is the start of the run in whole minutes.
    If the control plane has `problems`, a run must not write.
    """

    environment: str
    own: Reading
    bases: tuple[tuple[BaseRepo, Reading], ...]
    fleet: Fleet
    registrations: tuple[RegistrationReading, ...]
    base_trees: tuple[BaseTree, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    unpromoted_templates: frozenset[str] = frozenset()
    lacking: tuple[Problem, ...] = ()
    declared: Environment | None = None
    now: datetime | None = None

    @property
    def scheduler(self) -> str:
        """The scheduler that the Environment names; "" for the default."""
        return self.declared.scheduler if self.declared else ""

    @property
    def promoted_commit(self) -> str | None:
        """The commit of main in base-repo.yaml; None without one."""
        commits = (base.commit for base, _ in self.bases if base.name == MAIN_BASE_REPO)
        return next(commits, None)


@dataclass(frozen=True, slots=True)
class TreeChanges:
    """The proposed tree, and how it differs from the base tree.

    `files` are our files with their content, by path from the repository's root. The lists of
    paths are sorted bytewise and leave out `sources.json`, whose change alone does not count.
    `foreign_deleted` are deleted files of others in a target's folder. The base tree has
    `existing_folders` target folders; the run deletes `removed_folders`. `preserved_folders` stay
    because the run does not know their content, `taken_over` because their inputs are the same as
    in the base tree. All files of the folders `listed` stay, and nobody has parsed their lines.
    `mass_removal` is the warning if too many assignments would be removed at once.
    """

    files: Mapping[str, FileContent]
    added: tuple[str, ...]
    modified: tuple[str, ...]
    deleted: tuple[str, ...]
    unchanged: tuple[str, ...]
    foreign_deleted: tuple[str, ...] = ()
    removed_folders: tuple[str, ...] = ()
    preserved_folders: tuple[str, ...] = ()
    taken_over: tuple[str, ...] = ()
    listed: tuple[ListedFolder, ...] = ()
    existing_folders: int = 0
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    mass_removal: Problem | None = None

    def content(self, path: str) -> bytes:
        """Return the content of a file. Raises TypeError if only its blob's id is known."""
        content = self.files[path]
        if not isinstance(content, bytes):
            raise TypeError(f"{path} is a blob that git has written already")
        return content
