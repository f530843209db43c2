"""Distinguish new problems from known ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from kalypso_actions.errors import Problem

_LINE: Final = re.compile(r"(?<=:)\d+")
"""The number of a line in a message; it changes with the lines above."""

_Key = tuple[str, str, str, str]


def new_findings(
    base: Iterable[Problem], head: Iterable[Problem]
) -> tuple[tuple[Problem, ...], int]:
    """Return the problems that only `head` has, and the number of problems that both have.

    The same problem on another line of a file is known; a second problem with the same text is new.
    """
    known = Counter(map(_key, base))
    new = []
    count = 0
    for problem in head:
        key = _key(problem)
        if known[key]:
            known[key] -= 1
            count += 1
        else:
            new.append(problem)
    return tuple(new), count


def _key(problem: Problem) -> _Key:
    where = problem.where
    repository, path = (where.repository, where.path) if where else ("", "")
    return problem.code, repository, path, _LINE.sub("", problem.message)
