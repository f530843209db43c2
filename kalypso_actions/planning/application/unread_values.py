"""Values of the configs that no template of the chart reads; most are misspelled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import VALUES_FILE
from kalypso_actions.model.documents import Document, Path
from kalypso_actions.model.nearest import misspelled
from kalypso_actions.planning.application.helm import ChartPlace
from kalypso_actions.sources.yaml_documents import parse_yaml

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
