"""Compare two trees of GitOps branches, which were merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kalypso_actions.commands.diff.commits import commit_range
from kalypso_actions.commands.diff.result import Difference
from kalypso_actions.commands.shared.local_context import ControlPlanePlace
from kalypso_actions.commands.shared.reading.base_trees import folder_of_tree, read_base_tree
from kalypso_actions.commands.shared.reading.control_plane import EnvironmentReading
from kalypso_actions.comparison import Mask
from kalypso_actions.comparison.differences import (
    assignment_names,
    differing_paths,
    manifest_entries,
)
from kalypso_actions.errors import KalypsoError
from kalypso_actions.gitops.proposed_commit import tracked_commit
from kalypso_actions.gitops.provenance import PreviousSources, read_sources
from kalypso_actions.inputs.diff import DiffInputs
from kalypso_actions.model.differences import CommitRange, Comparison, FileChange
from kalypso_actions.model.documents import FileEntry, RevisionFiles
from kalypso_actions.model.tree import BaseTree
from kalypso_actions.model.urls import repository_key
from kalypso_actions.report.diff_document import DiffSideEntry


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
        prefix = f"{self.tree.path}/" if self.tree.path else ""
        contents = self.files.read(f"{prefix}{path}" for path in paths)
        return {path: contents[f"{prefix}{path}"] for path in paths}


def compare_deployed(plane: ControlPlanePlace, inputs: DiffInputs) -> Difference:
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
    return Difference(
        environment=base.environment,
        base=base.side,
        head=head.side,
        commits=tuple(_commits(plane, base, head)),
        comparison=mask.masked(comparison),
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
