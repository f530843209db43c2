"""The folder of a GitOps repository that holds the tree."""

from __future__ import annotations

import posixpath

from kalypso_actions.errors import KalypsoError, Location


def gitops_folder(path: str, where: Location) -> str:
    """Return a GitOpsRepo's `path` as the folder of the tree, "" for the root.

    Raises KalypsoError for a path that leaves the repository.
    """
    normal = posixpath.normpath(path.strip("/") or ".")
    if normal == ".." or normal.startswith("../") or ".git" in normal.split("/"):
        message = f"the path {path!r} leaves the repository"
        raise KalypsoError(message, where, "write a path in it", "path-outside-repository")
    return "" if normal == "." else normal
