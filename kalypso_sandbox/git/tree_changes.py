"""Change some paths of a tree.

https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kalypso_actions.clients.git.objects import GitObject
from kalypso_sandbox.git.diff_tree import EMPTY_TREE
from kalypso_sandbox.git.objects import TREE, LooseObjects, entries

Change = tuple[str, str | bytes]
"""A mode with an object id (text) or a content (bytes)."""


def write_changed_tree(
    objects: LooseObjects,
    read: Callable[[str], GitObject],
    base: str,
    changes: Mapping[str, Change | None],
) -> str:
    """Write the tree `base` with some paths changed, and return its id.

    None deletes a file or a folder. Folders without files vanish.
    """
    known = read(base) if base != EMPTY_TREE else GitObject(base, "tree", b"")
    tree = {_text(name): (mode, object_id) for mode, name, object_id in entries(known)}
    below: dict[str, dict[str, Change | None]] = {}
    for path, change in changes.items():
        name, _, rest = path.partition("/")
        if rest:
            below.setdefault(name, {})[rest] = change
        elif change is None:
            tree.pop(name, None)
        else:
            mode, content = change
            object_id = content if isinstance(content, str) else objects.write("blob", content)
            tree[name] = (mode.lstrip("0"), object_id)
    for name, inner in below.items():
        mode, folder = tree.get(name, (TREE, EMPTY_TREE))
        changed = write_changed_tree(objects, read, folder if mode == TREE else EMPTY_TREE, inner)
        if changed != EMPTY_TREE:
            tree[name] = (TREE, changed)
        elif mode == TREE:
            tree.pop(name, None)
    lines = (
        b"%s %s\0%s" % (mode.encode(), name, bytes.fromhex(object_id))
        for name, mode, object_id in sorted(
            ((_bytes(name), *entry) for name, entry in tree.items()), key=_order
        )
    )
    return objects.write("tree", b"".join(lines))


def _order(entry: tuple[bytes, str, str]) -> bytes:
    """Sort folders as if their names ended with a slash, as git does."""
    name, mode, _ = entry
    return name + b"/" if mode == TREE else name


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
