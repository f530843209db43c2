"""The page of all kinds of problems."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Final

from kalypso_actions.model.problem_codes import ProblemCode, problem_codes

PAGE: Final = """\
# Problems

Written by `make docs` from `kalypso_actions/model/problem_codes.yaml`. Each line that a command
prints about a problem ends with the code of its kind, such as `[policy-without-targets]`; JSON has
it as `code`. Failures of GitHub, Azure and programs have no code.

An error makes `kalypso validate` fail. A warning does not; you can
[acknowledge it](../guide/troubleshooting.md#acknowledge-a-warning). A note is counted, and shown
with `--notes`. Options such as `on-failure: keep` turn errors of one assignment into warnings. An
error in the repository of a registered application is a warning: it does not stop the others.
"""


def problems_text() -> str:
    """Return a page with every code, by topic."""
    parts = [PAGE]
    for topic, codes in groupby(problem_codes().values(), lambda code: code.topic):
        of_topic = list(codes)
        parts += [f"## {topic}\n", _levels(of_topic), *map(_section, of_topic)]
    return "\n".join(parts)


def _levels(codes: Iterable[ProblemCode]) -> str:
    """Return the codes of a topic by their levels."""
    by_level: dict[str, list[str]] = {}
    for code in codes:
        by_level.setdefault(code.level, []).append(f"[{code.name}](#{code.name})")
    lines = (
        f"- {level}: {', '.join(by_level[level])}"
        for level in ("error", "warning", "note")
        if level in by_level
    )
    return "\n".join(lines) + "\n"


def _section(code: ProblemCode) -> str:
    example = f"```text\n{code.example.rstrip()}\n```"
    return (
        f"### {code.name}\n\n{code.level.capitalize()}. {code.cause}\n\n{example}\n\n"
        f"{code.repair}\n"
    )
