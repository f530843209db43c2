"""The values of a target, in the files for helm."""

from __future__ import annotations

import io
import json
import posixpath
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from kalypso_actions.errors import Diagnostics, Location, Problem
from kalypso_actions.model.application import VALUES_FILE, Compatibility, Target
from kalypso_actions.model.documents import Document, Path
from kalypso_actions.model.nearest import misspelled
from kalypso_actions.planning.application.helm import SCHEMA_FILE, ChartPlace, line_of
from kalypso_actions.planning.application.variables import replace_variables
from kalypso_actions.sources.yaml_documents import parse_yaml

JOINED: Final = "values.yaml"
"""The name of the file in which upstream joins the levels."""


def values_files(
    target: Target,
    contents: Mapping[str, bytes],
    variables: Mapping[str, str],
    repository: str,
    compatibility: Compatibility,
) -> tuple[dict[str, bytes], Diagnostics]:
    """Return the files of values for helm, the lowest level first.

    With `none`, each level is a file, and helm merges their maps deeply. Upstream joins the texts,
    so the last of equal keys replaces the others, and the last line of a text without a final
    newline becomes one line with the next text. `2023` does not replace variables in the joined
    text.
    """
    if compatibility == "none":
        files, findings = {}, Diagnostics()
        for path in target.levels:
            where = Location(repository, path)
            content, file_findings = replace_variables(
                contents[path], variables, where, compatibility
            )
            findings.add(file_findings)
            if not file_findings.problems:
                findings.add(check_values(content, where, compatibility))
            files[path] = content
        return files, findings
    texts = [contents[path] for path in target.levels]
    joined = b"".join(texts) + b"\n" * len(texts)
    findings, places = Diagnostics(), _Places(target.levels, texts, repository)
    if compatibility == "current":
        where = Location(repository, JOINED)
        joined, file_findings = replace_variables(joined, variables, where, compatibility)
        findings.warnings += places.translated(file_findings.warnings)
    findings.add(_check_joined(joined, places))
    return {JOINED: joined}, findings


def check_values(content: bytes, where: Location, compatibility: Compatibility) -> Diagnostics:
    """Parse a file of values: helm 3 reads its first document, and helm 4 merges all.

    With upstream's modes, further documents are only a warning, since upstream does not report
    them.
    """
    parsed = parse_yaml(where.repository, where.path, content)
    problems = [
        replace(problem, message=_NOT_A_MAP, advice="write keys and values")
        if problem.code == "document-not-kubernetes"
        else problem
        for problem in parsed.problems
    ]
    warnings = list(parsed.warnings)
    if len(parsed.documents) > 1:
        second = parsed.documents[1].where
        message = "helm 3 reads only the first document of a file of values, helm 4 all"
        unread = Problem(message, second, "remove the ---", "values-documents")
        (problems if compatibility == "none" else warnings).append(unread)
    return Diagnostics(problems, warnings)


_NOT_A_MAP: Final = "the values are not a map of keys"


def _check_joined(joined: bytes, places: _Places) -> Diagnostics:
    """Parse the joined text, and report where two texts are glued together.

    Equal keys in it are intended: the level below replaces the level above.
    """
    parsed = check_values(joined, Location(places.repository, JOINED), "current")
    glued = list(places.glued())
    if parsed.problems:
        return Diagnostics(problems=glued or list(places.translated(parsed.problems)))
    unread = [warning for warning in parsed.warnings if warning.code == "values-documents"]
    return Diagnostics(warnings=[*glued, *places.translated(unread)])


class _Places:
    """Translates lines of the joined text to lines of the levels."""

    def __init__(self, levels: Sequence[str], texts: Sequence[bytes], repository: str) -> None:
        self.repository = repository
        self._levels = list(zip(levels, texts, strict=True))
        self._starts: list[tuple[int, str]] = []
        line = 1
        for path, text in self._levels:
            self._starts.append((line, path))
            line += text.count(b"\n")

    def translated(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """Yield the problems of the joined text, located in the levels that they come from."""
        for problem in problems:
            line = problem.where.line if problem.where else 1
            start, path = [item for item in self._starts if item[0] <= max(line, 1)][-1]
            yield replace(problem, where=Location(self.repository, path, line - start + 1))

    def glued(self) -> Iterator[Problem]:
        """Yield a problem for each text whose last line runs into the next text."""
        for (path, text), (following, _) in pairwise(self._levels):
            if text and not text.endswith(b"\n"):
                yield Problem(
                    f"the file has no final newline: its last line and the first of {following} "
                    "become one",
                    Location(self.repository, path, text.count(b"\n") + 1),
                    "end it with a newline, or set compatibility to none",
                    "values-glued",
                )


REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
META_SCHEMAS: Final = ("http://json-schema.org/", "https://json-schema.org/")
MAX_ARCHIVE: Final = 1 << 26
GZIP: Final = 16 + zlib.MAX_WBITS


def check_schemas(chart: ChartPlace) -> Iterator[Problem]:
    """Yield a problem for each schema of the chart that is not JSON, or refers to other files.

    This includes the schemas in packed dependencies.
    """
    for path, content in sorted(chart.files.items()):
        if posixpath.basename(path) == SCHEMA_FILE:
            yield from _faults(content, chart, path)
        elif path.endswith(".tgz"):
            for schema in _packed(content):
                faults = _faults(schema, chart, path)
                yield from (replace(problem, where=chart.at(path)) for problem in faults)


def _faults(content: bytes, chart: ChartPlace, path: str) -> Iterator[Problem]:
    try:
        schema = json.loads(content)
    except json.JSONDecodeError as error:
        message = f"this is not JSON: {error.msg}"
        where, advice = chart.at(path, error.lineno), "correct it: https://json-schema.org"
        yield Problem(message, where, advice, "chart-schema-invalid")
    except (ValueError, RecursionError):
        return  # helm reports it
    else:
        for reference in _references(schema):
            yield Problem(
                f"the schema refers to {reference}, which is not in the file",
                chart.at(path, line_of(json.dumps(reference).encode(), content)),
                "copy what it refers to below definitions, and refer to #/definitions/…",
                "chart-schema-reference",
            )


def _references(value: object) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Mapping):
            for key, inner in item.items():
                if isinstance(inner, str) and _is_foreign(key, inner):
                    yield inner
                pending.append(inner)
        elif isinstance(item, list):
            pending += item


def _is_foreign(key: str, text: str) -> bool:
    if key == "$schema":
        return not text.startswith(META_SCHEMAS)
    return key in REFERENCES and not text.startswith("#")


def _packed(archive: bytes) -> list[bytes]:
    """Return the schemas in a packed chart of a usual size; helm reports a broken archive."""
    try:
        content = zlib.decompressobj(GZIP).decompress(archive, MAX_ARCHIVE)
        with tarfile.open(fileobj=io.BytesIO(content)) as members:
            files = [
                members.extractfile(member)
                for member in members
                if member.isfile() and posixpath.basename(member.name) == SCHEMA_FILE
            ]
            return [file.read() for file in files if file]
    except (zlib.error, tarfile.TarError, EOFError):
        return []


WHOLE: Final = re.compile(rb"\.Values(?!\.\w)")
"""`.Values` without a key: `toYaml .Values`, `index .Values "a-b"`."""
WORD: Final = re.compile(rb"[\w-]+")


class ReadValues:
    """The values that a chart reads: keys of its values.yaml, and words of its templates."""

    def __init__(self, chart: ChartPlace) -> None:
        own = chart.files.get(VALUES_FILE, b"")
        documents = parse_yaml(chart.repository, VALUES_FILE, own).documents
        self._values: Mapping[str, object] = documents[0].body if documents else {}
        templates = [text for path, text in chart.files.items() if "templates/" in path]
        self._reads_all = any(WHOLE.search(text) for text in templates)
        self._words = {word.decode() for text in templates for word in WORD.findall(text)}
        charts = (path.split("/") for path in chart.files if path.startswith("charts/"))
        self._subcharts = {parts[1] for parts in charts} | _aliases(chart)

    def check(self, where: Location, content: bytes) -> Iterator[Problem]:
        """Warn of keys in a file of values that no template reads."""
        if self._reads_all:
            return
        for document in parse_yaml(where.repository, where.path, content).documents[:1]:
            yield from self._unread(document)
            yield from _misspelled(document, document.body, self._values, ())

    def _unread(self, document: Document) -> Iterator[Problem]:
        known = {*map(str, self._values), *self._subcharts, "global"}
        for key in map(str, document.body):
            is_archive = any(name.startswith(f"{key}-") for name in self._subcharts)
            if key not in known and key not in self._words and not is_archive:
                yield _problem(document, (key,), misspelled(key, map(str, self._values)))


def _misspelled(
    document: Document, values: Mapping[str, object], known: Mapping[str, object], path: Path
) -> Iterator[Problem]:
    """Yield a problem for each key below the first level that misspells a key of the chart."""
    for key, value in values.items():
        inner = known.get(key)
        if isinstance(value, Mapping) and isinstance(inner, Mapping):
            for name in set(map(str, value)) - set(map(str, inner)):
                near = misspelled(name, map(str, inner))
                if near:
                    yield _problem(document, (*path, str(key), name), near)
            yield from _misspelled(document, value, inner, (*path, str(key)))


def _problem(document: Document, path: Path, near: str) -> Problem:
    name = ".".join(map(str, path))
    message = f"no template of the chart reads the value {name!r}"
    advice = f"is {near!r} meant?" if near else "remove it, or correct its name"
    return Problem(message, document.at(*path), advice, "value-unread")


def _aliases(chart: ChartPlace) -> set[str]:
    content = chart.files.get("Chart.yaml", b"")
    names = set()
    for document in parse_yaml(chart.repository, "Chart.yaml", content).documents:
        entries = document.body.get("dependencies")
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, Mapping):
                names |= {str(entry.get(name)) for name in ("name", "alias")}
    return names
