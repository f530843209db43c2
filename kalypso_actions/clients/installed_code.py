"""Digests of the installed code: installations with equal digests act equally."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.urls import repository_key

PROJECT: Final = "kalypso-actions"

LIBRARIES: Final = ("google-re2", "jinja2", "markupsafe", "pyyaml")
"""The third-party packages that rendering and validation use."""

DISTRIBUTION: Final = ("kalypso_actions", "kalypso_go", "kalypso_placement")
"""The packages that decide what a run does."""

RENDERING: Final = (
    "kalypso_actions.config_schemas",
    "kalypso_actions.errors",
    "kalypso_actions.gitops",
    "kalypso_actions.model.application",
    "kalypso_actions.model.caches",
    "kalypso_actions.model.config",
    "kalypso_actions.model.counts",
    "kalypso_actions.model.documents",
    "kalypso_actions.model.history",
    "kalypso_actions.model.kinds",
    "kalypso_actions.model.kubernetes_names",
    "kalypso_actions.model.layout",
    "kalypso_actions.model.nearest",
    "kalypso_actions.model.object_ids",
    "kalypso_actions.model.placements",
    "kalypso_actions.model.processes",
    "kalypso_actions.model.promotion_policy",
    "kalypso_actions.model.tree",
    "kalypso_actions.model.tree_listing",
    "kalypso_actions.model.urls",
    "kalypso_actions.planning.application.helm",
    "kalypso_actions.planning.assignment_rendering",
    "kalypso_actions.planning.config_checks",
    "kalypso_actions.planning.fleet_manifests",
    "kalypso_actions.planning.manifest_references",
    "kalypso_actions.planning.manifest_schemas",
    "kalypso_actions.planning.manifest_values",
    "kalypso_actions.planning.manifests",
    "kalypso_actions.planning.renaming",
    "kalypso_actions.planning.template_lines",
    "kalypso_actions.planning.unchanged",
    "kalypso_actions.platform_config",
    "kalypso_actions.rendering",
    "kalypso_actions.sources.objects",
    "kalypso_actions.sources.yaml_documents",
    "kalypso_go",
)
"""Modules and packages that decide the bytes of rendered files, and the findings about them.

These are all modules that `planning.unchanged`, which renders, imports, and those that
they import themselves; a test compares the list with the imports.
"""


@cache
def code_digest(modules: tuple[str, ...] = DISTRIBUTION) -> str:
    """Return the digest of modules, of Python, and of the libraries that render.

    A package stands for all its modules, and a module also for its data. The version does not
    suffice, because an action can run at any commit.
    """
    sha256 = hashlib.sha256(sys.version.encode())
    for library in LIBRARIES:
        sha256.update(metadata.version(library).encode() + b"\n")
    root = f"{Path(__file__).parents[2]}/"
    files: list[str] = []
    for place in (root + module.replace(".", "/") for module in modules):
        if not os.path.isdir(place):  # noqa: PTH112 - pathlib and glob take twice as long
            files += filter(os.path.isfile, (f"{place}.py", f"{place}.json"))
        for folder, _, names in os.walk(place):
            files += (f"{folder}/{name}" for name in names if name.endswith(".py"))
    for name in sorted(files):
        with open(name, "rb", buffering=0) as file:  # noqa: PTH123
            content = file.read()
        sha256.update(b"%s %d\n" % (name.removeprefix(root).encode(), len(content)))
        sha256.update(content)
    return sha256.hexdigest()


def installed_commit(repository: str) -> str:
    """Return the commit of a repository (owner/name) from which pip has installed the code.

    "" if pip installed it from somewhere else, such as a wheel or a folder.

    https://packaging.python.org/specifications/direct-url/
    """
    try:
        text = metadata.distribution(PROJECT).read_text("direct_url.json")
        origin = json.loads(text or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    vcs, url = origin.get("vcs_info", {}), str(origin.get("url", ""))
    is_there = repository_key(url).endswith(f"/{repository.lower()}")
    commit = str(vcs.get("commit_id", ""))
    return commit if is_there and vcs.get("vcs") == "git" and is_commit_id(commit) else ""
