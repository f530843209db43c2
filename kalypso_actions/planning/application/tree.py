"""The files of the tree: manifests, kustomizations, descriptors, tracking."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import (
    DESCRIPTOR_FILE,
    DESCRIPTOR_TEMPLATE,
    KUSTOMIZATION_FILE,
    KUSTOMIZATION_START,
    MANIFESTS_FILE,
    ApplicationChanges,
    Compatibility,
    Findings,
    Target,
)
from kalypso_actions.model.kinds import DeploymentTarget, Workload
from kalypso_actions.planning.application.descriptor import (
    DescriptorNames,
    computed,
    from_template,
    target_of,
)
from kalypso_actions.planning.application.helm import ChartPlace
from kalypso_actions.planning.application.manifests import ManifestRules, check_manifests
from kalypso_actions.planning.application.record import tracking_files
from kalypso_actions.sources.yaml_documents import parse_yaml
from kalypso_go import goyaml


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """The options for the content of the tree other than manifests.

    `template` is upstream's template of descriptors, None if the source at `repository` has none.
    """

    compatibility: Compatibility
    variables: Mapping[str, str]
    workloads: Sequence[Workload] = ()
    names: DescriptorNames = field(default_factory=DescriptorNames)
    template: bytes | None = None
    repository: str = ""


def no_target(repository: str) -> Problem:
    """Return the problem of configs without targets, whose whole tree would be deleted."""
    return Problem(
        "the configs have no target: no folder has a values.yaml",
        Location(repository),
        "add <target>/values.yaml, which may be empty",
        "configs-without-target",
    )


def other_branch(checked_out: str, environment: str, repository: str) -> Iterator[Problem]:
    """Warn of configs whose folder is on another branch than the environment's."""
    if checked_out and checked_out != environment:
        yield Problem(
            f"the configs are those of the branch {checked_out!r}, not of {environment!r}",
            Location(repository),
            f"check {environment} out, or name it: --configs PATH@{environment}",
            "configs-branch",
        )


def check_targets_manifests(
    generated: Mapping[str, Mapping[str, bytes]],
    rules: ManifestRules,
    sources: Mapping[str, ChartPlace],
) -> tuple[dict[str, tuple[str, ...]], Findings]:
    """Check the manifests of all targets, by folder; return the images of each."""
    images: dict[str, tuple[str, ...]] = {}
    findings = Findings()
    for folder, files in generated.items():
        used: set[str] = set()
        known: dict[tuple[str, ...], Location] | None = {} if _lists_all(files) else None
        manifests = _manifests(files)
        if not manifests and _lists_all(files):
            message = f"the files of {folder!r} are not for Kubernetes, and get no kustomization"
            note = Problem(message, Location("", folder), code="target-not-kubernetes")
            findings.notes.append(note)
        for name in manifests:
            where = Location("", f"{folder}/{name}")
            file_images, file_findings = check_manifests(
                where, files[name], rules, sources.get(folder), known
            )
            findings.add(file_findings)
            used |= file_images
        images[folder] = tuple(sorted(used))
    return images, findings


def _manifests(files: Mapping[str, bytes]) -> list[str]:
    """Return the manifests of a target, sorted; none if no document of a command is an object."""
    names = sorted(
        name
        for name in files
        if name.endswith(YAML) and posixpath.basename(name) not in KUSTOMIZATION_NAMES
    )
    if MANIFESTS_FILE in files:
        return names
    parsed = [parse_yaml("", name, files[name]) for name in names]
    objects = [item for file in parsed for item in file.documents if item.kind or item.api_version]
    faults = [problem.code for file in parsed for problem in file.problems]
    is_other = parsed and not objects and set(faults) <= {"document-not-kubernetes"}
    return [] if is_other else names


def _lists_all(files: Mapping[str, bytes]) -> bool:
    """Whether a target has no kustomization of its own, so that Kalypso lists all manifests."""
    return not any(name in files for name in KUSTOMIZATION_NAMES)


def tree_files(
    generated: Mapping[str, Mapping[str, bytes]], targets: Sequence[Target], options: TreeOptions
) -> tuple[dict[str, bytes], Findings]:
    """Return all files of the tree except our record, by path."""
    files: dict[str, bytes] = {}
    findings = Findings()
    for target in targets:
        own = dict(generated[target.folder])
        manifests = _manifests(own) if _lists_all(own) else []
        if manifests:
            rows = b"".join(b"- " + goyaml.dump_v3(name).encode() for name in manifests)
            own[KUSTOMIZATION_FILE] = KUSTOMIZATION_START + rows
        descriptor, problems = _descriptor(target, options)
        findings.add(problems)
        if descriptor is not None:
            own[DESCRIPTOR_FILE] = descriptor
        files |= {f"{target.folder}/{name}": content for name, content in own.items()}
    return files | tracking_files(options.variables, options.compatibility), findings


def _descriptor(target: Target, options: TreeOptions) -> tuple[bytes | None, Findings]:
    """Return the descriptor of a target; None if values are missing, or nothing deploys it."""
    if options.compatibility == "none":
        deployment = _deployment(target, options)
        if deployment is None:
            return None, Findings()
        own = computed(deployment, target.folder, options.variables, options.names)
        return own, Findings()
    if options.template is None:
        return None, Findings()
    return from_template(
        options.template, target, options.variables, options.repository, options.compatibility
    )


def missing_descriptors(
    targets: Sequence[Target], options: TreeOptions, changes: ApplicationChanges, repository: str
) -> Findings:
    """Note targets whose descriptor has no values, and warn of descriptors that are deleted.

    `repository` is that of the GitOps tree.
    """
    findings = Findings()
    for target in targets:
        path = f"{target.folder}/{DESCRIPTOR_FILE}"
        deployment = _deployment(target, options)
        reason = "the workspace, or the source repository, commit or version is not known"
        advice = "give --workspace, --source-repository, --source-commit and --version"
        if options.compatibility != "none":
            deployment, reason = None, "the source has no template of descriptors"
            advice = f"restore {DESCRIPTOR_TEMPLATE}"
        elif deployment is None:
            reason = "no deployment target of the Workloads names the folder"
            advice = "add it to workload/workload.yaml"
        if path in changes.deleted:
            message, where = f"the descriptor is deleted: {reason}", Location(repository, path)
            findings.warnings.append(Problem(message, where, advice, "descriptor-missing"))
        elif deployment and path not in changes.files:
            message = f"there is no descriptor for {target.folder!r}: {reason}"
            note = Problem(message, deployment.where, advice, "descriptor-missing")
            findings.notes.append(note)
    return findings


def _deployment(target: Target, options: TreeOptions) -> DeploymentTarget | None:
    return target_of(target.folder, options.variables["ENVIRONMENT"], options.workloads)


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
