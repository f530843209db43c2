"""The kinds of problems that have a stable code: cause, example and repair of each.

    problem_codes()["template-missing"].repair

A package has its codes in its file `problem_codes.yaml`; `make docs` writes
`docs/reference/problems.md` from all of them. A run reads the files only if it needs them: for
SARIF, and for codes that people acknowledge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml

from kalypso_actions.errors import Level

PACKAGES: Final = ("kalypso_actions.model", "kalypso_placement")
"""The packages that have a file of codes."""


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
    """Return every kind of problem, by its code. Topics and codes have the order of the files."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    topics: dict[str, dict[str, Any]] = {}
    for package in PACKAGES:
        text = files(package).joinpath("problem_codes.yaml").read_text(encoding="utf-8")
        for topic, codes in yaml.load(text, loader).items():  # noqa: S506 - a safe loader
            topics.setdefault(topic, {}).update(codes)
    return {
        name: ProblemCode(name, topic, **row)
        for topic, codes in topics.items()
        for name, row in codes.items()
    }
