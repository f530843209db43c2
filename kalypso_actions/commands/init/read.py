"""Read both repositories: their branches, and the Kalypso documents on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kalypso_actions.clients.github import GitHub, GitHubError, branches
from kalypso_actions.commands.init.repositories import InitRepositories
from kalypso_actions.commands.shared.reading.control_plane import environments_among
from kalypso_actions.commands.shared.reading.document_reader import read_documents
from kalypso_actions.commands.shared.reading.repositories import MAIN_BRANCH
from kalypso_actions.commands.shared.workflow_templates import read_workflows
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.fleet.parsing import resources_of
from kalypso_actions.inputs.local import DEFAULT_ENVIRONMENTS, InitInputs
from kalypso_actions.model.documents import Reading, RevisionFiles
from kalypso_actions.model.github import BranchRules
from kalypso_actions.model.kinds import ClusterType, GitOpsRepo, RepositoryPath
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.onboarding.branches import BranchState
from kalypso_actions.onboarding.files import CLUSTER_TYPE, RuleNeeds
from kalypso_actions.onboarding.setup import (
    EnvironmentSetup,
    RepositorySetup,
    Setup,
    check_branch,
    default_branch_conflict,
    environment_setups,
    gitops_branches,
    kalypso_documents,
    may_hold_kalypso_documents,
)


@dataclass(frozen=True, slots=True)
class CurrentState:
    """The present branches, by role of the repository and name, and the wanted set-up."""

    setup: Setup
    states: Mapping[tuple[str, str], BranchState]
    warnings: tuple[Problem, ...]


def read_current_state(inputs: InitInputs, repositories: InitRepositories) -> CurrentState:
    """Read every branch that init may write.

    Raises UsageError for impossible environments, KalypsoError for unreadable branches.
    """
    control_plane, gitops = repositories.control_plane, repositories.gitops
    reader = _Reader(repositories)
    main = reader.read(control_plane, control_plane.main)
    existing, problems = environments_among(main.documents if main else ())
    if problems:
        raise KalypsoError.of(problems)
    is_new = not (main and kalypso_documents(main.documents))
    environments = environment_setups(
        control_plane,
        existing,
        inputs.environments,
        DEFAULT_ENVIRONMENTS,
        {MAIN_BRANCH, control_plane.main.lower(), gitops.main.lower()},
        is_new=is_new,
    )
    branches = [environment.branch for environment in environments]
    reader.read_heads(control_plane, [MAIN_BRANCH, *branches])
    reader.check_main()
    names = [environment.name for environment in environments]
    reader.read_heads(gitops, [gitops.main, *names])
    environments = [reader.with_gitops_branches(environment) for environment in environments]
    reader.read_files(gitops, gitops.main)
    reader.read_objects(environments)
    with_clusters, warnings = reader.with_clusters(environments, inputs.clusters)
    setup = Setup(control_plane, gitops, with_clusters, is_new, inputs.cluster_reports)
    return CurrentState(setup, reader.states, (*reader.warnings, *warnings))


class _Reader:
    """Reads branches, and keeps their states."""

    def __init__(self, repositories: InitRepositories) -> None:
        self._repositories = repositories
        self.states: dict[tuple[str, str], BranchState] = {}
        self.warnings: list[Problem] = []
        self._heads: dict[tuple[str, str], str | None] = {}
        self._samples: dict[str, ClusterType] = {}
        """The sample cluster type, by the environment's branch."""

    def read_heads(self, repository: RepositorySetup, branches: Iterable[str]) -> None:
        """Read the heads of several branches by one request."""
        names = list(dict.fromkeys(branches))
        heads = self._repositories.backend(repository).heads(names)
        for name in names:
            self._heads[repository.role, name] = heads.get(name)

    def check_main(self) -> None:
        """Warn if the chain uses a branch other than the default one as main."""
        repository = self._repositories.control_plane
        if self._heads[repository.role, MAIN_BRANCH] and repository.main != MAIN_BRANCH:
            self.warnings.append(
                default_branch_conflict(repository.name, repository.main, MAIN_BRANCH)
            )

    def read(self, repository: RepositorySetup, branch: str) -> Reading | None:
        """Read the documents of a control plane's branch; None if there is no such branch.

        Raises KalypsoError for an unreadable file of Kalypso, which would otherwise count as
        absent.
        """
        files = self._files(repository, branch)
        if files is None:
            return None
        reading = read_documents(
            files,
            repository=repository.name,
            branch=branch,
            path=".",
            kustomize=None,
            ignore_sourceignore=True,
        )
        problems = [problem for problem in reading.problems if _concerns_kalypso(problem, files)]
        if problems:
            raise KalypsoError.of(problems)
        self._keep(repository, branch, files, kalypso_documents(reading.documents))
        for cluster_type in resources_of(ClusterType, reading.documents):
            if cluster_type.name == CLUSTER_TYPE:
                self._samples[branch] = cluster_type
        return reading

    def read_files(self, repository: RepositorySetup, branch: str) -> None:
        """Read a GitOps branch without its documents, of which there may be very many."""
        files = self._files(repository, branch)
        if files is not None:
            self._keep(repository, branch, files)

    def read_objects(self, environments: Iterable[EnvironmentSetup]) -> None:
        """Read the files of the Environment objects that get another next environment."""
        repository = self._repositories.control_plane
        wanted = {
            each.object_path for each in environments if each.object_path and each.next_environment
        }
        files = self._files(repository, repository.main) if wanted else None
        if files is not None:
            state = self.states[repository.role, repository.main]
            texts = {
                path: content.decode(errors="replace")
                for path, content in files.read(wanted).items()
            }
            self.states[repository.role, repository.main] = replace(state, objects=texts)

    def with_gitops_branches(self, environment: EnvironmentSetup) -> EnvironmentSetup:
        """Add the branches that the GitOpsRepo objects on the environment's branch name."""
        control_plane, gitops = self._repositories.control_plane, self._repositories.gitops
        check_branch(environment, control_plane)
        reading = self.read(control_plane, environment.branch)
        branches, warnings = gitops_branches(
            environment, _gitops_targets(reading), control_plane, gitops
        )
        self.warnings += warnings
        for branch in branches:
            self.read_files(gitops, branch)
        return replace(environment, gitops_branches=branches)

    def with_clusters(
        self, environments: Iterable[EnvironmentSetup], pairs: Iterable[str]
    ) -> tuple[tuple[EnvironmentSetup, ...], tuple[Problem, ...]]:
        """Give the environments that have, or get, the sample cluster type their clusters.

        The others, and names without an environment, are problems.
        """
        by_environment: dict[str, list[str]] = {}
        for pair in pairs:
            name, _, cluster = pair.partition("=")
            by_environment.setdefault(name, []).append(cluster)
        added: list[EnvironmentSetup] = []
        warnings: list[Problem] = []
        for environment in environments:
            clusters = tuple(dict.fromkeys(by_environment.get(environment.name, [])))
            state = self.states.get(("control plane", environment.branch))
            sample = self._samples.get(environment.branch)
            if sample is None and state and state.documents:
                added.append(environment)
                continue
            is_listed = bool(clusters)
            if sample:
                listed = sample.clusters if sample.reports_compliance else ()
                is_listed = bool(listed) and set(clusters) <= set(listed)
                if clusters and not is_listed:
                    warnings.append(_unlisted_warning(environment.name, sample, clusters))
            reconciler = sample.reconciler if sample else ""
            added.append(
                replace(
                    environment,
                    clusters=clusters,
                    lists_clusters=is_listed,
                    reconciler=reconciler,
                )
            )
            by_environment.pop(environment.name, None)
        return tuple(added), (
            *warnings,
            *(
                Problem(
                    f"--clusters: {name} has no cluster type {CLUSTER_TYPE} of init: nothing is "
                    f"written for {', '.join(clusters)}",
                    advice="annotate its ClusterTypes with kalypso.io/clusters",
                )
                for name, clusters in by_environment.items()
            ),
        )

    def _files(self, repository: RepositorySetup, branch: str) -> RevisionFiles | None:
        if (repository.role, branch) not in self._heads:
            self.read_heads(repository, [branch])
        head = self._heads[repository.role, branch]
        return None if head is None else self._repositories.backend(repository).files(head)

    def _keep(
        self,
        repository: RepositorySetup,
        branch: str,
        files: RevisionFiles,
        documents: frozenset[tuple[str, str]] = frozenset(),
    ) -> None:
        self.states[repository.role, branch] = BranchState(
            files.commit or "", frozenset(files.entries()), read_workflows(files), documents
        )


def _unlisted_warning(environment: str, sample: ClusterType, clusters: Sequence[str]) -> Problem:
    """Return the warning that promotions do not wait for these clusters yet."""
    lists = ", ".join(sample.clusters) or "no cluster"
    given = f"lists {lists}" if sample.reports_compliance else "has kalypso.io/compliance: none"
    return Problem(
        f"{environment}: the cluster type {sample.name} {given}, so that commits go on without "
        f"{', '.join(clusters)}; init does not change it",
        sample.where,
        f"annotate it kalypso.io/clusters: {', '.join(clusters)}, without kalypso.io/compliance",
    )


def _gitops_targets(reading: Reading | None) -> list[RepositoryPath]:
    """Return the targets of valid GitOpsRepo objects; `kalypso validate` reports the others."""
    documents = reading.documents if reading else ()
    return [gitops_repo.target for gitops_repo in resources_of(GitOpsRepo, documents)]


def _concerns_kalypso(problem: Problem, files: RevisionFiles) -> bool:
    path = problem.where.path if problem.where else ""
    return path in files.entries() and may_hold_kalypso_documents(files.read([path])[path])


def read_rule_needs(setup: Setup, github: GitHub | None) -> RuleNeeds:
    """Read the rules of the branches that cd and schedule push to; clones have none.

    Raises GitHubError.
    """
    if github is None:
        return RuleNeeds()
    environments = setup.environments
    of_cd = list(_rules(github, setup.control_plane, (item.branch for item in environments)))
    gitops = {name for item in environments for name in item.gitops_branches}
    own = {f"{OWN_BRANCHES}{item.name}" for item in environments}
    return RuleNeeds(
        cd_by_app=any(rules.refuses_pushes for rules in of_cd),
        cd_signs=any(rules.requires_signatures for rules in of_cd),
        schedule_signs=any(
            rules.requires_signatures for rules in _rules(github, setup.gitops, gitops | own)
        ),
    )


def _rules(
    github: GitHub, repository: RepositorySetup, names: Iterable[str]
) -> Iterator[BranchRules]:
    for name in sorted(set(names)):
        try:
            yield branches.rules(github, repository.name, name)
        except GitHubError as error:
            if error.status not in branches.WITHOUT_RULESETS:
                raise
