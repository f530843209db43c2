"""The environments of a control plane, and where they propose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kalypso_actions.clients.github import repositories
from kalypso_actions.commands.doctor.checklist import Checklist
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.gitops_branches import (
    GitOpsBranch,
    gitops_branches,
    read_environment,
)
from kalypso_actions.doctor_rules import ok, pages, problem, warning
from kalypso_actions.gitops import own_branches
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.kinds import Environment
from kalypso_actions.onboarding import default_branch_conflict

OWN_PREFIX: Final[str] = ScheduleInputs.model_fields["branch_prefix"].default


@dataclass(frozen=True, slots=True)
class EnvironmentFacts:
    """An environment, and its branches in GitOps repositories as far as they are known.

    `own_branches` are those that schedule proposes from, one for each of them.
    """

    environment: Environment
    has_branch: bool
    gitops: tuple[GitOpsBranch, ...] = ()
    own_branches: tuple[str, ...] = ()

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
    """The control plane's default branch and its environments."""

    main: str
    environments: tuple[EnvironmentFacts, ...]

    @property
    def by_name(self) -> Mapping[str, Environment]:
        """The Environment objects."""
        return {one.name: one.environment for one in self.environments}

    @property
    def gitops_repositories(self) -> tuple[str, ...]:
        """`owner/name` of each GitOps repository."""
        names = (branch.repository for one in self.environments for branch in one.gitops)
        return tuple(dict.fromkeys(names))


def read_facts(context: CommandContext, checklist: Checklist) -> Facts | None:
    """Read main and the environments' branches; None where main itself cannot be read."""
    github, name = context.github, context.control_plane
    # First by the API, which says of a credential what is wrong with it; git does not.
    known = checklist.required(lambda: repositories.get(github, name), name)
    main = checklist.required(context.main) if known else None
    if known is None or main is None:
        return None
    if known.default_branch != main:
        wrong = default_branch_conflict(name, known.default_branch, main)
        checklist.add([warning(name, wrong.message, wrong.advice, pages.GENERAL)])
    found = checklist.required(context.environments)
    if found is None:
        return None
    if not found:
        advice = "kalypso init writes Environment objects and their branches"
        checklist.add([problem(name, f"{main} has no Environment object", advice)])
    url = context.url(name)
    branches = {one.control_plane.branch for one in found.values()}
    heads = checklist.required(lambda: context.remotes.heads(url, branches)) or {}
    return Facts(
        main, tuple(_environment(context, one, heads, checklist) for one in found.values())
    )


def _environment(
    context: CommandContext,
    environment: Environment,
    heads: Mapping[str, str],
    checklist: Checklist,
) -> EnvironmentFacts:
    name, branch = environment.name, environment.control_plane.branch
    if branch not in heads:
        checklist.add(
            [
                problem(
                    context.control_plane,
                    f"the environment {name} has no branch {branch}",
                    "kalypso init creates it",
                )
            ]
        )
        return EnvironmentFacts(environment, has_branch=False)
    checklist.add([ok(context.control_plane, f"the environment {name} has its branch {branch}")])

    def read() -> EnvironmentFacts:
        repos = read_environment(context, environment).gitops_repos
        gitops = gitops_branches(context, environment, repos)
        own = own_branches(OWN_PREFIX, name, repos)
        return EnvironmentFacts(environment, True, gitops, tuple(own[one.name] for one in repos))

    return checklist.required(read) or EnvironmentFacts(environment, has_branch=True)
