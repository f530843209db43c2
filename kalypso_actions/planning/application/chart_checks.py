"""Functions of helm that cannot work here, and those whose results differ in each run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from kalypso_actions.errors import Problem
from kalypso_actions.planning.application.helm import ChartPlace

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
