"""`kalypso app render`: compute the GitOps tree of an application for one environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from kalypso_actions import __version__
from kalypso_actions.clients.folder import OutputFile, OutputFolder, OutputForm
from kalypso_actions.clients.git import RemoteRepositories, Signature
from kalypso_actions.clients.kubernetes_schemas import KubernetesSchemas
from kalypso_actions.commands.app.generate import generate
from kalypso_actions.commands.app.source_files import (
    Generated,
    OpenPlace,
    Work,
    open_place,
    open_tree,
)
from kalypso_actions.commands.shared.hook import Machine
from kalypso_actions.commands.shared.local_commits import LocalBranch
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.errors import Diagnostics, Location, Problem, UsageError
from kalypso_actions.inputs.app import AppInputs, AppRenderInputs
from kalypso_actions.inputs.paths import PlaceAtRevision
from kalypso_actions.model.application import (
    DESCRIPTOR_TEMPLATE,
    RECORD_FILE,
    ApplicationChanges,
    Target,
)
from kalypso_actions.model.documents import GIT_LINK_MODE, Revision
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.planning.application.descriptor import (
    DescriptorNames,
    check_targets,
    workloads_of,
)
from kalypso_actions.planning.application.levels import find_targets, new_groups
from kalypso_actions.planning.application.services import changed_digests
from kalypso_actions.planning.application.tree import (
    Record,
    RecordedRevision,
    TreeOptions,
    check_targets_manifests,
    compute_changes,
    edit_warnings,
    missing_descriptors,
    no_target,
    other_branch,
    read_record,
    recorded_files,
    recorded_paths,
    removal,
    tracked_variables,
    tracking_names,
    tree_files,
)
from kalypso_actions.planning.application.variables import OPTIONS
from kalypso_actions.planning.manifests import ManifestRules
from kalypso_actions.promotion.version_records import Release
from kalypso_actions.report.documents import ProblemEntry, SourceEntry
from kalypso_actions.report.render_document import (
    AppChangesEntry,
    AppRenderDocument,
    AppTargetEntry,
)


def app_render(
    inputs: AppRenderInputs, context: LocalContext, now: Callable[[], datetime]
) -> AppRenderDocument:
    """Read, generate, compare, and write the tree unless there are problems.

    Raises KalypsoError for unreadable repositories and absent programs, UsageError for an `--out`
    with other content.
    """
    out = output_folder(inputs.out)
    branch = LocalBranch.open(inputs.commit_to, context.programs) if inputs.commit_to else None
    with context.remotes() as remotes:
        repositories = _open(inputs, context, remotes, branch)
        tree = compute_tree(inputs, context, repositories)
        has_problems = bool(tree.findings.problems)
        commit = ""
        if out and not has_problems:
            out.write(resulting_tree(tree.changes, repositories.tree))
        if branch and not has_problems:
            version = tree.variables.get("VERSION", "")
            commit = commit_tree(branch, tree.changes, repositories.tree, version, now())
    files = [] if has_problems else sorted(tree.changes.files)
    return AppRenderDocument(
        environment=inputs.environment,
        compatibility=inputs.compatibility,
        generator=tree.generator,
        programs=dict(tree.generated.programs),
        sources=SourceEntry.all_of(repositories.revisions()),
        variables=dict(tree.variables),
        targets=tuple(
            AppTargetEntry(
                folder=target.folder,
                values=tuple(target.levels),
                files=tuple(path for path in files if path.startswith(f"{target.folder}/")),
                images=tree.images.get(target.folder, ()),
            )
            for target in tree.targets
        ),
        compared=not has_problems,
        changes=AppChangesEntry() if has_problems else AppChangesEntry.model_validate(tree.changes),
        commit=commit,
        notes=ProblemEntry.all_of(tree.findings.notes),
        warnings=ProblemEntry.all_of(tree.findings.warnings),
        problems=ProblemEntry.all_of(tree.findings.problems),
    )


def _open(
    inputs: AppRenderInputs,
    context: LocalContext,
    remotes: RemoteRepositories,
    branch: LocalBranch | None,
) -> AppRepositories:
    """Open the repositories."""
    existing = inputs.gitops
    if inputs.commit_to and branch and branch.head and existing is None:
        existing = PlaceAtRevision(place=str(inputs.commit_to.path), revision=branch.head)
    source = open_place(inputs.source, "source", remotes, context.programs)
    configs = open_place(
        inputs.configs, "configs", remotes, context.programs, default=inputs.environment
    )
    tree = open_tree(existing, inputs.environment, remotes, context.programs)
    if branch and tree and (not tree.files.commit or branch.head not in {"", tree.files.commit}):
        raise UsageError(
            f"--gitops is not the head of the branch {branch.name!r} of --commit-to",
            advice="leave --gitops out, or name a new branch",
        )
    return AppRepositories(source, configs, tree)


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
    findings: Diagnostics
    generator: str = ""
    generated: Generated = field(default_factory=Generated)
    images: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    changes: ApplicationChanges = field(default_factory=lambda: ApplicationChanges({}))


def compute_release(
    inputs: AppInputs,
    environment: str,
    release: Release,
    context: Machine,
    repositories: AppRepositories,
) -> AppTree:
    """Compute the tree of a release of the source for an environment. Raises KalypsoError."""
    given = {
        "environment": environment,
        "version": release.version,
        "image_tag": release.image_tag,
        "image_name": release.image_name,
        "source_repository": repositories.source.name,
    }
    return compute_tree(inputs.model_copy(update=given), context, repositories)


def compute_tree(inputs: AppInputs, context: Machine, repositories: AppRepositories) -> AppTree:
    """Compute the tree up to the first step with problems. Raises KalypsoError."""
    source, configs = repositories.source, repositories.configs
    targets, findings = find_targets(
        configs.files.entries(),
        configs.repository,
        inputs.compatibility,
        with_command="command" in inputs.generator,
    )
    findings.problems += [] if targets else [no_target(configs.repository)]
    findings.warnings += other_branch(configs.checked_out, inputs.environment, configs.repository)
    variables, differences = variables_of(inputs, source, configs, repositories.tree)
    findings.warnings += differences
    tree = AppTree(targets, variables, findings)
    if not findings.problems:
        _generate(tree, inputs, context, repositories)
    if not findings.problems:
        options = _options(tree, inputs, source)
        files, file_findings = tree_files(tree.generated.files, targets, options)
        findings.add(file_findings)
        if not findings.problems:
            _compare(tree, inputs, repositories, options, files)
    return tree


def _generate(
    tree: AppTree, inputs: AppInputs, context: Machine, repositories: AppRepositories
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
    rules = ManifestRules(
        inputs.namespace,
        inputs.allowed_namespaces,
        KubernetesSchemas(version).errors if version else None,
        inputs.compatibility == "none",
    )
    tree.generator, tree.generated = generate(work)
    tree.findings.add(tree.generated.findings)
    tree.images, manifest_findings = check_targets_manifests(
        tree.generated.files, rules, tree.generated.sources
    )
    tree.findings.add(manifest_findings)


def _options(tree: AppTree, inputs: AppInputs, source: OpenPlace) -> TreeOptions:
    """Return the options for the files beside the manifests, with the Workloads of the source."""
    where = Location(source.repository, inputs.workload_path)
    workloads, workload_findings = workloads_of(source.read_all(inputs.workload_path), where)
    tree.findings.add(workload_findings)
    return TreeOptions(
        inputs.compatibility,
        tree.variables,
        workloads,
        DescriptorNames(inputs.workspace, inputs.application),
        source.read_file(DESCRIPTOR_TEMPLATE),
        source.repository,
        tree.generated.bare,
    )


def _compare(
    tree: AppTree,
    inputs: AppInputs,
    repositories: AppRepositories,
    options: TreeOptions,
    files: dict[str, bytes],
) -> None:
    """Add the record to the files, and compare them with the existing tree."""
    existing, configs = repositories.tree, repositories.configs.repository
    repository = existing.repository if existing else ""
    entries = existing.files.entries() if existing else {}
    files[RECORD_FILE] = _record(tree, inputs, repositories, files)
    record = existing.read_file(RECORD_FILE) if existing else None
    tree.changes = changes = compute_changes(files, entries, record)
    findings, targets = tree.findings, tree.targets
    before = read_record(record)
    findings.problems += changed_digests(
        before.dependencies if before else {},
        tree.generated.dependencies,
        Location(repositories.source.repository),
    )
    many = removal(changes, targets, inputs.max_removal_percent, repository)
    if many and inputs.allow_removals:
        findings.warnings.append(replace(many, advice=""))
    elif many:
        findings.problems.append(many)
    findings.warnings += edit_warnings(changes, repository)
    findings.warnings += new_groups(targets, changes.targets, configs)
    findings.add(missing_descriptors(targets, options, changes, repository))
    findings.warnings += check_targets(
        targets, [*files, *changes.kept], tree.variables, options.workloads, configs
    )


def _record(
    tree: AppTree, inputs: AppInputs, repositories: AppRepositories, files: Mapping[str, bytes]
) -> bytes:
    given = {name.replace("_", "-"): str(getattr(inputs, name)) for name in RECORDED}
    return Record(
        version=__version__,
        environment=inputs.environment,
        generator=tree.generator,
        programs=tree.generated.programs,
        dependencies=tree.generated.dependencies,
        options={name: value for name, value in given.items() if value},
        source=_recorded(repositories.source, inputs.source_repository),
        configs=_recorded(repositories.configs, ""),
        targets=tuple(target.folder for target in tree.targets),
        files=recorded_files(files),
    ).content()


def _recorded(place: OpenPlace, name: str) -> RecordedRevision:
    """Return the record of a repository, without paths of this machine."""
    return RecordedRevision(
        repository=name or place.name,
        commit=place.files.commit,
        tree=place.files.tree_id(""),
    )


AUTHOR: Final = Signature("Git", "agent@gitops.com")
"""The author that upstream uses."""


def _is_output(folder: Path, path: str) -> bool:
    record = folder / RECORD_FILE
    return record.is_file() and path in recorded_paths(record.read_bytes())


APPLICATION_TREE: Final = OutputForm(RECORD_FILE, "kalypso.app-sources/", _is_output)


def output_folder(folder: Path | None) -> OutputFolder | None:
    """Return the folder of `--out`, if it may be written. Raises UsageError."""
    if folder is None:
        return None
    out = OutputFolder(folder, APPLICATION_TREE)
    out.check()
    return out


def resulting_tree(changes: ApplicationChanges, tree: OpenPlace | None) -> dict[str, OutputFile]:
    """Return all files of the tree after the run."""
    result = {path: OutputFile(content) for path, content in changes.files.items()}
    if tree is None:
        return result
    entries = tree.files.entries()
    replaced = result.keys() | set(changes.deleted)
    kept = [
        path
        for path, entry in entries.items()
        if path not in replaced and entry.mode != GIT_LINK_MODE
    ]
    contents = tree.files.read(kept)
    return result | {path: OutputFile(contents[path], entries[path].mode) for path in kept}


def commit_tree(
    branch: LocalBranch,
    changes: ApplicationChanges,
    tree: OpenPlace | None,
    version: str,
    now: datetime,
) -> str:
    """Commit the changes of a tree to a branch and return the commit; "" if nothing changes.

    A new branch begins at the commit of the tree. Raises KalypsoError if the branch has moved or
    is checked out, or if the repository does not have the tree's commit.
    """
    if not (changes.added or changes.modified or changes.deleted):
        return ""
    files: dict[str, FileContent | None] = dict.fromkeys(changes.deleted)
    files |= {
        path: content for path, content in changes.files.items() if path not in changes.unchanged
    }
    parent = (tree.files.commit if tree else None) or ""
    return branch.commit(files, f"deployment {version}".strip(), now, AUTHOR, parent)


REGISTRY = "ghcr.io"


def variables_of(
    inputs: AppInputs, source: OpenPlace, configs: OpenPlace, tree: OpenPlace | None
) -> tuple[dict[str, str], list[Problem]]:
    """Return the variables that have a value: given, else derived from the repositories.

    With upstream's modes, the GitOps tree gives the version, the image, and the commits of folders
    that are not clones; warn where an option differs.
    """
    given = {
        name: str(getattr(inputs, option.replace("-", "_"), "")) for name, option in OPTIONS.items()
    }
    repository = given["SOURCE_REPO"] or source.name
    name = repository.rpartition("/")[2]
    derived = {
        "WORKLOAD": name,
        "SOURCE_REPO": repository,
        "GITOPS_REPO": tree.name if tree else "",
        "SOURCE_BRANCH": source.default_branch or "main",
        "SRC_COMMIT": source.commit,
        "CONFIG_REVISION": configs.commit,
    }
    tracked, warnings = _tracked(inputs, tree, given)
    if repository and inputs.compatibility != "2023":
        tracked["IMAGE_NAME"] = f"{REGISTRY}/{repository}/{name}".lower()  # as registries demand
    values = {name: given[name] or derived.get(name) or tracked.get(name) for name in OPTIONS}
    return {name: value for name, value in values.items() if value}, warnings


def _tracked(
    inputs: AppInputs, tree: OpenPlace | None, given: Mapping[str, str]
) -> tuple[dict[str, str], list[Problem]]:
    """Return the variables of the tracking files, and warnings of options that differ."""
    if tree is None or inputs.compatibility == "none":
        return {}, []
    names = tracking_names(inputs.compatibility)
    contents = tree.files.read([path for path in names if path in tree.files.entries()])
    tracked = tracked_variables(contents, tree.repository, inputs.compatibility)
    return tracked, [
        Problem(
            f"the GitOps tree tracks the {OPTIONS[name]} {tracked[name]}, but the option gives "
            f"{given[name]}",
            Location(tree.repository, path),
            f"leave --{OPTIONS[name]} out to render what the tree tracks",
            "tracking-differs",
        )
        for path, name in names.items()
        if name in tracked and given[name] and given[name] != tracked[name]
    ]
