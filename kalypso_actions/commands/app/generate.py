"""Choose the generators of manifests by the files of the source, and start each for its targets."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import replace
from typing import Final

from kalypso_actions.commands.app.by_command import generate_by_command
from kalypso_actions.commands.app.by_helm import generate_by_helm
from kalypso_actions.commands.app.by_kustomize import generate_by_kustomize
from kalypso_actions.commands.app.plain import generate_plain
from kalypso_actions.commands.app.work import Generated, Work
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.model.application import Target
from kalypso_actions.planning import application
from kalypso_actions.planning.application import CHART_FILE, KUSTOMIZATION_NAMES

FOLDERS: Final = {"helm": "helm", "kustomize": "kustomize", "plain": "manifests"}
"""The folders of generators in the source, unless `path` names another."""

GENERATORS: Final[Mapping[str, Callable[[Work], Generated]]] = {
    "helm": generate_by_helm,
    "kustomize": generate_by_kustomize,
    "plain": generate_plain,
    "command": generate_by_command,
}


def generate(work: Work) -> tuple[str, Generated]:
    """Start each generator for its targets; return their names and result. Raises KalypsoError."""
    works = {name: replace(work, folder=folder) for name, folder in _folders(work).items()}
    paths = {name: _paths(own) for name, own in works.items() if name in {"kustomize", "plain"}}
    targets: dict[str, list[Target]] = {name: [] for name in works}
    for target in work.targets:
        targets[_generator_of(target, works, paths)].append(target)
    generated = Generated()
    for name, assigned in targets.items():
        if assigned:
            generated.add(GENERATORS[name](replace(works[name], targets=assigned)))
        else:
            message = f"the generator {name} makes nothing: the others make all targets"
            advice = "leave it out, or add the folder of a target for it"
            problem = Problem(message, works[name].where, advice, "generator-unused")
            generated.findings.warnings.append(problem)
    return ", ".join(name for name in targets if targets[name]), generated


def _generator_of(
    target: Target, works: Mapping[str, Work], paths: Mapping[str, Collection[str]]
) -> str:
    """Return the generator of a target.

    Its own kustomization or manifests come first, then the chart, then those that targets share.
    The command gets the rest, and all other targets without values.
    """
    for own in (True, False) if target.has_values else (True,):
        if not own and "helm" in works:
            return "helm"
        for name, files in paths.items():
            place = (files, works[name].folder, works[name].inputs.environment, target)
            if name == "kustomize" and application.overlay_of(*place, own=own) is not None:
                return name
            if name == "plain" and application.manifests_of(*place, own=own):
                return name
    return "command" if "command" in works else next(iter(works))


def _paths(work: Work) -> Set[str]:
    """Return the files in the folder of a generator, also through links."""
    files = application.files_of_folder(
        work.source.files.entries(), work.source.links(), work.folder
    )
    return {posixpath.join(work.folder, path) for path in files}


def _folders(work: Work) -> dict[str, str]:
    """Return the folder of each wanted generator; `auto` wants the first that the source has."""
    wanted, path = work.inputs.generator, work.inputs.path
    is_auto = wanted == ("auto",)
    folders = {
        name: path or folder for name, folder in FOLDERS.items() if is_auto or name in wanted
    }
    existing = [name for name, folder in folders.items() if _has(work, name, folder)]
    if is_auto and existing:
        return {existing[0]: folders[existing[0]]}
    missing = [f"{folder} ({name})" for name, folder in folders.items() if name not in existing]
    if missing:
        raise UsageError(
            f"the source has nothing to render in {', '.join(missing)}",
            Location(work.source.repository, path),
            "name the folder with path, or use generator: command",
        )
    return folders | ({"command": path} if "command" in wanted else {})


def _has(work: Work, generator: str, folder: str) -> bool:
    """Whether the source has something for a generator in a folder."""
    entries, prefix = work.source.files.entries(), f"{folder}/" if folder else ""
    if generator == "helm":
        return f"{prefix}{CHART_FILE}" in entries
    names = {posixpath.basename(path) for path in entries if path.startswith(prefix)}
    if generator == "kustomize":
        return not names.isdisjoint(KUSTOMIZATION_NAMES)
    return any(name.endswith((".yaml", ".yml")) for name in names)
