"""The text of the matrix."""

from __future__ import annotations

from tests.faults.disturbances import DISTURBANCES, EXTENTS
from tests.faults.matrix import Cell
from tests.faults.pushes import PUSHES
from tests.faults.table import Rows, table
from tests.faults.writes import WRITES


def test_the_widest_table_fits() -> None:
    rows = [
        Rows(
            write.name,
            extent,
            {
                disturbance.name: Cell(
                    "done" if disturbance.name in {"slow", "doubled"} else "later", 20
                )
                for disturbance in DISTURBANCES
                if disturbance.meets(write, extent)
            },
        )
        for write in (*WRITES, *PUSHES)
        for extent in EXTENTS
    ]
    lines = table(rows).splitlines()
    assert max(map(len, lines)) <= 150
    assert sum(line.startswith("branches.create") for line in lines) == len(EXTENTS)


def test_a_wrong_cell_is_printed() -> None:
    row = Rows("branches.create", "once", {"lost": Cell("done", 2, ("it is done twice",))})
    assert "WRONG 2" in table([row])
    assert list(row.faults()) == ["branches.create, lost once: it is done twice"]
