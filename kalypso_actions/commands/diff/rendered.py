"""Compare the files that an environment would have with two commits of main."""

from __future__ import annotations

import dataclasses

from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.commands.diff.commits import commit_range
from kalypso_actions.commands.diff.result import Difference
from kalypso_actions.commands.shared.local_context import ControlPlanePlace
from kalypso_actions.commands.shared.reading.base_trees import ReadableBaseTrees
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    read_control_plane,
)
from kalypso_actions.commands.shared.reading.snapshot import read_snapshot
from kalypso_actions.comparison import Mask
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.diff import DiffInputs
from kalypso_actions.model.differences import MaskedComparison
from kalypso_actions.model.progress import Progress
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.planning.plan_pair import plan_pair
from kalypso_actions.report.diff_document import DiffSideEntry
from kalypso_actions.scheduling.registry import scheduler_of


def compare_rendered(
    plane: ControlPlanePlace, inputs: DiffInputs, progress: Progress
) -> Difference:
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
    repositories = plane.reader.repositories
    return Difference(
        environment=environment.name,
        base=DiffSideEntry(environment=environment.name, commit=base),
        head=DiffSideEntry(environment=name, commit=head),
        commits=(
            commit_range(repositories, plane.place, environment.main_url, plane.main, base, head),
        ),
        comparison=_without_pins(pair.masked(mask)),
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
        base_trees=trees.needed(control_plane.fleet.gitops_repos, scheduler),
        delivery=inputs.delivery,
    )


def _without_pins(comparison: MaskedComparison) -> MaskedComparison:
    """Leave out BaseRepos: diff itself chooses the commit of main that they name."""
    documents = tuple(item for item in comparison.documents if item.kind != "BaseRepo")
    return MaskedComparison(dataclasses.replace(comparison, documents=documents))
