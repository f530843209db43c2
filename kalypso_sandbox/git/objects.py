"""Read and write loose objects and trees of a git repository without running git.

https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git.files import GitObject
from kalypso_sandbox.git.commits import EMPTY_TREE

FULL_ID: Final = re.compile(r"[0-9a-f]{40}\Z")
TREE: Final = "40000"

MAX_CACHED_TREES: Final = 2000

Change = tuple[str, str | bytes]
"""A mode with an object id (text) or a content (bytes)."""


class LooseObjects:
    """The loose objects below an `objects` folder.

    Reading raises LookupError for objects in packs. Safe to use from several threads.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._trees: dict[str, GitObject] = {}

    def read(self, object_id: str) -> GitObject:
        """Return the object with this id."""
        if known := self._trees.get(object_id):
            return known
        if not FULL_ID.match(object_id):
            raise LookupError(object_id)
        try:
            packed = (self._folder / object_id[:2] / object_id[2:]).read_bytes()
        except FileNotFoundError:
            raise LookupError(object_id) from None
        header, _, content = zlib.decompress(packed).partition(b"\0")
        git_object = GitObject(object_id, header.partition(b" ")[0].decode(), content)
        if git_object.type == "tree" and len(self._trees) < MAX_CACHED_TREES:
            self._trees[object_id] = git_object
        return git_object

    def tree(self, object_id: str) -> GitObject:
        """Return the tree of a commit, or the tree itself."""
        git_object = self.read(object_id)
        if git_object.type == "commit":
            git_object = self.read(git_object.content[5:45].decode())
        if git_object.type != "tree":
            raise LookupError(object_id)
        return git_object

    def files(self, commit: str) -> Iterator[tuple[str, bytes, str]]:
        """Yield the mode, path and id of each entry of a commit or a tree that is not a folder."""
        yield from self._below(self.tree(commit), b"")

    def _below(self, tree: GitObject, folder: bytes) -> Iterator[tuple[str, bytes, str]]:
        for mode, name, object_id in entries(tree):
            if mode == TREE:
                yield from self._below(self.read(object_id), folder + name + b"/")
            else:
                yield mode, folder + name, object_id

    def at(self, commit: str, path: str) -> GitObject | None:
        """Return the object at a path of a commit, or None; "" is the root."""
        git_object = self.tree(commit)
        for segment in path.split("/") if path else ():
            if git_object.type != "tree":
                return None
            name = segment.encode("utf-8", "surrogateescape")
            ids = {entry: object_id for _, entry, object_id in entries(git_object)}
            if name not in ids:
                return None
            git_object = self.read(ids[name])
        return git_object

    def write(self, kind: str, content: bytes) -> str:
        """Write an object, and return its id."""
        whole = f"{kind} {len(content)}\0".encode() + content
        object_id = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        file = self._folder / object_id[:2] / object_id[2:]
        if not file.exists():
            file.parent.mkdir(exist_ok=True)
            with tempfile.NamedTemporaryFile("wb", dir=file.parent, delete=False) as part:
                part.write(zlib.compress(whole, 1))
            Path(part.name).replace(file)
        return object_id

    def write_tree(
        self,
        base: str,
        changes: Mapping[str, Change | None],
        read: Callable[[str], GitObject],
    ) -> str:
        """Write the tree `base` with some paths changed, and return its id.

        None deletes a file or a folder. Folders without files vanish. `read` also knows the objects
        in packs.
        """
        known = read(base) if base != EMPTY_TREE else GitObject(base, "tree", b"")
        tree = {name: (mode, object_id) for mode, name, object_id in entries(known)}
        below: dict[bytes, dict[str, Change | None]] = {}
        for path, change in changes.items():
            first, _, rest = path.partition("/")
            name = first.encode("utf-8", "surrogateescape")
            if rest:
                below.setdefault(name, {})[rest] = change
            elif change is None:
                tree.pop(name, None)
            else:
                mode, content = change
                object_id = content if isinstance(content, str) else self.write("blob", content)
                tree[name] = (mode.lstrip("0"), object_id)
        for name, inner in below.items():
            mode, folder = tree.get(name, (TREE, EMPTY_TREE))
            changed = self.write_tree(folder if mode == TREE else EMPTY_TREE, inner, read)
            if changed != EMPTY_TREE:
                tree[name] = (TREE, changed)
            elif mode == TREE:
                tree.pop(name, None)
        lines = (
            b"%s %s\0%s" % (mode.encode(), name, bytes.fromhex(object_id))
            for name, (mode, object_id) in sorted(tree.items(), key=_order)
        )
        return self.write("tree", b"".join(lines))


def entries(tree: GitObject) -> Iterator[tuple[str, bytes, str]]:
    """Yield the mode, name and id of each entry of a tree."""
    rest = tree.content
    while rest:
        mode, _, rest = rest.partition(b" ")
        name, _, rest = rest.partition(b"\0")
        yield mode.decode(), name, rest[:20].hex()
        rest = rest[20:]


def _order(entry: tuple[bytes, tuple[str, str]]) -> bytes:
    """Sort folders as if their names ended with a slash, as git does."""
    name, (mode, _) = entry
    return name + b"/" if mode == TREE else name
