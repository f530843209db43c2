"""`kalypso render`: compute the GitOps tree of one environment."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from kalypso_actions import gitops
from kalypso_actions.clients.installed_code import RENDERING, code_digest
from kalypso_actions.clients.output_folder import OutputFile, OutputFolder
from kalypso_actions.commands.shared.environment_reading import EnvironmentBranch, read_branch_of
from kalypso_actions.commands.shared.file_diffs import file_diffs
from kalypso_actions.commands.shared.local_commits import LocalBranch
from kalypso_actions.commands.shared.local_context import LocalContext, given_sources
from kalypso_actions.commands.shared.reading.base_tree import (
    as_written,
    folder_of_tree,
    open_gitops,
    read_base_tree,
)
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.environments import find_environments
from kalypso_actions.commands.shared.reading.gathering import gather
from kalypso_actions.commands.shared.reading.given_sources import check_given_sources
from kalypso_actions.commands.shared.reading.main_position import (
    main_position,
    with_changes_of_main,
)
from kalypso_actions.commands.shared.reading.rendered_registrations import plan_registrations
from kalypso_actions.comparison import Mask, tree_changes
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.local import RenderInputs
from kalypso_actions.model.documents import GIT_LINK_MODE, Reading, RevisionFiles
from kalypso_actions.model.kinds import Environment, GitOpsRepo
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.model.processes import WriteBlobs
from kalypso_actions.model.tree import BaseTree, Snapshot
from kalypso_actions.planning.assignment_rendering import PlannedAssignment
from kalypso_actions.planning.fleet_checks import FleetScope, FleetView, KnownRepositories, has_kind
from kalypso_actions.planning.plan import Plan, PlanOptions
from kalypso_actions.planning.plan_checks import judged, other_scope, scope_of
from kalypso_actions.planning.secret_texts import secret_texts
from kalypso_actions.report.documents import (
    AcknowledgedEntry,
    ChangesEntry,
    FileDiffEntry,
    LeftOutEntry,
    PositionEntry,
    ProblemEntry,
    SourceEntry,
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
        branch = read_branch_of(inputs, reader, context, verb="Rendering")
        base = _Base(inputs, context, reader, branch_to)
        write_blobs = None  # a comparison needs the contents in the plan
        if branch_to and not inputs.compares:
            write_blobs = branch_to.repository.blob_writer()
        snapshot, plan = _plan(inputs, context, reader, branch, base, write_blobs)
        if out and not plan.problems:
            out.write(base.applied(plan))
        commit = ""
        if branch_to and not plan.problems:
            commit = _commit(branch_to, plan, snapshot.base_trees[0])
        diffs = base.diffs(plan) if inputs.compares and not plan.faults else ()
        plan = plan.without_contents()  # the document of a large fleet needs the memory
        main = main_position(snapshot, reader)
        problems, warnings = (
            with_changes_of_main(findings, snapshot, main, reader.repositories)
            for findings in (plan.problems, plan.all_warnings)
        )
        readings = (snapshot.own, *(reading for _, reading in snapshot.bases))
        sources = [item for item in given_sources(inputs.source) if item.path.is_dir()]
        warnings += tuple(check_given_sources(sources, readings, context.programs))
    folder = snapshot.base_trees[0].path
    return RenderDocument(
        environment=plan.environment,
        main=PositionEntry.of(plan.environment, main) if main else None,
        sources=SourceEntry.all_of(plan.sources),
        assignments=tuple(_assignment_entry(item, folder) for item in plan.assignments),
        compared=not plan.faults,
        changes=ChangesEntry() if plan.faults else ChangesEntry.model_validate(plan.changes),
        diffs=diffs,
        commit=commit,
        degraded=plan.degraded,
        left_out=LeftOutEntry.all_of(plan.left_out),
        notes=ProblemEntry.all_of(plan.notes),
        acknowledged=AcknowledgedEntry.all_of(plan.acknowledged),
        warnings=ProblemEntry.all_of(warnings),
        problems=ProblemEntry.all_of(problems),
    )


def _assignment_entry(planned: PlannedAssignment, folder: str) -> AssignmentEntry:
    """Convert an assignment; `folder` is the tree's folder in the repository ("": its root)."""
    target, cluster_type = planned.assignment.target, planned.assignment.cluster_type
    place = f"{folder}/{planned.assignment.folder}/" if folder else f"{planned.assignment.folder}/"
    return AssignmentEntry(
        workload=target.workload,
        deployment_target=target.name,
        cluster_type=cluster_type.name,
        policies=planned.assignment.policies,
        namespace=planned.namespace,
        files=tuple([place + name for name in planned.files]),
    )


def _plan(
    inputs: RenderInputs,
    context: LocalContext,
    reader: Reader,
    branch: EnvironmentBranch,
    base: _Base,
    write_blobs: WriteBlobs | None,
) -> tuple[Snapshot, Plan]:
    """Read the environment, and plan it with the findings of the fleet and the notes of `base`."""
    snapshot = gather(
        branch.environment,
        branch.own,
        reader,
        promoted_commit=inputs.base_commit,
        declared=branch.declared,
        delivery=inputs.delivery,
        open_base_trees=base.open,
        known=_known_repositories(branch, reader),
    )
    options = _options(inputs, branch)
    snapshot, plan = plan_registrations(snapshot, options, reader, context.progress, write_blobs)
    plan = judged(plan, snapshot, _view(plan, snapshot, branch.control_plane, reader))
    return snapshot, dataclasses.replace(plan, notes=(*plan.notes, *base.notes(plan)))


def _known_repositories(branch: EnvironmentBranch, reader: Reader) -> KnownRepositories:
    """Return the probable content of the documents that the branch lacks."""
    control_plane = branch.control_plane
    is_complete = all(has_kind(branch.own, kind) for kind in ("BaseRepo", "GitOpsRepo"))
    if is_complete or not (control_plane and reader.repositories.is_at_hand(control_plane, "")):
        return KnownRepositories()
    main = reader.repositories.main_branch(control_plane)
    environments, _ = find_environments(reader, control_plane, main)
    readings = (_own_reading(item, control_plane, reader) for item in environments.values())
    head = reader.repositories.resolve(control_plane, main, main)
    return KnownRepositories.of(filter(None, readings), head)


def _view(plan: Plan, snapshot: Snapshot, control_plane: str, reader: Reader) -> FleetView:
    """Return the environment, with the others of a control plane on this machine."""
    scope = scope_of(plan, snapshot)
    if scope is None:
        return FleetView(())
    if not (control_plane and reader.repositories.is_at_hand(control_plane, "")):
        return FleetView((scope,))
    main = reader.repositories.main_branch(control_plane)
    environments, _ = find_environments(reader, control_plane, main)
    others = (item for name, item in environments.items() if name != plan.environment)
    scopes = [_other_scope(item, control_plane, snapshot, reader) for item in others]
    judged_scopes = [item for item in scopes if isinstance(item, FleetScope)]
    faults = tuple(item for item in scopes if isinstance(item, Problem))
    is_complete = len(judged_scopes) == len(scopes)
    return FleetView((scope, *judged_scopes), environments, is_complete, faults)


def _other_scope(
    environment: Environment, control_plane: str, snapshot: Snapshot, reader: Reader
) -> FleetScope | Problem | None:
    """Return the scope of another environment, or its problem; None if it cannot be read."""
    own = _own_reading(environment, control_plane, reader)
    return other_scope(environment.name, own, snapshot) if own else None


def _own_reading(environment: Environment, control_plane: str, reader: Reader) -> Reading | None:
    """Read another environment's branch; None if it cannot be read."""
    place = dataclasses.replace(environment.control_plane, repo=control_plane)
    try:
        return reader.documents(place)
    except KalypsoError:
        return None


def _options(inputs: RenderInputs, branch: EnvironmentBranch) -> PlanOptions:
    return PlanOptions(
        namespace_scheme=inputs.namespace_scheme,
        config_file=inputs.config_file,
        on_failure=inputs.on_failure,
        on_source_failure=inputs.on_source_failure,
        missing_values=inputs.missing_values,
        scheduler=inputs.scheduler,
        code=code_digest(RENDERING) if inputs.commit_to else "",
        verify=inputs.verify,
        requires_main=branch.declared is not None,
        delivery=inputs.delivery,
    )


def _commit(branch: LocalBranch, plan: Plan, base: BaseTree) -> str:
    """Commit the planned tree as schedule proposes it; return the commit, "" for no change."""
    changes = plan.changes
    is_changed = changes.added or changes.modified or changes.deleted
    if not (is_changed or gitops.is_of_another(base.sources, plan.environment)):
        return ""  # plain folders have no known commits, so new commits are no change either
    proposal = gitops.propose(changes, base, plan.environment, plan.promoted_commit)
    files = gitops.committed_files(changes, base.path)
    commit = branch.commit(files, gitops.commit_message(proposal.digest))
    sources = changes.content(f"{base.path}/{SOURCES_FILE}" if base.path else SOURCES_FILE)
    folders = branch.repository.files(commit).folder_ids(base.path)
    branch.record_tree(base.path, gitops.tree_id(sources, folders))
    return commit


class _Base:
    """The GitOps tree of `--gitops` or `--commit-to`, or that of the GitOpsRepo for a comparison.

    Without any of these, the tree is empty.
    """

    def __init__(
        self,
        inputs: RenderInputs,
        context: LocalContext,
        reader: Reader,
        committed: LocalBranch | None,
    ) -> None:
        self._given = inputs.gitops
        self._committed = committed
        self._compares = inputs.compares
        self._masked_keys = inputs.mask
        self._programs = context.programs
        self._reader = reader
        self._files: RevisionFiles | None = None
        self._folder = ""

    def open(self, gitops_repos: Sequence[GitOpsRepo]) -> tuple[BaseTree]:
        """Read the tree; without one, return an empty tree at the GitOpsRepo's path."""
        branch = self._given.branch if self._given else ""
        if self._committed:
            branch, self._files = self._committed.name, self._committed.files()
        elif self._given is None and self._compares and gitops_repos:
            place = gitops_repos[0].target
            branch = place.branch
            self._files = self._reader.repositories.open(place.repo, branch=branch)
        self._folder = folder = folder_of_tree(gitops_repos, branch)
        if self._given is not None:
            self._files = open_gitops(self._given.path, branch, gitops_repos, self._programs)
        if self._files is None:
            return (BaseTree("", "", folder, {}),)
        tree = read_base_tree(self._files, branch, folder)
        if self._committed:
            tree = as_written(tree, self._files, {self._committed.written_tree(folder)} - {""})
        return (tree,)

    def notes(self, plan: Plan) -> Iterator[Problem]:
        """Say that Placements were decided as if nothing was assigned yet."""
        if plan.schedule.placements and self._files is None:
            message = "Placements are decided as if nothing was assigned so far"
            advice = "name the tree that has the last decisions: --gitops, or compare with --diff"
            yield Problem(message, None, advice, "placement-without-record")

    def diffs(self, plan: Plan) -> tuple[FileDiffEntry, ...]:
        """Return the diff of each file that differs, without secrets."""
        before = self._contents((*plan.changes.modified, *plan.changes.deleted))
        files = tree_changes(plan.changes, before)
        mask = Mask(self._masked_keys)
        prefix = f"{self._folder}/" if self._folder else ""
        secrets = secret_texts(mask, plan.assignments, prefix)
        return file_diffs(
            mask.diff(file, secrets.get(file.path.rpartition("/")[0], ())) for file in files
        )

    def _contents(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Return the contents of files of the tree; a submodule has none."""
        if self._files is None:
            return {}
        entries = self._files.entries()
        read = self._files.read(path for path in paths if entries[path].mode != GIT_LINK_MODE)
        return {**dict.fromkeys(paths, b""), **read}

    def applied(self, plan: Plan) -> dict[str, OutputFile]:
        """Return the resulting tree: the planned files and the unchanged ones of the base."""
        tree = {path: OutputFile(plan.changes.content(path)) for path in plan.changes.files}
        if self._files is None:
            return tree
        replaced = tree.keys() | set(plan.changes.deleted)
        unchanged = {
            path: entry
            for path, entry in self._files.entries().items()
            if path not in replaced and entry.mode != GIT_LINK_MODE
        }
        contents = self._files.read(unchanged)
        for path, entry in unchanged.items():
            tree[path] = OutputFile(contents[path], entry.mode)
        return tree
