"""The fleet, its schedule and its configuration, which all answers share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from kalypso_actions import rendering
from kalypso_actions.comparison import Mask
from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.model.config import MergedConfig, Path
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.kinds import Assignment, ClusterType, DeploymentTarget, Fleet, Template
from kalypso_actions.model.layout import (
    NAMESPACE_FILE,
    PROMOTED_COMMIT_FILE,
    README_FILE,
    RECONCILER_FILE,
    SOURCES_FILE,
    TARGET_FILES,
)
from kalypso_actions.model.nearest import suggestion
from kalypso_actions.model.processes import no_progress
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.planning.plan import (
    PlanOptions,
    assignment_renderer,
    layout_options,
    schedule_snapshot,
)
from kalypso_actions.platform_config import PlatformConfig, parse_value
from kalypso_actions.platform_config.layers import LayerKey
from kalypso_actions.report.comparison_entries import AssignmentNameEntry, key_text, value_text
from kalypso_actions.report.documents import Where
from kalypso_actions.report.explain_document import (
    DecisionEntry,
    ElementEntry,
    ExplainedFileEntry,
    LayerEntry,
    OtherLayerEntry,
    PairEntry,
    PolicyEntry,
    StepEntry,
    TermEntry,
    UsedValueEntry,
    ValueEntry,
)
from kalypso_actions.scheduling import Decision, RequirementMatch, Schedule, Scheduler


@dataclass(frozen=True, slots=True)
class ExplainedEnvironment:
    """An environment that is scheduled, not rendered; `mask` removes secrets from answers."""

    snapshot: Snapshot
    options: PlanOptions
    fleet: Fleet
    schedule: Schedule
    config: PlatformConfig
    mask: Mask
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]

    @classmethod
    def of(
        cls, snapshot: Snapshot, options: PlanOptions, scheduler: Scheduler, mask: Mask
    ) -> ExplainedEnvironment:
        """Schedule a snapshot."""
        fleet, schedule, findings = schedule_snapshot(snapshot, scheduler)
        unusable = (problem for item in snapshot.registrations for problem in item.problems)
        return cls(
            snapshot=snapshot,
            options=options,
            fleet=fleet,
            schedule=schedule,
            config=PlatformConfig(fleet),
            mask=mask,
            problems=tuple(findings.problems),
            warnings=(*findings.warnings, *unusable),
        )

    @property
    def unread_registrations(self) -> tuple[str, ...]:
        """The registrations whose targets are unknown."""
        readings = self.snapshot.registrations
        return tuple(item.registration.name for item in readings if item.problems)

    def secrets_of(self, assignment: Assignment) -> Collection[str]:
        """Return the texts that are secret anywhere in an answer about an assignment."""
        config, target = self.config.config_of(assignment), assignment.target
        names = self.mask.names
        own = names.secrets_of({**target.labels, **target.manifests})
        return own | names.secrets_of({"values": config.values, "texts": config.texts})


def names_of(assignments: Iterable[Assignment]) -> tuple[AssignmentNameEntry, ...]:
    """Return the names of assignments, in order."""
    return tuple(
        AssignmentNameEntry(cluster_type=item.cluster_type.name, target=item.target.name)
        for item in assignments
    )


MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class Question:
    """The subject of an answer: all targets and cluster types, or the named ones.

    `targets` is () for all targets; the name of a Workload gives all of its targets.
    """

    environment: ExplainedEnvironment
    targets: tuple[DeploymentTarget, ...]
    cluster_type: ClusterType | None

    @classmethod
    def of(
        cls, environment: ExplainedEnvironment, target: str = "", cluster_type: str = ""
    ) -> Question:
        """Find the targets and cluster type with these names; "" means all.

        Raises UsageError for an unknown name, with the nearest one, and KalypsoError for a target
        of other environments.
        """
        return cls(
            environment,
            _targets(environment, target) if target else (),
            _cluster_type(environment, cluster_type) if cluster_type else None,
        )

    @property
    def names_a_pair(self) -> bool:
        """Whether the question is about one target on one cluster type."""
        return len(self.targets) == 1 and self.cluster_type is not None

    @property
    def assignments(self) -> Iterator[Assignment]:
        """The assignments that the question is about."""
        targets = {target.name for target in self.targets}
        for item in self.environment.schedule.assignments:
            is_type = self.cluster_type in (None, item.cluster_type)
            if is_type and (not targets or item.target.name in targets):
                yield item

    @property
    def pairs(self) -> Iterator[tuple[DeploymentTarget, ClusterType]]:
        """The pairs that the question is about, assigned or not, by target and cluster type."""
        fleet = self.environment.fleet
        cluster_types = (self.cluster_type,) if self.cluster_type else fleet.cluster_types
        for target in self.targets or fleet.targets:
            for cluster_type in cluster_types:
                yield target, cluster_type


def _targets(environment: ExplainedEnvironment, name: str) -> tuple[DeploymentTarget, ...]:
    """Return the target of this name, or else the targets of the Workload of this name."""
    fleet = environment.fleet
    targets = tuple(target for target in fleet.targets if target.name == name)
    targets = targets or tuple(target for target in fleet.targets if target.workload == name)
    if targets:
        return targets
    others = tuple(_of_other_environments(environment))
    elsewhere = [target for target in others if name in {target.name, target.workload}]
    if elsewhere:
        environments = dict.fromkeys(target.environment for target in elsewhere)
        raise KalypsoError(
            f"the target {name!r} is not for {fleet.environment}: it is for "
            f"{abbreviated(list(environments), MOST_NAMES)}",
            elsewhere[0].environment_where or elsewhere[0].where,
            f"add a deployment target whose environment is {fleet.environment}",
        )
    known = [target.name for target in fleet.targets]
    workloads = [target.workload for target in fleet.targets]
    advice = _advice(name, dict.fromkeys((*known, *workloads)), "targets", known)
    if environment.unread_registrations:
        unread = abbreviated(environment.unread_registrations, MOST_NAMES)
        advice += f"\ntargets of registrations that cannot be read are unknown: {unread}"
    message = f"there is no deployment target {name!r} in {fleet.environment}"
    raise UsageError(message, advice=advice)


def _of_other_environments(environment: ExplainedEnvironment) -> Iterator[DeploymentTarget]:
    yield from environment.fleet.other_targets
    for reading in environment.snapshot.registrations:
        for workload in reading.workloads:
            yield from workload.targets


def _cluster_type(environment: ExplainedEnvironment, name: str) -> ClusterType:
    fleet = environment.fleet
    for cluster_type in fleet.cluster_types:
        if cluster_type.name == name:
            return cluster_type
    known = [cluster_type.name for cluster_type in fleet.cluster_types]
    raise UsageError(
        f"there is no cluster type {name!r} in {fleet.environment}",
        advice=_advice(name, known, "cluster types", known),
    )


def _advice(name: str, candidates: Iterable[str], noun: str, known: list[str]) -> str:
    return f"{suggestion(name, candidates)}{noun}: {abbreviated(known, MOST_NAMES) or 'none'}"


def explain_pairs(question: Question) -> tuple[PairEntry, ...]:
    """Return the reason why each pair of a question is assigned or not.

    The decisions on a pair are sorted from the nearest to the farthest: by the number of failing
    terms, then by the number of matching ones; a policy for the target precedes one for the cluster
    type. For several pairs, return only the decisions that select a pair, or else the nearest.
    """
    environment = question.environment
    places = {policy.name: policy.where for policy in environment.fleet.policies}
    policies = {
        (item.target.name, item.cluster_type.name): item.policies
        for item in environment.schedule.assignments
    }
    entries = []
    for target, cluster_type in question.pairs:
        decisions = environment.schedule.explain(target, cluster_type)
        ordered = sorted((decision_entry(item, places) for item in decisions), key=_distance)
        if not question.names_a_pair:
            ordered = [item for item in ordered if item.selected] or ordered[:1]
        entries.append(
            PairEntry(
                target=target.name,
                cluster_type=cluster_type.name,
                target_where=Where.of(target.where),
                cluster_type_where=Where.of(cluster_type.where),
                policies=policies.get((target.name, cluster_type.name), ()),
                decisions=tuple(ordered),
            )
        )
    return tuple(entries)


def explain_policies(
    environment: ExplainedEnvironment,
) -> tuple[tuple[PolicyEntry, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the policies with their assignments, the unassigned targets, the empty cluster types.

    All of them come from the schedule, whatever scheduler made it.
    """
    fleet, assignments = environment.fleet, environment.schedule.assignments
    targets: dict[str, dict[str, None]] = {policy.name: {} for policy in fleet.policies}
    cluster_types: dict[str, dict[str, None]] = {policy.name: {} for policy in fleet.policies}
    for item in assignments:
        for name in item.policies:
            targets.setdefault(name, {})[item.target.name] = None
            cluster_types.setdefault(name, {})[item.cluster_type.name] = None
    places = {policy.name: policy.where for policy in fleet.policies}
    assigned = {item.target.name for item in assignments}
    used = {item.cluster_type.name for item in assignments}
    return (
        tuple(
            PolicyEntry(
                policy=name,
                where=Where.of(places.get(name)),
                targets=tuple(sorted(targets[name])),
                cluster_types=tuple(sorted(cluster_types[name])),
            )
            for name in targets
        ),
        tuple(item.name for item in fleet.targets if item.name not in assigned),
        tuple(item.name for item in fleet.cluster_types if item.name not in used),
    )


def decision_entry(decision: Decision, places: Mapping[str, Location]) -> DecisionEntry:
    """Return a decision as part of an answer; `places` are the places of the policies by name."""
    return DecisionEntry(
        policy=decision.policy,
        where=Where.of(places.get(decision.policy)),
        selected=decision.selected,
        target_terms=_terms(decision.target_matches),
        cluster_type_terms=_terms(decision.cluster_type_matches),
        steps=tuple(
            StepEntry(name=step.name, detail=step.detail, passed=step.passed)
            for step in decision.steps
        ),
    )


def _terms(matches: Iterable[RequirementMatch]) -> tuple[TermEntry, ...]:
    return tuple(
        TermEntry(
            requirement=match.requirement,
            value=match.value,
            matched=match.matched,
            where=Where.of(match.where),
        )
        for match in matches
    )


def _distance(entry: DecisionEntry) -> tuple[int, int, bool, str]:
    misses_target = not all(term.matched for term in entry.target_terms)
    return entry.misses, entry.misses - len(entry.terms), misses_target, entry.policy


def explain_key(question: Question, key: str) -> tuple[ValueEntry, ...]:
    """Return the value of a key for all assignments of a question, once for equal layers.

    `key` may lead into a value: `REGION.name`, `hosts[0]`. Raises UsageError for a key that no
    assignment and no ConfigMap has.
    """
    environment = question.environment
    tops = {entry.key for entry in environment.config.entries}
    # Only the layers of the key count: each of 100,000 assignments may have others besides.
    groups = environment.config.combinations(
        question.assignments, {top for top in tops if key.startswith(top)} or tops
    )
    rows = [_Answer(environment, key, assignments) for assignments in groups]
    if key not in tops and not any(row.path for row in rows):
        known = {key_text(path) for row in rows for path in row.config.origins} | tops
        raise UsageError(
            f"no ConfigMap sets {key!r} in {environment.fleet.environment}",
            advice=f"{suggestion(key, sorted(known))}"
            f"keys: {abbreviated(sorted(tops), MAX_LISTED) or 'none'}",
        )
    merged: dict[str, list[_Answer]] = {}
    for row in rows:
        merged.setdefault(row.identity, []).append(row)
    return tuple(
        same[0].entry([a for row in same for a in row.assignments]) for same in merged.values()
    )


class _Answer:
    """The value of a key for assignments with one configuration."""

    def __init__(
        self, environment: ExplainedEnvironment, key: str, assignments: Sequence[Assignment]
    ) -> None:
        self.assignments = assignments
        self._environment = environment
        self._key = key
        self._first = assignments[0]
        self.config: MergedConfig = environment.config.config_of(self._first)
        self.path = _path_of(self.config, key)
        top = str(self.path[0]) if self.path else key
        entries = environment.config.entries_of(top)
        lacking = [(environment.config.lacking(self._first, entry), entry) for entry in entries]
        self._layers = [entry for labels, entry in lacking if not labels]
        self._others = [(dict(labels), entry) for labels, entry in lacking if labels]

    @property
    def identity(self) -> str:
        """A text that is the same for answers with equal layers."""
        return repr(([(each.where, each.text) for each in self._layers], self._others))

    def entry(self, assignments: Sequence[Assignment]) -> ValueEntry:
        """Return the answer for all assignments that share it."""
        origins = self.config.origins
        below = {p: places for p, places in origins.items() if p[: len(self.path)] == self.path}
        winners = {places[-1] for places in below.values()} if self.path else set()
        value = _value_at(self.config.values, self.path) if self.path else None
        return ValueEntry(
            key=self._key,
            value=self._shown(self.path, value) if self.path else None,
            assignments=names_of(sorted(assignments, key=lambda item: item.folder)),
            layers=tuple(self._layer(entry, winners) for entry in self._layers),
            elements=tuple(self._elements(below)) if isinstance(value, dict | list) else (),
            other_layers=tuple(
                OtherLayerEntry(
                    config_map=entry.config_map, lacks=labels, where=Where.of(entry.where)
                )
                for labels, entry in self._others
            ),
        )

    def _layer(self, entry: LayerKey, winners: set[Location]) -> LayerEntry:
        return LayerEntry(
            config_map=entry.config_map,
            labels=dict(entry.labels),
            value=self._shown((entry.key,), parse_value(entry.text)),
            where=Where.of(entry.where),
            wins=entry.where in winners,
        )

    def _elements(self, below: dict[Path, tuple[Location, ...]]) -> Iterator[ElementEntry]:
        """Yield the elements of the value that are neither lists nor mappings."""
        for path, places in below.items():
            value = _value_at(self.config.values, path)
            if not isinstance(value, dict | list):
                yield ElementEntry(
                    key=key_text(path), value=self._shown(path, value), where=Where.of(places[-1])
                )

    def _shown(self, path: Path, value: object) -> str:
        return value_text(self._environment.mask.value(path, value, self._secrets))

    @cached_property
    def _secrets(self) -> Collection[str]:
        return self._environment.secrets_of(self._first)


def _path_of(config: MergedConfig, key: str) -> Path:
    """Return the path of a key or of a value within a key; () if the configuration has neither."""
    if key in config.values:
        return (key,)
    return next((path for path in config.origins if key_text(path) == key), ())


def _value_at(values: Any, path: Path) -> object:
    """Return the value at a path within these values."""
    for step in path:
        values = values[step]
    return values


OWN_FILES: Final = (README_FILE, PROMOTED_COMMIT_FILE, SOURCES_FILE)


def explain_file(
    environment: ExplainedEnvironment, path: str, target: str, cluster_type: str
) -> tuple[tuple[ExplainedFileEntry, ...], tuple[Problem, ...]]:
    """Return the sources of a file of the tree, and the problems that prevent its rendering.

    `path` ends with `<cluster type>/<target>/<file>`, or names a file of the given pair. Raises
    UsageError for other paths and names.
    """
    *folders, name = path.split("/")
    if name not in TARGET_FILES:
        raise _no_template(path, name)
    if len(folders) > 1:
        cluster_type, target = cluster_type or folders[-2], target or folders[-1]
    if not (target and cluster_type):
        raise UsageError(
            f"--file {path} names no assignment",
            advice="write <cluster type>/<target>/<file>, or add --target and --cluster-type",
        )
    question = Question.of(environment, target, cluster_type)
    assignments = list(question.assignments)
    if not assignments:
        raise UsageError(
            f"{target} is not assigned to {cluster_type}, so there is no {name}",
            advice=f"kalypso explain {environment.fleet.environment} --target {target} "
            f"--cluster-type {cluster_type} shows why",
        )
    renderer = assignment_renderer(environment.snapshot, environment.fleet, environment.options)
    planned = renderer.render_all(assignments, {}, no_progress)
    for item in planned:
        if not item.failure and name not in item.files:
            raise UsageError(
                f"{item.assignment.folder} has no {name}",
                advice=f"its files: {', '.join(item.files)}",
            )
    return (
        tuple(_File(environment, item.assignment, name).entry(item.files) for item in planned),
        tuple(item.failure.problem_of(item.assignment) for item in planned if item.failure),
    )


def _no_template(path: str, name: str) -> UsageError:
    if path.endswith(OWN_FILES):
        return UsageError(f"{path} has no Template: kalypso schedule writes it itself")
    advice = f"{suggestion(name, sorted(TARGET_FILES))}files: {', '.join(sorted(TARGET_FILES))}"
    return UsageError(f"--file {path}: no Template writes a file named {name}", advice=advice)


@dataclass(frozen=True, slots=True)
class _File:
    """A file of an assignment's folder."""

    environment: ExplainedEnvironment
    assignment: Assignment
    name: str

    def entry(self, written: tuple[str, ...]) -> ExplainedFileEntry:
        cluster_type = self.assignment.cluster_type
        field, template_name = {
            RECONCILER_FILE: ("reconciler", cluster_type.reconciler),
            NAMESPACE_FILE: ("namespaceService", cluster_type.namespace_service),
        }.get(self.name, ("configType", cluster_type.config_type))
        templates = {item.name: item for item in self.environment.fleet.templates}
        template = templates.get(template_name)
        return ExplainedFileEntry(
            path=f"{self.assignment.folder}/{self.name}",
            assignment=names_of([self.assignment])[0],
            template=template_name if template or field != "configType" else "",
            where=Where.of(template.where if template else None),
            named_by=field,
            named_at=Where.of(cluster_type.at(field)),
            written=self.name in written,
            values=tuple(self._values(template) if template else self._whole_config(None)),
        )

    def _values(self, template: Template) -> Iterator[UsedValueEntry]:
        """Yield the fields that the Template reads, each once."""
        fields: dict[tuple[str, ...], Location] = {}
        for names, where in rendering.fields_read(template):
            fields.setdefault(names[:2], where)
        for (first, *keys), where in fields.items():
            if first == "ConfigData" and not keys:
                yield from self._whole_config(where)
                continue
            value, set_at = self._value(first, keys[0] if keys else "")
            yield self._used(".".join(("", first, *keys)), value, where, set_at)

    def _whole_config(self, where: Location | None) -> Iterator[UsedValueEntry]:
        """Yield all values of the configuration; the file or its Template may use any of them."""
        config = self.environment.config.config_of(self.assignment)
        for key, value in config.values.items():
            yield self._used(f".ConfigData.{key}", value, where, config.origins[key,][-1])

    def _value(self, field: str, key: str) -> tuple[object, Location | None]:
        """Return the value of a field (None for a key without a value) and its place."""
        target, cluster_type = self.assignment.target, self.assignment.cluster_type
        if field == "ConfigData":
            config = self.environment.config.config_of(self.assignment)
            return config.values.get(key), config.origins.get((key,), (None,))[-1]
        if field in {"Repo", "Branch", "Path"}:
            field, key = "Manifests", field.lower()
        maps: Mapping[str, Mapping[str, str]] = {
            "Labels": target.labels,
            "Manifests": target.manifests,
        }
        if field in maps:
            value = maps[field].get(key) if key else dict(maps[field])
            return value, target.at(key) if field == "Manifests" else target.where
        environment = self.environment.fleet.environment
        scheme = layout_options(self.environment.options).namespace_scheme
        texts = {
            "DeploymentTargetName": (target.name, target.where),
            "Namespace": (rendering.namespace_of(self.assignment, environment, scheme), None),
            "Environment": (environment, None),
            "Workspace": (target.workspace, target.where),
            "Workload": (target.workload, target.where),
            "ClusterType": (cluster_type.name, cluster_type.where),
        }
        return texts.get(field, (None, None))

    def _used(
        self, field: str, value: object, where: Location | None, set_at: Location | None
    ) -> UsedValueEntry:
        secrets = self.environment.secrets_of(self.assignment)
        path = field.split(".")
        masked = self.environment.mask.value(path, value, secrets)
        return UsedValueEntry(
            field=field,
            value=None if value is None else value_text(masked),
            where=Where.of(where),
            set_at=Where.of(set_at),
        )
