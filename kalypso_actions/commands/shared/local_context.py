"""The readers of a command on a person's machine: of clones, of folders, of a control plane."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from kalypso_actions.clients.git import Authorize, RemoteRepositories, basic
from kalypso_actions.clients.git.connection import INTERACTIVE_DELAYS
from kalypso_actions.clients.git.urls import depth_below, no_credential
from kalypso_actions.clients.kustomize import find_kustomize
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.repositories import (
    MAIN_BRANCH,
    Repositories,
)
from kalypso_actions.inputs.paths import Source
from kalypso_actions.model.processes import Progress, no_progress
from kalypso_actions.model.urls import is_loopback, without_secret

if TYPE_CHECKING:
    from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.clients.git import GitRepository, enclosing_clone, is_repository
from kalypso_actions.clients.git.local import local_files
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    find_environments,
    read_environment_branch,
    read_own_branch,
    reading_branch_of,
)
from kalypso_actions.commands.shared.reading.document_reader import read_branch
from kalypso_actions.errors import Finding, KalypsoError, Location, Problem, UsageError
from kalypso_actions.fleet.named_branches import environment_branch_missing
from kalypso_actions.inputs.local import EnvironmentInputs
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.documents import FILE_MODE, Document, FileEntry, Reading
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.nearest import nearest, suggestion
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.urls import repository_key
from kalypso_actions.sources.source_tree import OutsideRepositoryError, normalize, within
from kalypso_actions.sources.yaml_documents import filtered_file

OF_A_PERSON: Final = frozenset({"https", "ssh", "file", "http"})
"""A person at a terminal may read everything that they can clone; http is for this machine."""


def _silent(_: str) -> None:
    """Log nothing."""


@dataclass(frozen=True, slots=True)
class LocalContext:
    """The programs of the machine, the reporters of rendering and fetching, and the log for people.

    `folder` is the current folder; None to look for no clone there. `connect` connects to GitHub:
    then its credentials replace those of git on this machine.
    """

    programs: Programs
    progress: Progress
    log: Callable[[str], None] = _silent
    fetching: Progress = no_progress
    folder: Path | None = None
    credentials: Authorize = no_credential
    now: datetime | None = None
    connect: Callable[[], AbstractContextManager[CommandContext]] | None = None

    @contextmanager
    def reader(self, sources: Iterable[Source]) -> Iterator[Reader]:
        """Return a reader of `sources` and other repositories; delete fetched copies at the end."""
        with self._repositories(sources) as repositories:
            yield Reader(
                repositories,
                find_kustomize(self.programs),
                fetched=self.fetching,
                now=self.now,
            )

    @contextmanager
    def _repositories(self, given: Iterable[Source]) -> Iterator[Repositories]:
        if self.connect:
            with self.connect() as opened:
                check = opened.repositories.check
                yield Repositories(given, opened.remotes, self.programs, check=check)
            return
        with self.remotes() as remotes:
            yield Repositories(given, remotes, self.programs, clones=self.clones)

    def remotes(self) -> RemoteRepositories:
        """Return a reader of remote repositories with the credentials of git on this machine."""
        return RemoteRepositories(
            self.programs,
            protocols=OF_A_PERSON,
            credentials=self.credentials,
            trust_user_config=True,
            delays=INTERACTIVE_DELAYS,
        )

    def clones(self) -> Mapping[str, Path]:
        """Return the clone that contains the current folder by the URLs of its remotes."""
        clone = find_clone(self.folder, self.programs) if self.folder else None
        return dict.fromkeys(clone[1].remotes(), clone[0]) if clone else {}

    def clone(self, reader: Reader) -> CurrentClone | None:
        """Return the clone of a control plane that contains the current folder, if any."""
        clone = find_clone(self.folder, self.programs) if self.folder else None
        return control_plane_clone(*clone, reader, self.programs) if clone else None

    def why_no_clone(self) -> str:
        """Say why `clone` returns None."""
        clone = find_clone(self.folder, self.programs) if self.folder else None
        if clone is None:
            return "the current folder is in no clone of a repository"
        origin = next(map(without_secret, clone[1].remotes()), str(clone[0].resolve()))
        place = f"the current folder is in a clone of {origin}"
        if clone[1].has_some_branches and not clone[1].has_branch(MAIN_BRANCH):
            command = clone[1].fetch_command(MAIN_BRANCH)
            return f"{place} without the branch {MAIN_BRANCH}, which {command} fetches"
        return f"{place}, whose main has no Environment objects"


def sandbox_credentials(server_url: str, token: str) -> Authorize:
    """Return the credentials of a sandbox on this machine: its token, only for its URLs."""
    if not (token and is_loopback(server_url)):
        return no_credential
    header = basic("x-access-token", token)
    return lambda url: header if depth_below(url, server_url) >= 0 else ""


SUFFIXES = (".yaml", ".yml", ".json")


def check_given_sources(
    sources: Iterable[Source], readings: Iterable[Reading], programs: Programs
) -> Iterator[Finding]:
    """Warn of sources that the documents of a control plane do not name, or that differ."""
    known_urls = {repository_key(url): url for reading in readings for url in _urls(reading)}
    for source in sources:
        where = Location(str(source.path))
        if not source.path.is_dir():
            message = f"--source {without_secret(source.url)}: there is no such folder"
            advice = "check PATH, from the current folder"
            yield _source_ignored(message, where, advice)
        elif not known_urls or source.key in known_urls:
            yield from _uncommitted(source, programs)
        else:
            # All repositories of an organisation have the same host.
            by_path = {key.partition("/")[2]: url for key, url in known_urls.items()}
            close = nearest(source.key.partition("/")[2], by_path)
            meant = f"did you mean {by_path[close]}? " if close else ""
            yield _source_ignored(
                f"--source: nothing here reads {without_secret(source.url)}",
                where,
                f"{meant}Write the URL as in the WorkloadRegistration or BaseRepo",
            )


def check_manifest_folders(documents: Iterable[Document], reader: Reader) -> Iterator[Finding]:
    """Warn of manifests of Workloads whose folder is missing, in repositories on this machine."""
    trees: dict[tuple[str, str], Collection[str] | None] = {}
    for document in documents:
        spec = document.body.get("spec") if document.kind == "Workload" else None
        targets = spec.get("deploymentTargets") if isinstance(spec, Mapping) else None
        for index, target in enumerate(targets if isinstance(targets, list) else ()):
            match target:
                case {"manifests": {"repo": str(repo), "branch": str(branch), "path": str(path)}}:
                    place = repo, branch
                case _:
                    continue
            if place not in trees:
                trees[place] = _folders(reader, *place)
            folders, folder = trees[place], _normalized(path)
            if folders is not None and folder not in folders:
                upper = max((each for each in folders if within(folder, each)), key=len)
                near = nearest(folder, [each for each in folders if within(each, upper)])
                yield Finding(
                    f"Workload {document.name!r}: the branch {branch} of {without_secret(repo)} "
                    f"has no folder {path!r} with manifests",
                    document.at("spec", "deploymentTargets", index, "manifests", "path"),
                    f"did you mean {near}?" if near else "correct the path, or push the manifests",
                    "manifests-folder-missing",
                    level="warning",
                )


def _folders(reader: Reader, repo: str, branch: str) -> Collection[str] | None:
    """Return the folders of a branch; None if it is not on this machine, or cannot be read."""
    try:
        if not reader.repositories.is_at_hand(repo, branch):
            return None
        paths = reader.repositories.open(repo, branch=branch).entries()
    except KalypsoError:
        return None
    return {"", *(str(folder) for path in paths for folder in PurePosixPath(path).parents)} - {"."}


def _normalized(path: str) -> str:
    """Return a folder as in paths of files; "" for the root, and for a path that leads out."""
    try:
        return normalize(path)
    except OutsideRepositoryError:
        return ""


def _source_ignored(message: str, where: Location, advice: str) -> Finding:
    return Finding(message, where, advice, "source-ignored", level="warning")


def _urls(reading: Reading) -> Iterator[str]:
    for document in reading.documents:
        match document.body:
            case {"kind": "BaseRepo" | "GitOpsRepo", "spec": {"repo": str(url)}}:
                yield url
            case {"kind": "WorkloadRegistration", "spec": {"workload": {"repo": str(url)}}}:
                yield url


def _uncommitted(source: Source, programs: Programs) -> Iterator[Finding]:
    """Report edited and new files."""
    if not is_repository(source.path) or not (source.path / ".git").exists():
        return  # a bare repository has no files to edit
    repository = GitRepository(source.path, programs)
    branch = source.branch or repository.checked_out
    if branch != repository.checked_out:
        return
    try:
        paths = uncommitted(source.path, repository) if branch else []
    except KalypsoError:
        return  # whatever reads the repository reports the error
    if paths:
        yield _source_ignored(
            f"uncommitted changes are not read: {abbreviated(paths, 1)}",
            Location(str(source.path)),
            f"commit them, or give a copy without .git; the commit of {branch} is read",
        )


def uncommitted(folder: Path, repository: GitRepository) -> list[str]:
    """Return the edited and the new files of a working tree, among the files that are read.

    It does not call `git status`, which might run programs that the settings name. Raises
    KalypsoError.
    """
    entries = repository.at_commit(repository.checked_out_commit).entries()
    left_out = repository.left_out(folder)
    edited = [
        path
        for path, entry in entries.items()
        if path.endswith(SUFFIXES) and entry.mode == FILE_MODE and path not in left_out
        if _is_edited(folder / path, entry.object_id)
    ]
    return sorted([*edited, *repository.untracked(folder, SUFFIXES)])


def _is_edited(file: Path, object_id: str | None) -> bool:
    """Whether a file differs from its blob, apart from line ends that a checkout converts."""
    if not file.is_file() or file.is_symlink():
        return not file.exists()
    content = file.read_bytes()
    return object_id not in {blob_id(content), blob_id(content.replace(b"\r\n", b"\n"))}


def _differs(now: FileEntry | None, then: FileEntry | None) -> bool:
    """Whether a file of a working tree differs from that of the commit."""
    return (now and now.object_id) != (then and then.object_id)


@dataclass(frozen=True)
class CurrentClone:
    """A clone with a branch of Environment objects, and the branch that is checked out in it.

    `checked_out` is the branch of the control plane that the working tree is based on; "" if that
    is unknown. `problems` are those of the Environment objects.
    """

    path: Path
    repository: GitRepository
    main: str
    checked_out: str
    environments: Mapping[str, Environment]
    problems: tuple[Problem, ...]
    working_tree: FolderFiles = field(repr=False)

    def __str__(self) -> str:
        """Name the clone and its origin, for people."""
        origin = next(iter(self.repository.remotes()), "")
        return f"{self.path.resolve()}{f', a clone of {without_secret(origin)}' if origin else ''}"

    def environment(self, name: str) -> Environment:
        """Return the environment of this name; with "", the checked-out one or the only one.

        Raises UsageError, KalypsoError for faulty Environment objects.
        """
        if self.problems:
            raise KalypsoError.of(self.problems)
        known = ", ".join(self.environments)
        if name:
            if name not in self.environments:
                message = f"there is no Environment {name!r} on {self.main}"
                meant = suggestion(name, self.environments)
                if not meant and self._has(name):
                    meant = f"add one to {self.main} for the branch {name}. "
                raise UsageError(message, advice=f"{meant}Environments: {known}")
            return self.environments[name]
        candidates = self._of_branch() or list(self.environments.values())
        if len(candidates) != 1:
            branch = self.checked_out or "what is checked out"
            message = f"no environment is named, and {branch} belongs to none"
            raise UsageError(message, advice=f"name one of {known}")
        return candidates[0]

    def undeclared(self) -> RepositoryPath | None:
        """Return the checked-out branch if it is based on none of the control plane's branches."""
        branch = "" if self.checked_out else self.repository.checked_out
        return RepositoryPath(str(self.path), branch, ".") if branch else None

    def absent_branches(self) -> Iterator[Finding]:
        """Yield the findings of Environments whose branches are not in the clone."""
        _, absent = self.branches
        known = [name for name in self.repository.branches() if name != self.main]
        for environment in self.environments.values():
            branch = environment.control_plane.branch
            if branch in absent:
                near, fetch = nearest(branch, known), self.repository.fetch_command(branch)
                advice = f"did you mean {near}? Otherwise {fetch}" if near else fetch
                yield environment_branch_missing(environment, "it is not in this clone", advice)

    def branches_behind(self) -> Iterator[Finding]:
        """Yield a warning for each branch of the clone that lacks commits of its remote branch.

        The clone's own branch is read, as git would.
        """
        present, _ = self.branches
        for item in self.repository.behind({place.branch for place in present}):
            remote, _, name = item.remote.partition("/")
            is_here = item.name == self.repository.checked_out
            if item.ahead:
                also = f", and {counted(item.ahead, 'commit')} ahead of it"
                advice = f"git merge {item.remote}" if is_here else f"merge {item.remote} into it"
            else:
                also = ""
                advice = f"git merge --ff-only {item.remote}" if is_here else ""
                advice = advice or f"git fetch {remote} {name}:{name}"
            yield Finding(
                f"the branch {item.name} of this clone is {counted(item.behind, 'commit')} behind "
                f"{item.remote}{also}: what is read here is older",
                Location(str(self.path), branch=item.name),
                advice,
                "branch-behind",
                level="warning",
            )

    def file_before(self, path: str) -> bytes:
        """Return the earlier content of a file of the working tree: before the last change of it.

        b"" if there was none.
        """
        commit = self.repository.checked_out_commit
        head = self.repository.at_commit(commit)
        if not _differs(self.working_tree.entries().get(path), head.entries().get(path)):
            changed, _ = self.repository.last_changed(commit, (path,))
            parent = self.repository.parent(changed) if changed else ""
            if not parent:
                return b""
            head = self.repository.at_commit(parent)
        return head.read([path])[path] if path in head.entries() else b""

    def newer(self, branch: str, one: str, other: str) -> str:
        """Return the file of a branch that has changed last; "" if both have, or neither.

        The branch of the working tree's files is "".
        """
        commit = self.repository.resolve(branch or "HEAD")
        changed: Collection[str] = ()
        if not branch:
            now = self.working_tree.entries()
            then = self.repository.at_commit(commit).entries()
            changed = [path for path in (one, other) if _differs(now.get(path), then.get(path))]
        if not changed:
            _, changed = self.repository.last_changed(commit, (one, other))
        return next(iter(changed)) if len(changed) == 1 else ""

    def files_of(self, branch: str) -> FolderFiles | None:
        """Return the working tree if the branch is checked out: people check before committing."""
        return self.working_tree if branch == self.checked_out else None

    @cached_property
    def branches(self) -> tuple[list[RepositoryPath], list[str]]:
        """Main and the environments' branches, and the names of those that are absent."""
        places = [RepositoryPath(str(self.path), self.main, ".")]
        places += [
            RepositoryPath(str(self.path), place.branch, place.path)
            for place in (environment.control_plane for environment in self.environments.values())
        ]
        places = list(dict.fromkeys(places))
        present = [place for place in places if self._has(place.branch)]
        return present, [place.branch for place in places if place not in present]

    def read(self, source: RepositoryPath, reader: Reader) -> Reading:
        """Read a branch of the clone: the checked-out one from the working tree."""
        files = self.files_of(source.branch) or reader.repositories.open(
            str(self.path), branch=source.branch
        )
        reading = read_branch(files, source, reader.kustomize)
        stored = [*self._stored_otherwise(reading)] if files is self.working_tree else []
        return replace(reading, problems=(*reading.problems, *stored))

    def _stored_otherwise(self, reading: Reading) -> Iterator[Problem]:
        """Yield the documents that Git LFS or git-crypt changes on the way into git.

        All other commands read what git has.
        """
        here = self.working_tree.entries()
        attributes = [path for path in here if path.endswith(".gitattributes")]
        if not any(b"filter=" in text for text in self.working_tree.read(attributes).values()):
            return
        head = self.repository.at_commit(self.repository.checked_out_commit)
        paths = {document.where.path for document in reading.documents} & head.entries().keys()
        for path, content in head.read(sorted(paths)).items():
            problem = filtered_file(content, Location(reading.revision.repository, path))
            if problem:
                yield replace(problem, message=f"in git, {problem.message}")

    @property
    def head_of_main(self) -> str:
        """The newest commit of main in the clone."""
        return self.repository.resolve(self.main)

    @property
    def change_of_main(self) -> str:
        """The checked-out branch if it has commits for main; "" if there is none."""
        own = self.repository.checked_out if self.checked_out == self.main else ""
        if own in {"", self.main} or self.repository.checked_out_commit == self.head_of_main:
            return ""
        return own

    def place(self, branch: str) -> str:
        """Return the place from which a branch is read, for people."""
        if branch != self.checked_out:
            return f"the branch {branch}"
        own = self.repository.checked_out or "a detached HEAD"
        return "the working tree" if own == branch else f"the working tree, on {own}"

    def _of_branch(self) -> list[Environment]:
        return [
            environment
            for environment in self.environments.values()
            if environment.control_plane.branch == self.checked_out
        ]

    def _has(self, branch: str) -> bool:
        return branch == self.checked_out or self.repository.has_branch(branch)


def find_clone(folder: Path, programs: Programs) -> tuple[Path, GitRepository] | None:
    """Return the clone that contains a folder."""
    path = enclosing_clone(folder)
    return (path, GitRepository(path, programs, repository=str(path))) if path else None


def control_plane_clone(
    path: Path, repository: GitRepository, reader: Reader, programs: Programs
) -> CurrentClone | None:
    """Return the clone if main has Environment objects; None for other clones."""
    try:
        main = reader.repositories.main_branch(str(path))
        working_tree = local_files(path, programs, repository=str(path))
        files = working_tree if repository.checked_out == main else None
        environments, problems = find_environments(reader, str(path), main, files)
    except KalypsoError:
        return None  # it has no commits, or a detached HEAD and no main
    if not (environments or problems):
        return None
    branches = [main, *(each.control_plane.branch for each in environments.values())]
    checked_out = repository.checked_out
    # People work on branches of their own, and jobs check out a merge without a branch.
    stands_for = checked_out if checked_out in branches else repository.nearest(branches)
    return CurrentClone(path, repository, main, stands_for, environments, problems, working_tree)


@dataclass(frozen=True, slots=True)
class ControlPlanePlace:
    """A control plane at a URL or path, with its main branch and Environment objects."""

    place: str
    main: str
    head: str
    environments: Mapping[str, Environment]
    reader: Reader

    @property
    def name(self) -> str:
        """The last part of the repository's URL or path."""
        place = self.place if "://" in self.place else str(Path(self.place).resolve())
        return Path(place).name.removesuffix(".git")

    def environment(self, name: str) -> EnvironmentReading:
        """Read an environment's branch. Raises KalypsoError, UsageError for an unknown one."""
        declared = self.environments.get(name)
        if declared is None:
            known = ", ".join(self.environments)
            advice = f"{suggestion(name, self.environments)}Environments: {known}"
            raise UsageError(f"there is no Environment {name!r} on {self.main}", advice=advice)
        return read_own_branch(
            declared, self.place, self.reader, main=self.main, main_commit=self.head
        )

    def commit_of(self, environment: EnvironmentReading) -> str:
        """Return the commit of main that an environment has, or that cd will write."""
        return environment.promoted_commit or self.head


def find_control_plane(
    place: str | None, reader: Reader, context: LocalContext
) -> ControlPlanePlace:
    """Return the control plane at a URL or path, else that of the current clone.

    Raises UsageError without a control plane, KalypsoError for faulty Environment objects.
    """
    if place is None:
        clone = context.clone(reader)
        if clone is None:
            raise UsageError(
                "no control plane is named, and the current folder is not a clone of one",
                advice="change to a clone whose main has Environment objects, or name the control "
                "plane with --control-plane",
            )
        place = str(clone.path)
    main = reader.repositories.main_branch(place)
    environments, problems = find_environments(reader, place, main)
    if problems:
        raise KalypsoError.of(problems)
    head = reader.repositories.resolve(place, main, main)
    return ControlPlanePlace(place, main, head, environments, reader)


def read_branch_of(
    inputs: EnvironmentInputs, reader: Reader, context: LocalContext, *, verb: str
) -> EnvironmentReading:
    """Read the branch of the control plane, folder or clone that the inputs name.

    `verb` begins the log line about the files of a clone. Raises KalypsoError for an
    unreadable branch, UsageError if nothing is named.
    """
    name = inputs.environment
    if inputs.control_plane is not None:
        return read_environment_branch(reader, inputs.control_plane, name)
    folder = inputs.environment_dir
    if folder is None:
        return _branch_of_clone(inputs, reader, context, verb)
    if not folder.is_dir():
        raise UsageError(f"--environment-dir {folder}: there is no such folder")
    # Even in a clone, read the working tree: people render before they commit.
    files = local_files(folder, context.programs)
    return EnvironmentReading(name, reader.documents_of(files, branch=name))


def _branch_of_clone(
    inputs: EnvironmentInputs, reader: Reader, context: LocalContext, verb: str
) -> EnvironmentReading:
    clone = context.clone(reader)
    if clone is None:
        raise UsageError(
            f"no control plane is named, and {context.why_no_clone()}",
            advice="change to a clone of the control plane, or name it with --control-plane, or "
            "the environment's folder with --environment-dir",
        )
    environment = clone.environment(inputs.environment)
    place = environment.control_plane
    context.log(f"{verb} {environment.name}: {clone.place(place.branch)} of {clone}.")
    change = clone.change_of_main
    if change and not inputs.base_commit:
        context.log(f"The branch {change} is not part of it: add --base-commit {change}.")
    files = clone.files_of(place.branch)
    if files:
        own = reader.documents_of(files, branch=place.branch, path=place.path)
    else:
        with reading_branch_of(environment):
            own = reader.documents(RepositoryPath(str(clone.path), place.branch, place.path))
    own = place.located(own)
    return EnvironmentReading(environment.name, own, environment, str(clone.path), main=clone.main)
