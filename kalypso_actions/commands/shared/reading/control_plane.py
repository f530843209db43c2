"""Read the Environment objects of main, and the environments' own branches.

environments, problems = find_environments(reader, url, "main")
dev = read_own_branch(environments["dev"], url, reader, main="main", main_commit=head)
dev.own.documents, dev.promoted_commit
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from kalypso_actions.commands.shared.reading.document_reader import (
    Reader,
    in_parallel,
    read_documents,
)
from kalypso_actions.errors import (
    Diagnostics,
    Finding,
    KalypsoError,
    Location,
    Problem,
    UsageError,
    of_level,
)
from kalypso_actions.fleet.assembly import Branch, assemble
from kalypso_actions.fleet.named_branches import (
    environment_branch_missing,
    foreign_commits,
    has_kind,
)
from kalypso_actions.fleet.parsing import parse_document
from kalypso_actions.model.documents import Document, Reading, RevisionFiles
from kalypso_actions.model.kinds import (
    MAIN_BASE_REPO,
    BaseRepo,
    Environment,
    Fleet,
    GitOpsRepo,
    RepositoryPath,
)
from kalypso_actions.promotion.base_repo import (
    BASE_REPO_FILE,
    BaseDocument,
    base_document,
    with_commit,
)
from kalypso_actions.sources.source_tree import OutsideRepositoryError, join, normalize
from kalypso_actions.sources.yaml_documents import parse_yaml


@dataclass(frozen=True)
class EnvironmentReading:
    """An environment's own branch or folder, as it was read.

    `declared` is the Environment object, `control_plane` the URL or path of the repository, and
    `main` the branch that promotions take commits from; a folder that is read alone has none of
    them. `promoted_commit` is the commit of main that the branch
    names, if it was looked for.
    """

    name: str
    own: Reading
    declared: Environment | None = None
    control_plane: str = ""
    promoted_commit: str | None = None
    main: str = ""

    @property
    def base_repos(self) -> tuple[BaseRepo, ...]:
        """The base repositories that the branch names."""
        return self._named[0].base_repos

    @property
    def gitops_repos(self) -> tuple[GitOpsRepo, ...]:
        """The GitOps repositories that the branch names itself."""
        return self._named[0].gitops_repos

    @property
    def names_repositories(self) -> bool:
        """Whether the branch has a BaseRepo and a GitOpsRepo."""
        return {"BaseRepo", "GitOpsRepo"} <= {document.kind for document in self.own.documents}

    @property
    def main_url(self) -> str:
        """The URL of main in the BaseRepo, else the place of the control plane."""
        urls = (base.source.repo for base in self.base_repos if base.name == MAIN_BASE_REPO)
        return next(urls, self.control_plane)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the branch's files, and of the documents that name repositories."""
        return (*self.own.problems, *self._named[1].problems)

    @cached_property
    def _named(self) -> tuple[Fleet, Diagnostics]:
        kinds = {"BaseRepo", "GitOpsRepo"}
        documents = tuple(item for item in self.own.documents if item.kind in kinds)
        return assemble(self.name, Branch(self.name, documents), ())


def find_environments(
    reader: Reader, control_plane: str, branch: str, files: RevisionFiles | None = None
) -> tuple[dict[str, Environment], tuple[Problem, ...]]:
    """Return the Environment objects of main's whole tree by name, regardless of `.sourceignore`.

    Files without Kubernetes documents are not a problem, because nobody applies them. `files` are
    the files of main, if they are already open.
    """
    files = files or reader.repositories.open(control_plane, branch=branch)
    reading = read_documents(
        files,
        repository=control_plane,
        branch=branch,
        path=".",
        kustomize=None,
        ignore_sourceignore=True,
        kinds=("Environment",),
    )
    return environments_among(reading.documents)


def environments_among(
    documents: Iterable[Document],
) -> tuple[dict[str, Environment], tuple[Problem, ...]]:
    """Return the Environment objects among documents by name, and their problems."""
    findings = Diagnostics()
    environments: dict[str, Environment] = {}
    for document in documents:
        if document.kind != "Environment":
            continue
        environment = parse_document(document, findings)
        if isinstance(environment, Environment):
            first = environments.setdefault(environment.name, environment)
            if first is not environment:
                message = f"Environment {environment.name!r} is already defined in {first.where}"
                advice = "remove or rename one of the two"
                problem = Problem(message, environment.where, advice, "object-duplicate")
                findings.problems.append(problem)
    return environments, tuple(findings.problems)


@contextmanager
def reading_branch_of(environment: Environment | None) -> Iterator[None]:
    """Raise the finding of the Environment if its branch does not exist."""
    try:
        yield
    except KalypsoError as error:
        problem = error.problem
        if environment is None or not environment.control_plane.lacks_branch(problem.message):
            raise
        advice = problem.advice
        finding = environment_branch_missing(environment, problem.message, advice)
        raise KalypsoError.of([dataclasses.replace(finding, level="error")]) from error


def read_environment_branch(reader: Reader, control_plane: str, name: str) -> EnvironmentReading:
    """Read the branch of an environment in a control plane.

    The Environment object names the branch; without one, the branch has the environment's name. The
    object's `repo` does not matter: the caller names the control plane.
    """
    main = reader.repositories.main_branch(control_plane)
    environments, problems = find_environments(reader, control_plane, main)
    if problems:
        raise KalypsoError.of(problems)
    declared = environments.get(name)
    place = declared.control_plane if declared else RepositoryPath("", name, ".")
    try:
        with reading_branch_of(declared):
            own = reader.documents(RepositoryPath(control_plane, place.branch, place.path))
    except KalypsoError as error:
        if declared:
            raise
        advice = f"there is no Environment {name!r} on {main} either; check the name"
        raise UsageError(error.problem.message, error.problem.where, advice) from error
    return EnvironmentReading(name, place.located(own), declared, control_plane, main=main)


def read_own_branch(
    environment: Environment,
    control_plane: str,
    reader: Reader,
    *,
    main: str,
    main_commit: str,
    commit: str = "",
) -> EnvironmentReading:
    """Read an environment's branch at `commit`, else at its head, to plan it with any commit.

    If the branch names no commit of the branch `main`, its documents name `main_commit`, as cd will
    write it.
    """
    place = environment.control_plane
    with reading_branch_of(environment):
        files = reader.repositories.open(control_plane, branch=place.branch, commit=commit or None)
    own = read_documents(
        files,
        repository=control_plane,
        branch=place.branch,
        path=place.path,
        kustomize=reader.kustomize,
    )
    own = place.located(own)
    document = base_document(own.documents)
    promoted_commit = document.promoted_commit if document else None
    # A BaseRepo of another name is misnamed; a second one would define everything of main twice.
    if document is None and not has_kind(own, "BaseRepo"):
        base = read_base_file(files, place.path)
        promoted_commit = base.promoted_commit
        if not promoted_commit:  # else the plan warns that nobody applies the file
            where = Location(control_plane, base.where.path)
            text = with_commit(None, main_commit, repo=control_plane, branch=main, where=where)
            new = parse_yaml(control_plane, base.where.path, text.encode()).documents
            own = dataclasses.replace(own, documents=(*own.documents, *new))
    return EnvironmentReading(
        environment.name, own, environment, control_plane, promoted_commit, main
    )


@dataclass(frozen=True, slots=True)
class ControlPlaneReading:
    """An environment's own branch with its base repositories, without the registered ones."""

    environment: EnvironmentReading
    bases: tuple[tuple[BaseRepo, Reading], ...]
    fleet: Fleet
    findings: Diagnostics

    @property
    def promoted_commit(self) -> str | None:
        """The commit of main that the branch names, if any."""
        return next((base.commit for base, _ in self.bases if base.name == MAIN_BASE_REPO), None)


def read_control_plane(
    environment: EnvironmentReading, reader: Reader, *, promoted_commit: str | None = None
) -> ControlPlaneReading:
    """Read the base repositories that an environment branch names.

    `promoted_commit`, a branch, a tag or an id, replaces the commit in `base-repo.yaml`. The
    findings concern the documents, not the files. Raises KalypsoError for an unreadable base
    repository.
    """
    name, own = environment.name, environment.own
    bases = [_pinned(base, promoted_commit, reader) for base in environment.base_repos]
    readings = in_parallel(lambda base: _read_base(base, reader), bases)
    foreign = [
        finding
        for base, named, reading in zip(bases, environment.base_repos, readings, strict=True)
        if base == named
        for finding in _foreign_commit(base, reading, reader)
    ]
    if of_level(foreign, "error"):
        raise KalypsoError.of(foreign)
    assembled, findings = assemble(
        name,
        Branch(name, own.documents),
        [
            Branch(f"{name}-{base.name}", reading.documents)
            for base, reading in zip(bases, readings, strict=True)
        ],
    )
    findings.warnings += foreign
    read = tuple(zip(bases, readings, strict=True))
    return ControlPlaneReading(environment, read, assembled, findings)


def _foreign_commit(base: BaseRepo, at_commit: Reading, reader: Reader) -> Iterator[Finding]:
    """Yield the finding of a commit that is not on main.

    The history of a repository that is not on this machine is looked at only if the commit has the
    documents of an environment's branch.
    """
    if base.name != MAIN_BASE_REPO or not base.commit:
        return
    is_of_environment = any(item.kind in {"BaseRepo", "GitOpsRepo"} for item in at_commit.documents)
    repositories, source = reader.repositories, base.source
    if is_of_environment or repositories.has_history(source.repo, base.commit):
        position = repositories.position(source.repo, source.branch, base.commit)
        yield from foreign_commits([(base, at_commit)], position)


def _pinned(base: BaseRepo, revision: str | None, reader: Reader) -> BaseRepo:
    if revision is None or base.name != MAIN_BASE_REPO:
        return base
    commit = reader.repositories.resolve(base.source.repo, base.source.branch, revision)
    return dataclasses.replace(base, commit=commit)


def _read_base(base: BaseRepo, reader: Reader) -> Reading:
    try:
        return reader.documents(base.source, base.commit)
    except KalypsoError as error:
        problems = [
            Problem(
                f"BaseRepo {base.name!r}: {base.source.repo}: {problem.message}",
                base.source.culprit(problem.message, base.where),
                problem.advice,
                problem.code or "base-repo-unreadable",
            )
            for problem in error.problems
        ]
        raise KalypsoError.of(problems) from error


@dataclass(frozen=True, slots=True)
class BaseFile:
    """The file with the BaseRepo named main: its text (None for no file) and its commit."""

    where: Location
    text: str | None
    promoted_commit: str | None


def read_base_file(files: RevisionFiles, folder: str) -> BaseFile:
    """Read the file of the environment in `folder`.

    Without the BaseRepo, return the file of the usual name. Problems of other documents do not
    matter, because a promotion may correct them. Raises KalypsoError if the branch cannot be read,
    or has two such files.
    """
    try:
        usual = join(normalize(folder), BASE_REPO_FILE)
    except OutsideRepositoryError as error:
        message = f"the environment's path {folder!r} leaves the repository"
        raise KalypsoError(message, Location(files.repository)) from error
    document = _base_document(files, folder) or BaseDocument(usual, None)
    where = Location(files.repository, document.path)
    if document.path not in files.entries():
        return BaseFile(where, None, None)
    try:
        text = files.read([document.path])[document.path].decode()
    except UnicodeDecodeError as error:
        raise KalypsoError("it is not UTF-8", where, "save it as UTF-8") from error
    return BaseFile(where, text, document.promoted_commit)


def _base_document(files: RevisionFiles, folder: str) -> BaseDocument | None:
    """Find the document as Flux does, or else anywhere in the folder, without building it."""
    for whole_tree in (False, True):
        reading = read_documents(
            files,
            repository=files.repository,
            branch="",
            path=folder,
            kustomize=None,
            ignore_sourceignore=whole_tree,
        )
        document = base_document(reading.documents)
        if document:
            return document
    return None
