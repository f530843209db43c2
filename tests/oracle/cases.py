"""Cases of the oracle: hand-written inputs, and the recorded answers of Go.

`cases/<op>/<topic>.yaml` lists the inputs, `expected/<op>/<topic>.json` holds the answers by id.
`make oracle` rebuilds the answers; nothing here needs Go.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from kalypso_actions.sources.yaml_documents import LOADER

CASES = Path(__file__).parent / "cases"
EXPECTED = Path(__file__).parent / "expected"

Request = dict[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One request to the oracle and, once recorded, its answer.

    `answer` has one key: `output` (a text, or a value in the form of `tagged.py`) or `error`.
    `differs` is the reason why our answer differs, if it does.
    """

    op: str
    topic: str
    id: str
    request: Request
    covers: tuple[str, ...] = ()
    differs: str = ""
    answer: Answer = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the id of the case in test reports."""
        return f"{self.topic}/{self.id}"

    @property
    def output(self) -> Any:
        """Go's output, None if it failed."""
        return self.answer.get("output")

    @property
    def error(self) -> str | None:
        """Go's error, None if it succeeded."""
        error: str | None = self.answer.get("error")
        return error


def load(op: str) -> list[Case]:
    """Return every case of an op with its recorded answer; raise KeyError if one is missing."""
    return [case for topic in topics(op) for case in load_topic(op, topic)]


def load_topic(op: str, topic: str) -> list[Case]:
    """Return the cases of one file with their recorded answers; raise KeyError if one is missing."""
    answers = json.loads((EXPECTED / op / f"{topic}.json").read_text(encoding="utf-8"))
    return [replace(case, answer=answers[case.id]) for case in read_inputs(op, topic)]


def differences(
    cases: Sequence[Case], ours: Callable[[Case], object], gos: Callable[[Case], object]
) -> dict[str, tuple[object, object]]:
    """Return our answer and Go's by the name of each case in which they are not the same.

    A case that has `differs` counts if the answers are the same.
    """
    differing = {}
    for case in cases:
        try:
            answers = ours(case), gos(case)
        except Exception as error:
            error.add_note(f"in the case {case}")
            raise
        if (answers[0] != answers[1]) != bool(case.differs):
            differing[str(case)] = answers
    return differing


def read_inputs(op: str, topic: str) -> list[Case]:
    """Return the cases of one file, without answers."""
    text = (CASES / op / f"{topic}.yaml").read_text(encoding="utf-8")
    try:
        entries = yaml.load(text, LOADER)
    except yaml.YAMLError:  # libyaml refuses the escapes of lone surrogates
        entries = yaml.safe_load(text)
    return [_case(op, topic, entry) for entry in entries]


def topics(op: str) -> list[str]:
    """Return the names of an op's case files, sorted."""
    return sorted(path.stem for path in (CASES / op).glob("*.yaml"))


def ops() -> list[str]:
    """Return the ops that have cases, sorted."""
    return sorted(path.name for path in CASES.iterdir() if path.is_dir())


def _case(op: str, topic: str, entry: dict[str, Any]) -> Case:
    ours = {"id", "covers", "differs"}
    request = {key: value for key, value in entry.items() if key not in ours}
    covers = tuple(entry.get("covers", ()))
    return Case(op, topic, str(entry["id"]), request, covers, entry.get("differs", ""))
