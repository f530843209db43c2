"""The files of the tree: manifests, kustomizations, descriptors, tracking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kalypso_actions.application.descriptor import (
    DescriptorNames,
    computed,
    from_template,
    target_of,
)
from kalypso_actions.application.helm import ChartPlace
from kalypso_actions.application.manifests import ManifestRules, check_manifests
from kalypso_actions.application.record import tracking_files
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import (
    DESCRIPTOR_FILE,
    KUSTOMIZATION,
    KUSTOMIZATION_FILE,
    Compatibility,
    Findings,
    Target,
)
from kalypso_actions.model.kinds import Workload

YAML = (".yaml", ".yml")


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
    sources: ChartPlace | None,
) -> tuple[dict[str, tuple[str, ...]], Findings]:
    """Check the manifests of all targets, by folder; return the images of each."""
    images: dict[str, tuple[str, ...]] = {}
    findings = Findings()
    for folder, files in generated.items():
        used: set[str] = set()
        for name, content in files.items():
            if name.endswith(YAML) and name != KUSTOMIZATION_FILE:
                where = Location("", f"{folder}/{name}")
                checked = check_manifests(where, content, rules, sources)
                findings.add(checked.findings)
                used |= set(checked.images)
        images[folder] = tuple(sorted(used))
    return images, findings


def tree_files(
    generated: Mapping[str, Mapping[str, bytes]], targets: Sequence[Target], options: TreeOptions
) -> tuple[dict[str, bytes], Findings]:
    """Return all files of the tree except our record, by path."""
    files: dict[str, bytes] = {}
    findings = Findings()
    for target in targets:
        own = {KUSTOMIZATION_FILE: KUSTOMIZATION, **generated[target.folder]}
        descriptor, problems = _descriptor(target, options)
        findings.add(problems)
        if descriptor is not None:
            own[DESCRIPTOR_FILE] = descriptor
        files |= {f"{target.folder}/{name}": content for name, content in own.items()}
    return files | tracking_files(options.variables, options.compatibility), findings


def _descriptor(target: Target, options: TreeOptions) -> tuple[bytes | None, Findings]:
    """Return the descriptor of a target; None if values are missing, or nothing deploys it."""
    if options.compatibility != "none":
        if options.template is None:
            return None, Findings()
        return from_template(
            options.template, target, options.variables, options.repository, options.compatibility
        )
    environment = options.variables["ENVIRONMENT"]
    deployment = target_of(target.folder, environment, options.workloads)
    if deployment is None:
        return None, Findings()
    own = computed(deployment, target.folder, options.variables, options.names)
    if own is not None:
        return own, Findings()
    message = f"there is no descriptor for {target.folder!r}: the workspace, or the source "
    message += "repository, commit or version is not known"
    advice = "give --workspace, --source-repository, --source-commit and --version"
    return None, Findings(notes=[Problem(message, deployment.where, advice, "descriptor-missing")])
