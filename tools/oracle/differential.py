"""Compare Go's and our output and errors for random templates.

    python -m tools.oracle.differential --count 5000 --seed 7

Prints the seed, how often each kind of node occurs, and every difference, reduced to a small
template that still shows it. Exits with 1 if there is a difference or a missing kind of node.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tools.oracle import ours, program
from tools.oracle.coverage import language
from tools.oracle.generator import Sample, generate
from tools.oracle.shrinking import shrunk

Answer = dict[str, Any]

MACHINE = ("timeout", "fatal error: ", "the process ended", "oracle: output larger")
"""Go's answers if a template exceeds the limits of the machine; our limits differ."""

ALLOWED: tuple[tuple[str, str, str], ...] = (
    (
        r"exceeded maximum template depth",
        r"exceeded maximum template depth",
        "our limit fits Python's stack, not Go's",
    ),
    (
        r"",
        r"goes beyond the limit of|the limit for one value is|nest too deeply",
        "our own limits: no template may hang a run or exhaust its memory",
    ),
    (
        r"",
        r"error calling \w+: the address of a value differs in every run",
        "Go prints the address",
    ),
    (
        r"",
        r"error calling slice: reflect.Value.Slice: slice index out of bounds",
        "Go's slices may be sliced beyond their end, up to a capacity that its allocator chose",
    ),
)
"""Permitted pairs of error texts, Go's (none for an output) and ours, with the reason."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A template with both answers."""

    number: int
    sample: Sample
    go: Answer
    mine: Answer


def main() -> int:
    """Compare and report; return 1 for differences or missing kinds of nodes."""
    options = _options()
    program.build()
    samples = [generate(options.seed, number) for number in range(options.count)]
    print(f"seed {options.seed}, {options.count} templates")
    unreached = _report_nodes(samples)
    differences, equal = _compare(samples)
    for difference in differences[: options.show]:
        _print(difference, options.seed)
    print(
        f"{equal['output']} equal outputs, {equal['error']} equal errors, "
        f"{equal['allowed']} allowed to differ, {equal['machine']} beyond the machine, "
        f"{len(differences)} differences"
    )
    for node in unreached:
        print(f"not reached: {node}")
    return 1 if differences or unreached else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare random templates with Go.")
    parser.add_argument("--count", type=int, default=5000, help="how many templates")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--show", type=int, default=20, help="how many differences to cut down")
    return parser.parse_args()


def _report_nodes(samples: list[Sample]) -> list[str]:
    """Print how often each kind of node occurs in Go's trees; return the missing kinds."""
    trees = program.ask({"op": "syntax", "text": str(sample.template)} for sample in samples)
    counts: Counter[str] = Counter()
    for tree in trees:
        counts.update(tree.get("output", {}).get("nodes", {}))
    node_kinds = language().nodes
    print("  ".join(f"{node} {counts[node]}" for node in node_kinds))
    return [node for node in node_kinds if not counts[node]]


def _compare(samples: list[Sample]) -> tuple[list[Difference], Counter[str]]:
    differences = []
    equal: Counter[str] = Counter()
    answers = program.ask(sample.request() for sample in samples)
    for number, (sample, go) in enumerate(zip(samples, answers, strict=True)):
        if go.get("error", "").startswith(MACHINE):
            equal["machine"] += 1
            continue
        mine = ours.answer(sample.request())
        if differ(go, mine):
            differences.append(Difference(number, sample, go, mine))
        elif go != mine:
            equal["allowed"] += 1
        else:
            equal["error" if "error" in go else "output"] += 1
    return differences, equal


def differ(go: Answer, mine: Answer) -> bool:
    """Return whether two answers differ and are not a pair of `ALLOWED`."""
    if go == mine or go.get("error", "").startswith(MACHINE):
        return False
    return not any(
        re.search(theirs, go.get("error", "")) and re.search(own, mine.get("error", ""))
        for theirs, own, _ in ALLOWED
    )


def _first_different(candidates: list[Sample]) -> Sample | None:
    answers = program.ask(sample.request() for sample in candidates)
    for sample, go in zip(candidates, answers, strict=True):
        if differ(go, ours.answer(sample.request())):
            return sample
    return None


def _print(difference: Difference, seed: int) -> None:
    small = shrunk(difference.sample, _first_different)
    (go,) = program.ask([small.request()])
    print(f"\n--- template {difference.number} of seed {seed}, cut down")
    print(f"template  {str(small.template)!r}")
    print(f"data      { {key: value for key, value in small.data.items() if value} }")
    print(f"Go        {go}")
    print(f"ours      {ours.answer(small.request())}")


if __name__ == "__main__":
    sys.exit(main())
