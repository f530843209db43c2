"""Check an environment: its rendering, and the environments that it promotes to."""

from __future__ import annotations

from functools import partial

from kalypso_actions.clients.github import environments
from kalypso_actions.commands.doctor.checklist import Checklist
from kalypso_actions.commands.doctor.facts import EnvironmentFacts, Facts
from kalypso_actions.commands.schedule.reading import read_everything
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.snapshot import plan_registrations
from kalypso_actions.doctor_rules import environments as rules
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.doctor import DoctorInputs
from kalypso_actions.inputs.schedule import ScheduleInputs
from kalypso_actions.inputs.values import split_list
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.promotion.environments import next_environments


def check_environment(
    inputs: DoctorInputs,
    jobs: CommandContext,
    environment: EnvironmentFacts,
    checklist: Checklist,
) -> bool:
    """Render an environment from the repositories as jobs see them.

    Returns whether some of its clusters report their state; True if that is unknown.
    """
    chosen = inputs.model_dump(include=set(PlanOptions.__dataclass_fields__))
    schedule_inputs = ScheduleInputs(environment=environment.name, **chosen)
    # Without a GitOps branch there is nothing to read; the list already reports that.
    snapshot = (
        checklist.required(lambda: read_everything(schedule_inputs, jobs).sources)
        if environment.gitops
        else None
    )
    assignments = _render(snapshot, PlanOptions(**chosen), jobs, checklist) if snapshot else None
    checklist.add([rules.rendering_check(jobs.control_plane, environment.name, assignments)])
    return snapshot is None or rules.has_reporting_clusters(snapshot.fleet.cluster_types)


def check_promotion(
    context: CommandContext,
    environment: EnvironmentFacts,
    facts: Facts,
    by_secret: bool,
    checklist: Checklist,
) -> None:
    """Check where an environment promotes to: by variable, else by annotation.

    `by_secret`: a secret, which nobody can read, names the next environment.
    """
    github, name = context.github, context.control_plane
    if by_secret:
        checklist.add([rules.promotes_by_secret(name, environment.name)])
        return
    variable = checklist.optional(
        partial(environments.variable, github, name, environment.name, rules.NEXT_ENVIRONMENT)
    )
    names = split_list(variable or "")
    try:
        following = next_environments(names, environment.name, facts.by_name)
    except KalypsoError as error:
        checklist.add(
            rules.promotion_problems(
                name, environment.name, error.problems, by_variable=bool(names)
            )
        )
        return
    checklist.add([rules.promotion_check(name, environment.name, following)])


def _render(
    snapshot: Snapshot, options: PlanOptions, jobs: CommandContext, checklist: Checklist
) -> int | None:
    """Return the number of assignments; None if there are problems, which go on the list."""
    _, plan = plan_registrations(snapshot, options, jobs.reader, jobs.runtime.progress)
    checklist.add_problems("problem", plan.problems)
    checklist.add_problems("warning", plan.all_warnings)
    return None if plan.problems else len(plan.assignments)
