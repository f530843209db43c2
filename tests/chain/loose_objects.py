"""Objects of a git repository that have files of their own, read without git.

https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple


class LooseObject(NamedTuple):
    """Its id, its type, and what it holds."""

    id: str
    type: str
    content: bytes


class LooseObjects:
    """The objects below an `objects` folder. Every method raises LookupError for those in packs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, LooseObject] = {}

    def read(self, object_id: str) -> LooseObject:
        """Return the object of an id."""
        if object_id not in self._known:
            try:
                packed = (self._folder / object_id[:2] / object_id[2:]).read_bytes()
            except FileNotFoundError:
                raise LookupError(object_id) from None
            header, _, content = zlib.decompress(packed).partition(b"\0")
            kind = header.partition(b" ")[0].decode()
            self._known[object_id] = LooseObject(object_id, kind, content)
        return self._known[object_id]

    def tree(self, object_id: str) -> LooseObject:
        """Return the tree of a commit, or the tree itself."""
        found = self.read(object_id)
        if found.type == "commit":
            found = self.read(found.content[5:45].decode())
        if found.type != "tree":
            raise LookupError(object_id)
        return found

    def batch(self, names: Sequence[str]) -> bytes:
        """Return what `git cat-file --batch` prints for ids, and for trees as `<commit>^{tree}`."""
        objects = [
            self.tree(name.removesuffix("^{tree}")) if name.endswith("^{tree}") else self.read(name)
            for name in names
        ]
        return b"".join(
            f"{one.id} {one.type} {len(one.content)}\n".encode() + one.content + b"\n"
            for one in objects
        )

    def listing(self, commit: str, *, sizes: bool) -> bytes:
        """Return what `git ls-tree -r -t -z` prints of a commit, with `-l` where `sizes`."""
        return b"".join(self._lines(self.tree(commit), b"", sizes))

    def _lines(self, tree: LooseObject, above: bytes, sizes: bool) -> Iterator[bytes]:
        rest = tree.content
        while rest:
            mode, _, rest = rest.partition(b" ")
            name, _, rest = rest.partition(b"\0")
            object_id, rest = rest[:20].hex(), rest[20:]
            kind = {b"40000": "tree", b"160000": "commit"}.get(mode, "blob")
            size = len(self.read(object_id).content) if sizes and kind == "blob" else "-"
            shown = f" {size:>7}" if sizes else ""
            yield f"{mode.decode():0>6} {kind} {object_id}{shown}\t".encode() + above + name + b"\0"
            if kind == "tree":
                yield from self._lines(self.read(object_id), above + name + b"/", sizes)
