"""What helm is asked, and what its errors mean."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kalypso_actions.application.rendered_lines import line_of_template
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import Compatibility, Target

MAX_NAME: Final = 53
"""Characters of the name of a release.
https://helm.sh/docs/chart_template_guide/getting_started/"""

NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


@dataclass(frozen=True, slots=True)
class HelmOptions:
    """The options of `helm template`.

    Without `crds` and `tests` set, upstream's modes do as upstream does (no CRDs, but tests), and
    `none` does what a GitOps tree needs (CRDs, no tests).
    """

    release_name: str = ""
    namespace: str = ""
    kube_version: str = ""
    api_versions: tuple[str, ...] = ()
    crds: bool | None = None
    hooks: bool = True
    tests: bool | None = None


def helm_arguments(options: HelmOptions, compatibility: Compatibility) -> tuple[str, ...]:
    """Return the options of `helm template` but the files of values."""
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

    Upstream gave no name until August 2025, and gives that of the folder since.
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
    """A chart in its repository: its folder, its name, and its templates by path in the folder."""

    repository: str
    folder: str
    name: str
    files: Mapping[str, bytes]

    def at(self, path: str, line: int = 0) -> Location:
        """Return the place of a file of the chart."""
        return Location(self.repository, posixpath.join(self.folder, path), line)

    def own_path(self, path: str) -> str:
        """Return the path in the folder of `<chart>/templates/x.yaml`, as helm writes it."""
        own = path.removeprefix(f"{self.name}/")
        return own if own in self.files else ""


_PATH: Final = r"(?P<path>[^\s:()]+(?: [^\s:()]+)*?)"
_TEMPLATE: Final = re.compile(
    rf"(?:at|template: |in|on)\s*\(?{_PATH}:(?P<line>\d+)(?::(?P<column>\d+))?\)?:\s*(?P<rest>.*)",
    re.DOTALL,
)
"""`parse error at (c/templates/a.yaml:7): …`, `template: c/templates/a.yaml:7:20: …`,
`execution error at (c/templates/a.yaml:1:4): …`."""
_NOT_YAML: Final = re.compile(
    rf"YAML parse error on {_PATH}: (?P<rest>.*?)(?: *line (?P<line>\d+): (?P<reason>.*))?$",
    re.DOTALL,
)
_NO_LOCATION: Final = "in the output of the template"


def helm_problem(message: str, chart: ChartPlace, target: Target, output: str = "") -> Problem:
    """Return the problem that helm's message means, with the place in the chart's sources.

    `output` is what helm printed with `--debug`, if a template's output is no YAML.
    """
    text = _without_warnings(message)
    not_yaml = _NOT_YAML.search(text)
    if not_yaml:
        return _not_yaml(not_yaml, chart, target, output)
    innermost = None
    for match in _TEMPLATE.finditer(text):
        innermost = match
    place, reason = chart.at(""), text
    while innermost is not None:
        own = chart.own_path(innermost["path"])
        if own:
            place, reason = chart.at(own, int(innermost["line"])), innermost["rest"].strip()
        innermost = _TEMPLATE.search(innermost["rest"])
    return Problem(
        f"target {target.folder!r}: {reason}",
        place,
        "correct the template, or the values that it reads",
        "chart-failed",
    )


def _not_yaml(match: re.Match[str], chart: ChartPlace, target: Target, output: str) -> Problem:
    own = chart.own_path(match["path"])
    reason = match["reason"] or match["rest"]
    line = 0
    if own and match["line"]:
        document = output_of_template(output, match["path"])
        rows = document.splitlines()
        number = int(match["line"])
        row = rows[number - 1] if number <= len(rows) else ""
        line = line_of_template(row, chart.files[own].decode("utf-8", "replace"))
    return Problem(
        f"target {target.folder!r}: the output of the template is no YAML: {reason.strip()}",
        chart.at(own, line),
        "correct the template, or quote the value that it prints",
        "chart-output-invalid",
    )


def output_of_template(output: str, path: str) -> str:
    """Return the first part of helm's output that a template made."""
    start = output.find(f"# Source: {path}\n")
    if start < 0:
        return ""
    start = output.index("\n", start) + 1
    end = output.find("\n---\n# Source: ", start)
    return output[start : end if end >= 0 else len(output)]


def _without_warnings(message: str) -> str:
    """Leave out what helm says besides the error."""
    text = message.removeprefix("helm: ")
    position = text.rfind("Error: ")
    return text[position + len("Error: ") :] if position >= 0 else text
