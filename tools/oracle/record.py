"""Rebuild the expectation files: the Go program answers every hand-written case.

python -m tools.oracle.record           write tests/oracle/expected
python -m tools.oracle.record --check   write nothing; list differences, exit 1 if there are any
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.oracle.cases import EXPECTED, Answer, Case, ops, read_inputs, topics
from tests.oracle.tagged import canonical
from tools.oracle import program

# Answers about the machine or a malformed request instead of Go's libraries.
UNUSABLE = ("oracle: ", "timeout", "fatal error: ", "the process ended")


def main() -> int:
    """Record or check; return 1 if a case is wrong or an expectation differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing, list differences")
    check = parser.parse_args().check
    program.build()
    cases = [case for op in ops() for topic in topics(op) for case in read_inputs(op, topic)]
    answers = program.ask({"op": case.op, **case.request} for case in cases)
    answered = list(zip(cases, answers, strict=True))
    mistakes = _duplicates(cases) + _unusable(answered)
    if not mistakes:
        expected = _files(answered)
        mistakes = _differences(expected) if check else _write(expected)
    for mistake in mistakes:
        print(mistake)
    print(f"{len(cases)} cases, {len(mistakes)} problems")
    return 1 if mistakes else 0


def _duplicates(cases: list[Case]) -> list[str]:
    count = Counter((case.op, case.id) for case in cases)
    return [
        f"{op}: id {id_!r} occurs {times} times" for (op, id_), times in count.items() if times > 1
    ]


def _unusable(answered: list[tuple[Case, Answer]]) -> list[str]:
    return [
        f"{case.op}/{case}: {answer['error']}"
        for case, answer in answered
        if answer.get("error", "").startswith(UNUSABLE)
    ]


def _files(answered: list[tuple[Case, Answer]]) -> dict[Path, dict[str, Any]]:
    files: dict[Path, dict[str, Any]] = {}
    for case, answer in answered:
        file = files.setdefault(EXPECTED / case.op / f"{case.topic}.json", {})
        file[case.id] = {key: canonical(content) for key, content in answer.items()}
    return files


def _write(expected: dict[Path, dict[str, Any]]) -> list[str]:
    for path, answers in expected.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    for path in _recorded() - set(expected):
        path.unlink()
    return []


def _differences(expected: dict[Path, dict[str, Any]]) -> list[str]:
    differences = [f"{path}: there is no such case" for path in sorted(_recorded() - set(expected))]
    for path, answers in expected.items():
        recorded = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        differences += [
            f"{path.parent.name}/{path.stem}/{id_}:\n"
            f"  recorded {json.dumps(recorded.get(id_))}\n  now      {json.dumps(answers.get(id_))}"
            for id_ in sorted(recorded.keys() | answers.keys())
            if recorded.get(id_) != answers.get(id_)
        ]
    return differences


def _recorded() -> set[Path]:
    return set(EXPECTED.glob("*/*.json"))


if __name__ == "__main__":
    sys.exit(main())
