"""An environment: what it renders to, and where a commit goes on from it."""

from __future__ import annotations

from functools import partial
from typing import Final

from kalypso_actions.clients.github import environments
from kalypso_actions.commands.doctor.checklist import Checklist
from kalypso_actions.commands.doctor.facts import EnvironmentFacts, Facts
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.environment_snapshot import read_everything
from kalypso_actions.doctor_rules import ok, pages, problem
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.inputs.doctor import DoctorInputs
from kalypso_actions.inputs.values import split_list
from kalypso_actions.model.counts import counted
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.plan import PlanOptions, make_plan
from kalypso_actions.promotion.environments import next_environments
from kalypso_actions.scheduling import find_scheduler

NEXT_ENVIRONMENT: Final = "NEXT_ENVIRONMENT"


def check_environment(
    inputs: DoctorInputs, jobs: CommandContext, one: EnvironmentFacts, checklist: Checklist
) -> bool:
    """Record what an environment renders to, as jobs see its repositories.

    Returns whether some of its clusters report to Azure, as far as that could be read.
    """
    chosen = inputs.model_dump(include=set(PlanOptions.__dataclass_fields__))
    as_scheduled = ScheduleInputs(environment=one.name, **chosen)
    # Where it has no GitOps branch, the reason is recorded already.
    read = checklist.required(lambda: read_everything(as_scheduled, jobs)) if one.gitops else None
    number = _rendered(read.sources, PlanOptions(**chosen), jobs, checklist) if read else None
    place = jobs.control_plane
    if number is None:
        text = f"{one.name} cannot be read and rendered"
        checklist.add([problem(place, text, "correct what is said about it here")])
    else:
        text = f"{one.name} can be read and rendered: {counted(number, 'assignment')}"
        checklist.add([ok(place, text)])
    if read is None:
        return True
    cluster_types = read.sources.fleet.cluster_types
    return not cluster_types or any(one.reports_compliance for one in cluster_types)


def check_next(
    context: CommandContext,
    one: EnvironmentFacts,
    facts: Facts,
    by_secret: bool,
    checklist: Checklist,
) -> None:
    """Record where a commit goes on from an environment: by a variable, else by annotation.

    `by_secret`: a secret says it, which nobody can read.
    """
    github, name = context.github, context.control_plane
    if by_secret:
        checklist.add([ok(name, f"{one.name} goes on as its secret {NEXT_ENVIRONMENT} says")])
        return
    variable = partial(environments.variable, github, name, one.name, NEXT_ENVIRONMENT)
    value = checklist.optional(variable)
    given = split_list(value or "")
    try:
        found = next_environments(given, one.name, facts.by_name)
    except KalypsoError as error:
        for wrong in error.problems:
            text = f"{one.name}: {wrong.message}"
            checklist.add([problem(name, text, wrong.advice, pages.ENVIRONMENTS if given else "")])
        return
    text = f"goes on to {', '.join(found)}" if found else "is a last environment"
    checklist.add([ok(name, f"{one.name} {text}")])


def _rendered(
    sources: Snapshot, options: PlanOptions, jobs: CommandContext, checklist: Checklist
) -> int | None:
    """The number of assignments; None where there are problems, which are recorded."""
    plan = make_plan(sources, options, find_scheduler(), jobs.runtime.progress)
    checklist.add_problems(plan.problems)
    checklist.add_warnings(plan.warnings)
    return None if plan.problems else len(plan.assignments)
