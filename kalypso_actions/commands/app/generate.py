"""Choose the generators of manifests by the files of the source, and start each for its targets."""

from __future__ import annotations

import posixpath
import tempfile
from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Final

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.clients.kustomize import find_kustomize
from kalypso_actions.clients.process import write_file
from kalypso_actions.commands.app.by_helm import generate_by_helm
from kalypso_actions.commands.app.services import generate_services, service_names
from kalypso_actions.commands.app.source_files import (
    MAX_BYTES,
    Generated,
    OpenPlace,
    Work,
    check_size,
    parallel_programs,
)
from kalypso_actions.commands.shared.hook import HookRun, run_hook
from kalypso_actions.commands.shared.reading.document_reader import in_parallel
from kalypso_actions.errors import Diagnostics, KalypsoError, Location, Problem, UsageError
from kalypso_actions.model.application import MANIFESTS_FILE, Target
from kalypso_actions.model.documents import FILE_MODE, FilesTooLargeError
from kalypso_actions.planning.application.chart import faulty_links, files_of_folder
from kalypso_actions.planning.application.helm import CHART_FILE, ChartPlace
from kalypso_actions.planning.application.tree import (
    KUSTOMIZATION_NAMES,
    manifests_of,
    missing_overlay,
    overlay_of,
    remote_bases,
)
from kalypso_actions.planning.application.variables import replace_variables
from kalypso_actions.sources.yaml_documents import read_text

FOLDERS: Final = {
    "helm": "helm",
    "kustomize": "kustomize",
    "plain": "manifests",
    "services": "services",
}
"""The folders of generators in the source, unless `path` names another."""


def generate(work: Work) -> tuple[str, Generated]:
    """Start each generator for its targets; return their names and result. Raises KalypsoError."""
    works = {name: replace(work, folder=folder) for name, folder in _folders(work).items()}
    paths = {name: _paths(own) for name, own in works.items() if name in {"kustomize", "plain"}}
    services = service_names(works["services"]) if "services" in works else frozenset()
    targets: dict[str, list[Target]] = {name: [] for name in works}
    for target in work.targets:
        targets[_generator_of(target, works, paths, services)].append(target)
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
    target: Target,
    works: Mapping[str, Work],
    paths: Mapping[str, Collection[str]],
    services: Collection[str],
) -> str:
    """Return the generator of a target.

    The service of its name comes first, then its own kustomization or manifests, then the chart,
    then those that targets share. The command gets the rest, and all other targets without values.
    """
    if target.folder.partition("/")[0] in services:
        return "services"
    for own in (True, False) if target.has_values else (True,):
        if not own and "helm" in works:
            return "helm"
        for name, files in paths.items():
            place = (files, works[name].folder, works[name].inputs.environment, target)
            if name == "kustomize" and overlay_of(*place, own=own) is not None:
                return name
            if name == "plain" and manifests_of(*place, own=own):
                return name
    return "command" if "command" in works else next(iter(works))


def _paths(work: Work) -> Set[str]:
    """Return the files in the folder of a generator, also through links."""
    files = files_of_folder(work.source.files.entries(), work.source.links(), work.folder)
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


NAME = "generator-command"


def generate_by_command(work: Work) -> Generated:
    """Run the command for each target in turn, with the environment of hooks.

    The command gets copies of the repositories in $KALYPSO_SOURCE and $KALYPSO_CONFIGS, the
    target's folder in $KALYPSO_TARGET, and the variables as $KALYPSO_VERSION and so on. It writes
    to $KALYPSO_OUT.
    """
    generated = Generated()
    with tempfile.TemporaryDirectory(prefix="kalypso-app-", ignore_cleanup_errors=True) as folder:
        top = Path(folder).resolve()
        for name, place in (("source", work.source), ("configs", work.configs)):
            _copy(place, top / name)
        for number, target in enumerate(work.targets):
            work.progress(number, len(work.targets))
            out = top / f"out-{number}"
            out.mkdir()
            run = _run(work, target, top, out)
            if run.failed:
                generated.findings.problems.append(_failure(work, target, run))
                continue
            files, faults = _output(out, target)
            generated.files[target.folder] = files
            generated.findings.problems += faults
    return generated


def _run(work: Work, target: Target, top: Path, out: Path) -> HookRun:
    about = {
        **{name.lower(): value for name, value in work.variables.items()},
        "target": target.folder,
        "source": str(top / "source"),
        "configs": str(top / "configs"),
        "out": str(out),
    }
    timeout = work.inputs.timeout.total_seconds()
    try:
        return run_hook(NAME, work.inputs.generator_command, work, about, timeout)
    except KalypsoError as error:
        message = f"target {target.folder!r}: {error.problem.message}"
        where = Location(work.configs.repository, target.folder)
        raise KalypsoError(message, where, "look for a loop, or set timeout") from error


def _copy(place: OpenPlace, folder: Path) -> None:
    folder.mkdir()
    check_size(
        sum(entry.size for entry in place.files.entries().values()), Location(place.repository)
    )
    for path, content in place.read_all("").items():
        write_file(folder, path, content)


def _failure(work: Work, target: Target, run: HookRun) -> Problem:
    where = Location(work.configs.repository, target.folder)
    lines = run.output.strip().splitlines()
    message = f"target {target.folder!r}: {run.reason}"
    message += f": {lines[-1]}" if lines else ""
    return Problem(message, where, "the log has its output", "generator-failed")


def _output(out: Path, target: Target) -> tuple[dict[str, bytes], list[Problem]]:
    """Return the files that the command wrote, and the faults among them."""
    where = Location("", target.folder)
    entries = FolderFiles(out).entries()
    links = [path for path, entry in entries.items() if not entry.mode.startswith(FILE_MODE[:3])]
    faults = [
        Problem(f"{path} is a symbolic link", where, "write a file", "generator-failed")
        for path in links
    ]
    try:
        files = dict(FolderFiles(out).read(entries.keys() - set(links), MAX_BYTES))
    except FilesTooLargeError as error:
        message = f"the files of {target.folder!r} have more than {MAX_BYTES >> 20} MB"
        raise KalypsoError(message, where, f"the largest is {error.largest}") from error
    if not files:
        message = f"the command wrote no files for {target.folder!r}"
        faults.append(Problem(message, where, "write to $KALYPSO_OUT", "generator-failed"))
    return files, faults


def generate_by_kustomize(work: Work) -> Generated:
    """Build the overlay of each target, several at once. Raises KalypsoError.

    kustomize gets only the files of its folder, runs neither plug-ins nor helm, and has no network.
    """
    kustomize = find_kustomize(work.programs)
    if kustomize is None:
        message = "the source has kustomizations, which take the kustomize program"
        raise KalypsoError(message, advice="install kustomize, or correct PATH")
    generated = Generated(programs={"kustomize": kustomize.version()})
    files = replaced_files(work, generated.findings)
    warn_of_values(work, generated.findings)
    environment, repository = work.inputs.environment, work.source.repository
    timeout = work.inputs.timeout.total_seconds()
    overlays: dict[str, str] = {}
    for target in work.targets:
        overlay = overlay_of(files, work.folder, environment, target)
        if overlay is None:
            problem = missing_overlay(work.folder, environment, target, repository)
            generated.findings.problems.append(problem)
        else:
            overlays[target.folder] = overlay
    if generated.findings.problems:
        return generated

    def build(target: Target) -> bytes | Problem:
        overlay = overlays[target.folder]
        try:
            return kustomize(files, overlay, timeout=timeout)
        except KalypsoError as error:
            names = (posixpath.join(overlay, name) for name in KUSTOMIZATION_NAMES)
            where = Location(repository, next(name for name in names if name in files))
            return replace(error.problem, where=where, code="kustomize-failed")

    outputs = in_parallel(build, work.targets, work.progress, workers=parallel_programs())
    failures = [output for output in outputs if isinstance(output, Problem)]
    if failures:
        remote = list(remote_bases(files, repository))
        generated.findings.problems += remote or failures
        return generated
    for target, output in zip(work.targets, outputs, strict=True):
        if isinstance(output, bytes):
            generated.files[target.folder] = {MANIFESTS_FILE: output}
    return generated


def generate_plain(work: Work) -> Generated:
    """Join the manifests of each target, with a comment that names each file."""
    generated = Generated()
    findings, repository = generated.findings, work.source.repository
    files = replaced_files(work, findings)
    warn_of_values(work, findings)
    environment, manifests = work.inputs.environment, {}
    for target in work.targets:
        paths = manifests_of(files, work.folder, environment, target)
        manifests[target.folder] = paths
        if not paths:
            findings.problems.append(missing_overlay(work.folder, environment, target, repository))
    texts = {}
    for path in sorted({path for paths in manifests.values() for path in paths}):
        text = read_text(files[path], Location(repository, path))
        if isinstance(text, Problem):
            findings.problems.append(text)
        else:
            text = text.replace("\r\n", "\n")
            texts[path] = text if text.endswith("\n") else f"{text}\n"
    if findings.problems:
        return generated
    own = {path: text.encode() for path, text in texts.items()}
    sources = ChartPlace(repository, "", "", own)
    for folder, paths in manifests.items():
        parts = (f"---\n# Source: {' '.join(path.splitlines())}\n{texts[path]}" for path in paths)
        generated.files[folder] = {MANIFESTS_FILE: "".join(parts).encode()}
        generated.sources[folder] = sources
    return generated


def replaced_files(work: Work, findings: Diagnostics) -> dict[str, bytes]:
    """Return the files of the generator's folder, with the variables in YAML files replaced."""
    entries, links = work.source.files.entries(), work.source.links()
    paths = files_of_folder(entries, links, work.folder)
    check_size(sum(entries[path].size for path in paths.values()), work.where)
    findings.problems += faulty_links(entries, links, work.folder, work.source.repository)
    contents = work.source.files.read(set(paths.values()))
    prefix = f"{work.folder}/" if work.folder else ""
    files: dict[str, bytes] = {}
    for path, file in paths.items():
        content = contents[file]
        if path.endswith((".yaml", ".yml")) or posixpath.basename(path) in KUSTOMIZATION_NAMES:
            where = Location(work.source.repository, file)
            content, file_findings = replace_variables(
                content, work.variables, where, work.inputs.compatibility
            )
            findings.add(file_findings)
        files[prefix + path] = content
    return files


def warn_of_values(work: Work, findings: Diagnostics) -> None:
    """Warn of values in the configs: only charts read them."""
    levels = {path for target in work.targets for path in target.levels}
    for path, content in work.configs.files.read(sorted(levels)).items():
        if content.strip():
            where = Location(work.configs.repository, path)
            message = "only charts read values, and none makes this target"
            advice = "write the difference into an overlay of the source"
            findings.warnings.append(Problem(message, where, advice, "values-unread"))


GENERATORS: Final[Mapping[str, Callable[[Work], Generated]]] = {
    "helm": generate_by_helm,
    "services": generate_services,
    "kustomize": generate_by_kustomize,
    "plain": generate_plain,
    "command": generate_by_command,
}
