"""`kalypso template`: render one Template with given data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from kalypso_actions import rendering
from kalypso_actions.errors import Diagnostics, Location, Problem, UsageError
from kalypso_actions.fleet.parsing import parse_document
from kalypso_actions.inputs.local import TemplateInputs, TemplateValues
from kalypso_actions.model.documents import Document, TextPlace
from kalypso_actions.model.kinds import Template
from kalypso_actions.platform_config import parse_value
from kalypso_actions.report.documents import ProblemEntry, Where
from kalypso_actions.report.render_document import TemplateDocument, TemplateProblemEntry
from kalypso_actions.report.terminal import excerpt
from kalypso_actions.sources.yaml_documents import parse_yaml

TEMPLATE = "Template"

_KIND_TEMPLATE = re.compile(r"^kind: *[\"']?Template\b", re.MULTILINE)
"""Matches in a file with a Template, even in one that is not valid YAML."""


def template(inputs: TemplateInputs) -> TemplateDocument:
    """Read the Template and the values, and render.

    Raises UsageError for unreadable files, wrong values, and an ambiguous Template.
    """
    findings = Diagnostics()
    chosen = _read_template(inputs, findings)
    data = _read_values(inputs.values, findings)
    failures: Sequence[rendering.Failure] = ()
    manifests: Sequence[str] = ()
    if chosen is not None:
        manifests, failures = rendering.render_template(chosen, data)
    problems = [_problem_entry(problem) for problem in findings.problems]
    problems += [_failure_entry(failure, chosen) for failure in failures]
    if problems:
        manifests = ()
    return TemplateDocument(
        template=chosen.name if chosen else inputs.name or inputs.file.name,
        manifests=tuple(map(_as_utf8, manifests)),
        output=_as_utf8(rendering.join_manifests(manifests)),
        warnings=ProblemEntry.all_of(findings.warnings),
        problems=tuple(problems),
    )


def _read_template(inputs: TemplateInputs, findings: Diagnostics) -> Template | None:
    """Return the Template; None, with problems in `findings`, if it is invalid.

    A file without Templates is itself one manifest, a Go template.
    """
    content = _read(inputs.file)
    where = _place(inputs.file)
    parsed = parse_yaml(where.repository, where.path, content)
    documents = [document for document in parsed.documents if document.kind == TEMPLATE]
    if not documents and not _KIND_TEMPLATE.search(content.decode("utf-8", "replace")):
        if inputs.name is not None:
            raise UsageError(f"{inputs.file} holds no Template, so none is named {inputs.name!r}")
        return _bare_template(inputs.file, content)
    findings.problems += parsed.problems
    findings.warnings += parsed.warnings
    if not documents:
        return None
    noun = parse_document(_chosen(documents, inputs), findings)
    return noun if isinstance(noun, Template) else None


def _chosen(documents: Sequence[Document], inputs: TemplateInputs) -> Document:
    names = ", ".join(document.name for document in documents)
    matching = [
        document for document in documents if inputs.name is None or document.name == inputs.name
    ]
    if not matching:
        raise UsageError(f"{inputs.file} holds no Template {inputs.name!r}, but {names}")
    if len(matching) > 1:
        advice = "choose one with --name"
        raise UsageError(f"{inputs.file} holds several Templates: {names}", advice=advice)
    return matching[0]


def _bare_template(file: Path, content: bytes) -> Template:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("the file is not UTF-8", _place(file)) from error
    return Template(
        name=file.name,
        type="",
        content_type="",
        manifests=(text,),
        annotations={},
        where=_place(file),
        manifest_places=(TextPlace(1, 1),),
    )


def _read_values(file: Path | None, findings: Diagnostics) -> rendering.TemplateData:
    if file is None:
        return _data(TemplateValues())
    where = _place(file)
    parsed = parse_yaml(where.repository, where.path, _read(file))
    if parsed.problems:
        raise UsageError.of(parsed.problems)
    if len(parsed.documents) > 1:
        second = parsed.documents[1].where
        raise UsageError("the values must be one object, but a second one begins here", second)
    findings.warnings += parsed.warnings
    if not parsed.documents:
        return _data(TemplateValues())
    try:
        return _data(TemplateValues.model_validate(parsed.documents[0].body))
    except ValidationError as error:
        raise UsageError.of(_value_problems(parsed.documents[0], error)) from error


def _value_problems(document: Document, error: ValidationError) -> list[Problem]:
    known = ", ".join(field.alias or "" for field in TemplateValues.model_fields.values())
    problems = []
    for details in error.errors(include_url=False):
        path = details["loc"]
        name = ".".join(map(str, path))
        match details["type"]:
            case "extra_forbidden":
                fault, advice = "is unknown to templates", f"known names: {known}"
            case "string_type":
                fault, advice = "must be a text", "write it in quotes"
            case "dict_type":
                fault, advice = "must be an object", ""
            case _:
                fault, advice = details["msg"], ""
        problems.append(Problem(f"{name} {fault}", document.at(*path), advice, "field-invalid"))
    return problems


def _data(values: TemplateValues) -> rendering.TemplateData:
    """Return the data of a template, with the names that a fleet would have."""
    target = values.deployment_target_name or f"{values.workload}-target"
    namespace = f"{values.environment}-{values.cluster_type}-{target}"
    labels = {"workload": values.workload, "workspace": values.workspace}
    return rendering.TemplateData(
        target=target,
        namespace=namespace if values.namespace is None else values.namespace,
        environment=values.environment,
        workspace=values.workspace,
        workload=values.workload,
        labels=labels if values.labels is None else values.labels,
        manifests=values.manifests,
        cluster_type=values.cluster_type,
        config={
            key: parse_value(value) if isinstance(value, str) else value
            for key, value in values.config_data.items()
        },
    )


def _problem_entry(problem: Problem, shown: str = "") -> TemplateProblemEntry:
    return TemplateProblemEntry(
        message=problem.message,
        where=Where.of(problem.where),
        advice=problem.advice,
        code=problem.code,
        excerpt=shown,
    )


def _failure_entry(failure: rendering.Failure, chosen: Template | None) -> TemplateProblemEntry:
    shown = ""
    if failure.excerpt and chosen:
        at = failure.excerpt
        own = at.text in chosen.manifests
        shown = excerpt(at.text, at.line, at.column, failure.where.line if own else at.line)
        if shown and not own:
            shown = f"in a value, or in the output of an earlier pass:\n{shown}"
    return _problem_entry(failure.problem, shown)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error


def _place(file: Path) -> Location:
    return Location(str(file.parent), file.name, 1)


def _as_utf8(text: str) -> str:
    """Replace bytes that are not UTF-8, which JSON cannot hold: a template may cut a character."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
