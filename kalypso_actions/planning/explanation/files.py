"""The Template of a file, and the values that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from kalypso_actions import rendering
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.model.kinds import Assignment, Template
from kalypso_actions.model.layout import (
    NAMESPACE_FILE,
    PROMOTED_COMMIT_FILE,
    README_FILE,
    RECONCILER_FILE,
    SOURCES_FILE,
    TARGET_FILES,
)
from kalypso_actions.model.progress import no_progress
from kalypso_actions.planning.explanation.environment import ExplainedEnvironment, names_of
from kalypso_actions.planning.explanation.names import Question, suggestion
from kalypso_actions.planning.plan import assignment_renderer, layout_options
from kalypso_actions.report.comparison_entries import value_text
from kalypso_actions.report.documents import Where
from kalypso_actions.report.explain_document import ExplainedFileEntry, UsedValueEntry

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
