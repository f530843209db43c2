"""`kalypso render`: compute the GitOps tree of one environment."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kalypso_actions.clients.folder import OutputFile, OutputFolder
from kalypso_actions.clients.installed_code import code_digest
from kalypso_actions.commands.shared.local_commits import LocalBranch
from kalypso_actions.commands.shared.local_context import (
    LocalContext,
    check_given_sources,
    check_manifest_folders,
    read_branch_of,
)
from kalypso_actions.commands.shared.reading.base_trees import (
    as_written,
    folder_of_tree,
    open_gitops,
    read_base_tree,
)
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    find_environments,
    read_control_plane,
)
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.snapshot import (
    main_position,
    plan_registrations,
    read_snapshot,
    with_changes_of_main,
)
from kalypso_actions.comparison import Mask, unified_diff
from kalypso_actions.comparison.differences import tree_changes
from kalypso_actions.errors import Finding, KalypsoError, of_level
from kalypso_actions.gitops.proposed_commit import commit_message, committed_files, tree_digest
from kalypso_actions.gitops.provenance import is_of_another, tree_id
from kalypso_actions.inputs.local import RenderInputs
from kalypso_actions.model.documents import GIT_LINK_MODE, Reading, RevisionFiles
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import Environment, GitOpsRepo
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.model.tree import BaseTree, Snapshot
from kalypso_actions.planning.assignment_rendering import PlannedAssignment
from kalypso_actions.planning.fleet_checks.repositories import KnownRepositories
from kalypso_actions.planning.fleet_checks.scope import fleet_view
from kalypso_actions.planning.merged_findings import judged
from kalypso_actions.planning.plan import Plan, PlanOptions
from kalypso_actions.planning.secret_texts import secret_texts
from kalypso_actions.report.documents import (
    ChangesEntry,
    FileDiffEntry,
    LeftOutEntry,
    PositionEntry,
    SourceEntry,
    finding_fields,
)
from kalypso_actions.report.render_document import AssignmentEntry, RenderDocument


def render(inputs: RenderInputs, context: LocalContext) -> RenderDocument:
    """Read, plan, and write or commit the tree unless there are problems.

    Raises KalypsoError for an unreadable control plane or GitOps tree, or a branch that has moved;
    UsageError for an `--out` with other content.
    """
    out = OutputFolder(inputs.out) if inputs.out else None
    if out:
        out.check()
    branch_to = LocalBranch.open(inputs.commit_to, context.programs) if inputs.commit_to else None
    with context.reader(inputs.source) as reader:
        environment = read_branch_of(inputs, reader, context, verb="Rendering")
        neighbours = _read_neighbours(environment, reader)
        control_plane = read_control_plane(environment, reader, promoted_commit=inputs.base_commit)
        base = _read_base(inputs, control_plane.fleet.gitops_repos, branch_to, reader, context)
        options = PlanOptions.of(
            inputs,
            code=code_digest() if branch_to else "",
            requires_main=environment.declared is not None,
        )
        snapshot = read_snapshot(
            control_plane,
            reader,
            options,
            base_trees=(base.tree,),
            known=KnownRepositories.of(neighbours.branches.values(), neighbours.head_of_main),
        )
        # A comparison needs the contents in the plan.
        write_to = branch_to if branch_to and not inputs.compares else None
        write_blobs = write_to.repository.blob_writer() if write_to else None
        progress = context.progress
        snapshot, plan = plan_registrations(snapshot, options, reader, progress, write_blobs)
        view = fleet_view(plan.fleet, snapshot, neighbours.environments, neighbours.branches)
        plan = judged(plan, snapshot, view)
        findings = (*plan.findings, *base.notes(plan))
        plan = dataclasses.replace(plan, findings=findings)
        readings = (snapshot.own, *(reading for _, reading in snapshot.bases))
        sources = [item for item in inputs.source if item.path.is_dir()]
        of_sources = tuple(check_given_sources(sources, readings, context.programs))
        documents = (doc for item in snapshot.registrations for doc in item.documents)
        of_sources = (*of_sources, *check_manifest_folders(documents, reader))
        warned = inputs.strict and of_level((*findings, *of_sources), "warning")
        commit = ""
        if not plan.problems and not warned:
            if out:
                out.write(base.applied(plan))
            commit = _commit(branch_to, plan, base.tree) if branch_to else ""
        diffs = base.diffs(plan, inputs.mask) if inputs.compares and not plan.faults else ()
        plan = plan.without_contents()  # the document of a large fleet needs the memory
        main = main_position(snapshot, reader)
        changed = with_changes_of_main(findings, snapshot, main, reader)
        document = _document(plan, snapshot, main, diffs, commit, (*changed, *of_sources))
        return document.strictly(strict=inputs.strict)


def _document(
    plan: Plan,
    snapshot: Snapshot,
    main: BranchPosition | None,
    diffs: tuple[FileDiffEntry, ...],
    commit: str,
    findings: Iterable[Finding],
) -> RenderDocument:
    prefix = snapshot.base_trees[0].prefix
    return RenderDocument(
        environment=plan.environment,
        main=PositionEntry.of(plan.environment, main) if main else None,
        sources=SourceEntry.all_of(plan.sources),
        assignments=tuple(_assignment_entry(item, prefix) for item in plan.assignments),
        compared=not plan.faults,
        changes=ChangesEntry() if plan.faults else ChangesEntry.model_validate(plan.changes),
        diffs=diffs,
        commit=commit,
        degraded=plan.degraded,
        left_out=LeftOutEntry.all_of(plan.left_out),
        **finding_fields(findings),
    )


def _assignment_entry(planned: PlannedAssignment, prefix: str) -> AssignmentEntry:
    """Convert an assignment; `prefix` begins the paths of the tree in the repository."""
    target, cluster_type = planned.assignment.target, planned.assignment.cluster_type
    place = f"{prefix}{planned.assignment.folder}/"
    return AssignmentEntry(
        workload=target.workload,
        deployment_target=target.name,
        cluster_type=cluster_type.name,
        policies=planned.assignment.policies,
        namespace=planned.namespace,
        files=tuple([place + name for name in planned.files]),
    )


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """The Environment objects of a control plane on this machine, and their readable branches.

    `environments` is None for any other control plane. The rendered environment's own branch is
    among the `branches`, and `head_of_main` is known, if it lacks a document.
    """

    environments: Mapping[str, Environment] | None
    branches: Mapping[str, Reading]
    head_of_main: str = ""


def _read_neighbours(environment: EnvironmentReading, reader: Reader) -> _Neighbours:
    control_plane, repositories = environment.control_plane, reader.repositories
    if not (control_plane and repositories.is_at_hand(control_plane, "")):
        return _Neighbours(None, {})
    main = repositories.main_branch(control_plane)
    environments, _ = find_environments(reader, control_plane, main)
    is_complete = environment.names_repositories
    branches: dict[str, Reading] = {}
    for name, other in environments.items():
        if name == environment.name and is_complete:
            continue
        place = dataclasses.replace(other.control_plane, repo=control_plane)
        try:
            branches[name] = reader.documents(place)
        except KalypsoError:
            continue  # the environment itself does not need it
    head = "" if is_complete else repositories.resolve(control_plane, main, main)
    return _Neighbours(environments, branches, head)


@dataclass(frozen=True, slots=True)
class _Base:
    """The GitOps tree that changes, and its files; without files, the tree is empty."""

    tree: BaseTree
    files: RevisionFiles | None

    def notes(self, plan: Plan) -> Iterator[Finding]:
        """Say that Placements were decided as if nothing was assigned yet."""
        if plan.schedule.placements and self.files is None:
            message = "Placements are decided as if nothing was assigned so far"
            advice = "name the tree that has the last decisions: --gitops, or compare with --diff"
            yield Finding(message, None, advice, "placement-without-record", level="note")

    def diffs(self, plan: Plan, masked_keys: Sequence[str]) -> tuple[FileDiffEntry, ...]:
        """Return the diff of each file that differs, without secrets."""
        before = self._contents((*plan.changes.modified, *plan.changes.deleted))
        mask = Mask(masked_keys)
        secrets = secret_texts(mask, plan.assignments, self.tree.prefix)
        diffs = (
            mask.diff(file, secrets.get(file.path.rpartition("/")[0], ()))
            for file in tree_changes(plan.changes, before)
        )
        return tuple(FileDiffEntry.of(item.path, item.change, unified_diff(item)) for item in diffs)

    def _contents(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Return the contents of files of the tree; a submodule has none."""
        if self.files is None:
            return {}
        entries = self.files.entries()
        read = self.files.read(path for path in paths if entries[path].mode != GIT_LINK_MODE)
        return {**dict.fromkeys(paths, b""), **read}

    def applied(self, plan: Plan) -> dict[str, OutputFile]:
        """Return the resulting tree: the planned files and the unchanged ones of the base."""
        tree = {path: OutputFile(plan.changes.content(path)) for path in plan.changes.files}
        if self.files is None:
            return tree
        replaced = tree.keys() | set(plan.changes.deleted)
        unchanged = {
            path: entry
            for path, entry in self.files.entries().items()
            if path not in replaced and entry.mode != GIT_LINK_MODE
        }
        contents = self.files.read(unchanged)
        for path, entry in unchanged.items():
            tree[path] = OutputFile(contents[path], entry.mode)
        return tree


def _read_base(
    inputs: RenderInputs,
    gitops_repos: Sequence[GitOpsRepo],
    branch_to: LocalBranch | None,
    reader: Reader,
    context: LocalContext,
) -> _Base:
    """Read the tree of `--gitops` or `--commit-to`, or that of the GitOpsRepo for a comparison.

    Without any of these, return an empty tree at the GitOpsRepo's path.
    """
    given = inputs.gitops
    branch = given.branch if given else ""
    files: RevisionFiles | None = None
    if branch_to:
        branch, files = branch_to.name, branch_to.files()
    elif given is None and inputs.compares and gitops_repos:
        place = gitops_repos[0].target
        branch = place.branch
        files = reader.repositories.open(place.repo, branch=branch)
    folder = folder_of_tree(gitops_repos, branch)
    if given is not None:
        files = open_gitops(given.path, branch, gitops_repos, context.programs)
    if files is None:
        return _Base(BaseTree("", "", folder, {}), None)
    tree = read_base_tree(files, branch, folder)
    if branch_to:
        tree = as_written(tree, files, {branch_to.written_tree(folder)} - {""})
    return _Base(tree, files)


def _commit(branch: LocalBranch, plan: Plan, base: BaseTree) -> str:
    """Commit the planned tree as schedule proposes it; return the commit, "" for no change."""
    changes = plan.changes
    is_changed = changes.added or changes.modified or changes.deleted
    if not (is_changed or is_of_another(base.sources, plan.environment)):
        return ""  # plain folders have no known commits, so new commits are no change either
    files = committed_files(changes, base.path)
    commit = branch.commit(files, commit_message(tree_digest(changes, base)))
    sources = changes.content(base.prefix + SOURCES_FILE)
    folders = branch.repository.files(commit).folder_ids(base.path)
    branch.record_tree(base.path, tree_id(sources, folders))
    return commit
