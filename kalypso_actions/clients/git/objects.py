"""What `git cat-file --batch` says of objects.

https://git-scm.com/docs/git-cat-file#_batch_output
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class GitObject(NamedTuple):
    """An object as git has it."""

    id: str
    type: str
    content: bytes


def batch_objects(output: bytes) -> Iterator[GitObject | None]:
    """The objects in the order of the request, None for each that is not there.

    `id type size<LF>content<LF>` for one, `name missing<LF>` for the other.
    """
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        words = output[position:end].rsplit(b" ", 2)
        position = end + 1
        if len(words) == 3 and words[2].isdigit():
            end = position + int(words[2])
            yield GitObject(words[0].decode(), words[1].decode(), output[position:end])
            position = end + 1
        else:
            yield None
