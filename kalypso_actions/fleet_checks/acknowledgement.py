"""Warnings that people acknowledge at the object, with a reason.

    annotations:
      kalypso.io/ignore: policy-without-targets -- waits for the edge clusters

Several codes stand before `--` with commas between them; each reason has a line of its own.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import IGNORE_ANNOTATION
from kalypso_actions.model.nearest import nearest
from kalypso_actions.problem_codes import CODES

_File = tuple[str, str, str]

LINE: Final = re.compile(r"(?P<codes>.*?)(?:\s+--\s+(?P<reason>\S.*))?")


class Acknowledgements:
    """The annotations of documents; `problems` are the warnings about faulty ones."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.problems: list[Problem] = []
        by_file: dict[_File, dict[int, Set[str]]] = {}
        for document in documents:
            codes = frozenset(self._codes(document))
            by_file.setdefault(_file(document.where), {})[document.where.line] = codes
        self._files = {
            place: sorted(starts.items())
            for place, starts in by_file.items()
            if any(starts.values())
        }

    def split(self, warnings: Iterable[Problem]) -> tuple[list[Problem], list[Problem]]:
        """Return the warnings that remain, and those that are acknowledged."""
        remaining: list[Problem] = []
        acknowledged: list[Problem] = []
        for warning in warnings:
            (acknowledged if self._covers(warning) else remaining).append(warning)
        return remaining, acknowledged

    def _covers(self, warning: Problem) -> bool:
        """Whether the document around a warning acknowledges it."""
        where = warning.where
        starts = self._files.get(_file(where)) if where else None
        if not starts or not where:
            return False
        position = bisect.bisect_right(starts, where.line, key=lambda start: start[0]) - 1
        return position >= 0 and warning.code in starts[position][1]

    def _codes(self, document: Document) -> Iterator[str]:
        for line in _annotation(document).splitlines():
            match = LINE.fullmatch(line.strip())
            if not line.strip() or match is None:
                continue
            codes = [code.strip() for code in match["codes"].split(",")]
            faults = [*filter(None, map(_fault, codes))]
            if not match["reason"]:
                faults.append(("it gives no reason", f"write {match['codes']} -- <reason>"))
            where = document.at("metadata", "annotations", IGNORE_ANNOTATION)
            self.problems += (
                Problem(f"{IGNORE_ANNOTATION}: {fault}", where, advice, "ignore-invalid")
                for fault, advice in faults
            )
            if not faults:
                yield from codes


def _file(where: Location) -> _File:
    return where.repository, where.branch, where.path


def _annotation(document: Document) -> str:
    match document.body:
        case {"metadata": {"annotations": Mapping() as annotations}}:
            text = annotations.get(IGNORE_ANNOTATION)
            return text if isinstance(text, str) else ""
    return ""


def _fault(name: str) -> tuple[str, str] | None:
    """Return what is wrong with a code, and advice."""
    code = CODES.get(name)
    if code is None:
        close = nearest(name, CODES)
        suggestion = f"did you mean {close}?" if close else "see docs/reference/problems.md"
        return f"{name!r} is not the code of a problem", suggestion
    if code.level == "error":
        return f"{name!r} is an error, which cannot be acknowledged", "repair it"
    return None
