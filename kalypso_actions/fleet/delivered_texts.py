"""The texts of a Workload that Templates can print: an application team writes them, not templates.

A Template prints a text into YAML. A line break would continue the platform's document with lines
of the team's, and `{{` would be rendered as a template.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.errors import Problem
from kalypso_actions.fleet import schemas
from kalypso_actions.model.documents import Document, Path
from kalypso_actions.model.source_forms import folder_fault, repository_fault, revision_fault

RegistrationText = Literal["strict", "any"]
"""Whether a text that breaks a rule makes its registration invalid, or is a warning."""

TEXT_CODES: Final = ("registration-text", "registration-template")
"""The codes of the faults of texts."""

TEMPLATE: Final = "{{"

_NOT_ONE_LINE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""C0, DEL, C1 (U+0085 among them), and the separators of lines and paragraphs."""

_FORMS: Final = {"repo": repository_fault, "branch": revision_fault, "path": folder_fault}

_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class _Text:
    """A key or a value, and its path in the document."""

    text: str
    path: Path
    is_key: bool = False


def text_faults(document: Document) -> Iterator[Problem]:
    """Yield each fault of the delivered texts of a valid Workload.

    The texts are those of all known fields, so that a new field cannot be forgotten. Templates
    cannot print annotations, nor `configSchemas`, which are JSON of many lines.
    """
    resource = schemas.WorkloadResource.model_validate(document.body)
    fields = resource.model_dump(
        by_alias=True, exclude_none=True, include={"metadata": {"name", "labels"}, "spec": True}
    )
    for text in _texts(fields, ()):
        problem = _problem_of(document, text)
        if problem:
            yield problem


def _texts(value: object, path: Path) -> Iterator[_Text]:
    match path:
        case ("spec", "configSchemas") | ("spec", "deploymentTargets", int(), "configSchemas"):
            return
    match value:
        case str():
            yield _Text(value, path)
        case Mapping():
            for key, inner in value.items():
                yield _Text(str(key), (*path, key), is_key=True)
                yield from _texts(inner, (*path, key))
        case list() | tuple():
            for index, inner in enumerate(value):
                yield from _texts(inner, (*path, index))


def _problem_of(document: Document, text: _Text) -> Problem | None:
    subject = f"Workload {document.name!r}: {_name(text)}"
    where = document.at(*text.path)
    control = _NOT_ONE_LINE.search(text.text)
    if control:
        character = f"U+{ord(control[0]):04X}"
        return Problem(
            f"{subject} has the control character or line separator {character}",
            where,
            "write one line without control characters",
            "registration-text",
        )
    if TEMPLATE in text.text:
        return Problem(
            f"{subject} has {TEMPLATE!r}, which begins a template",
            where,
            "write the text itself: Templates belong to the control plane",
            "registration-template",
        )
    match text.path:
        case ("spec", "deploymentTargets", int(), "manifests", str(key)) if not text.is_key:
            fault = _FORMS[key](text.text) if key in _FORMS else ""
            if fault:
                return Problem(
                    f"{subject} {text.text[:_SHOWN]!r} {fault}",
                    where,
                    "write what Flux and Argo CD accept there",
                    "registration-text",
                )
    return None


def _name(text: _Text) -> str:
    steps = ".".join(str(step)[:_SHOWN] for step in text.path)
    return f"the key {steps!r}" if text.is_key else steps
