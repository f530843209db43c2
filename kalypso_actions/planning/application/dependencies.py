"""Compare the dependencies in a chart's folder with Chart.lock."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import Document
from kalypso_actions.planning.application.helm import CHART_FILE
from kalypso_actions.sources.yaml_documents import parse_yaml

LOCK_FILE: Final = "Chart.lock"
LOCAL: Final = "file://"
FIELDS: Final = (
    *("name", "version", "repository", "condition", "tags", "enabled", "import-values", "alias"),
)
"""In the order of helm's structure. https://helm.sh/docs/topics/charts/#chart-dependencies"""
ALWAYS: Final = frozenset({"name", "repository"})


@dataclass(frozen=True, slots=True)
class Dependency:
    """A dependency of Chart.yaml; `locked` is its version in Chart.lock, or ""."""

    name: str
    repository: str
    locked: str
    where: Location

    @property
    def folder(self) -> str:
        """The path from the chart to a dependency in the same repository; "" for others."""
        is_local = self.repository.startswith(LOCAL)
        return self.repository.removeprefix(LOCAL) if is_local else ""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The dependencies that the chart's folder lacks, and the problems of other dependencies."""

    missing: tuple[Dependency, ...] = ()
    problems: tuple[Problem, ...] = ()


def check_dependencies(files: Mapping[str, bytes], where: Location) -> Dependencies:
    """Compare Chart.yaml, Chart.lock and the folder `charts`.

    `where` is the folder of the chart. The digest of Chart.lock is that of both lists of
    dependencies, as helm computes it.
    """
    document = _document(files, CHART_FILE, where)
    wanted = _entries(document)
    if document is None or not wanted:
        return Dependencies()
    lock = _document(files, LOCK_FILE, where)
    locked = {str(entry.get("name")): str(entry.get("version", "")) for entry in _entries(lock)}
    vendored = dict(_vendored(files, where))
    missing: list[Dependency] = []
    problems = list(_lock_problems(document, lock, wanted))
    for index, entry in enumerate(wanted):
        place = document.at("dependencies", index)
        name, repository = str(entry.get("name", "")), str(entry.get("repository") or "")
        dependency = Dependency(name, repository, locked.get(name, ""), place)
        if name not in vendored:
            missing.append(dependency)
        elif dependency.locked and vendored[name] not in {"", dependency.locked}:
            problems.append(
                Problem(
                    f"the chart's folder has {name} {vendored[name]}, but Chart.lock names "
                    f"{dependency.locked}",
                    place,
                    "run helm dependency build",
                    "chart-dependency",
                )
            )
    return Dependencies(tuple(missing), tuple(problems))


def missing_problem(dependency: Dependency) -> Problem:
    """Return the problem of a dependency that nothing provides."""
    source = dependency.repository or "the folder charts"
    return Problem(
        f"the chart depends on {dependency.name} of {source}, which is not in its folder charts",
        dependency.where,
        "run helm dependency build and commit the folder charts, or set dependencies to fetch",
        "chart-dependency",
    )


def unlocked_problem(dependency: Dependency) -> Problem:
    """Return the problem of a dependency to fetch whose version no Chart.lock determines."""
    return Problem(
        f"there is no Chart.lock, so nothing says which version of {dependency.name} to fetch",
        dependency.where,
        "run helm dependency update and commit Chart.lock",
        "chart-dependency",
    )


def digests(archives: Mapping[str, bytes]) -> dict[str, str]:
    """Return the digest of each archive."""
    return {path: f"sha256:{hashlib.sha256(archives[path]).hexdigest()}" for path in archives}


def unlocked_content(archives: Mapping[str, bytes], where: Location) -> Problem:
    """Warn that the content of the archives may be another in the next run."""
    names = ", ".join(
        f"{posixpath.basename(path)} {digest}" for path, digest in digests(archives).items()
    )
    return Problem(
        "Chart.lock locks the versions of what was fetched, but not the content, which may change "
        f"under the same version: {names}",
        where,
        "commit the folder charts; application.json records the digests",
        "chart-content-unlocked",
    )


def _lock_problems(
    document: Document, lock: Document | None, wanted: Sequence[Mapping[str, object]]
) -> Iterator[Problem]:
    if lock is None:
        return
    digest = _digest(wanted, _entries(lock))
    if lock.body.get("digest") not in {None, digest}:
        yield Problem(
            "Chart.lock does not belong to the dependencies of Chart.yaml: its digest differs",
            lock.at("digest"),
            "run helm dependency update",
            "chart-dependency",
        )
    names = {str(entry.get("name")) for entry in _entries(lock)}
    for index, entry in enumerate(wanted):
        if str(entry.get("name")) not in names:
            message = f"Chart.lock has no {entry.get('name')}"
            place = document.at("dependencies", index)
            yield Problem(message, place, "run helm dependency update", "chart-dependency")


def _digest(wanted: Sequence[Mapping[str, object]], locked: Sequence[Mapping[str, object]]) -> str:
    """Return the sha256 of both lists as Go writes them.

    https://github.com/helm/helm/blob/v3.18.0/internal/resolver/resolver.go (HashReq)
    """
    lists = [[_as_structure(entry) for entry in entries] for entries in (wanted, locked)]
    text = json.dumps(lists, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _as_structure(entry: Mapping[str, object]) -> dict[str, object]:
    return {
        name: _sorted(entry.get(name) or "") for name in FIELDS if entry.get(name) or name in ALWAYS
    }


def _sorted(value: object) -> object:
    """Sort the keys of maps, as Go does."""
    match value:
        case dict():
            return {key: _sorted(value[key]) for key in sorted(value)}
        case list():
            return [_sorted(item) for item in value]
        case _:
            return value


def _vendored(files: Mapping[str, bytes], where: Location) -> Iterator[tuple[str, str]]:
    """Yield the name and version of each chart in the folder `charts`; "" if it is unknown."""
    for path in files:
        folder, name = posixpath.split(path)
        archive = re.fullmatch(r"(.+?)-(v?\d[^/]*)\.tgz", name)
        if folder == "charts" and archive:
            yield archive[1], archive[2]
        elif posixpath.dirname(folder) == "charts" and name == CHART_FILE:
            chart = _document(files, path, where)
            if chart:
                yield str(chart.body.get("name", "")), str(chart.body.get("version", ""))


def _document(files: Mapping[str, bytes], path: str, where: Location) -> Document | None:
    if path not in files:
        return None
    full = posixpath.join(where.path, path)
    return next(iter(parse_yaml(where.repository, full, files[path]).documents), None)


def _entries(document: Document | None) -> list[Mapping[str, object]]:
    entries = document.body.get("dependencies") if document else None
    return (
        [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    )
