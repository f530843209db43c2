"""The files of a Helm chart: its links and its variables."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import VALUES_FILE, Compatibility, Findings
from kalypso_actions.model.documents import GIT_LINK_MODE, SYMLINK_MODE, FileEntry
from kalypso_actions.planning.application.variables import replace_variables

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
) -> tuple[dict[str, bytes], Findings]:
    """Replace the variables in every values.yaml of a chart and its subcharts.

    Templates stay unchanged. `where` is the folder of the chart.
    """
    result, findings = dict(files), Findings()
    for path, content in files.items():
        if posixpath.basename(path) == VALUES_FILE:
            place = Location(where.repository, posixpath.join(where.path, path))
            result[path], file_findings = replace_variables(
                content, variables, place, compatibility
            )
            findings.add(file_findings)
    return result, findings
