"""Compute the GitOps tree of an application: read, generate, check, compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kalypso_actions import __version__
from kalypso_actions.clients.kubernetes_schemas import KubernetesSchemas
from kalypso_actions.commands.app.generate import generate
from kalypso_actions.commands.app.places import OpenPlace
from kalypso_actions.commands.app.variables import variables_of
from kalypso_actions.commands.app.work import Generated, Work
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.errors import Location
from kalypso_actions.inputs.app import AppInputs
from kalypso_actions.model.application import (
    DESCRIPTOR_TEMPLATE,
    RECORD_FILE,
    ApplicationChanges,
    Findings,
    Target,
)
from kalypso_actions.model.documents import Revision
from kalypso_actions.planning import application

RECORDED = ("compatibility", "release_name", "namespace", "kube_version", "crds", "hooks", "tests")
"""The inputs that a run records."""


@dataclass(frozen=True, slots=True)
class AppRepositories:
    """The repositories of an application; `tree` is the existing GitOps tree, if there is one."""

    source: OpenPlace
    configs: OpenPlace
    tree: OpenPlace | None

    def revisions(self) -> list[tuple[str, Revision]]:
        """Return the revision of each repository, with its name in a report."""
        parts = (("source", self.source), ("configs", self.configs), ("gitops", self.tree))
        return [
            (part, Revision(place.repository, place.revision, place.files.commit, ".", None))
            for part, place in parts
            if place
        ]


@dataclass(slots=True)
class AppTree:
    """A computed tree; if there are problems, `changes` are incomplete."""

    targets: Sequence[Target]
    variables: Mapping[str, str]
    findings: Findings
    generator: str = ""
    generated: Generated = field(default_factory=Generated)
    images: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    changes: ApplicationChanges = field(default_factory=lambda: ApplicationChanges({}))


def compute_tree(
    inputs: AppInputs, context: LocalContext, repositories: AppRepositories
) -> AppTree:
    """Compute the tree up to the first step with problems. Raises KalypsoError."""
    source, configs = repositories.source, repositories.configs
    targets, findings = application.find_targets(
        configs.files.entries(),
        configs.repository,
        inputs.compatibility,
        with_command="command" in inputs.generator,
    )
    findings.problems += [] if targets else [application.no_target(configs.repository)]
    findings.warnings += application.other_branch(
        configs.checked_out, inputs.environment, configs.repository
    )
    variables, differences = variables_of(inputs, source, configs, repositories.tree)
    findings.warnings += differences
    tree = AppTree(targets, variables, findings)
    if not findings.problems:
        _generate(tree, inputs, context, repositories)
    if not findings.problems:
        options = _options(tree, inputs, source)
        files, file_findings = application.tree_files(tree.generated.files, targets, options)
        findings.add(file_findings)
        if not findings.problems:
            _compare(tree, inputs, repositories, options, files)
    return tree


def _generate(
    tree: AppTree, inputs: AppInputs, context: LocalContext, repositories: AppRepositories
) -> None:
    """Make the manifests and check them."""
    work = Work(
        inputs=inputs,
        source=repositories.source,
        configs=repositories.configs,
        targets=tree.targets,
        variables=tree.variables,
        programs=context.programs,
        progress=context.progress,
        log=context.log,
    )
    version = inputs.validate_manifests
    rules = application.ManifestRules(
        inputs.namespace,
        inputs.allowed_namespaces,
        KubernetesSchemas(version).errors if version else None,
        inputs.compatibility == "none",
    )
    tree.generator, tree.generated = generate(work)
    tree.findings.add(tree.generated.findings)
    tree.images, manifest_findings = application.check_targets_manifests(
        tree.generated.files, rules, tree.generated.sources
    )
    tree.findings.add(manifest_findings)


def _options(tree: AppTree, inputs: AppInputs, source: OpenPlace) -> application.TreeOptions:
    """Return the options for the files beside the manifests, with the Workloads of the source."""
    where = Location(source.repository, inputs.workload_path)
    workloads, workload_findings = application.workloads_of(
        source.read_all(inputs.workload_path), where
    )
    tree.findings.add(workload_findings)
    return application.TreeOptions(
        inputs.compatibility,
        tree.variables,
        workloads,
        application.DescriptorNames(inputs.workspace, inputs.application),
        source.read_file(DESCRIPTOR_TEMPLATE),
        source.repository,
    )


def _compare(
    tree: AppTree,
    inputs: AppInputs,
    repositories: AppRepositories,
    options: application.TreeOptions,
    files: dict[str, bytes],
) -> None:
    """Add the record to the files, and compare them with the existing tree."""
    existing, configs = repositories.tree, repositories.configs.repository
    repository = existing.repository if existing else ""
    entries = existing.files.entries() if existing else {}
    files[RECORD_FILE] = _record(tree, inputs, repositories, files)
    record = existing.read_file(RECORD_FILE) if existing else None
    tree.changes = changes = application.compute_changes(files, entries, record)
    findings, targets = tree.findings, tree.targets
    removal = application.removal(changes, targets, inputs.max_removal_percent, repository)
    if removal and inputs.allow_removals:
        findings.warnings.append(replace(removal, advice=""))
    elif removal:
        findings.problems.append(removal)
    findings.warnings += application.edit_warnings(changes, repository)
    findings.warnings += application.new_groups(targets, changes.targets, configs)
    findings.add(application.missing_descriptors(targets, options, changes, repository))
    findings.warnings += application.check_targets(
        targets, [*files, *changes.kept], tree.variables, options.workloads, configs
    )


def _record(
    tree: AppTree, inputs: AppInputs, repositories: AppRepositories, files: Mapping[str, bytes]
) -> bytes:
    given = {name.replace("_", "-"): str(getattr(inputs, name)) for name in RECORDED}
    return application.Record(
        version=__version__,
        environment=inputs.environment,
        generator=tree.generator,
        programs=tree.generated.programs,
        dependencies=tree.generated.dependencies,
        options={name: value for name, value in given.items() if value},
        source=_recorded(repositories.source, inputs.source_repository),
        configs=_recorded(repositories.configs, ""),
        targets=tuple(target.folder for target in tree.targets),
        files=application.recorded_files(files),
    ).content()


def _recorded(place: OpenPlace, name: str) -> application.RecordedRevision:
    """Return the record of a repository, without paths of this machine."""
    return application.RecordedRevision(
        repository=name or place.name,
        commit=place.files.commit,
        tree=place.files.tree_id(""),
    )
