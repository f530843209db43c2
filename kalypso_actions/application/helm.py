"""What helm is asked, and what its errors mean."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.application.rendered_lines import TemplateLines
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import Compatibility, Target
from kalypso_actions.sources.yaml_documents import parse_yaml

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
        full = posixpath.join(self.folder, path) if path else self.folder
        return Location(self.repository, full, line)

    def own_path(self, path: str) -> str:
        """Return the path in the folder of `<chart>/templates/x.yaml`, as helm writes it."""
        own = path.removeprefix(f"{self.name}/")
        return own if own in self.files else ""


_PATH: Final = r"(?P<path>[^\s:()]+(?: [^\s:()]+)*?)"
_TEMPLATE: Final = re.compile(
    rf"(?:(?:at|template:) \(?|^){_PATH}:(?P<line>\d+)(?::\d+)?\)?(?::|$)\s*(?P<rest>.*)",
    re.DOTALL | re.MULTILINE,
)
"""`parse error at (c/templates/a.yaml:7): …`, `template: c/templates/a.yaml:7:20: …`,
`execution error at (c/templates/a.yaml:1:4): …`; helm 4 begins a line with the place."""
_NOT_YAML: Final = re.compile(
    rf"YAML parse error on {_PATH}: (?P<rest>.*?)(?: *line (?P<line>\d+): (?P<reason>.*))?$",
    re.DOTALL,
)


def helm_problems(
    message: str,
    chart: ChartPlace,
    target: Target,
    levels: Sequence[tuple[Location, bytes]],
    output: str = "",
) -> list[Problem]:
    """Return the problems that helm's message means, with their places in the sources.

    `levels` are the files of the target's values, the highest first, then the chart's own.
    `output` is what helm printed with `--debug`, if a template's output is no YAML.
    """
    text = _without_warnings(message)
    if REFUSED_VALUES in text:
        refused = list(_refused_values(text, chart, target, levels))
        if refused:
            return refused
    not_yaml = _NOT_YAML.search(text)
    if not_yaml:
        return [_not_yaml(not_yaml, chart, target, output)]
    place, reason = chart.at(""), text
    match = _TEMPLATE.search(text)
    while match is not None:
        own = chart.own_path(match["path"])
        if own:
            place, reason = chart.at(own, int(match["line"])), match["rest"].strip()
        match = _TEMPLATE.search(match["rest"])
    message = f"target {target.folder!r}: {reason}"
    advice = "correct the template, or the values that it reads"
    return [Problem(message, place, advice, "chart-failed")]


REFUSED_VALUES: Final = "values don't meet the specifications of the schema(s)"
_CHART_OF_VALUES: Final = re.compile(r"^(\S+):$")
_REFUSED: Final = re.compile(r"^- at '([^']*)': (.*)$")


def _refused_values(
    text: str, chart: ChartPlace, target: Target, levels: Sequence[tuple[Location, bytes]]
) -> Iterator[Problem]:
    """Yield a problem for each value that a values.schema.json refuses."""
    parsed = [parse_yaml(where.repository, where.path, content) for where, content in levels]
    documents = [document for file in parsed for document in file.documents[:1]]
    prefix: tuple[str, ...] = ()
    for row in text.splitlines():
        heading = _CHART_OF_VALUES.match(row.strip())
        if heading:
            prefix = () if heading[1] == chart.name else (heading[1],)
        match = _REFUSED.match(row.strip())
        if match:
            path = (*prefix, *filter(None, match[1].split("/")))
            place = next(
                (document.at(*path) for document in documents if path in document.marks),
                chart.at("values.schema.json"),
            )
            yield Problem(
                f"target {target.folder!r}: the value {'.'.join(path) or 'of the chart'}: "
                f"{match[2]}",
                place,
                "correct the value, or the chart's values.schema.json",
                "values-refused",
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
        line = TemplateLines(chart.files[own].decode("utf-8", "replace")).find(row)
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


HINT: Final = "Use --debug flag to render out invalid YAML"


def _without_warnings(message: str) -> str:
    """Leave out what helm says besides the error."""
    text = message.removeprefix("helm: ").replace(HINT, "").rstrip()
    position = text.rfind("Error: ")
    return text[position + len("Error: ") :] if position >= 0 else text
