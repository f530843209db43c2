"""The arguments of helm, and the place of a chart."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import VALUES_FILE, Compatibility, Target
from kalypso_actions.model.documents import Document
from kalypso_actions.sources.yaml_documents import parse_yaml

CHART_FILE: Final = "Chart.yaml"
SCHEMA_FILE: Final = "values.schema.json"
MAX_NAME: Final = 53
"""The longest name of a release, in characters.
https://helm.sh/docs/chart_template_guide/getting_started/"""

NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


@dataclass(frozen=True, slots=True)
class HelmOptions:
    """The options of `helm template`.

    If `crds` and `tests` are not set, upstream's modes include tests but no CRDs, as upstream does,
    and `none` includes CRDs but no tests, as a GitOps tree needs.
    """

    namespace: str = ""
    kube_version: str = ""
    api_versions: tuple[str, ...] = ()
    crds: bool | None = None
    hooks: bool = True
    tests: bool | None = None


def helm_arguments(options: HelmOptions, compatibility: Compatibility) -> tuple[str, ...]:
    """Return the options of `helm template`, except the files of values."""
    own = compatibility == "none"
    crds = own if options.crds is None else options.crds
    tests = not own if options.tests is None else options.tests
    return (
        *(("--namespace", options.namespace) if options.namespace else ()),
        *(("--kube-version", options.kube_version) if options.kube_version else ()),
        *(item for version in options.api_versions for item in ("--api-versions", version)),
        *(("--include-crds",) if crds else ()),
        *(() if options.hooks else ("--no-hooks",)),
        *(() if tests else ("--skip-tests",)),
    )


def release_name(target: Target, compatibility: Compatibility) -> str:
    """Return the name of a target's release; "" for helm's own name.

    Upstream gave no name until August 2025; since then, it has given the folder's name.
    """
    match compatibility:
        case "2023":
            return ""
        case "current":
            return target.name
        case _:
            name = re.sub(r"[^a-z0-9.-]+", "-", target.name.lower())[:MAX_NAME]
            return re.sub(r"[-.]*\.[-.]*", ".", name).strip("-.") or "release"


def name_problem(name: str, target: Target, repository: str) -> Problem | None:
    """Return the problem of a name that helm refuses."""
    if not name or (len(name) <= MAX_NAME and NAME.fullmatch(name)):
        return None
    return Problem(
        f"helm accepts no release {name!r}: lower-case letters, digits, '-' and '.', at most "
        f"{MAX_NAME} characters",
        Location(repository, target.folder),
        "set release-name, or rename the folder",
        "release-name-invalid",
    )


@dataclass(frozen=True, slots=True)
class ChartPlace:
    """A chart in its repository: its folder, its name, and its templates by path in the folder.

    `levels` are the files of a target's values, the highest first.
    """

    repository: str
    folder: str
    name: str
    files: Mapping[str, bytes]
    levels: Sequence[tuple[Location, bytes]] = ()

    def values(self) -> Iterator[Document]:
        """Yield the values of the target's files, the highest first, then those of the chart."""
        own = self.files.get(VALUES_FILE, b"")
        for where, content in (*self.levels, (self.at(VALUES_FILE), own)):
            yield from parse_yaml(where.repository, where.path, content).documents[:1]

    def at(self, path: str, line: int = 0) -> Location:
        """Return the place of a file of the chart."""
        full = posixpath.join(self.folder, path) if path else self.folder
        return Location(self.repository, full, line)

    def own_path(self, path: str) -> str:
        """Convert helm's `<chart>/templates/x.yaml` to the path in the folder; "" if unknown."""
        own = path.removeprefix(f"{self.name}/")
        return own if own in self.files else ""


def line_of(text: bytes, content: bytes, start: int = 0) -> int:
    """Return the line where a text begins; 0 if it is missing."""
    position = content.find(text, start)
    return content.count(b"\n", 0, position) + 1 if position >= 0 else 0
