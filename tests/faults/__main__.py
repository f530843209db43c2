"""Try every write of the clients with every fault, and print the results.

python -m tests.faults [PART OF A WRITE'S NAME]
"""

from __future__ import annotations

import logging
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.faults.disturbances import EXTENTS
from tests.faults.table import BY_NAME, Rows, table, try_write


def main() -> int:
    """Print the table; return 1 if a cell is wrong."""
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    names = [name for name in BY_NAME if part in name]
    with ProcessPoolExecutor() as pool:
        rows = [row for rows_of_write in pool.map(_tried, names) for row in rows_of_write]
    faults = [fault for row in rows for fault in row.faults()]
    sys.stdout.write(f"{table(rows)}\n")
    sys.stdout.write("".join(f"\nwrong: {fault}\n" for fault in faults))
    return 1 if faults else 0


def _tried(name: str) -> list[Rows]:
    logging.disable()  # the clients log each repetition
    with tempfile.TemporaryDirectory(prefix="kalypso-faults-") as folder:
        return try_write(BY_NAME[name], EXTENTS, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
