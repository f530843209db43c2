"""`<no value>`, which Go's templates write for a key that a map does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.kinds import Assignment, ClusterType, Template
from kalypso_actions.model.layout import NAMESPACE_FILE, RECONCILER_FILE
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.rendering.failures import Failure
from kalypso_actions.rendering.template_lint import ACTION, PRINTS_NOTHING

NO_VALUE: Final = "<no value>"

ADVICE: Final = (
    "add the value to the configuration or to the target's manifests, correct its name, or give "
    "it a default"
)

_ANY_ACTION: Final = re.compile(r"\{\{.*?\}\}")

Rendered = tuple[Assignment, Mapping[str, FileContent]]


def lacks_value(content: FileContent) -> bool:
    """Return whether a file has `<no value>`; the id of a written blob never counts."""
    return isinstance(content, bytes) and NO_VALUE.encode() in content


def missing_values(rendered: Sequence[Rendered], templates: Sequence[Template]) -> list[Problem]:
    """Return a problem for each action of a Template that writes `<no value>` for assignments."""
    by_name = {template.name: template for template in templates}
    subjects: dict[tuple[str, str], list[str]] = {}
    for assignment, files in rendered:
        for name, line in _lines(assignment.cluster_type, files):
            subject = f"{assignment.target.name} on {assignment.cluster_type.name}"
            # The text before the gap identifies the Template's line; the text after it may differ.
            subjects.setdefault((name, line.partition(NO_VALUE)[0].strip()), []).append(subject)
    merged: dict[tuple[Location, str], dict[str, None]] = {}
    for (name, start), names in subjects.items():
        if name in by_name:
            of_cause = merged.setdefault(_cause(by_name[name], start), {})
            of_cause |= dict.fromkeys(names)
    return [
        Problem(
            f"{message} into {counted(len(names), 'file')} ({abbreviated([*names], 1)})",
            where,
            ADVICE,
            "template-no-value",
        )
        for (where, message), names in merged.items()
    ]


def missing_value_failure(rendered: Rendered, templates: Sequence[Template]) -> Failure | None:
    """Return the first missing value of an assignment as its failure."""
    assignment, files = rendered
    by_name = {template.name: template for template in templates}
    for name, line in _lines(assignment.cluster_type, files):
        if name in by_name:
            where, message = _cause(by_name[name], line.partition(NO_VALUE)[0].strip())
            return Failure(message, where, ADVICE, code="template-no-value")
    return None


def _lines(
    cluster_type: ClusterType, files: Mapping[str, FileContent]
) -> Iterator[tuple[str, str]]:
    """Yield the Template and the line of each missing value."""
    for file, content in files.items():
        if isinstance(content, bytes) and lacks_value(content):
            names = {
                RECONCILER_FILE: cluster_type.reconciler,
                NAMESPACE_FILE: cluster_type.namespace_service,
            }
            for line in content.decode("utf-8", "replace").splitlines():
                if NO_VALUE in line:
                    yield names.get(file, cluster_type.config_type), line


def _cause(template: Template, start: str) -> tuple[Location, str]:
    """Return the place and the message of the action that writes `<no value>` after a text.

    The place is that of the Template if none of its lines writes such a text.
    """
    for index, manifest in enumerate(template.manifests):
        lines = manifest.split("\n") if isinstance(manifest, str) else ()
        for number, line in enumerate(lines, 1):
            for action in ACTION.finditer(line):
                if not PRINTS_NOTHING.match(action[1]) and _writes(line[: action.start()], start):
                    where = template.at(index, number, action.start() + 1)
                    return where, f"Template {template.name!r}: {action[0]!r} writes '{NO_VALUE}'"
    message = f"Template {template.name!r}: {start!r} is followed by '{NO_VALUE}'"
    return template.where, message


def _writes(text: str, start: str) -> bool:
    """Return whether a part of a Template's line may give this text; actions may write anything."""
    first, *others = _ANY_ACTION.split(text.strip())
    if not others:
        return start == first
    *middle, last = others
    position = len(first) if start.startswith(first) else -1
    for part in middle:
        index = start.find(part, position) if position >= 0 else -1
        position = index + len(part) if index >= 0 else -1
    return 0 <= position <= len(start) - len(last) and start.endswith(last)
