"""The kinds of problems that have a stable code: cause, example and repair of each.

    problem_codes()["template-missing"].repair

A package has its codes in its file `problem_codes.yaml`, and registers itself in the group
`kalypso_actions.problem_codes`; `make docs` writes `docs/reference/problems.md` from the files of
this distribution. A run reads the files only if it needs them: for SARIF, and for codes that people
acknowledge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import yaml

from kalypso_actions.errors import KalypsoError, Level
from kalypso_actions.model.entry_points import installed_points

GROUP: Final = "kalypso_actions.problem_codes"
"""The group of the entry points of packages with a file of codes."""


@dataclass(frozen=True, slots=True)
class ProblemCode:
    """A kind of problem: its stable name, its topic, its cause, an example, and the repair.

    `level` is the level in `kalypso validate`; other commands may use a lower one.
    """

    name: str
    topic: str
    level: Level
    cause: str
    example: str
    repair: str


@cache
def problem_codes() -> Mapping[str, ProblemCode]:
    """Return every kind of problem, by its code. Topics and codes have the order of the files.

    Raises KalypsoError for a package whose file cannot be read.
    """
    topics: dict[str, dict[str, ProblemCode]] = {}
    for package in packages():
        for code in _codes_of(package):
            topics.setdefault(code.topic, {}).setdefault(code.name, code)
    return {name: code for codes in topics.values() for name, code in codes.items()}


def packages() -> list[str]:
    """Return the packages that have a file of codes, Kalypso's own first."""
    return ["kalypso_actions.model", *(point.value for point in installed_points(GROUP).values())]


def _codes_of(package: str) -> list[ProblemCode]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        text = files(package).joinpath("problem_codes.yaml").read_text(encoding="utf-8")
        topics = yaml.load(text, loader)  # noqa: S506 - a safe loader
        return [
            ProblemCode(name, topic, **row)
            for topic, codes in topics.items()
            for name, row in codes.items()
        ]
    except Exception as error:  # the file of another package
        message = f"the problem codes of {package} cannot be read: {error}"
        raise KalypsoError(message, advice="this is a fault of the package") from error
