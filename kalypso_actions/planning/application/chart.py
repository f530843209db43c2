"""The files of a Helm chart: its links and its variables."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.errors import Diagnostics, Location, Problem
from kalypso_actions.model.application import VALUES_FILE, Compatibility
from kalypso_actions.model.documents import GIT_LINK_MODE, SYMLINK_MODE, Document, FileEntry
from kalypso_actions.planning.application.helm import CHART_FILE, ChartPlace
from kalypso_actions.planning.application.variables import replace_variables
from kalypso_actions.sources.yaml_documents import parse_yaml

MAX_LINKS: Final = 40
"""The links to follow in a row, as many as on Linux."""


def files_of_folder(
    entries: Mapping[str, FileEntry], links: Mapping[str, bytes], folder: str
) -> dict[str, str]:
    """Return the files below a folder: the path in the folder → the path of the regular file.

    `links` are the contents of the symbolic links of the repository. The result omits links that
    lead out of the repository, to nothing, or to a folder above them: see `faulty_links`.
    """
    prefix = f"{folder}/" if folder else ""
    files: dict[str, str] = {}
    for path, entry in entries.items():
        if not path.startswith(prefix) or entry.mode == GIT_LINK_MODE:
            continue
        if entry.mode != SYMLINK_MODE:
            files[path[len(prefix) :]] = path
            continue
        for below, file in _link_targets(path, entries, links).items():
            files[path[len(prefix) :] + below] = file
    return files


def faulty_links(
    entries: Mapping[str, FileEntry], links: Mapping[str, bytes], folder: str, repository: str
) -> Iterator[Problem]:
    """Yield a problem for each link below a folder that leads to no file of the repository."""
    prefix = f"{folder}/" if folder else ""
    for path in links:
        if path.startswith(prefix) and not _link_targets(path, entries, links):
            yield Problem(
                f"the symbolic link leads to {links[path].decode('utf-8', 'replace')!r}, which is "
                "not a file of this repository",
                Location(repository, path),
                "copy the file into the repository",
                "source-link",
            )


def _link_targets(
    path: str, entries: Mapping[str, FileEntry], links: Mapping[str, bytes]
) -> dict[str, str]:
    """Return the regular files that a link leads to, by their path below it ("" for a file)."""
    place = path
    for _ in range(MAX_LINKS):
        text = links[place].decode("utf-8", "surrogateescape")
        place = posixpath.normpath(posixpath.join(posixpath.dirname(place), text))
        if place not in links:
            break
    entry = entries.get(place)
    if entry is not None:
        return {} if entry.mode in {SYMLINK_MODE, GIT_LINK_MODE} else {"": place}
    above = path.startswith(f"{place}/") or place in {".", ""}
    if above or place.startswith(("/", "..")):
        return {}
    return {
        item[len(place) :]: item
        for item, entry in entries.items()
        if item.startswith(f"{place}/") and entry.mode not in {SYMLINK_MODE, GIT_LINK_MODE}
    }


def with_variables(
    files: Mapping[str, bytes],
    variables: Mapping[str, str],
    where: Location,
    compatibility: Compatibility,
) -> tuple[dict[str, bytes], Diagnostics]:
    """Replace the variables in every values.yaml of a chart and its subcharts.

    Templates stay unchanged. `where` is the folder of the chart.
    """
    result, findings = dict(files), Diagnostics()
    for path, content in files.items():
        if posixpath.basename(path) == VALUES_FILE:
            place = Location(where.repository, posixpath.join(where.path, path))
            result[path], file_findings = replace_variables(
                content, variables, place, compatibility
            )
            findings.add(file_findings)
    return result, findings


COMMENT: Final = re.compile(r"-?\s*/\*")
TEXT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|`[^`]*`')
LOOKUP: Final = re.compile(r"(?<![\w.$])(lookup|getHostByName)\b")
FILE: Final = re.compile(r'\.Files\.(?:Get|GetBytes|Lines)\s+"([^"]+)"')
CHANGING: Final = re.compile(
    r"(?<![\w.$])(rand(?:AlphaNum|Alpha|Ascii|Numeric|Bytes|Int)|shuffle|uuidv4|now|ago|genCA\w*|"
    r"genPrivateKey|genSelfSigned\w+|genSignedCert\w*|bcrypt|htpasswd|encryptAES)\b"
)


def check_templates(chart: ChartPlace) -> Iterator[Problem]:
    """Warn of actions that find nothing here, or whose results change with each run."""
    for path, content in sorted(chart.files.items()):
        if "templates" not in path.split("/")[:-1] or path.endswith("NOTES.txt"):
            continue
        text = content.decode("utf-8", "replace")
        for start, action in _actions(text):
            for offset, problem in _faults(action, chart.files):
                line = text.count("\n", 0, start + offset) + 1
                yield replace(problem, where=chart.at(path, line))


def _actions(text: str) -> Iterator[tuple[int, str]]:
    """Yield the position and text of each action except comments, in one pass.

    https://pkg.go.dev/text/template#hdr-Actions
    """
    start = text.find("{{") + 2
    while start >= 2:
        end = text.find("}}", start)
        if end < 0:
            return
        if not COMMENT.match(text, start):
            yield start, text[start:end]
        start = text.find("{{", end) + 2


def _faults(action: str, files: Mapping[str, bytes]) -> Iterator[tuple[int, Problem]]:
    """Yield the problems of an action, each with its position."""
    code = TEXT.sub(lambda match: " " * len(match[0]), action)
    for match in LOOKUP.finditer(code):
        message = f"{match[1]} finds nothing: helm renders without a cluster and the network"
        advice = "pass what the template needs as a value"
        yield match.start(), Problem(message, None, advice, "chart-lookup")
    for match in FILE.finditer(action):
        if match[1] not in files:
            message = (
                f"the chart has no file {match[1]!r}; helm reads no others, and prints nothing"
            )
            advice = "add the file to the chart"
            yield match.start(), Problem(message, None, advice, "chart-file-missing")
    for match in CHANGING.finditer(code):
        message = f"{match[1]} gives another result in each run, so each run changes the manifests"
        advice = "pass the value in the configs, or as a Secret of the cluster"
        yield match.start(), Problem(message, None, advice, "chart-not-repeatable")


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


def check_dependencies(
    files: Mapping[str, bytes], where: Location
) -> tuple[list[Dependency], list[Problem]]:
    """Return the dependencies that the chart's folder lacks, and the problems of the others.

    `where` is the folder of the chart. The digest of Chart.lock is that of both lists of
    dependencies, as helm computes it.
    """
    document = _document(files, CHART_FILE, where)
    wanted = _entries(document)
    if document is None or not wanted:
        return [], []
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
    return missing, problems


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
