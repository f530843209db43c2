"""What a look reads: the targets of each environment, and the reports of its clusters."""

from __future__ import annotations

import dataclasses
import itertools
import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Final

from kalypso_actions.clients.github import repositories
from kalypso_actions.clients.github.errors import GitHubError
from kalypso_actions.commands.shared.cluster_reports import (
    MOST_COMMITS,
    AddedReports,
    environment_tree,
    observe,
)
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.looks.branches import BranchTargets, normal_folder
from kalypso_actions.commands.shared.reading.base_trees import read_base_tree
from kalypso_actions.commands.shared.reading.control_plane import (
    find_environments,
    read_control_plane,
    read_environment_branch,
)
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.snapshot import (
    RegistrationSources,
    read_registrations,
)
from kalypso_actions.compliance import EnvironmentTree
from kalypso_actions.compliance.child_reports import (
    BranchKey,
    ChildKustomization,
    child_reports,
    children_by_branch,
)
from kalypso_actions.compliance.cluster_states import ReportedPart, reported_parts
from kalypso_actions.compliance.interface import FleetAnswer, FleetReports
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.gitops.provenance import previous_sources
from kalypso_actions.model.cluster_reports import ClusterReport, FollowedTree
from kalypso_actions.model.documents import RevisionFiles
from kalypso_actions.model.kinds import DeploymentTarget, Environment, Fleet, GitOpsRepo
from kalypso_actions.model.layout import RECONCILER_FILE, gitops_folder
from kalypso_actions.model.tree import BaseTree
from kalypso_actions.model.urls import owner_of, repository_key
from kalypso_actions.observations.record import DesiredLine, ObservationRecord
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.promotion.environments import in_order
from kalypso_actions.sources.yaml_documents import parse_yaml

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
NOBODY: Final = DesiredLine("", "", "", "", "", "", "", "", "", "", "", "", "", EPOCH)
"""A line without names; the branch sets what its commits say."""


@dataclass(frozen=True, slots=True)
class PlatformLook:
    """A GitOps branch of an environment, and its tree before the reports were read.

    `reconcilers` are the documents of the assignments' `reconciler.yaml`, by path.
    """

    targets: BranchTargets
    tree: EnvironmentTree
    followed: FollowedTree
    reconcilers: Mapping[str, Sequence[object]]


@dataclass(frozen=True, slots=True)
class EnvironmentTargets:
    """An environment with all branches that hold its targets, platform and applications.

    `is_complete` is False if a registration cannot be read: then the targets are not all known.
    """

    name: str
    position: int
    repository: str
    branch: str
    platform: tuple[PlatformLook, ...]
    applications: tuple[BranchTargets, ...]
    problems: tuple[Problem, ...] = ()
    is_complete: bool = True
    gitops_repos: tuple[GitOpsRepo, ...] = ()

    @property
    def places(self) -> Sequence[BranchTargets]:
        """All branches with their targets."""
        return *(each.targets for each in self.platform), *self.applications


FormerUrls = Mapping[BranchKey, Sequence[str]]
"""By the key of a repository and a branch, URLs of the repository before it was renamed."""


def former_urls(
    context: CommandContext, record: ObservationRecord, environments: Iterable[EnvironmentTargets]
) -> FormerUrls:
    """Return the former URLs that the record has of the repositories of environments.

    GitHub redirects a former name by the id of the repository, unless somebody else has taken the
    name. The environments may have a former name, too. Raises GitHubError for a rate limit.
    """
    named = {
        (repository_key(place.url), place.branch): place.url
        for environment in environments
        for place in environment.places
    }
    branches = {branch for _, branch in named}

    @cache
    def present(url: str) -> str:
        return _present_key(context, url)

    found: dict[BranchKey, list[str]] = {}
    for url, branch, _ in record.branches:
        key = repository_key(url)
        if branch in branches and (key, branch) not in named and present(url) not in {"", key}:
            new = present(url), branch
            named_so = (
                [new]
                if new in named
                else [
                    other
                    for other, former in named.items()
                    if other[1] == branch and present(former) == new[0]
                ]
            )
            for other in named_so:
                found.setdefault(other, []).append(url)
    return found


def _present_key(context: CommandContext, url: str) -> str:
    """Return the present URL's key; "" for a repository elsewhere, or that cannot be read."""
    if not owner_of(context.control_plane) or not context.is_here(url):
        return ""
    try:
        name = repositories.get(context.github, context.repository(url)).name
    except GitHubError as error:
        if error.status not in repositories.UNREADABLE or error.limited:
            raise
        return ""
    return repository_key(context.url(name))


@dataclass(frozen=True, slots=True)
class Reported:
    """The parts of a branch that clusters report, and the problems of sources that did not answer.

    Clusters that follow an application's branch without the platform have no cluster type.
    """

    place: BranchTargets
    parts: tuple[ReportedPart, ...]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def read_environments(
    reader: Reader, control_plane: str, only: Collection[str] = ()
) -> list[EnvironmentTargets]:
    """Return the targets of all environments, or of some `only`, in the order of the chain.

    An environment that cannot be read has problems and no targets. Raises KalypsoError if main
    cannot be read.
    """
    main = reader.repositories.main_branch(control_plane)
    environments, problems = find_environments(reader, control_plane, main)
    if problems:
        raise KalypsoError.of(problems)
    order = in_order(environments)
    return [
        _read_environment(reader, control_plane, environments[name], order.index(name))
        for name in order
        if not only or name in only
    ]


def _read_environment(
    reader: Reader, control_plane: str, environment: Environment, position: int
) -> EnvironmentTargets:
    name, place = environment.name, environment.control_plane
    found = EnvironmentTargets(name, position, control_plane, place.branch, (), ())
    try:
        own = read_environment_branch(reader, control_plane, name)
        read = read_control_plane(own, reader)
        platform = tuple(_platform(reader, read.fleet, name))
        trees = [tree for _, tree in platform]
        registrations = read_registrations(
            read.fleet.registrations,
            read.fleet.targets,
            RegistrationSources(
                name, reader, PlanOptions(), previous_sources(trees, name, read.promoted_commit)
            ),
        )
    except KalypsoError as error:
        return dataclasses.replace(found, problems=error.problems, is_complete=False)
    targets = [
        *read.fleet.targets,
        *(
            target
            for each in registrations
            for workload in each.workloads
            for target in workload.targets
            if target.environment == name
        ),
    ]
    unread = [each for each in registrations if each.state == "kept" or not each.is_readable]
    return dataclasses.replace(
        found,
        platform=tuple(branch for branch, _ in platform),
        applications=tuple(_applications(name, targets)),
        problems=tuple(problem for each in unread for problem in each.problems),
        is_complete=not unread,
        gitops_repos=tuple(read.fleet.gitops_repos),
    )


def _platform(
    reader: Reader, fleet: Fleet, environment: str
) -> Iterator[tuple[PlatformLook, BaseTree]]:
    """Yield the GitOps branches of an environment with their trees."""
    for repo in fleet.gitops_repos:
        folder = gitops_folder(repo.target.path, repo.where)
        files = reader.repositories.open(repo.target.repo, branch=repo.target.branch)
        base = read_base_tree(files, repo.target.branch, folder)
        tree = environment_tree(base, fleet.cluster_types)
        history = reader.repositories.history(repo.target.repo, repo.target.branch, MOST_COMMITS)
        commits = [commit.id for commit in history]
        types = ("", *sorted(tree.cluster_types))
        lines = tuple(
            NOBODY._replace(
                name=cluster_type,
                repository=repo.target.repo,
                branch=repo.target.branch,
                path=posixpath.join(folder, cluster_type) if cluster_type else folder,
            )
            for cluster_type in types
        )
        targets = BranchTargets(
            environment, repo.target.repo, repo.target.branch, lines, folder, is_platform=True
        )
        followed = tree.followed(repo.target.repo, repo.target.branch, commits)
        yield PlatformLook(targets, tree, followed, _reconcilers(files, folder)), base


def _reconcilers(files: RevisionFiles, folder: str) -> Mapping[str, Sequence[object]]:
    """Return the documents of the assignments' reconcilers, as far as they are YAML, by path."""
    depth = len(folder.split("/")) + 3 if folder else 3
    paths = [
        path
        for path in files.entries()
        if path.endswith(f"/{RECONCILER_FILE}") and len(path.split("/")) == depth
    ]
    return {
        path: [document.body for document in parse_yaml("", path, content).documents]
        for path, content in files.read(paths).items()
    }


def _applications(environment: str, targets: Iterable[DeploymentTarget]) -> Iterator[BranchTargets]:
    """Yield the branches of applications, each with its targets."""
    branches: dict[tuple[str, str], dict[str, DesiredLine]] = {}
    for target in targets:
        manifests = target.manifests
        repository, branch = manifests.get("repo", ""), manifests.get("branch", "")
        if repository and branch:
            path = normal_folder(manifests.get("path", ""))
            line = NOBODY._replace(
                workspace=target.workspace,
                application=target.labels.get("application", target.workload),
                workload=target.workload,
                name=target.name,
                repository=repository,
                branch=branch,
                path=path,
            )
            branches.setdefault((repository, branch), {})[path] = line
    for (repository, branch), lines in branches.items():
        yield BranchTargets(environment, repository, branch, tuple(lines.values()))


Ask = Callable[[FollowedTree], "BranchAnswer | None"]
"""What clusters report of a branch; None for a branch that was not asked for."""


def reported_of(
    environment: EnvironmentTargets, ask: Ask, former: FormerUrls
) -> Iterator[Reported]:
    """Yield what clusters report of each branch that holds targets of an environment."""
    platform: list[tuple[BranchAnswer, Mapping[BranchKey, Sequence[ChildKustomization]]]] = []
    for branch in environment.platform:
        answer = ask(branch.followed)
        if answer is not None:
            platform.append((answer, children_by_branch(branch.reconcilers)))
            yield answer.of(branch.targets, reported_parts(answer.reports, branch.tree))
    for place in environment.applications:
        tree = EnvironmentTree("", frozenset(line.path for line in place.targets))
        answer = ask(FollowedTree(place.url, place.branch))
        if answer is not None:
            yield answer.of(place, reported_parts(answer.reports, tree))
        key = repository_key(place.url)
        keys = key, *map(repository_key, former.get((key, place.branch), ()))
        for of_platform, children in platform:
            of_place = [child for each in keys for child in children.get((each, place.branch), ())]
            nested = [each for each in child_reports(of_platform.reports, of_place) if each.objects]
            yield Reported(place, tuple(reported_parts(nested, tree)))


@dataclass(frozen=True, slots=True)
class BranchAnswer:
    """The reports of all sources that answer, the problems of the others, and warnings."""

    reports: tuple[ClusterReport, ...]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()

    def of(self, place: BranchTargets, parts: Iterable[ReportedPart]) -> Reported:
        """Return what the answer says of a branch."""
        return Reported(place, tuple(parts), self.problems, self.warnings)


class AskedSources:
    """Asks each source once for all branches, or for each branch where it can do no better."""

    def __init__(self, reports: AddedReports, former: FormerUrls) -> None:
        self._sources = reports.sources
        self._former = former
        self._known: dict[FollowedTree, BranchAnswer] = {}
        self._of_fleet: dict[int, FleetAnswer | KalypsoError] = {}

    def __call__(self, followed: FollowedTree) -> BranchAnswer:
        """Return what the sources report of a branch."""
        if followed not in self._known:
            self._known[followed] = self._ask(followed)
        return self._known[followed]

    def _ask(self, followed: FollowedTree) -> BranchAnswer:
        read: list[ClusterReport] = []
        problems: list[Problem] = []
        warnings: list[Problem] = []
        others = self._former.get((repository_key(followed.repository_url), followed.branch), ())
        trees = followed, *(dataclasses.replace(followed, repository_url=url) for url in others)
        for (number, source), tree in itertools.product(enumerate(self._sources), trees):
            try:
                if isinstance(source, FleetReports):
                    read += self._fleet(number, source).of(tree)
                else:
                    of_source, told = observe(source, tree)
                    read += of_source
                    warnings += told
            except KalypsoError as error:
                problems += error.problems
        return BranchAnswer(tuple(read), tuple(problems), tuple(warnings))

    def _fleet(self, number: int, source: FleetReports) -> FleetAnswer:
        """Return the answer of a source about all branches; it is asked once."""
        if number not in self._of_fleet:
            try:
                self._of_fleet[number] = source.all_reports()
            except KalypsoError as error:
                self._of_fleet[number] = error
        answer = self._of_fleet[number]
        if isinstance(answer, KalypsoError):
            raise answer
        return answer
