"""The release of a target, the place of a chart, and the errors of helm."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import (
    CORRECT_TEMPLATE,
    VALUES_FILE,
    Compatibility,
    Target,
)
from kalypso_actions.model.documents import Document
from kalypso_actions.planning.template_lines import TemplateLines
from kalypso_actions.sources.yaml_documents import parse_yaml

CHART_FILE: Final = "Chart.yaml"
SCHEMA_FILE: Final = "values.schema.json"
MAX_NAME: Final = 53
"""The longest name of a release, in characters.
https://helm.sh/docs/chart_template_guide/getting_started/"""

NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


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


MAX_NAMED: Final = 3
"""The number of targets that a problem names."""

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


def helm_problems(message: str, chart: ChartPlace, output: str = "") -> list[Problem]:
    """Return the problems in helm's message for a target, with their places in the sources.

    `output` is helm's output with `--debug`, if a template's output is not YAML.
    """
    text = _without_warnings(message)
    if REFUSED_VALUES in text:
        refused = list(_refused_values(text, chart))
        if refused:
            return refused
    not_yaml = _NOT_YAML.search(text)
    if not_yaml:
        return [_not_yaml(not_yaml, chart, output)]
    place, reason = _place_of_template(text, chart)
    advice = CORRECT_TEMPLATE if place else "correct it"
    if NEEDS_VERSION in text:
        advice = "set kube-version to the version of the clusters"
    return [Problem(reason, place or _place_in_chart(text, chart), advice, "chart-failed")]


def place_of_error(message: str, chart: ChartPlace) -> Location:
    """Return the line of the template that a message of helm names, else the chart's folder."""
    return _place_of_template(message, chart)[0] or chart.at("")


def _place_of_template(text: str, chart: ChartPlace) -> tuple[Location | None, str]:
    """Return the innermost template's line in an error, and its reason; None without a template."""
    place, reason = None, text
    match = _TEMPLATE.search(text)
    while match is not None:
        own = chart.own_path(match["path"])
        if own:
            place, reason = chart.at(own, int(match["line"])), match["rest"].strip()
        match = _TEMPLATE.search(match["rest"])
    return place, reason


def of_targets(failures: Iterable[tuple[Target, Iterable[Problem]]]) -> list[Problem]:
    """Return each problem once, with the targets that have it."""
    folders: dict[Problem, list[str]] = {}
    for target, problems in failures:
        for problem in problems:
            folders.setdefault(problem, []).append(repr(target.folder))
    return [
        replace(problem, message=f"{_named(names)}: {problem.message}")
        for problem, names in folders.items()
    ]


def _named(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"target {names[0]}"
    if len(names) > MAX_NAMED:
        names = [*names[: MAX_NAMED - 1], f"{len(names) - MAX_NAMED + 1} more"]
    return f"targets {', '.join(names[:-1])} and {names[-1]}"


NEEDS_VERSION: Final = "chart requires kubeVersion"
_SUBCHART: Final = re.compile(r"unpacking subchart (\S+) in ")
_LOADED: Final = re.compile(r"cannot load (\S+): ")
_LINE: Final = re.compile(r"\bline (\d+)\b")


def _place_in_chart(text: str, chart: ChartPlace) -> Location:
    """Return the file of the chart that helm could not load, else the chart's folder."""
    subchart, loaded, line = (regex.search(text) for regex in (_SUBCHART, _LOADED, _LINE))
    folder = f"charts/{subchart[1]}" if subchart else ""
    if loaded:
        path, number = posixpath.join(folder, loaded[1]), int(line[1]) if line else 0
    elif NEEDS_VERSION in text or "chart.metadata." in text:
        path = posixpath.join(folder, CHART_FILE)
        number = line_of(b"\nkubeVersion:", chart.files.get(path, b"")) + 1
    else:
        path, number = folder, 0
    return chart.at(path, number) if path in chart.files else chart.at(folder)


NO_SCHEMA: Final = "is not valid against metaschema"
REFUSED_VALUES: Final = "values don't meet the specifications of the schema(s)"
_CHART_OF_VALUES: Final = re.compile(r"^(\S+):$")
_REFUSED: Final = re.compile(r"^- at '([^']*)': (.*)$")


def _refused_values(text: str, chart: ChartPlace) -> Iterator[Problem]:
    """Yield a problem for each value that a values.schema.json refuses.

    If the file itself is not a schema, helm's message has the same form.
    """
    documents = list(chart.values())
    prefix: tuple[str, ...] = ()
    schema, is_schema = SCHEMA_FILE, True
    for row in text.splitlines():
        heading = _CHART_OF_VALUES.match(row.strip())
        if heading:
            prefix = () if heading[1] == chart.name else (heading[1],)
            schema = "/".join((*(f"charts/{name}" for name in prefix), SCHEMA_FILE))
        if heading or NO_SCHEMA in row:
            is_schema = bool(heading)
        match = _REFUSED.match(row.strip())
        if match and is_schema:
            steps = [step for step in match[1].split("/") if step]
            keys = (*prefix, *(step.replace("~1", "/").replace("~0", "~") for step in steps))
            # A number is a key, or the index of an item.
            paths = (keys, tuple(int(key) if key.isdecimal() else key for key in keys))
            place = next(
                (values.at(*own) for values in documents for own in paths if own in values.marks),
                chart.at(schema),
            )
            yield Problem(
                f"the value {'.'.join(keys) or 'of the chart'}: {match[2]}",
                place,
                "correct the value, or the chart's values.schema.json",
                "values-refused",
            )
        elif match and not match[2].endswith(" failed"):  # the next lines name the failed parts
            steps = [step for step in match[1].split("/") if step]
            yield Problem(
                f"this is not a JSON schema: {'.'.join(steps) or 'all of it'}: {match[2]}",
                chart.at(schema, _line_of_keys(steps, chart.files.get(schema, b""))),
                "correct it: https://json-schema.org",
                "chart-schema-invalid",
            )


def _line_of_keys(keys: Sequence[str], content: bytes) -> int:
    """Return the line of the last key in JSON, inside the keys before it; 0 if it is unknown."""
    position, line = 0, 0
    for key in keys:
        text = json.dumps(key).encode()
        position = max(content.find(text, position), position)
        line = line_of(text, content, position)
    return line


def _not_yaml(match: re.Match[str], chart: ChartPlace, output: str) -> Problem:
    own = chart.own_path(match["path"])
    reason = match["reason"] or match["rest"]
    line = 0
    if own:
        rows = output_of_template(output, match["path"]).splitlines()
        # If helm gives no line, the whole document has the wrong form.
        lines = TemplateLines(chart.files[own].decode("utf-8", "replace"))
        line = lines.find(rows, int(match["line"] or 1) - 1)
    return Problem(
        f"the output of the template is not YAML: {reason.strip()}",
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
    """Return helm's error without its warnings and hints."""
    text = message.removeprefix("helm: ").replace(HINT, "").rstrip()
    position = text.rfind("Error: ")
    return text[position + len("Error: ") :] if position >= 0 else text
