"""`kalypso app render`: compute the GitOps tree of an application for one environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kalypso_actions import __version__, application
from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.kubernetes_schemas import KubernetesSchemas
from kalypso_actions.commands.app.generate import generate
from kalypso_actions.commands.app.places import OpenPlace, open_place, open_tree
from kalypso_actions.commands.app.publish import commit_tree, output_folder, resulting_tree
from kalypso_actions.commands.app.variables import variables_of
from kalypso_actions.commands.app.work import Generated, Work
from kalypso_actions.commands.runtime.local_context import PROTOCOLS, LocalContext
from kalypso_actions.errors import Location, Problem
from kalypso_actions.fleet import check_workloads
from kalypso_actions.inputs.app import AppRenderInputs
from kalypso_actions.model.application import (
    DESCRIPTOR_FILE,
    DESCRIPTOR_TEMPLATE,
    KUSTOMIZATION,
    KUSTOMIZATION_FILE,
    RECORD_FILE,
    ApplicationChanges,
    Findings,
    Target,
)
from kalypso_actions.model.documents import Reading, Revision
from kalypso_actions.model.kinds import Workload
from kalypso_actions.report.app_documents import AppRenderDocument
from kalypso_actions.report.app_render_report import app_render_document
from kalypso_actions.sources.yaml_documents import parse_yaml


def app_render(
    inputs: AppRenderInputs, context: LocalContext, now: Callable[[], datetime]
) -> AppRenderDocument:
    """Read, generate, compare, and write the tree unless there are problems.

    Raises KalypsoError for unreadable repositories and absent programs, UsageError for an `--out`
    with other content.
    """
    out = output_folder(inputs.out)
    with RemoteRepositories(
        context.programs,
        protocols=PROTOCOLS,
        credentials=context.credentials,
        trust_user_config=True,
    ) as remotes:
        repositories = _open(inputs, context, remotes)
        tree, findings, generated = _compute(inputs, context, repositories)
        commit = ""
        if not findings.problems:
            if out:
                out.write(resulting_tree(tree.changes, repositories.tree))
            if inputs.commit_to:
                version = tree.variables.get("VERSION", "")
                commit = commit_tree(inputs.commit_to, tree.changes, remotes, version, now())
    return app_render_document(
        environment=inputs.environment,
        compatibility=inputs.compatibility,
        generator=tree.generator,
        programs=generated.programs,
        sources=repositories.revisions(),
        variables=tree.variables,
        targets=tree.targets,
        images=tree.images,
        changes=None if findings.problems else tree.changes,
        commit=commit,
        findings=findings,
    )


@dataclass(frozen=True, slots=True)
class _Repositories:
    source: OpenPlace
    configs: OpenPlace
    tree: OpenPlace | None

    def revisions(self) -> list[tuple[str, Revision]]:
        parts = (("source", self.source), ("configs", self.configs), ("gitops", self.tree))
        return [
            (part, Revision(place.repository, place.branch, place.files.commit, ".", None))
            for part, place in parts
            if place
        ]


@dataclass(frozen=True, slots=True)
class _Tree:
    generator: str
    targets: Sequence[Target]
    variables: Mapping[str, str]
    changes: ApplicationChanges
    images: Mapping[str, tuple[str, ...]]


def _open(
    inputs: AppRenderInputs, context: LocalContext, remotes: RemoteRepositories
) -> _Repositories:
    source = open_place(inputs.source, "source", remotes, context.programs)
    configs = open_place(inputs.configs, "configs", remotes, context.programs)
    existing = inputs.gitops
    if existing is None and inputs.commit_to and inputs.commit_to.path.is_dir():
        url, branch = str(inputs.commit_to.path), inputs.commit_to.branch
        if remotes.fetch_head(url, branch):
            existing = inputs.commit_to
    return _Repositories(source, configs, open_tree(existing, inputs.environment, context.programs))


def _compute(
    inputs: AppRenderInputs, context: LocalContext, repositories: _Repositories
) -> tuple[_Tree, Findings, Generated]:
    source, configs, tree = repositories.source, repositories.configs, repositories.tree
    variables = variables_of(inputs, source, configs, tree)
    targets, findings = application.find_targets(
        configs.files.entries(), configs.repository, inputs.compatibility
    )
    entries = tree.files.entries() if tree else {}
    findings.warnings += application.new_groups(
        targets, application.folders_with_manifests(entries), configs.repository
    )
    if not targets:
        findings.problems.append(_no_target(configs.repository))
    generator, generated = "", Generated()
    files: dict[str, bytes] = {}
    if not findings.problems:
        work = Work(
            inputs=inputs,
            source=source,
            configs=configs,
            targets=targets,
            variables=variables,
            programs=context.programs,
            progress=context.progress,
            log=context.log,
        )
        generator, generated = generate(work)
        findings.add(generated.findings)
    images = _check(generated, inputs, findings)
    if not findings.problems:
        workloads, found = _workloads(inputs, source)
        findings.add(found)
        files = _files(generated, inputs, source, targets, variables, workloads, findings)
    record = (
        tree.files.read([RECORD_FILE])[RECORD_FILE] if tree and RECORD_FILE in entries else None
    )
    if files:
        files[RECORD_FILE] = _record(inputs, repositories, generator, generated, files)
    changes = application.compute_changes(files, entries, record)
    if tree and files:
        findings.warnings += application.edit_warnings(changes, tree.repository)
    if not findings.problems:
        findings.warnings += application.check_targets(
            targets, [*files, *changes.kept], variables, workloads, configs.repository
        )
    return _Tree(generator, targets, variables, changes, images), findings, generated


def _check(
    generated: Generated, inputs: AppRenderInputs, findings: Findings
) -> dict[str, tuple[str, ...]]:
    """Check the manifests of all targets; return the images of each."""
    images: dict[str, tuple[str, ...]] = {}
    version = inputs.validate_manifests
    rules = application.ManifestRules(
        inputs.namespace,
        inputs.allowed_namespaces,
        KubernetesSchemas(version).errors if version else None,
        inputs.compatibility == "none",
    )
    for folder, files in generated.files.items():
        used: set[str] = set()
        for name, content in files.items():
            if name.endswith((".yaml", ".yml")) and name != KUSTOMIZATION_FILE:
                where = Location("", f"{folder}/{name}")
                checked = application.check_manifests(where, content, rules, generated.sources)
                findings.add(checked.findings)
                used |= set(checked.images)
        images[folder] = tuple(sorted(used))
    return images


def _no_target(repository: str) -> Problem:
    return Problem(
        "the configs have no target: no folder has a values.yaml",
        Location(repository),
        "add <target>/values.yaml, which may be empty",
        "configs-without-target",
    )


def _workloads(inputs: AppRenderInputs, source: OpenPlace) -> tuple[Sequence[Workload], Findings]:
    """Read the Workloads of the source; its faults are warnings, as they stop no manifests."""
    contents = source.read_all(inputs.workload_path)
    parsed = [
        parse_yaml(source.repository, path, content)
        for path, content in contents.items()
        if path.endswith((".yaml", ".yml"))
    ]
    if not parsed:
        return (), Findings(
            notes=[
                Problem(
                    "there is no Workload, so nothing says which target deploys which folder",
                    Location(source.repository, inputs.workload_path),
                    "add workload/workload.yaml, or name its folder with workload-path",
                    "workload-missing",
                )
            ]
        )
    reading = Reading(
        Revision(source.repository, "", source.files.commit, inputs.workload_path, None),
        tuple(document for file in parsed for document in file.documents),
        tuple(problem for file in parsed for problem in file.problems),
    )
    workloads, diagnostics = check_workloads(reading)
    return workloads, Findings(warnings=[*diagnostics.problems, *diagnostics.warnings])


def _files(
    generated: Generated,
    inputs: AppRenderInputs,
    source: OpenPlace,
    targets: Sequence[Target],
    variables: Mapping[str, str],
    workloads: Sequence[Workload],
    findings: Findings,
) -> dict[str, bytes]:
    """Return all files of the tree but the record."""
    files: dict[str, bytes] = {}
    for target in targets:
        own = {KUSTOMIZATION_FILE: KUSTOMIZATION, **generated.files[target.folder]}
        descriptor = _descriptor(inputs, source, target, variables, workloads, findings)
        if descriptor is not None:
            own[DESCRIPTOR_FILE] = descriptor
        files |= {f"{target.folder}/{name}": content for name, content in own.items()}
    return files | application.tracking_files(variables, inputs.compatibility)


def _descriptor(
    inputs: AppRenderInputs,
    source: OpenPlace,
    target: Target,
    variables: Mapping[str, str],
    workloads: Sequence[Workload],
    findings: Findings,
) -> bytes | None:
    """Return the descriptor of a target; None if too little is known."""
    if inputs.compatibility != "none":
        if DESCRIPTOR_TEMPLATE not in source.files.entries():
            return None
        template = source.files.read([DESCRIPTOR_TEMPLATE])[DESCRIPTOR_TEMPLATE]
        content, problems = application.from_template(
            template, target, variables, source.repository, inputs.compatibility
        )
        findings.problems += [item for item in problems if item not in findings.problems]
        return content
    deployment = application.target_of(target.folder, inputs.environment, workloads)
    if deployment is None:
        return None
    names = application.DescriptorNames(inputs.workspace, inputs.application)
    own = application.computed(deployment, target.folder, variables, names)
    if own is None:
        findings.notes.append(
            Problem(
                f"there is no descriptor for {target.folder!r}: the workspace, or the source "
                "repository, commit or version is not known",
                deployment.where,
                "give --workspace, --source-repository, --source-commit and --version",
                "descriptor-missing",
            )
        )
    return own


def _record(
    inputs: AppRenderInputs,
    repositories: _Repositories,
    generator: str,
    generated: Generated,
    files: Mapping[str, bytes],
) -> bytes:
    options = {
        name.replace("_", "-"): str(getattr(inputs, name))
        for name in ("compatibility", "release_name", "namespace", "kube_version", "hooks", "tests")
        if getattr(inputs, name)
    }
    return application.Record(
        version=__version__,
        environment=inputs.environment,
        generator=generator,
        programs=generated.programs,
        options=options,
        source=_recorded(repositories.source, inputs.source_repository),
        configs=_recorded(repositories.configs, ""),
        files=application.recorded_files(files),
    ).content()


def _recorded(place: OpenPlace, name: str) -> application.RecordedRevision:
    """Return what the record says of a repository; a path of this machine is not recorded."""
    return application.RecordedRevision(
        repository=name or place.name,
        commit=place.files.commit,
        tree=place.files.tree_id(""),
    )
