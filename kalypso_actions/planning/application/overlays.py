"""The folder of a target among kustomizations or plain manifests."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import Target
from kalypso_actions.sources.yaml_documents import parse_yaml

KUSTOMIZATION_NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
YAML: Final = (".yaml", ".yml")
BASES: Final = ("resources", "bases", "components", "crds")

OWN_OVERLAYS: Final = 4
"""The first places of a target's kustomization are its own; targets may share the others."""


def overlay_folders(folder: str, environment: str, target: Target) -> list[str]:
    """Return the possible places of a target's kustomization, the most specific first."""
    names = (
        f"overlays/{environment}/{target.folder}",
        f"overlays/{target.folder}",
        f"{environment}/{target.folder}",
        target.folder,
        f"overlays/{environment}",
        environment,
        "base",
        "",
    )
    return [posixpath.join(folder, name).rstrip("/") for name in names]


def overlay_of(
    files: Collection[str], folder: str, environment: str, target: Target, *, own: bool = False
) -> str | None:
    """Return the folder of a target's kustomization; None if it has none, or with `own` no own."""
    for place in overlay_folders(folder, environment, target)[: OWN_OVERLAYS if own else None]:
        if any(posixpath.join(place, name) in files for name in KUSTOMIZATION_NAMES):
            return place
    return None


def manifests_of(
    files: Collection[str], folder: str, environment: str, target: Target, *, own: bool = False
) -> list[str]:
    """Return the plain manifests of a target: all below its own folder, else those in `folder`."""
    manifests = [path for path in files if path.endswith(YAML)]
    for name in (f"{environment}/{target.folder}", target.folder, *([] if own else [environment])):
        prefix = f"{posixpath.join(folder, name)}/"
        below = [path for path in manifests if path.startswith(prefix)]
        if below:
            return sorted(below)
    return [] if own else sorted(path for path in manifests if posixpath.dirname(path) == folder)


def missing_overlay(folder: str, environment: str, target: Target, repository: str) -> Problem:
    """Return the problem of a target without a kustomization or manifests."""
    places = ", ".join(dict.fromkeys(overlay_folders(folder, environment, target)))
    return Problem(
        f"nothing is made for the target {target.folder!r}",
        Location(repository, folder),
        f"the first of these folders counts: {places}",
        "overlay-missing",
    )


def remote_bases(files: Mapping[str, bytes], repository: str) -> Iterator[Problem]:
    """Yield a problem for each base of a kustomization that is not in the repository."""
    for path, content in files.items():
        if posixpath.basename(path) not in KUSTOMIZATION_NAMES:
            continue
        for document in parse_yaml(repository, path, content).documents:
            for name in BASES:
                entries = document.body.get(name)
                for index, entry in enumerate(entries if isinstance(entries, list) else ()):
                    if _is_remote(str(entry)):
                        yield Problem(
                            f"the kustomization names {entry}, which is not in the repository",
                            document.at(name, index),
                            "copy it into the source: kustomize runs without the network",
                            "kustomize-remote",
                        )


def _is_remote(entry: str) -> bool:
    return "://" in entry or "?ref=" in entry or entry.startswith(("github.com/", "git@"))
