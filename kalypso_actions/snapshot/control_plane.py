"""Read the control plane, its registrations and the GitOps trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from kalypso_actions import fleet, gitops
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.fleet import Diagnostics
from kalypso_actions.fleet_checks import KnownRepositories, missing_repositories
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Document, Reading
from kalypso_actions.model.kinds import MAIN_BASE_REPO, BaseRepo, Environment, RepositoryPath
from kalypso_actions.model.tree import BaseTree, Snapshot
from kalypso_actions.snapshot.document_reader import Reader, in_parallel
from kalypso_actions.snapshot.registrations import RegistrationReader, read_registrations
from kalypso_actions.snapshot.revision_reader import read_documents


def find_environments(
    reader: Reader, control_plane: str, branch: str
) -> tuple[dict[str, Environment], tuple[Problem, ...]]:
    """Return the Environment objects of main's whole tree by name, regardless of `.sourceignore`.

    Files without Kubernetes documents are no problem: nobody applies them.
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
    """Return the Environment objects among documents by name, and their problems."""
    findings = fleet.Diagnostics()
    environments: dict[str, Environment] = {}
    for document in documents:
        noun = fleet.parse_document(document, findings) if document.kind == "Environment" else None
        if isinstance(noun, Environment):
            first = environments.setdefault(noun.name, noun)
            if first is not noun:
                message = f"Environment {noun.name!r} is already defined in {first.where}"
                advice = "remove or rename one of the two"
                problem = Problem(message, noun.where, advice, "object-duplicate")
                findings.problems.append(problem)
    return environments, tuple(findings.problems)


def read_environment_branch(
    reader: Reader, control_plane: str, environment: str
) -> tuple[Reading, Environment | None]:
    """Read the environment's own branch of a control plane, and its Environment object.

    The object names the branch; the default is the environment's name. The object's `repo` does
    not matter: the caller names the control plane.
    """
    main = reader.repositories.main_branch(control_plane)
    environments, problems = find_environments(reader, control_plane, main)
    if problems:
        raise KalypsoError.of(problems)
    declared = environments.get(environment)
    place = declared.control_plane if declared else RepositoryPath("", environment, ".")
    try:
        own = reader.documents(RepositoryPath(control_plane, place.branch, place.path))
    except KalypsoError as error:
        if declared:
            raise
        advice = f"there is no Environment {environment!r} on {main} either; check the name"
        raise UsageError(error.problem.message, error.problem.where, advice) from error
    return own, declared


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """An environment branch with its base repositories, without the registered ones."""

    bases: tuple[tuple[BaseRepo, Reading], ...]
    fleet: kinds.Fleet
    findings: Diagnostics

    @property
    def promoted_commit(self) -> str | None:
        """The commit of main that the branch names, if any."""
        return next((base.commit for base, _ in self.bases if base.name == MAIN_BASE_REPO), None)


def read_control_plane(
    environment: str, own: Reading, reader: Reader, *, promoted_commit: str | None = None
) -> ControlPlane:
    """Read the base repositories that an environment branch names.

    `promoted_commit`, a branch, a tag or an id, replaces the commit in `base-repo.yaml`. The
    findings are those of the documents, without those of the files. Raises KalypsoError for an
    unreadable base repository.
    """
    branch = fleet.Branch(environment, own.documents)
    first_look, _ = fleet.assemble(environment, branch, ())
    base_repos = [_pinned(base, promoted_commit, reader) for base in first_look.base_repos]
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
    declared: Environment | None = None,
    registration_text: fleet.RegistrationText = "strict",
    open_base_trees: Callable[[Sequence[kinds.GitOpsRepo]], Sequence[BaseTree]] = lambda _: (),
    look_at_sources: Callable[[ControlPlane], object] = lambda _: None,
    known: KnownRepositories | None = None,
) -> Snapshot:
    """Read everything to which the environment branch leads.

    `promoted_commit` replaces the one in `base-repo.yaml`; `declared` is the Environment object, if
    it is known; with `registration_text` any, texts that Templates must not print make no
    registration invalid; `open_base_trees` opens the trees of the environment's GitOpsRepos.
    `look_at_sources` is called before registered repositories are read; `known` is for advice on
    missing documents. Raises KalypsoError if the
    control plane or a GitOps tree cannot be read; the snapshot has the problems of unreadable
    registrations.
    """
    read = read_control_plane(environment, own, reader, promoted_commit=promoted_commit)
    look_at_sources(read)
    base_trees = tuple(open_base_trees(read.fleet.gitops_repos))
    previous = gitops.previous_sources(base_trees, environment, read.promoted_commit)
    registrations = read_registrations(
        read.fleet.registrations,
        read.fleet.targets,
        RegistrationReader(environment, reader, previous, registration_text),
    )
    everything = (own, *(reading for _, reading in read.bases))
    return Snapshot(
        environment=environment,
        own=own,
        bases=read.bases,
        fleet=read.fleet,
        registrations=registrations,
        base_trees=base_trees,
        unpromoted_templates=_unpromoted_templates(read, reader),
        problems=(*chain.from_iterable(r.problems for r in everything), *read.findings.problems),
        warnings=(
            *chain.from_iterable(r.warnings for r in everything),
            *read.findings.warnings,
        ),
        lacking=tuple(missing_repositories(environment, own, declared, known)),
    )


def _pinned(base: BaseRepo, revision: str | None, reader: Reader) -> BaseRepo:
    if revision is None or base.name != MAIN_BASE_REPO:
        return base
    commit = reader.repositories.resolve(base.source.repo, base.source.branch, revision)
    return dataclasses.replace(base, commit=commit)


def _unpromoted_templates(control_plane: ControlPlane, reader: Reader) -> frozenset[str]:
    """Return the Templates that the head of main has, if the environment's commit lacks one."""
    known = {template.name for template in control_plane.fleet.templates}
    used = {
        name
        for cluster_type in control_plane.fleet.cluster_types
        for name in (cluster_type.reconciler, cluster_type.namespace_service)
    }
    main = next((base for base, _ in control_plane.bases if base.name == MAIN_BASE_REPO), None)
    if used <= known or main is None or main.commit is None:
        return frozenset()
    try:
        head = reader.documents(main.source)
    except KalypsoError:
        return frozenset()  # the environment does not need the head of main
    return frozenset(
        document.name for document in head.documents if document.kind == "Template"
    ).difference(known)


def _read_base(base: BaseRepo, reader: Reader) -> Reading:
    try:
        return reader.documents(base.source, base.commit)
    except KalypsoError as error:
        problems = [
            Problem(
                f"BaseRepo {base.name!r}: {base.source.repo}: {problem.message}",
                base.where,
                problem.advice,
                problem.code or "base-repo-unreadable",
            )
            for problem in error.problems
        ]
        raise KalypsoError.of(problems) from error
