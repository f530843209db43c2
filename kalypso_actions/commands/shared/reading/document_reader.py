"""Read the documents of repositories, several at once."""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol, TypeVar

from kalypso_actions.clients.git.local import WorkingTree
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.fleet.parsing import promotion_policy
from kalypso_actions.fleet.schemas import KALYPSO_API
from kalypso_actions.model.documents import (
    GIT_LINK_MODE,
    Document,
    FileEntry,
    FilesTooLargeError,
    Reading,
    Revision,
    RevisionFiles,
)
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.model.layout import PLACEMENTS_FOLDER
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.placements import PLACEMENT_GROUP
from kalypso_actions.model.processes import Progress, no_progress
from kalypso_actions.model.promotion_policy import POLICY_KIND, PolicyReading, policy_path
from kalypso_actions.sources.discovery import (
    Build,
    Discovery,
    ParsedContents,
    discover,
    hidden_by_git,
    unfinished_merges,
)
from kalypso_actions.sources.limits import REGISTRATION, Limits
from kalypso_actions.sources.source_tree import (
    IgnoreRules,
    OutsideRepositoryError,
    normalize,
    printable,
    within,
)
from kalypso_actions.sources.yaml_documents import ParsedFile, parse_yaml

Item = TypeVar("Item")
Result = TypeVar("Result")

PARALLEL_READS = 32
"""The number of parallel fetches.

GitHub accepts 100 requests at once from all programs of an account, so three jobs may fetch at
once. More fetches save no time on two cores: see docs/performance.md.
"""

CHECK_SECONDS = 0.5
"""Seconds between checks for an interruption."""


@dataclass(frozen=True)
class Reader:
    """Opens repositories and reads their documents; `fetched` reports the progress.

    `now` is the start of the run in whole minutes. With `kinds`, it parses only the files in which
    one of these kinds may occur, and overlooks the problems of other files.
    """

    repositories: Repositories
    kustomize: KustomizeBuild | None
    fetched: Progress = field(default=no_progress, kw_only=True)
    now: datetime | None = field(default=None, kw_only=True)
    kinds: frozenset[str] = field(default=frozenset(), kw_only=True)

    def documents(
        self, source: RepositoryPath, commit: str | None = None, limits: Limits | None = None
    ) -> Reading:
        """Read the documents of a folder at `commit`, or else at the branch's head.

        `limits` apply to all its files together. Raises KalypsoError.
        """
        files = self.repositories.open(source.repo, branch=source.branch, commit=commit)
        return self.documents_of(files, branch=source.branch, path=source.path, limits=limits)

    def documents_of(
        self, files: RevisionFiles, *, branch: str, path: str = ".", limits: Limits | None = None
    ) -> Reading:
        """Read the documents of a folder of open files."""
        return read_documents(
            files,
            repository=files.repository,
            branch=branch,
            path=path,
            kustomize=self.kustomize,
            limits=limits,
            kinds=self.kinds,
        )


class SharedReader(Reader):
    """A reader for several environments, which reads each folder of a revision once.

    It can be used by several threads.
    """

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader.repositories, reader.kustomize, now=reader.now, kinds=reader.kinds)
        self._lock = threading.Lock()
        self._readings: dict[tuple[RepositoryPath, str | None, Limits | None], Future[Reading]] = {}

    def documents(
        self, source: RepositoryPath, commit: str | None = None, limits: Limits | None = None
    ) -> Reading:
        """Read the documents of a folder, or return the result of an earlier call."""
        key = (source, commit, limits)
        with self._lock:
            is_first = key not in self._readings
            reading = self._readings.setdefault(key, Future())
        if is_first:
            try:
                reading.set_result(super().documents(source, commit, limits))
            except BaseException as error:
                reading.set_exception(error)
                raise
        return reading.result()


def in_parallel(
    read: Callable[[Item], Result],
    items: Iterable[Item],
    progress: Progress = no_progress,
    workers: int = PARALLEL_READS,
) -> list[Result]:
    """Call `read` for every item in `workers` threads, and return the results in order.

    Raises one KalypsoError for all failures.
    """

    def attempt(item: Item) -> Result | KalypsoError:
        try:
            return read(item)
        except KalypsoError as error:
            return error

    pool = ThreadPoolExecutor(workers)
    try:
        futures = [pool.submit(attempt, item) for item in items]
        outcomes = []
        for done, future in enumerate(futures):
            progress(done, len(futures))
            outcomes.append(_outcome(future))
        progress(len(futures), len(futures))
    finally:
        pool.shutdown(cancel_futures=True)
    failures = [outcome for outcome in outcomes if isinstance(outcome, KalypsoError)]
    if failures:
        problems = [problem for failure in failures for problem in failure.problems]
        raise KalypsoError.of(problems) from failures[0]
    return [outcome for outcome in outcomes if not isinstance(outcome, KalypsoError)]


def _outcome(future: Future[Result]) -> Result:
    """Wait for the result in short intervals.

    Only the main thread handles signals; a signal to another thread does not wake it.
    """
    while not future.done():
        wait([future], timeout=CHECK_SECONDS)
    return future.result()


class KustomizeBuild(Protocol):
    """Runs `kustomize build` on a folder among these files and returns its output."""

    def __call__(
        self,
        files: Mapping[str, bytes],
        folder: str,
        /,
        *,
        cpu_seconds: int | None = None,
        max_memory: int | None = None,
    ) -> bytes:
        """Raises KalypsoError with the program's message, or if the program exceeds a bound."""


def read_documents(
    files: RevisionFiles,
    *,
    repository: str,
    branch: str,
    path: str,
    kustomize: KustomizeBuild | None,
    ignore_sourceignore: bool = False,
    limits: Limits | None = None,
    kinds: Collection[str] = (),
) -> Reading:
    """Read all documents below `path`, by the rules of Flux.

    `repository` is the URL as it was written, for locations and provenance. Without `kustomize`, a
    folder that must be built is a problem. With `ignore_sourceignore`, read every YAML file of the
    tree, regardless of `.sourceignore` files and kustomizations. `limits` apply to all files
    together. With `kinds`, only files in which one of them may occur are parsed: the reading lacks
    the other files' documents and problems. Raises KalypsoError if the files cannot be read; the
    returned reading has the problems of their content.
    """
    entries = files.entries(limits.listing_bytes) if limits else files.entries()
    if isinstance(files, WorkingTree):
        links = files.submodules.items()
        entries = {
            **entries,
            **{name: FileEntry(name, GIT_LINK_MODE, id_, 0) for name, id_ in links},
        }
    rounds = _Rounds(files, repository, limits)
    failures: list[Problem] = []
    parsed = ParsedByKind(kinds) if kinds else ParsedContents(limits)
    while True:
        discovery = discover(
            repository,
            path,
            entries,
            rounds.contents,
            rounds.built,
            whole_tree=ignore_sourceignore,
            parsed=parsed,
        )
        if not (discovery.wanted or discovery.builds):
            break
        failures += rounds.build_all(discovery.builds, kustomize)
        excess = rounds.read(sorted(discovery.wanted)) if discovery.wanted else None
        if excess:
            discovery = Discovery(problems=(excess,))
            break
    own = _own_folder(files, repository, path)
    of_disk: Iterable[Problem] = ()
    if isinstance(files, WorkingTree) and not (ignore_sourceignore or limits or kinds):
        of_disk = _of_working_tree(files, repository, path, parsed)
    at = _Place(_revision(files, repository, branch, path))  # reading files found the root's tree
    policies = at.of_documents(own.policies)
    return Reading(
        at.revision,
        at.of_documents(discovery.documents),
        at.of_problems((*discovery.problems, *failures, *own.problems)),
        at.of_problems((*discovery.warnings, *of_disk)),
        at.of_documents(own.placements),
        policies,
        promotion_policy(policies, at.of_problems(own.policy_problems)),
    )


def _of_working_tree(
    files: WorkingTree, repository: str, path: str, parsed: ParsedContents
) -> Iterator[Problem]:
    """Yield what git knows of a working tree: unresolved merges, and documents that it ignores."""
    try:
        folder = normalize(path)
    except OutsideRepositoryError:
        return
    unmerged = [name for name in files.unmerged if within(name, folder)]
    yield from unfinished_merges(repository, unmerged)
    hidden = {name: rule for name, rule in files.hidden.items() if within(name, folder)}
    contents = {name: files.read_hidden(name) for name in hidden}
    rules = parsed.ignore or IgnoreRules({})
    yield from hidden_by_git(repository, hidden, contents, rules)


@dataclass(frozen=True, slots=True)
class _OwnFolder:
    """The documents of `.github/kalypso`; those of the PromotionPolicy are apart."""

    placements: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    policies: tuple[Document, ...] = ()
    policy_problems: tuple[Problem, ...] = ()


def read_policy(files: RevisionFiles, path: str) -> PolicyReading:
    """Read the PromotionPolicy of the environment in `path`, without any other file.

    Raises KalypsoError if the files cannot be read.
    """
    own = _own_folder(files, files.repository, path)
    return promotion_policy(own.policies, own.policy_problems)


def _own_folder(files: RevisionFiles, repository: str, path: str) -> _OwnFolder:
    """Read the YAML files of `.github/kalypso`, which Flux ignores."""
    try:
        folder = normalize(path)
    except OutsideRepositoryError:
        return _OwnFolder()
    prefix = f"{folder}/{PLACEMENTS_FOLDER}/" if folder else f"{PLACEMENTS_FOLDER}/"
    policy = policy_path(folder)
    paths = [
        name
        for name, entry in files.entries().items()
        if name.startswith(prefix) and name.endswith((".yaml", ".yml"))
        if entry.mode != "120000" or name == policy
    ]
    placements: list[Document] = []
    problems: list[Problem] = []
    policies: list[Document] = []
    policy_problems: list[Problem] = []
    for name, text in files.read(paths).items() if paths else ():
        parsed = parse_yaml(repository, name, text)
        is_policy = name == policy
        for document in parsed.documents:
            is_placement = document.api_version.startswith(PLACEMENT_GROUP)
            of_policy = document.kind == POLICY_KIND or (is_policy and not is_placement)
            (policies if of_policy else placements).append(document)
        if is_policy:  # of a key that is written twice, the first value may be a hold
            policy_problems += (*parsed.problems, *parsed.warnings)
        else:
            problems += parsed.problems
        if is_policy and not (parsed.documents or parsed.problems):
            message, advice = "the file has no PromotionPolicy", "write one, or delete the file"
            where = Location(repository, name)
            policy_problems.append(Problem(message, where, advice, "policy-misplaced"))
    return _OwnFolder(tuple(placements), tuple(problems), tuple(policies), tuple(policy_problems))


def read_branch(
    files: RevisionFiles, source: RepositoryPath, kustomize: KustomizeBuild | None
) -> Reading:
    """Read a branch's documents, and its Environments, which a `.sourceignore` of main often hides.

    Raises KalypsoError.
    """

    def read(*, ignore_sourceignore: bool) -> Reading:
        return read_documents(
            files,
            repository=source.repo,
            branch=source.branch,
            path=source.path,
            kustomize=kustomize,
            ignore_sourceignore=ignore_sourceignore,
        )

    reading = read(ignore_sourceignore=False)
    seen = {document.where for document in reading.documents}
    hidden = tuple(
        document
        for document in read(ignore_sourceignore=True).documents
        if _is_environment(document) and document.where not in seen
    )
    return dataclasses.replace(reading, documents=reading.documents + hidden)


def _is_environment(document: Document) -> bool:
    """Whether a document is an Environment, or one with a misspelled kind."""
    if document.kind == "Environment":
        return True
    return document.api_version == KALYPSO_API and bool(nearest(document.kind, ("Environment",)))


class _Place(NamedTuple):
    """Adds the branch and commit of a revision to locations; a folder has neither."""

    revision: Revision

    def of_documents(self, documents: tuple[Document, ...]) -> tuple[Document, ...]:
        """Return the documents with their whole locations."""
        if not self.revision.commit:
            return documents
        return tuple(
            dataclasses.replace(document, where=self._located(document.where))
            for document in documents
        )

    def of_problems(self, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
        """Return the problems with their whole locations."""
        if not self.revision.commit:
            return problems
        return tuple(
            dataclasses.replace(problem, where=self._located(problem.where))
            if problem.where
            else problem
            for problem in problems
        )

    def _located(self, where: Location) -> Location:
        branch, commit = self.revision.branch, self.revision.commit or ""
        return dataclasses.replace(where, branch=branch, commit=commit)


@dataclass(slots=True)
class _Rounds:
    """The files that one reading has read and built in its rounds, within its limits."""

    files: RevisionFiles
    repository: str
    limits: Limits | None
    contents: dict[str, bytes] = field(default_factory=dict)
    built: dict[str, bytes] = field(default_factory=dict)
    built_size: int = 0
    failed: bool = False

    def read(self, paths: Sequence[str]) -> Problem | None:
        """Read files; return a problem if there are too many, or if they are too large together."""
        if self.limits is None:
            self.contents.update(self.files.read(paths))
            return None
        count = len(self.contents) + len(paths)
        if count > self.limits.files:
            return self.limits.too_many_files(self._at(paths[0]), count)
        try:
            self.contents.update(self.files.read(paths, self.limits.text_bytes))
        except FilesTooLargeError as error:
            return self.limits.too_much_text(self._at(error.largest))
        return self._excess(self.contents, sum(map(len, self.contents.values())))

    def build_all(
        self, builds: Iterable[Build], kustomize: KustomizeBuild | None
    ) -> Iterator[Problem]:
        """Build folders with kustomize; with limits, stop after the first failure."""
        for build in builds:
            failure = None if self.limits and self.failed else self.build(build, kustomize)
            self.built.setdefault(build.folder, b"")
            if failure:
                self.failed = True
                yield failure

    def build(self, build: Build, kustomize: KustomizeBuild | None) -> Problem | None:
        """Build a folder with kustomize; its files and its output count toward the limits."""
        self.built[build.folder] = b""
        if kustomize is None:
            fields = ", ".join(build.fields)
            message = f"the kustomization has {fields}, which only the kustomize program builds"
            advice = "install kustomize, or only list resources"
            if {"namePrefix", "nameSuffix"} & {*build.fields}:
                advice += (
                    ": a prefix or suffix would rename BaseRepo main, too, and clusters' folders"
                )
            return Problem(message, build.where, advice, "kustomize-missing")
        limits = self.limits
        if limits and len(self.built) > limits.builds:
            return limits.too_many_builds(build.where)
        try:
            contents = self.files.read(sorted(build.files), limits.text_bytes if limits else None)
            self.built_size += sum(map(len, contents.values()))
            excess = self._excess(contents, self.built_size)
            if excess:
                return excess
            self.built[build.folder] = (
                kustomize(
                    contents,
                    build.folder,
                    cpu_seconds=limits.build_seconds,
                    max_memory=limits.build_bytes,
                )
                if limits
                else kustomize(contents, build.folder)
            )
        except FilesTooLargeError as error:
            return (limits or REGISTRATION).too_much_text(self._at(error.largest))
        except KalypsoError as error:
            where = error.problem.where or build.where
            return dataclasses.replace(error.problem, where=where, code="kustomize-failed")
        return self._excess(self.built, sum(map(len, self.built.values())))

    def _excess(self, contents: Mapping[str, bytes], size: int) -> Problem | None:
        """Return the problem of files of `size` bytes, the largest of which is in `contents`."""
        if self.limits is None or size <= self.limits.text_bytes:
            return None
        return self.limits.too_much_text(self._at(max(contents, key=lambda p: len(contents[p]))))

    def _at(self, path: str) -> Location:
        return Location(self.repository, printable(path))


def _revision(files: RevisionFiles, repository: str, branch: str, path: str) -> Revision:
    try:
        folder = normalize(path)
    except OutsideRepositoryError:
        return Revision(repository, branch, files.commit, path, None)
    return Revision(repository, branch, files.commit, folder or ".", files.tree_id(folder))


DISGUISES = rb"[\\!]|\A(?:\xff\xfe|\xfe\xff)"
"""Escapes, tags (`!!binary`) and UTF-16, by which a file names a kind without its plain text."""


class ParsedByKind(ParsedContents):
    """Parses the files in which one of the kinds may occur.

    Other files have neither objects nor problems.
    """

    __slots__ = ("_kinds",)

    def __init__(self, kinds: Iterable[str]) -> None:
        super().__init__()
        names = b"|".join(re.escape(kind.encode()) for kind in sorted(kinds))
        self._kinds = re.compile(names + b"|" + DISGUISES)

    def objects(self, where: Location, content: bytes) -> ParsedFile:
        """Return the objects of a file that may hold some of the kinds."""
        if self._kinds.search(content) is None:
            return ParsedFile()
        return super().objects(where, content)
