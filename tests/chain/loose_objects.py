"""The output of git for objects that have files of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kalypso_actions.clients.git.files import GitObject
from kalypso_sandbox.git import objects as loose_objects


class LooseObjects(loose_objects.LooseObjects):
    """Every method raises LookupError for objects in packs."""

    def batch(self, names: Sequence[str]) -> bytes:
        """Return the output of `git cat-file --batch` for ids and `<commit>^{tree}`."""
        objects = [
            self.tree(name.removesuffix("^{tree}")) if name.endswith("^{tree}") else self.read(name)
            for name in names
        ]
        return b"".join(
            f"{name.id} {name.type} {len(name.content)}\n".encode() + name.content + b"\n"
            for name in objects
        )

    def listing(self, commit: str, *, sizes: bool) -> bytes:
        """Return the output of `git ls-tree -r -t -z` for a commit, with `-l` if `sizes`."""
        return b"".join(self._lines(self.tree(commit), b"", sizes))

    def _lines(self, tree: GitObject, above: bytes, sizes: bool) -> Iterator[bytes]:
        for mode, name, object_id in loose_objects.entries(tree):
            kind = {"40000": "tree", "160000": "commit"}.get(mode, "blob")
            size = len(self.read(object_id).content) if sizes and kind == "blob" else "-"
            shown = f" {size:>7}" if sizes else ""
            yield f"{mode:0>6} {kind} {object_id}{shown}\t".encode() + above + name + b"\0"
            if kind == "tree":
                yield from self._lines(self.read(object_id), above + name + b"/", sizes)
