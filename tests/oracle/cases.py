"""Cases whose expected results Go wrote: hand-written inputs and the oracle's answers to them.

`cases/<op>/<topic>.yaml` lists the inputs, `expected/<op>/<topic>.json` holds the answers by id.
`make oracle` rebuilds the answers; nothing here needs Go.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

CASES = Path(__file__).parent / "cases"
EXPECTED = Path(__file__).parent / "expected"

Request = dict[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One request to the oracle and, once recorded, its answer.

    `answer` has one key: `output` (a text, or a value as `tagged.py` writes it) or `error`.
    `differs` says why our answer is another, where it is.
    """

    op: str
    topic: str
    id: str
    request: Request
    covers: tuple[str, ...] = ()
    differs: str = ""
    answer: Answer = field(default_factory=dict)

    def __str__(self) -> str:
        """Names the case in a test's report."""
        return f"{self.topic}/{self.id}"

    @property
    def output(self) -> Any:
        """What Go answered, None where it failed."""
        return self.answer.get("output")

    @property
    def error(self) -> str | None:
        """Why Go failed, None where it answered."""
        error: str | None = self.answer.get("error")
        return error


def load(op: str) -> list[Case]:
    """Every case of an op with its recorded answer; KeyError where one was never recorded."""
    return [case for topic in topics(op) for case in _with_answers(op, topic)]


def read_inputs(op: str, topic: str) -> list[Case]:
    """The cases of one file, without answers."""
    entries = yaml.safe_load((CASES / op / f"{topic}.yaml").read_text(encoding="utf-8"))
    return [_case(op, topic, entry) for entry in entries]


def topics(op: str) -> list[str]:
    """The names of an op's case files, sorted."""
    return sorted(path.stem for path in (CASES / op).glob("*.yaml"))


def ops() -> list[str]:
    """The ops that have cases, sorted."""
    return sorted(path.name for path in CASES.iterdir() if path.is_dir())


def _case(op: str, topic: str, entry: dict[str, Any]) -> Case:
    ours = {"id", "covers", "differs"}
    request = {key: value for key, value in entry.items() if key not in ours}
    covers = tuple(entry.get("covers", ()))
    return Case(op, topic, str(entry["id"]), request, covers, entry.get("differs", ""))


def _with_answers(op: str, topic: str) -> list[Case]:
    answers = json.loads((EXPECTED / op / f"{topic}.json").read_text(encoding="utf-8"))
    return [replace(case, answer=answers[case.id]) for case in read_inputs(op, topic)]
