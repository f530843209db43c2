"""`<no value>`, which Go's templates write for a key that a map does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.kinds import Assignment, ClusterType, Template
from kalypso_actions.model.layout import NAMESPACE_FILE, RECONCILER_FILE
from kalypso_actions.rendering.failures import Failure

NO_VALUE: Final = "<no value>"

Rendered = tuple[Assignment, Mapping[str, bytes]]


def missing_values(rendered: Sequence[Rendered], templates: Sequence[Template]) -> list[Problem]:
    """Return a problem for each line of a Template that writes `<no value>` for assignments."""
    by_name = {template.name: template for template in templates}
    subjects: dict[tuple[str, str], list[str]] = {}
    for assignment, files in rendered:
        for name, line in _lines(assignment.cluster_type, files):
            subject = f"{assignment.target.name} on {assignment.cluster_type.name}"
            # The text before the gap is the Template's; that behind it may differ.
            subjects.setdefault((name, line.partition(NO_VALUE)[0]), []).append(subject)
    return [
        _problem(by_name[name], start, names)
        for (name, start), names in subjects.items()
        if name in by_name
    ]


def missing_value_failure(rendered: Rendered, templates: Sequence[Template]) -> Failure | None:
    """Return the first missing value of an assignment as its failure."""
    problems = missing_values([rendered], templates)
    if not problems:
        return None
    first = problems[0]
    where = first.where or rendered[0].target.where
    message = first.message.rpartition(" (")[0]  # the failure names its assignment itself
    return Failure(message, where, first.advice, code=first.code)


def _lines(cluster_type: ClusterType, files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield the Template and the line of each missing value."""
    for file, content in files.items():
        if NO_VALUE.encode() in content:
            names = {
                RECONCILER_FILE: cluster_type.reconciler,
                NAMESPACE_FILE: cluster_type.namespace_service,
            }
            for line in content.decode("utf-8", "replace").splitlines():
                if NO_VALUE in line:
                    yield names.get(file, cluster_type.config_type), line


def _problem(template: Template, start: str, subjects: Sequence[str]) -> Problem:
    files = f"{len(subjects)} files get" if len(subjects) > 1 else "a file gets"
    return Problem(
        f"Template {template.name!r}: {files} {(start + NO_VALUE).strip()!r} "
        f"({abbreviated(subjects, 1)})",
        _place(template, start.strip()),
        "add the value to the configuration or to the target's manifests, correct its name, or "
        "give it a default",
        "template-no-value",
    )


def _place(template: Template, start: str) -> Location:
    """Return the line of the Template that begins like the output, else the Template."""
    for manifest, first in zip(template.manifests, template.manifest_lines, strict=False):
        if isinstance(manifest, str) and start:
            for number, line in enumerate(manifest.splitlines()):
                if line.strip().startswith(start) and "{{" in line:
                    return replace(template.where, line=first + number, column=0)
    return template.where
