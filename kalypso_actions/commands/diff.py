"""`kalypso diff`: the differences between two environments, or two commits of one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.commands.shared.local_context import (
    ControlPlanePlace,
    LocalContext,
    find_control_plane,
)
from kalypso_actions.commands.shared.reading.base_trees import (
    ReadableBaseTrees,
    folder_of_tree,
    read_base_tree,
)
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    read_control_plane,
)
from kalypso_actions.commands.shared.reading.document_reader import SharedReader
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.commands.shared.reading.snapshot import read_snapshot
from kalypso_actions.comparison import Mask, unified_diff
from kalypso_actions.comparison.differences import (
    assignment_names,
    differing_paths,
    manifest_entries,
)
from kalypso_actions.errors import KalypsoError
from kalypso_actions.gitops.proposed_commit import tracked_commit
from kalypso_actions.gitops.provenance import PreviousSources, read_sources
from kalypso_actions.inputs.local import DiffInputs
from kalypso_actions.model.differences import CommitRange, Comparison, FileChange, MaskedComparison
from kalypso_actions.model.documents import FileEntry, RevisionFiles
from kalypso_actions.model.processes import Progress
from kalypso_actions.model.tree import BaseTree, Snapshot
from kalypso_actions.model.urls import repository_key
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.planning.plan_pair import plan_pair, with_fleet_findings
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.diff_document import CommitRangeEntry, DiffDocument, DiffSideEntry
from kalypso_actions.scheduling.registry import scheduler_of


def diff(inputs: DiffInputs, context: LocalContext) -> DiffDocument:
    """Return the differences between two environments, or between two commits of one.

    Raises KalypsoError for an unreadable control plane or GitOps branch, UsageError.
    """
    with context.reader(inputs.source) as opened:
        reader = SharedReader(opened)
        plane = find_control_plane(inputs.control_plane, reader, context)
        if inputs.deployed:
            return compare_deployed(plane, inputs)
        return compare_rendered(plane, inputs, context.progress)


@dataclass(frozen=True, slots=True)
class _Tree:
    """The tree of an environment at a commit of its GitOps branch."""

    place: EnvironmentReading
    files: RevisionFiles
    tree: BaseTree

    @property
    def environment(self) -> str:
        return self.place.name

    @property
    def manifests(self) -> dict[str, FileEntry]:
        return manifest_entries(self.tree)

    @property
    def main_commit(self) -> str:
        return tracked_commit(self.tree.promoted_commit) or ""

    @property
    def sources(self) -> PreviousSources:
        read = read_sources(self.tree.sources, self.environment)
        return read or PreviousSources(environment=self.environment)

    @property
    def side(self) -> DiffSideEntry:
        return DiffSideEntry(
            environment=self.environment,
            commit=self.main_commit,
            gitops_commit=self.files.commit or "",
        )

    def contents(self, paths: list[str]) -> Mapping[str, bytes]:
        """Return the contents of files by their paths in the tree's folder."""
        prefix = self.tree.prefix
        contents = self.files.read(f"{prefix}{path}" for path in paths)
        return {path: contents[f"{prefix}{path}"] for path in paths}


def compare_deployed(plane: ControlPlanePlace, inputs: DiffInputs) -> DiffDocument:
    """Compare the merged trees of two environments, or one at two commits of its GitOps branch.

    By default, compare the head with its first parent: the changes of the last merge.
    """
    place = plane.environment(inputs.environments[-1])
    newer = plane.environment(inputs.environments[0])
    head = _tree(plane, newer, inputs.to)
    before_merge = f"{head.files.commit}~1" if len(inputs.environments) == 1 else ""
    base = _tree(plane, place, inputs.from_ or before_merge)
    changes = dict(differing_paths(base.manifests, head.manifests))
    before = base.contents([path for path, change in changes.items() if change != "added"])
    after = head.contents([path for path, change in changes.items() if change != "deleted"])
    here = frozenset({base.files.repository, head.files.repository})
    sides = [assignment_names(base.environment, tree.manifests) for tree in (base, head)]
    mask = Mask(inputs.mask)
    comparison = Comparison(
        base.environment,
        assignments_added=tuple(sorted(sides[1] - sides[0])),
        assignments_removed=tuple(sorted(sides[0] - sides[1])),
        files=tuple(
            mask.diff(FileChange(path, change, before.get(path), after.get(path), here))
            for path, change in changes.items()
        ),
    )
    return DiffDocument(
        environment=base.environment,
        base=base.side,
        head=head.side,
        commits=CommitRangeEntry.all_of(_commits(plane, base, head)),
        comparison=_entry(mask.masked(comparison)),
        deployed=True,
    )


def _tree(plane: ControlPlanePlace, place: EnvironmentReading, revision: str) -> _Tree:
    repositories = plane.reader.repositories
    if not place.gitops_repos:
        message = f"the environment {place.name} has no GitOpsRepo"
        where = plane.environments[place.name].where
        raise KalypsoError(message, where, "add one to its branch")
    target = place.gitops_repos[0].target
    commit = repositories.resolve(target.repo, target.branch, revision) if revision else None
    files = repositories.open(target.repo, branch=target.branch, commit=commit)
    folder = folder_of_tree(place.gitops_repos, target.branch)
    return _Tree(place, files, read_base_tree(files, target.branch, folder))


def _commits(plane: ControlPlanePlace, base: _Tree, head: _Tree) -> Iterator[CommitRange]:
    """Yield the commits of main, and of the registered repositories that both trees name."""
    repositories = plane.reader.repositories
    if base.main_commit and head.main_commit:
        yield commit_range(
            repositories,
            plane.place,
            base.place.main_url,
            plane.main,
            base.main_commit,
            head.main_commit,
        )
    before = base.sources.registrations
    for name, after in sorted(head.sources.registrations.items()):
        old = before.get(name)
        if old is None or not (old.commit and after.commit) or old.commit == after.commit:
            continue
        if repository_key(old.repository) == repository_key(after.repository):
            url = after.repository
            yield commit_range(repositories, url, url, name, old.commit, after.commit)


def compare_rendered(
    plane: ControlPlanePlace, inputs: DiffInputs, progress: Progress
) -> DiffDocument:
    """Plan the older environment with its own commit of main, and with the newer one's.

    For a single environment, the inputs give the commits, by default its present commit and the
    head of main.
    """
    environment = plane.environment(inputs.environments[-1])
    present_commit = plane.commit_of(environment)
    if len(inputs.environments) == 2:
        newer = plane.environment(inputs.environments[0])
        base, head, name = present_commit, plane.commit_of(newer), newer.name
    else:
        base = _resolved(plane, inputs.from_) or present_commit
        head = _resolved(plane, inputs.to) or plane.head
        name = environment.name
    scheduler = scheduler_of(environment.declared, inputs.scheduler)
    trees = ReadableBaseTrees(plane.reader.repositories)
    before, after = (
        _snapshot(environment, commit, inputs, plane, trees) for commit in (base, head)
    )
    if trees.warnings:
        raise KalypsoError.of(trees.warnings)
    mask = Mask(inputs.mask)
    options = PlanOptions.of(inputs)
    processes = WorkerProcesses()
    pair = plan_pair(before, after, options, scheduler, progress, mask, processes=processes)
    pair = with_fleet_findings(pair, (before, after), plane.environments)
    repositories = plane.reader.repositories
    of_main = commit_range(repositories, plane.place, environment.main_url, plane.main, base, head)
    return DiffDocument(
        environment=environment.name,
        base=DiffSideEntry(environment=environment.name, commit=base),
        head=DiffSideEntry(environment=name, commit=head),
        commits=CommitRangeEntry.all_of([of_main]),
        comparison=_entry(_without_pins(pair.masked(mask))),
    )


def _resolved(plane: ControlPlanePlace, revision: str) -> str:
    if not revision:
        return ""
    return plane.reader.repositories.resolve(plane.place, plane.main, revision)


def _snapshot(
    environment: EnvironmentReading,
    commit: str,
    inputs: DiffInputs,
    plane: ControlPlanePlace,
    trees: ReadableBaseTrees,
) -> Snapshot:
    """Read the environment with a commit of main."""
    control_plane = read_control_plane(environment, plane.reader, promoted_commit=commit)
    scheduler = inputs.scheduler or plane.environments[environment.name].scheduler
    return read_snapshot(
        control_plane,
        plane.reader,
        PlanOptions.of(inputs),
        base_trees=trees.needed(control_plane.fleet.gitops_repos, scheduler),
    )


def _without_pins(comparison: MaskedComparison) -> MaskedComparison:
    """Leave out BaseRepos: diff itself chooses the commit of main that they name."""
    documents = tuple(item for item in comparison.documents if item.kind != "BaseRepo")
    return MaskedComparison(dataclasses.replace(comparison, documents=documents))


def _entry(comparison: MaskedComparison) -> ComparisonEntry:
    return ComparisonEntry.of(
        comparison, {file.path: unified_diff(file) for file in comparison.files}
    )


MOST_COMMITS: Final = 100


def commit_range(
    repositories: Repositories, place: str, url: str, name: str, base: str, head: str
) -> CommitRange:
    """Return the commits of the repository at `url`, read from `place`, a URL or a path.

    If they cannot be read, their number is unknown.
    """
    is_page = url.startswith(("https://", "http://"))
    page = url.removesuffix("/").removesuffix(".git") if is_page else ""
    known = CommitRange(url, name, base, head, f"{page}/compare/{base}...{head}" if page else "")
    if base == head:
        return dataclasses.replace(known, total=0)
    total, behind = (repositories.distance(place, *sides) for sides in ((base, head), (head, base)))
    if total is None:
        # GitHub compares commits only with their ancestors.
        return dataclasses.replace(known, total=None if behind is None else 0, behind=behind or 0)
    try:
        commits = repositories.commits_after(place, base, head, MOST_COMMITS)
    except KalypsoError:
        return dataclasses.replace(known, total=total, behind=behind or 0)
    return dataclasses.replace(
        known,
        total=total,
        behind=behind or 0,
        commits=tuple(
            item._replace(url=f"{page}/commit/{item.commit}" if page else "") for item in commits
        ),
    )
