"""Everything that one run reads, once: the control plane, its registrations, the GitOps tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from kalypso_actions import fleet, gitops
from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.fleet import Diagnostics
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Document, Reading
from kalypso_actions.model.kinds import MAIN_BASE_REPO, BaseRepo, Environment, RepositoryPath
from kalypso_actions.model.tree import BaseTree, Snapshot
from kalypso_actions.snapshot.reader import Reader, in_parallel
from kalypso_actions.snapshot.reading import read_documents
from kalypso_actions.snapshot.registrations import read_registrations


def find_environments(
    reader: Reader, control_plane: str, branch: str
) -> tuple[dict[str, Environment], tuple[Problem, ...]]:
    """The Environment objects of main's whole tree, whatever `.sourceignore` says, by name.

    Files that are no Kubernetes documents are no fault here: nobody applies them.
    """
    files = reader.repositories.open(control_plane, branch=branch)
    reading = read_documents(
        files,
        repository=control_plane,
        branch=branch,
        path=".",
        kustomize=None,
        ignore_sourceignore=True,
    )
    return environments_among(reading.documents)


def environments_among(
    documents: Iterable[Document],
) -> tuple[dict[str, Environment], tuple[Problem, ...]]:
    """The Environment objects among documents, by name, and what is wrong with them."""
    findings = fleet.Diagnostics()
    found: dict[str, Environment] = {}
    for document in documents:
        noun = fleet.parse_document(document, findings) if document.kind == "Environment" else None
        if isinstance(noun, Environment):
            first = found.setdefault(noun.name, noun)
            if first is not noun:
                message = f"Environment {noun.name!r} is already defined in {first.where}"
                advice = "remove or rename one of the two"
                findings.problems.append(Problem(message, noun.where, advice))
    return found, tuple(findings.problems)


def read_environment_branch(reader: Reader, control_plane: str, environment: str) -> Reading:
    """The environment's own branch of a control plane.

    Its Environment object says which; without one it is the branch of the environment's name. The
    object's `repo` is not asked: the control plane that was named is the one that is meant.
    """
    main = reader.repositories.default_branch(control_plane)
    environments, problems = find_environments(reader, control_plane, main)
    if problems:
        raise KalypsoError.of(problems)
    declared = environments.get(environment)
    place = declared.control_plane if declared else RepositoryPath("", environment, ".")
    try:
        return reader.documents(RepositoryPath(control_plane, place.branch, place.path))
    except KalypsoError as error:
        if declared:
            raise
        advice = f"there is no Environment {environment!r} on {main} either; check the name"
        raise UsageError(error.problem.message, error.problem.where, advice) from error


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """An environment branch with its base repositories, before anything that is registered."""

    bases: tuple[tuple[BaseRepo, Reading], ...]
    fleet: kinds.Fleet
    findings: Diagnostics

    @property
    def promoted_commit(self) -> str | None:
        """The commit of main that is taken over; None where none is named."""
        return next((base.commit for base, _ in self.bases if base.name == MAIN_BASE_REPO), None)


def read_control_plane(
    environment: str, own: Reading, reader: Reader, *, promoted_commit: str | None = None
) -> ControlPlane:
    """Read the base repositories that an environment branch names.

    `promoted_commit` stands for the commit in `base-repo.yaml`. The findings are those of the
    documents alone, not of the files. Raises KalypsoError where a base repository cannot be read.
    """
    branch = fleet.Branch(environment, own.documents)
    first_look, _ = fleet.assemble(environment, branch, ())
    base_repos = [_pinned(base, promoted_commit) for base in first_look.base_repos]
    readings = in_parallel(lambda base: _read_base(base, reader), base_repos)
    assembled, findings = fleet.assemble(
        environment,
        branch,
        [
            fleet.Branch(f"{environment}-{base.name}", reading.documents)
            for base, reading in zip(base_repos, readings, strict=True)
        ],
    )
    return ControlPlane(tuple(zip(base_repos, readings, strict=True)), assembled, findings)


def gather(
    environment: str,
    own: Reading,
    reader: Reader,
    *,
    promoted_commit: str | None = None,
    open_base_trees: Callable[[Sequence[kinds.GitOpsRepo]], Sequence[BaseTree]] = lambda _: (),
    look_at_sources: Callable[[ControlPlane], object] = lambda _: None,
) -> Snapshot:
    """Read all that the environment branch leads to.

    `promoted_commit` stands for the commit in `base-repo.yaml`; `open_base_trees` gets the
    environment's GitOpsRepos. `look_at_sources` is called before any registered repository is
    read. Raises KalypsoError where the control plane or a GitOps tree cannot
    be read; a registration that cannot is part of the snapshot.
    """
    read = read_control_plane(environment, own, reader, promoted_commit=promoted_commit)
    look_at_sources(read)
    base_trees = tuple(open_base_trees(read.fleet.gitops_repos))
    previous = gitops.previous_sources(base_trees, environment, read.promoted_commit)
    registrations = read_registrations(
        read.fleet.registrations, environment, reader, previous, read.fleet.targets
    )
    everything = (own, *(reading for _, reading in read.bases))
    return Snapshot(
        environment=environment,
        own=own,
        bases=read.bases,
        fleet=read.fleet,
        registrations=registrations,
        base_trees=base_trees,
        problems=(*chain.from_iterable(r.problems for r in everything), *read.findings.problems),
        warnings=(
            *chain.from_iterable(r.warnings for r in everything),
            *read.findings.warnings,
            *_missing_base(own),
        ),
    )


def _pinned(base: BaseRepo, commit: str | None) -> BaseRepo:
    if commit is None or base.name != MAIN_BASE_REPO:
        return base
    return dataclasses.replace(base, commit=commit)


def _read_base(base: BaseRepo, reader: Reader) -> Reading:
    try:
        return reader.documents(base.source, base.commit)
    except KalypsoError as error:
        problems = [
            Problem(
                f"BaseRepo {base.name!r}: {base.source.repo}: {problem.message}",
                base.where,
                problem.advice,
            )
            for problem in error.problems
        ]
        raise KalypsoError.of(problems) from error


def _missing_base(own: Reading) -> Iterable[Problem]:
    """One that is there with a fault is not missing."""
    if ("BaseRepo", MAIN_BASE_REPO) not in ((doc.kind, doc.name) for doc in own.documents):
        yield Problem(
            f"the environment branch has no BaseRepo named {MAIN_BASE_REPO!r}: nothing is taken "
            "over from main, and no commit is tracked",
            Location(own.revision.repository),
            "add base-repo.yaml",
        )
