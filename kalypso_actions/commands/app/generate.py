"""Choose the generator of manifests by the files of the source."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from kalypso_actions.application import CHART_FILE, KUSTOMIZATION_NAMES
from kalypso_actions.commands.app.by_command import generate_by_command
from kalypso_actions.commands.app.by_helm import generate_by_helm
from kalypso_actions.commands.app.by_kustomize import generate_by_kustomize
from kalypso_actions.commands.app.plain import generate_plain
from kalypso_actions.commands.app.work import Generated, Work
from kalypso_actions.errors import Location, UsageError

FOLDERS: Final = {"helm": "helm", "kustomize": "kustomize", "plain": "manifests"}
"""The folders of generators in the source, unless `path` names another."""

GENERATORS: Final[Mapping[str, Callable[[Work], Generated]]] = {
    "helm": generate_by_helm,
    "kustomize": generate_by_kustomize,
    "plain": generate_plain,
    "command": generate_by_command,
}


def generate(work: Work) -> tuple[str, Generated]:
    """Start the generator; return its name and result. Raises KalypsoError."""
    name, folder = _chosen(work)
    return name, GENERATORS[name](replace(work, folder=folder))


def _chosen(work: Work) -> tuple[str, str]:
    wanted, path = work.inputs.generator, work.inputs.path
    if wanted == "command":
        return wanted, path
    entries = work.source.files.entries()
    folders = {name: path or folder for name, folder in FOLDERS.items() if wanted in {"auto", name}}
    for name, folder in folders.items():
        prefix = f"{folder}/" if folder else ""
        names = {posixpath.basename(item) for item in entries if item.startswith(prefix)}
        if name == "helm":
            has_it = f"{prefix}{CHART_FILE}" in entries
        elif name == "kustomize":
            has_it = not names.isdisjoint(KUSTOMIZATION_NAMES)
        else:
            has_it = any(item.endswith((".yaml", ".yml")) for item in names)
        if has_it:
            return name, folder
    tried = ", ".join(f"{folder} ({name})" for name, folder in folders.items())
    raise UsageError(
        f"the source has nothing to render in {tried}",
        Location(work.source.repository, path),
        "name the folder with path, or use generator: command",
    )
