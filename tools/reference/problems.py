"""The page of all kinds of problems."""

from __future__ import annotations

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
        parts += [f"## {topic}\n", *map(_section, codes)]
    return "\n".join(parts)


def _section(code: ProblemCode) -> str:
    example = f"```text\n{code.example.rstrip()}\n```"
    return (
        f"### {code.name}\n\n{code.level.capitalize()}. {code.cause}\n\n{example}\n\n"
        f"{code.repair}\n"
    )
