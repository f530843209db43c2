"""Parse the output of `git cat-file --batch`.

https://git-scm.com/docs/git-cat-file#_batch_output
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class GitObject(NamedTuple):
    """A git object."""

    id: str
    type: str
    content: bytes


def batch_objects(output: bytes) -> Iterator[GitObject | None]:
    """Yield the objects in the order of the request, None for a missing one.

    The output is `id type size<LF>content<LF>` for an object, else `name missing<LF>`.
    """
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        header = output[position:end].rsplit(b" ", 2)
        position = end + 1
        if len(header) == 3 and header[2].isdigit():
            end = position + int(header[2])
            yield GitObject(header[0].decode(), header[1].decode(), output[position:end])
            position = end + 1
        else:
            yield None
