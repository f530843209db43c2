"""Problems of paths: symbolic links, and folders that do not exist."""

from __future__ import annotations

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import GIT_LINK_MODE, SYMLINK_MODE, FileEntry
from kalypso_actions.model.nearest import nearest
from kalypso_actions.sources.paths import OutsideRepositoryError, join, parent, printable
from kalypso_actions.sources.source_tree import YAML_SUFFIXES, SourceTree


def check_symlink(
    tree: SourceTree, path: str, content: bytes, where: Location
) -> tuple[Problem | None, Problem | None]:
    """Return the problem of a link that leaves the repository, or the warning of an ignored link.

    Flux ignores links as well.
    """
    target = content.decode("utf-8", "surrogateescape")
    name = repr(printable(target))
    try:
        resolved = join(parent(path), target)
    except OutsideRepositoryError:
        message = f"the symbolic link leads out of the repository, to {name}"
        advice = "remove it, or exclude it by .sourceignore"
        return Problem(message, where, advice, "path-outside-repository"), None
    if path.endswith(YAML_SUFFIXES) or resolved in tree.folders:
        message = f"the symbolic link to {name} is ignored, as by Flux"
        return None, Problem(message, where, "replace it by the files", "symlink-ignored")
    return None, None


def missing_folder(
    tree: SourceTree, path: str, root: str, entry: FileEntry | None, where: Location
) -> Problem:
    """Return the problem of a path that is not a folder, with the nearest folder as advice.

    `entry` is the entry at the path, if any; `root` is the path in normal form.
    """
    if entry is not None:
        name = {SYMLINK_MODE: "symbolic link", GIT_LINK_MODE: "submodule"}.get(entry.mode, "file")
        return Problem(f"the path {path!r} is a {name}, not a folder", where, "", "folder-missing")
    upper = root
    while upper not in tree.folders:
        upper = parent(upper)
    near = nearest(root, tree.folders[upper].folders)
    advice = f"is {near!r} meant?" if near else "check path and branch"
    return Problem(f"the folder {path!r} does not exist", where, advice, "folder-missing")
