"""Read the environments of a control plane, and the GitOps branches that they propose to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from kalypso_actions.clients.github import repositories
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import gitops_branches, read_environment
from kalypso_actions.doctor_rules import repositories as rules
from kalypso_actions.doctor_rules.check import GENERAL_PAGE, Check, State, ok, warning
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.gitops.own_files import own_branches
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.application import ORDER_FILE
from kalypso_actions.model.documents import content_of
from kalypso_actions.model.github import RepositoryFacts, SettingNames
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.promotion_policy import PromotionPolicy
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.model.workflow_files import FOLDER
from kalypso_actions.onboarding.setup import default_branch_conflict

DEPLOY_FILE: Final = f"{FOLDER}deploy.yml"
DEPLOYS: Final = b"/actions/app-deploy@"
OWN_PREFIX: Final[str] = ScheduleInputs.model_fields["branch_prefix"].default


@dataclass(frozen=True, slots=True)
class EnvironmentFacts:
    """An environment and its GitOps branches; `gitops` is empty if they are unknown.

    `own_branches` are the branches that schedule proposes from, in the order of `gitops`. `policy`
    is the one of its branch, None without one or for one that is invalid.
    """

    environment: Environment
    has_branch: bool
    gitops: tuple[GitOpsBranch, ...] = ()
    own_branches: tuple[str, ...] = ()
    policy: PromotionPolicy | None = None

    @property
    def name(self) -> str:
        """The name of its Environment object."""
        return self.environment.name

    @property
    def branch(self) -> str:
        """Its branch of the control plane."""
        return self.environment.control_plane.branch


@dataclass(frozen=True, slots=True)
class Facts:
    """The control plane: GitHub's facts, its main branch as jobs determine it, its environments.

    `names` are those of the repository's secrets and variables; None if they cannot be listed.
    `is_application`: the repository is the source of an application, and no control plane.
    """

    repository: RepositoryFacts
    main: str
    environments: tuple[EnvironmentFacts, ...]
    names: SettingNames | None = None
    is_application: bool = False

    @property
    def by_name(self) -> Mapping[str, Environment]:
        """The Environment objects."""
        return {facts.name: facts.environment for facts in self.environments}

    @property
    def policies(self) -> Mapping[str, PromotionPolicy]:
        """The policies of environments that have one."""
        return {facts.name: facts.policy for facts in self.environments if facts.policy}

    @property
    def gitops_repositories(self) -> tuple[str, ...]:
        """`owner/name` of each GitOps repository."""
        names = (branch.repository for facts in self.environments for branch in facts.gitops)
        return tuple(dict.fromkeys(names))


def read_facts(context: CommandContext, checklist: Checklist) -> Facts | None:
    """Read main and the environments' branches; None if main itself cannot be read."""
    github, name = context.github, context.control_plane
    # Ask the API before git: it says what is wrong with a credential, and git does not.
    repository = checklist.required(lambda: repositories.get(github, name), name)
    main = checklist.required(context.main) if repository else None
    if repository is None or main is None:
        return None
    if repository.default_branch != main:
        conflict = default_branch_conflict(name, repository.default_branch, main)
        checklist.add([warning(name, conflict.message, conflict.advice, GENERAL_PAGE)])
    environments = checklist.required(context.environments)
    if environments is None:
        return None
    is_application = not environments and bool(
        checklist.required(lambda: is_source_of_application(context, main))
    )
    if not (environments or is_application):
        checklist.add([rules.no_environments(name, main)])
    url = context.url(name)
    branches = {environment.control_plane.branch for environment in environments.values()}
    heads = checklist.required(lambda: context.remotes.heads(url, branches)) or {}
    facts = (
        _environment(context, environment, heads, checklist)
        for environment in environments.values()
    )
    names = checklist.optional(lambda: repositories.settings(github, name), name)
    return Facts(repository, main, tuple(facts), names, is_application)


def is_source_of_application(context: CommandContext, main: str) -> bool:
    """Whether main is that of an application's source. Raises KalypsoError.

    Repositories of all kinds have a deploy.yml: it counts only with our action.
    """
    files = context.repositories.open(context.url(context.control_plane), branch=main)
    deploy = content_of(files, DEPLOY_FILE) or b""
    return ORDER_FILE in files.entries() or DEPLOYS in deploy


def _environment(
    context: CommandContext,
    environment: Environment,
    heads: Mapping[str, str],
    checklist: Checklist,
) -> EnvironmentFacts:
    name, branch = environment.name, environment.control_plane.branch
    if branch not in heads:  # `check_promotion` reports it
        return EnvironmentFacts(environment, has_branch=False)
    checklist.add([ok(context.control_plane, f"the environment {name} has its branch {branch}")])

    def read() -> EnvironmentFacts:
        reading = read_environment(context, environment)
        repos = reading.gitops_repos
        gitops = gitops_branches(context, environment, repos)
        own = own_branches(OWN_PREFIX, name, repos)
        own_names = tuple(own[repo.name] for repo in repos)
        return EnvironmentFacts(environment, True, gitops, own_names, reading.own.policy.policy)

    return checklist.required(read) or EnvironmentFacts(environment, has_branch=True)


T = TypeVar("T")


@dataclass(slots=True)
class Checklist:
    """The checks in order; `place` is the repository of problems that name none."""

    place: str
    checks: list[Check] = field(default_factory=list)

    def add(self, checks: Iterable[Check]) -> None:
        """Add checks."""
        self.checks += checks

    def add_problems(self, state: State, problems: Iterable[Problem], place: str = "") -> None:
        """Add a check of this state for each problem."""
        self.add(Check.of_problem(state, problem, place or self.place) for problem in problems)

    def required(self, call: Callable[[], T], place: str = "") -> T | None:
        """Call a function that reads something the chain needs: an error is a problem."""
        return self._attempt("problem", call, place)

    def optional(self, call: Callable[[], T], place: str = "") -> T | None:
        """Call a function that reads something optional: an error is only a warning."""
        return self._attempt("warning", call, place)

    def _attempt(self, state: State, call: Callable[[], T], place: str) -> T | None:
        try:
            return call()
        except KalypsoError as error:
            self.add_problems(state, error.problems, place)
            return None
