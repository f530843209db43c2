"""The matrix as text: a row for each write, a column for each fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.faults.disturbances import DISTURBANCES, EXTENTS, Disturbance, Extent
from tests.faults.matrix import OUTCOMES, Cell, cell, undisturbed
from tests.faults.pushes import PUSHES
from tests.faults.trials import ground
from tests.faults.write import Write
from tests.faults.writes import WRITES

GROUPS: Final[Mapping[str, Sequence[Write]]] = {"GitHub": WRITES, "git push": PUSHES}
BY_NAME: Final = {write.name: write for write in (*WRITES, *PUSHES)}

MEETS: Final[Mapping[Extent, str]] = {
    "once": "the fault hits the write's request once",
    "each time": "the fault hits the write's request each time",
    "from then on": "the fault hits the write's request and every later one of the call",
}

LEGEND: Final = f"""\
{"".join(f"{outcome:9}{meaning}" + chr(10) for outcome, meaning in OUTCOMES.items())}\
WRONG    anything else
         the number of requests of the first call
         (a started workflow cannot be looked up: the second call starts it once more)
502 acted, lost, half: the server acts, and its response is an error, missing or incomplete; \
after: with Retry-After"""

Row = Mapping[str, Cell]
"""Cells by the disturbance's name."""


@dataclass(frozen=True)
class Rows:
    """The cells of a write for one extent of the faults."""

    write: str
    extent: Extent
    cells: Row

    def faults(self) -> Iterator[str]:
        """Yield all faults."""
        for name, result in self.cells.items():
            for fault in result.faults:
                yield f"{self.write}, {name} {self.extent}: {fault}"


def try_write(write: Write, extents: Sequence[Extent], folder: Path) -> list[Rows]:
    """Try a write with every fault, in a sandbox of its own."""
    with ground(folder) as prepared:
        course = undisturbed(prepared, write)
        return [
            Rows(
                write.name,
                extent,
                {
                    disturbance.name: cell(prepared, write, course, disturbance, extent)
                    for disturbance in DISTURBANCES
                    if disturbance.meets(write, extent)
                },
            )
            for extent in extents
        ]


def table(rows: Sequence[Rows]) -> str:
    """Format all rows by group and extent, within 150 columns."""
    blocks = []
    for extent in EXTENTS:
        for group, writes in GROUPS.items():
            names = [write.name for write in writes]
            chosen = [row for row in rows if row.extent == extent and row.write in names]
            if chosen:
                blocks.append(f"{group}: {MEETS[extent]}\n\n{_block(chosen)}")
    return "\n\n".join([*blocks, LEGEND])


def _block(rows: Sequence[Rows]) -> str:
    columns = [
        disturbance
        for disturbance in DISTURBANCES
        if any(disturbance.name in row.cells for row in rows)
    ]
    lines = [["", *(_words(column)[half] for column in columns)] for half in (0, 1)]
    for row in rows:
        cells = (str(row.cells.get(column.name, "")) for column in columns)
        lines.append([row.write, *cells])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        " ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _words(disturbance: Disturbance) -> tuple[str, str]:
    first, _, second = disturbance.name.partition(" ")
    return first, second
