"""Check the texts of a Workload that Templates can print; an application team writes them.

A Template prints a text into YAML. A line break would add the team's lines to the platform's
document, `{{` would begin a template, `${` would begin a substitution by Flux
(https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution), and
`$(` a command of a shell.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, NamedTuple

from kalypso_actions.errors import Problem
from kalypso_actions.fleet import schemas
from kalypso_actions.model.documents import Document, Path
from kalypso_actions.model.source_forms import folder_fault, repository_fault, revision_fault

"""Whether a text that breaks a rule makes its registration invalid or is only a warning."""

TEXT_CODES: Final = ("registration-text", "registration-template")
"""The problem codes of faulty texts."""

_TEMPLATE: Final = re.compile(r"\{\{|\$[{(]")

_NOT_IN_LINES: Final = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
"""Categories of Unicode: controls (U+0085 among them), invisible format characters (directions,
joiners, byte order marks), surrogates, and the separators of lines and paragraphs."""

_JOINED: Final = re.compile(r"(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
"""The joiners that Persian, Indic scripts and emoji need (RFC 5892, appendix A)."""

_FORMS: Final = {"repo": repository_fault, "branch": revision_fault, "path": folder_fault}

_SHOWN: Final = 60


class _Text(NamedTuple):
    """A key or a value, and its path in the document."""

    text: str
    path: Path
    is_key: bool = False


def text_faults(document: Document) -> Iterator[Problem]:
    """Yield a problem for each faulty text of a valid Workload.

    The check covers all known fields, and therefore also fields of later versions. Templates print
    neither annotations nor `configSchemas`, which are JSON of many lines.
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
        case dict():
            for key, inner in value.items():
                yield _Text(str(key), (*path, key), is_key=True)
                yield from _texts(inner, (*path, key))
        case list() | tuple():
            for index, inner in enumerate(value):
                yield from _texts(inner, (*path, index))


def _problem_of(document: Document, text: _Text) -> Problem | None:
    fault = _fault_of(text)
    if fault is None:
        return None
    message = f"Workload {document.name!r}: {_name(text)} {fault.description}"
    return Problem(message, document.at(*text.path), fault.advice, fault.code)


class _Fault(NamedTuple):
    """The fault of a text, without its location."""

    description: str
    advice: str
    code: str


def _fault_of(text: _Text) -> _Fault | None:
    """Return the first fault."""
    control = _control(_JOINED.sub("", text.text) if _is_free(text) else text.text)
    if control:
        return _Fault(
            f"has the control character or line separator U+{ord(control):04X}",
            "write one line without control or invisible characters",
            code="registration-text",
        )
    template = _TEMPLATE.search(text.text)
    if template:
        what = "template" if template[0] == "{{" else "substitution"
        return _Fault(
            f"has {template[0]!r}, which begins a {what}",
            f"write the text itself: {what}s belong to the control plane",
            code="registration-template",
        )
    match text.path:
        case ("spec", "deploymentTargets", int(), "manifests", str(key)) if not text.is_key:
            fault = _FORMS[key](text.text) if key in _FORMS else ""
            if fault:
                description = f"{text.text[:_SHOWN]!r} {fault}"
                advice = "write a value that Flux and Argo CD accept"
                return _Fault(description, advice, code="registration-text")
    return None


def _is_free(text: _Text) -> bool:
    """Whether a text is a value of `manifests` without a required form, such as text for people."""
    match text.path:
        case ("spec", "deploymentTargets", int(), "manifests", key):
            return not text.is_key and key not in _FORMS
    return False


def _control(text: str) -> str:
    """Return the first character that must not be in a line, or ""."""
    if text.isprintable():
        return ""
    return next((char for char in text if unicodedata.category(char) in _NOT_IN_LINES), "")


def _name(text: _Text) -> str:
    steps = ".".join(str(step)[:_SHOWN] for step in text.path)
    return f"the key {steps!r}" if text.is_key else steps
