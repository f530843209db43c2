"""The layout of the platform GitOps repository: the names of Kalypso's files.

<cluster type>/README.md
<cluster type>/<target>/reconciler.yaml
<cluster type>/<target>/namespace.yaml
<cluster type>/<target>/platform-config.yaml | platform-config.sh
.github/tracking/Promoted_Commit_Id
.github/tracking/sources.json
.github/tracking/placements.json
"""

from __future__ import annotations

import posixpath

from kalypso_actions.errors import KalypsoError, Location

RECONCILER_FILE = "reconciler.yaml"
NAMESPACE_FILE = "namespace.yaml"
CONFIG_FILE = "platform-config.yaml"
CONFIG_SCRIPT = "platform-config.sh"
LEGACY_CONFIG_FILE = "config.yaml"

TARGET_FILES = (RECONCILER_FILE, NAMESPACE_FILE, CONFIG_FILE, CONFIG_SCRIPT, LEGACY_CONFIG_FILE)
"""All names of Kalypso's files in a target's folder, in the order in which they are made."""

README_FILE = "README.md"
README_TEXT = b"This folder contains deployment targets scheduled on the cluster type"

TRACKING_FOLDER = ".github/tracking"
PROMOTED_COMMIT_FILE = f"{TRACKING_FOLDER}/Promoted_Commit_Id"
SOURCES_FILE = f"{TRACKING_FOLDER}/sources.json"
PLACEMENTS_FILE = f"{TRACKING_FOLDER}/placements.json"
APPLICATION_FILE = f"{TRACKING_FOLDER}/application.json"
"""The record of an application's tree."""
PLACEMENTS_FOLDER = ".github/kalypso"
"""A folder of the environment branch; Flux and upstream ignore it."""

RECORD_FILES = frozenset({SOURCES_FILE, PLACEMENTS_FILE, APPLICATION_FILE})
"""Records of a run; a change of these files alone does not count, because they have its time."""

OWN_BRANCHES = "kalypso/"
"""The prefix of Kalypso's branches; GitOps repositories may use another one."""


def assignment_folder(cluster_type: str, target: str) -> str:
    """Return the folder of a deployment target's files on a cluster type, by their names."""
    return f"{cluster_type}/{target}"


def gitops_folder(path: str, where: Location) -> str:
    """Return a GitOpsRepo's `path` as the folder of the tree, "" for the root.

    Raises KalypsoError for a path that leaves the repository.
    """
    normal = posixpath.normpath(path.strip("/") or ".")
    if normal == ".." or normal.startswith("../") or ".git" in normal.split("/"):
        message = f"the path {path!r} leaves the repository"
        raise KalypsoError(message, where, "write a path in it", "path-outside-repository")
    return "" if normal == "." else normal
