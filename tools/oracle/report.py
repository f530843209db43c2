"""Print how many recorded cases cover each part of the language; fail if there are too few.

    python -m tools.oracle.report

Exits with 1 if a syntax node, built-in, verb or function has fewer than three cases, or lacks an
ordinary, an odd or (if it can fail) an error case, or if an op has too few cases.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from kalypso_actions.rendering.functions import FUNCTIONS, REFUSED
from tests.oracle.cases import load
from tools.oracle import program
from tools.oracle.coverage import (
    BUILTINS,
    CLASSES,
    FLAGS,
    VERBS,
    Coverage,
    Language,
    language,
    measure,
)

FEWEST_CASES = 3

AGREED_TOTALS = {
    "template": 500,
    "toyaml3": 300,
    "config": 100,
    "merge": 100,
    "validate": 60,
    "hash": 40,
}

CANNOT_FAIL = {
    ("node", "text"): "it is copied",
    ("node", "trimLeft"): "a marker without space around it is another token",
    ("node", "trimRight"): "a marker without space around it is another token",
    **{("verb", verb): "printf prints %!verb(type=value) instead" for verb in VERBS},
    **{
        ("function", name): "it takes any number of arguments of any type"
        for name in ("cat", "coalesce", "list", "quote", "squote", "tuple")
    },
    **{("flag", flag): "printf prints %!verb(type=value) instead" for flag in FLAGS},
}
"""Reasons why no error case is required; all other functions can have invalid arguments."""

HAS_NOTHING_ODD = {
    ("node", node)
    for node in ("action", "command", "pipe", "identifier", "text", "dot", "bool", "nil")
} | {("verb", "%")}
"""Items that are too simple for odd cases."""


def main() -> int:
    """Print the report; return 1 if something is missing."""
    program.build()
    vocabulary = language()
    coverage = measure(vocabulary)
    missing = []
    for title, kind, items in _sections(vocabulary):
        print(f"\n{title:<24}" + "".join(f"{class_:>10}" for class_ in CLASSES))
        for item in items:
            counts = coverage.of(kind, item)
            print(f"  {item:<22}" + "".join(f"{counts[class_]:>10}" for class_ in CLASSES))
            missing += _too_few(coverage, kind, item)
    print("\nRefused by design: " + ", ".join(sorted(REFUSED)))
    missing += _unknown(vocabulary) + _totals()
    for line in missing:
        print(line)
    print(f"{len(missing)} gaps")
    return 1 if missing else 0


def _sections(vocabulary: Language) -> list[tuple[str, str, Iterable[str]]]:
    return [
        ("Syntax nodes", "node", vocabulary.nodes),
        ("Built-in functions", "function", BUILTINS),
        ("Verbs of printf", "verb", VERBS),
        ("Flags of printf", "flag", FLAGS),
        ("Functions", "function", [name for name in vocabulary.functions if name not in REFUSED]),
    ]


def _too_few(coverage: Coverage, kind: str, item: str) -> list[str]:
    counts = coverage.of(kind, item)
    wanted = set(CLASSES)
    if (kind, item) in CANNOT_FAIL:
        wanted.discard("error")
    if (kind, item) in HAS_NOTHING_ODD:
        wanted.discard("odd")
    gaps = [
        f"{kind} {item}: no {class_} case" for class_ in CLASSES if class_ in wanted - set(counts)
    ]
    total = sum(counts.values())
    if total < FEWEST_CASES:
        gaps.append(f"{kind} {item}: {total} cases of {FEWEST_CASES}")
    return gaps


def _unknown(vocabulary: Language) -> list[str]:
    return [
        f"function {name}: neither implemented nor refused"
        for name in vocabulary.functions
        if name not in FUNCTIONS and name not in REFUSED
    ]


def _totals() -> list[str]:
    print("\nCases")
    gaps = []
    for op, agreed in AGREED_TOTALS.items():
        cases = len(load(op))
        print(f"  {op:<22}{cases:>10}")
        if cases < agreed:
            gaps.append(f"{op}: {cases} cases of {agreed}")
    return gaps


if __name__ == "__main__":
    sys.exit(main())
