"""Compile the manifests of a Template, join their texts, and locate their errors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from kalypso_actions.errors import Problem
from kalypso_actions.model.kinds import ENGINE_ANNOTATION, ClusterType, Template
from kalypso_actions.model.nearest import nearest
from kalypso_actions.rendering.data import TemplateData
from kalypso_actions.rendering.failures import UNCLOSED, Excerpt, Failure, in_plain_words
from kalypso_actions.rendering.manifests import (
    Manifest,
    ManifestError,
    ObjectManifest,
    TextManifest,
)

MANIFEST_SEPARATOR = "---\n"

_GO, _JINJA = "gotemplate", "jinja2"


def render_template(
    template: Template, data: TemplateData
) -> tuple[tuple[str, ...], tuple[Failure, ...]]:
    """Render a Template for its author: return the texts of its manifests, and all failures."""
    manifests, failures = compiled(template)
    texts = []
    for index, manifest in enumerate(() if failures else manifests):
        try:
            texts.append(manifest.render(data))
        except ManifestError as error:
            failures.append(manifest_failure(template, index, error))
    return tuple(texts), tuple(failures)


def join_manifests(texts: Iterable[str]) -> str:
    """Join the manifests of one Template.

    This drops empty manifests, but keeps those of white space, and adds no final newline.
    """
    return MANIFEST_SEPARATOR.join(text for text in texts if text)


def template_faults(template: Template) -> Iterator[Problem]:
    """Yield a problem for each manifest that does not compile, or for an unknown engine."""
    for failure in compiled(template)[1]:
        yield failure.problem


def compiled(template: Template) -> tuple[tuple[Manifest, ...], list[Failure]]:
    """Return the compiled manifests of a Template, and the failures of the others."""
    engine = template.annotations.get(ENGINE_ANNOTATION, _GO)
    if engine not in {_GO, _JINJA}:
        subject = f"Template {template.name!r}: {ENGINE_ANNOTATION}"
        fault = f"{subject} names an unknown engine {engine!r}"
        advice = f"write {_JINJA}, or remove it for Go"
        return (), [Failure(fault, template.where, advice, code="template-invalid")]
    manifests: list[Manifest] = []
    failures: list[Failure] = []
    for index, source in enumerate(template.manifests):
        try:
            manifests.append(_compile_manifest(source, engine))
        except ManifestError as error:
            failures.append(manifest_failure(template, index, error, code="template-invalid"))
    return tuple(manifests), failures


def _compile_manifest(source: str | Mapping[str, object], engine: str) -> Manifest:
    if engine == _JINJA:
        if isinstance(source, Mapping):
            raise ManifestError("an object is not a Jinja2 template: write the manifest as a text")
        # Importing Jinja2 takes time, and most runs have no Template for it.
        from kalypso_actions.rendering.jinja.manifests import JinjaManifest  # noqa: PLC0415

        return JinjaManifest(source)
    return ObjectManifest(source) if isinstance(source, Mapping) else TextManifest(source)


def manifest_failure(
    template: Template, index: int, error: ManifestError, code: str = "template-failed"
) -> Failure:
    """Locate an error in the Template's file.

    An error in another text, such as the output of an earlier pass, has no line in a file.
    """
    where = template.at(index)
    if error.line and error.text == template.manifests[index]:
        line, column = error.line, error.column
        if begun := UNCLOSED.search(error.message):
            # An unclosed action ends with the text, so report the place where it begins.
            line = int(begun["line"])
            column = error.text.split("\n")[line - 1].rfind("{{") + 1
        where = template.at(index, line, column)
    fault, advice = in_plain_words(error.message)
    if code == "template-invalid" and not UNCLOSED.search(error.message):
        advice = _open_action(template, index, error) or advice
    verb = "is invalid" if code == "template-invalid" else "fails"
    return Failure(
        error.message,
        where,
        advice or "correct the Template, or the data that it reads",
        excerpt=Excerpt(error.text, error.line, error.column) if error.text else None,
        code=code,
        plain=f"Template {template.name!r} {verb}{fault}",
    )


def _open_action(template: Template, index: int, error: ManifestError) -> str:
    """Return advice if an error lies in an action that begins on an earlier line, else ""."""
    lines = error.text.split("\n")[: error.line]
    if error.text != template.manifests[index] or not error.column:
        return ""
    before = "\n".join([*lines[:-1], lines[-1][: error.column - 1]])
    start = before.rfind("{{")
    if start <= before.rfind("}}") or "\n" not in before[start:]:
        return ""
    line = template.at(index, before.count("\n", 0, start) + 1).line
    return f"the action that begins on line {line} is still open here: close it there with }}}}"


def missing_template(
    name: str,
    cluster_type: ClusterType,
    field: str,
    templates: Iterable[str],
    unpromoted: Collection[str] = (),
) -> Problem:
    """Return the problem of a cluster type whose field names a missing Template."""
    near = nearest(name, templates)
    if name in unpromoted:
        advice = (
            f"main has the Template {name!r} now, but this environment has an earlier commit of "
            "main: promote main to it"
        )
    elif near:
        advice = f"did you mean {near!r}? Otherwise add a Template named {name!r} to main"
    else:
        advice = f"add a Template named {name!r} to main, or correct the name in the ClusterType"
    return Problem(
        f"ClusterType {cluster_type.name!r}: {field} names the Template {name!r}, which does not "
        "exist",
        cluster_type.at(field),
        advice,
        "template-missing",
    )
