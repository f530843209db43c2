"""Show lines: through a pager if they do not fit the terminal."""

from __future__ import annotations

import itertools
import os
import pydoc
import sys
from collections.abc import Iterable

from rich.console import Console


def show(console: Console, lines: Iterable[str]) -> None:
    """Print lines to standard output, paged by `PAGER` on a terminal.

    As with git, an empty PAGER or `cat` means no pager, and less shows colours.
    """
    rest = iter(lines)
    if sys.stdout.isatty() and os.environ.get("PAGER", "less").strip() not in {"", "cat"}:
        first = list(itertools.islice(rest, console.height))
        rest = itertools.chain(first, rest)
        if len(first) >= console.height:
            os.environ.setdefault("LESS", "FRX")
            pydoc.pager("".join(f"{line}\n" for line in rest))
            return
    for line in rest:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()  # the caller prints findings to standard error
