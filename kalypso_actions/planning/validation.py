"""Validate the documents of several branches, alone and together, without rendering.

The branches belong to a control plane, or to repositories of Workloads; their documents tell which.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

from kalypso_actions import rendering
from kalypso_actions.errors import (
    Diagnostics,
    Finding,
    KalypsoError,
    Location,
    Problem,
    UsageError,
    leveled,
)
from kalypso_actions.fleet.assembly import duplicate, overrides, registrations_named_as_bases
from kalypso_actions.fleet.parsing import (
    POLICY_MISPLACED,
    parse_document,
    template_may_exist,
)
from kalypso_actions.fleet.workloads import check_workloads
from kalypso_actions.model import kinds
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.counts import counted
from kalypso_actions.model.documents import Document, Reading
from kalypso_actions.model.kinds import Assignment, Fleet, RegistrationText
from kalypso_actions.model.kubernetes_names import label_value_fault
from kalypso_actions.model.promotion_policy import POLICY_FILE, POLICY_KIND, PromotionPolicy
from kalypso_actions.planning.config_checks import (
    OF_MISSING_VALUES,
    ConfigKeyRead,
    ConfigKeyReads,
    ConfigValidator,
)
from kalypso_actions.planning.fleet_checks import FleetScope, FleetView, check_fleet
from kalypso_actions.planning.fleet_checks.branches import (
    ControlPlaneBranches,
    Registered,
    check_branches,
    foreign_bases,
    unpinned_branches,
)
from kalypso_actions.planning.fleet_checks.documents import (
    invalid_schemas,
    missing_templates,
    misspelled_keywords,
    schema_faults,
    unknown_types,
)
from kalypso_actions.planning.fleet_checks.policies import policy_on_main
from kalypso_actions.planning.fleet_manifests import (
    Checked,
    ManifestChecker,
    are_own,
    judge_manifests,
    wanted_of,
)
from kalypso_actions.planning.merged_findings import settled
from kalypso_actions.planning.plan import PlanOptions, layout_options
from kalypso_actions.platform_config import PlatformConfig
from kalypso_actions.platform_config.lint import (
    config_map_notes,
    config_map_problems,
    config_map_warnings,
)
from kalypso_actions.promotion.environments import (
    environment_circles,
    is_in_circle,
    unknown_next,
    unreached_environments,
)
from kalypso_actions.scheduling.labels import compile_policy
from kalypso_actions.scheduling.registry import installed_schedulers, scheduler_of
from kalypso_go.goyaml.scalars import resolve

Kind = TypeVar("Kind")


@dataclass(slots=True)
class _Branch:
    """A branch: its resources, each with its document."""

    reading: Reading
    resources: list[tuple[Document, object]] = field(default_factory=list)

    def of(self, kind: type[Kind]) -> Iterator[Kind]:
        """Return the resources of a kind."""
        return (resource for _, resource in self.resources if isinstance(resource, kind))


def validate_control_plane(
    readings: Sequence[Reading],
    registered: Registered,
    options: PlanOptions,
    now: datetime | None = None,
    main_commit: str = "",
) -> tuple[Finding, ...]:
    """Check the documents one by one, then together, and set acknowledged warnings apart.

    `now` is when Placements are decided, `main_commit` the head of main, if it is known.
    """
    found = validate_branches(readings)
    if readings and not any(item.documents or item.problems for item in readings):
        where = Location(readings[0].revision.repository, branch=readings[0].revision.branch)
        message = "there is no document to validate"
        advice = "change to a clone of the control plane, or name it: kalypso validate URL"
        found.problems.append(Problem(message, where, advice, "documents-missing"))
    branches = ControlPlaneBranches.among(readings)
    _add_checks_of_branches(branches, found, main_commit)
    view = branches.view(registered, found, options.delivery, now)
    of_fleet = check_fleet(view)
    left_out = [item for item in of_fleet if item.code == "application-missing"]
    others = [item for item in of_fleet if item.code != "application-missing"]
    of_trial = _try_rendering(view, options, now)
    findings = (*found.findings, *others, *of_trial.findings, *leveled(left_out, "error"))
    of_workloads = (item.reading for item in registered.values() if item.reading)
    documents = (doc for reading in (*readings, *of_workloads) for doc in reading.documents)
    repositories = [doc.where.repository for reading in readings for doc in reading.documents]
    is_judged = view.is_complete and not any(scope.unread for scope in view.scopes)
    return settled(findings, documents, repositories if is_judged else ())


def validate_change(readings: Sequence[Reading], main_commit: str) -> Diagnostics:
    """Check the documents of a control plane's branches, without their fleets.

    A change of one branch is compared by this before and after it; `main_commit` is the head of
    main.
    """
    found = validate_branches(readings)
    _add_checks_of_branches(ControlPlaneBranches.among(readings), found, main_commit)
    return found


def _add_checks_of_branches(
    branches: ControlPlaneBranches, found: Diagnostics, main_commit: str
) -> None:
    """Add what the environments' branches lack, and locate faulty paths at the Environments."""
    for name, own in branches.own.items():
        of_own = branches.environments[name].control_plane.located(own).problems
        located = dict(zip(own.problems, of_own, strict=True))
        found.problems = [located.get(item, item) for item in found.problems]
    found.problems += check_branches(branches, main_commit)
    found.warnings += foreign_bases(branches)
    found.notes += unpinned_branches(branches)


def validate_workloads(
    readings: Iterable[Reading], registration_text: RegistrationText = "strict"
) -> tuple[Finding, ...]:
    """Check folders of Workloads, without the checks that need a control plane."""
    found = Diagnostics()
    documents: list[Document] = []
    for reading in readings:
        workloads, of_reading = check_workloads(reading, registration_text)
        targets = [target for workload in workloads for target in workload.targets]
        found.problems += [*of_reading.problems, *schema_faults(targets)]
        found.warnings += [*of_reading.warnings, *misspelled_keywords((), targets)]
        documents += reading.documents
    return settled(found.findings, documents)


def validate_branches(
    readings: Iterable[Reading], first_environments: Sequence[str] = ()
) -> Diagnostics:
    """Check all documents branch by branch, then across branches.

    `first_environments` are the names in the input `first-environments`.
    """
    diagnostics = Diagnostics()
    branches = [_parse(reading, diagnostics) for reading in readings]
    control_plane = ControlPlaneBranches.among([branch.reading for branch in branches])
    of_environments = [b for b in branches if control_plane.is_of_environment(b.reading)]
    others = [branch for branch in branches if branch not in of_environments]
    for branch in branches:
        for check in (_duplicates, _misplaced_workloads, _templates, _policies, _schemas):
            diagnostics.problems += check(branch)
        for template in branch.of(kinds.Template):
            diagnostics.warnings += rendering.unknown_fields(template)
            diagnostics.warnings += rendering.reversed_defaults(template)
            diagnostics.notes += rendering.unquoted_texts(template)
        for config_map in branch.of(kinds.ConfigMap):
            diagnostics.problems += config_map_problems(config_map)
            diagnostics.warnings += config_map_warnings(config_map)
            diagnostics.notes += config_map_notes(config_map)
    environments = _environments(others or branches)
    documents = (doc for branch in branches for doc in branch.reading.documents)
    faulty = {doc.name for doc in documents if doc.kind == "Environment"}
    for environment in environments.values():
        diagnostics.problems += unknown_next(environment, environments, faulty)
    diagnostics.problems += _unknown_schedulers(environments.values())
    diagnostics.problems += environment_circles(environments)
    diagnostics.notes += unreached_environments(first_environments, environments)
    for branch in others or branches:
        diagnostics.warnings += _early_environments(branch, environments)
    _references(branches, diagnostics)
    _misplaced_kinds(branches, control_plane, diagnostics)
    diagnostics.add_by_level(_overridden(of_environments, others, control_plane))
    diagnostics.warnings += registrations_named_as_bases(
        (item for branch in branches for item in branch.of(kinds.WorkloadRegistration)),
        (base for branch in branches for base in branch.of(kinds.BaseRepo)),
    )
    return diagnostics


def _parse(reading: Reading, diagnostics: Diagnostics) -> _Branch:
    diagnostics.problems += reading.problems
    diagnostics.warnings += reading.warnings
    for scheduler in installed_schedulers() if reading.placements else ():
        diagnostics.add_by_level(scheduler.check(reading.placements))
    diagnostics.problems += reading.policy.problems
    branch = _Branch(reading)
    for document in reading.documents:
        resource = parse_document(document, diagnostics)
        if resource is not None:
            branch.resources.append((document, resource))
    return branch


def _duplicates(branch: _Branch) -> Iterator[Problem]:
    seen: dict[tuple[str, str], Document] = {}
    for document, _ in branch.resources:
        first = seen.setdefault((document.kind, document.name), document)
        if first is not document:
            yield duplicate(first, document)


def _misplaced_workloads(branch: _Branch) -> Iterator[Problem]:
    """Report Workloads in a control plane."""
    workloads = list(branch.of(kinds.Workload))
    if len(workloads) == len(branch.resources):
        return
    for workload in workloads:
        yield Problem(
            f"Workload {workload.name!r} is in a control-plane branch",
            workload.where,
            "move it into a repository that a WorkloadRegistration names",
            "workload-misplaced",
        )


def _misplaced_kinds(
    branches: Iterable[_Branch], control_plane: ControlPlaneBranches, diagnostics: Diagnostics
) -> None:
    """Report what belongs to the environments' branches but is on main, and the other way round."""
    for branch in branches:
        if branch.reading is control_plane.main and control_plane.environments:
            for document in branch.reading.policies:
                message = f"{POLICY_KIND} {document.name!r} is on main: nothing reads it"
                advice = "move it to the branch of the environment that it is for"
                problem = Problem(message, document.where, advice, POLICY_MISPLACED)
                diagnostics.warnings.append(problem)
            diagnostics.warnings += map(policy_on_main, branch.of(kinds.SchedulingPolicy))
            for cluster_type in branch.of(kinds.ClusterType):
                message = f"ClusterType {cluster_type.name!r} is on main: every environment gets it"
                advice = "move it to the branches of the environments that have such clusters"
                problem = Problem(message, cluster_type.where, advice, "cluster-type-on-main")
                diagnostics.notes.append(problem)
        elif control_plane.is_of_environment(branch.reading):
            for environment in branch.of(kinds.Environment):
                name = repr(environment.name)
                is_copy = environment.name in control_plane.environments
                message = f"Environment {name} is not on main: no command reads it"
                advice = "move it to main"
                if is_copy:
                    message = (
                        f"no command reads this copy of Environment {name}: that of main counts"
                    )
                    advice = "remove the file from this branch"
                problem = Problem(message, environment.where, advice, "environment-misplaced")
                diagnostics.warnings.append(problem)


def _templates(branch: _Branch) -> Iterator[Problem]:
    for template in branch.of(kinds.Template):
        yield from rendering.template_faults(template)
        yield from unknown_types([template])


def _policies(branch: _Branch) -> Iterator[Problem]:
    for policy in branch.of(kinds.SchedulingPolicy):
        yield from compile_policy(policy)[1]
    for promotion in branch.of(PromotionPolicy):
        message = f"nothing reads this {POLICY_KIND}"
        yield Problem(message, promotion.where, f"move it to {POLICY_FILE}", POLICY_MISPLACED)


def _schemas(branch: _Branch) -> Iterator[Problem]:
    yield from invalid_schemas(branch.of(kinds.ConfigSchema))
    targets = [*branch.of(kinds.DeploymentTarget)]
    for workload in branch.of(kinds.Workload):
        targets += workload.targets
    yield from schema_faults(targets)


def _environments(branches: Sequence[_Branch]) -> dict[str, kinds.Environment]:
    """Return the Environments of main's branches; environment branches may have old copies."""
    return {e.name: e for branch in branches for e in branch.of(kinds.Environment)}


def _early_environments(
    branch: _Branch, environments: Mapping[str, kinds.Environment]
) -> Iterator[Problem]:
    """Report the environments that get a commit at once, although they come after others."""
    for document, environment in branch.resources:
        if (
            isinstance(environment, kinds.Environment)
            and environment.is_first
            and not is_in_circle(environment, environments)  # which has its own problem
        ):
            others = (each for each in environments.values() if each.name != environment.name)
            earlier = [each.name for each in others if environment.name in each.next_environments]
            if earlier:
                yield Problem(
                    f"Environment {environment.name!r} is a first environment, and comes after "
                    f"{earlier[0]!r}: it gets each commit before the clusters of {earlier[0]!r} "
                    "run it",
                    document.at("metadata", "annotations", kinds.FIRST_ENVIRONMENT_ANNOTATION),
                    f"remove the annotation, or {environment.name} from the next environments of "
                    f"{earlier[0]}",
                    "environment-early",
                )


def _unknown_schedulers(environments: Iterable[kinds.Environment]) -> Iterator[Problem]:
    for environment in environments:
        try:
            scheduler_of(environment)
        except KalypsoError as error:
            yield error.problem


def _overridden(
    of_environments: Sequence[_Branch],
    others: Sequence[_Branch],
    control_plane: ControlPlaneBranches,
) -> Iterator[Finding]:
    """Report documents of main that an environment branch overrides."""
    names = {id(reading): name for name, reading in control_plane.own.items()}

    def documents_of(branch: _Branch) -> list[Document]:
        resources = branch.resources  # the copies of Environments have findings of their own
        return [item for item, each in resources if not isinstance(each, kinds.Environment)]

    of_main = [document for branch in others for document in documents_of(branch)]
    for branch in of_environments:
        documents = documents_of(branch)
        name = names.get(id(branch.reading), branch.reading.revision.branch)
        yield from overrides(name, documents, of_main)


def _references(branches: Sequence[_Branch], diagnostics: Diagnostics) -> None:
    """Check that the Templates named by cluster types exist, if main is among the branches."""
    cluster_types = [c for branch in branches for c in branch.of(kinds.ClusterType)]
    templates = {t.name for branch in branches for t in branch.of(kinds.Template)}
    readings = [branch.reading for branch in branches]
    if not templates:
        if cluster_types and not any(reading.problems for reading in readings):
            _without_templates(cluster_types, branches, diagnostics)
        return
    may_exist = partial(template_may_exist, readings=readings)
    diagnostics.problems += missing_templates(cluster_types, templates, may_exist)


def _without_templates(
    cluster_types: Sequence[kinds.ClusterType],
    branches: Sequence[_Branch],
    diagnostics: Diagnostics,
) -> None:
    """Report once that main has no Templates; if main is not given, add a note instead."""
    where = cluster_types[0].at("reconciler")
    names = counted(len(cluster_types), "ClusterType")
    if any(True for branch in branches for _ in branch.of(kinds.Environment)):
        message = f"main has none of the Templates of {names}"
        advice = "add them to main; check that .sourceignore and kustomization.yaml include them"
        diagnostics.problems.append(Problem(message, where, advice, "template-missing"))
    else:
        message = f"the Templates of {names} are not checked"
        advice = "validate together with the branch that has them"
        diagnostics.notes.append(Problem(message, where, advice, "templates-unchecked"))


_REPORTED: Final = rendering.OF_TEMPLATES | {rendering.BROKEN_SCHEMA}
"""Failures that the checks of documents report."""

_Failures = dict[tuple[Location, str], Problem]
"""Failures by place and message."""


def _try_rendering(view: FleetView, options: PlanOptions, now: datetime | None) -> Diagnostics:
    """Schedule, configure, validate and render, and return each failure once, with an example.

    `now` is when Placements are decided. Raises UsageError for an unknown `scheduler` of the
    options.
    """
    found = Diagnostics()
    failures: _Failures = {}
    rendered: list[rendering.Rendered] = []
    checked: list[tuple[Assignment, Checked]] = []
    templates: dict[str, kinds.Template] = {}
    unset: dict[ConfigKeyRead, list[Assignment]] = {}
    configs: dict[str, PlatformConfig] = {}
    for scope in view.scopes:
        assignments = _assignments(scope, view, options.scheduler, now, found)
        config = configs[scope.environment] = PlatformConfig(scope.fleet)
        layout = layout_options(options)
        of_scope = [*_rendered(scope.fleet, config, assignments, layout, failures, checked)]
        rendered += of_scope
        templates |= {template.name: template for template in scope.fleet.templates}
        reads = ConfigKeyReads(scope.fleet, config)
        for read, items in reads.unset(assignment for assignment, _ in of_scope).items():
            unset.setdefault(read, []).extend(items)
    found.problems += failures.values()

    def config_of(assignment: Assignment) -> MergedConfig:
        return configs[assignment.target.environment].config_of(assignment)

    judgement = judge_manifests(checked, templates.values(), options.manifests, config_of)
    found.add_by_level(judgement.findings)
    gaps = rendering.value_gaps(rendered, [*templates.values()], config_of)
    if view.scopes:
        gaps = reads.findings(unset, gaps)
    for gap in gaps:
        is_error = options.missing_values == "error" and gap.code in OF_MISSING_VALUES
        (found.problems if is_error else found.warnings).append(gap)
    return found


def _assignments(
    scope: FleetScope,
    view: FleetView,
    scheduler_name: str,
    now: datetime | None,
    diagnostics: Diagnostics,
) -> tuple[Assignment, ...]:
    """Schedule an environment, and add the findings of its scheduler.

    The trial does not know which cluster types have the targets now. It assumes all of them: some
    taints spare cluster types that already have a target, but could otherwise empty a Placement.
    """
    declared = (view.environments or {}).get(scope.environment)
    try:
        scheduler = scheduler_of(declared, scheduler_name)
    except UsageError:
        raise
    except KalypsoError:
        return ()  # the check of the Environments reports it
    names = tuple(cluster_type.name for cluster_type in scope.fleet.cluster_types)
    assigned = {target.name: names for target in scope.fleet.targets}
    state = dataclasses.replace(scope.fleet.placement, assigned=assigned, now=now)
    schedule = scheduler.schedule(dataclasses.replace(scope.fleet, placement=state))
    diagnostics.problems += schedule.problems
    diagnostics.warnings += schedule.warnings
    return schedule.assignments


def _rendered(
    fleet: Fleet,
    platform_config: PlatformConfig,
    assignments: Iterable[Assignment],
    options: rendering.Options,
    failures: _Failures,
    checked: list[tuple[Assignment, Checked]],
) -> Iterator[rendering.Rendered]:
    """Yield the rendered assignments of an environment, and add its failures to `failures`.

    The results of the checks of manifests go to `checked`.
    """
    start = len(checked)
    own: list[tuple[Assignment, Checked]] = []
    """Assignments whose objects are not computed unless another one may refer to them."""
    validator = ConfigValidator(platform_config)
    renderer = rendering.Renderer(fleet.environment, fleet.templates, options)
    checker = ManifestChecker(fleet.templates)
    excess: Counter[str] = Counter()
    for alike in _alike(assignments):
        assignment = alike[0]
        config = platform_config.config_of(assignment)
        check = partial(validator.failure, assignment, config)
        registration = assignment.target.registration
        before = renderer.excess_of(registration)
        outcome = renderer.render(assignment, config, check)
        excess[registration] += len(alike) * (renderer.excess_of(registration) - before)
        if rendering.is_excessive(excess[registration]):
            outcome = rendering.too_large(assignment.target)
        if not isinstance(outcome, rendering.Failure):
            of_first = checker.check(assignment, outcome)
            checked.append((assignment, of_first))
            if are_own(assignment, of_first):
                alone = of_first._replace(joined=b"")
                own += ((other, alone) for other in alike[1:])
            else:
                checked += _checked(alike[1:], platform_config, renderer, checker)
            yield from ((other, outcome) for other in alike)
        elif not outcome.is_consequence and outcome.code not in _REPORTED:
            key = outcome.where, outcome.message
            failures.setdefault(key, outcome.problem_of(assignment))
    is_wanted = wanted_of(each for _, each in checked[start:])
    checked += (item for item in own if not is_wanted(item[0]))
    wanted = (assignment for assignment, _ in own if is_wanted(assignment))
    checked += _checked(wanted, platform_config, renderer, checker)


def _checked(
    assignments: Iterable[Assignment],
    platform_config: PlatformConfig,
    renderer: rendering.Renderer,
    checker: ManifestChecker,
) -> Iterator[tuple[Assignment, Checked]]:
    """Yield the checked manifests of assignments that may print the same objects as others."""
    for assignment in assignments:
        outcome = renderer.render(assignment, platform_config.config_of(assignment))
        if not isinstance(outcome, rendering.Failure):
            yield assignment, checker.check(assignment, outcome)


def _alike(assignments: Iterable[Assignment]) -> Iterable[list[Assignment]]:
    """Group the assignments by cluster type and kind of target; one of each group is rendered.

    Targets of one kind have the same keys in manifests and labels, which templates read, the same
    texts with special characters, and otherwise texts of which YAML makes values of the same types,
    and labels or not.
    """
    by_kind: dict[object, list[Assignment]] = {}
    for assignment in assignments:
        target = assignment.target
        kind = (
            assignment.cluster_type.name,
            frozenset(
                (key, type(resolve(text)), bool(label_value_fault(text)))
                for key, text in target.manifests.items()
            ),
            frozenset((key, _type(text)) for key, text in target.labels.items()),
            *map(_type, (target.name, target.workload, target.workspace)),
            frozenset(target.manifests[key] for key in rendering.special_texts(target.manifests)),
        )
        by_kind.setdefault(kind, []).append(assignment)
    return by_kind.values()


def _type(text: str) -> object:
    """Return the type of an unquoted text in YAML, or the text that is no value of a label."""
    return text if label_value_fault(text) else type(resolve(text))
