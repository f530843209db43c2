"""Compare the files that an environment would have with two commits of main."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.commands.diff.commits import commit_range
from kalypso_actions.commands.diff.result import Difference
from kalypso_actions.commands.shared.base_trees import ReadableBaseTrees, no_trees
from kalypso_actions.commands.shared.control_plane_place import ControlPlanePlace, EnvironmentPlace
from kalypso_actions.commands.shared.reading.gathering import gather
from kalypso_actions.comparison import Mask
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.diff import DiffInputs
from kalypso_actions.model.differences import MaskedComparison
from kalypso_actions.model.kinds import GitOpsRepo
from kalypso_actions.model.progress import Progress
from kalypso_actions.model.tree import BaseTree, Snapshot
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.planning.plan_pair import plan_pair
from kalypso_actions.report.diff_document import DiffSideEntry
from kalypso_actions.scheduling.registry import scheduler_of, uses_present_assignments


def compare_rendered(
    plane: ControlPlanePlace, inputs: DiffInputs, progress: Progress
) -> Difference:
    """Plan the older environment with its own commit of main, and with the newer one's.

    For a single environment, the inputs give the commits, by default its present commit and the
    head of main.
    """
    place = plane.environment(inputs.environments[-1])
    if len(inputs.environments) == 2:
        newer = plane.environment(inputs.environments[0])
        base, head, name = place.commit, newer.commit, newer.environment.name
    else:
        base = _resolved(plane, inputs.from_) or place.commit
        head = _resolved(plane, inputs.to) or plane.head
        name = place.environment.name
    options = PlanOptions(
        namespace_scheme=inputs.namespace_scheme,
        config_file=inputs.config_file,
        missing_values=inputs.missing_values,
        scheduler=inputs.scheduler,
        delivery=inputs.delivery,
    )
    scheduler = inputs.scheduler or place.environment.scheduler
    chosen = scheduler_of(place.environment, inputs.scheduler)
    trees = ReadableBaseTrees(plane.reader.repositories)
    opened = trees.open if uses_present_assignments(scheduler) else no_trees
    before, after = (_snapshot(plane, place, commit, inputs, opened) for commit in (base, head))
    if trees.warnings:
        raise KalypsoError.of(trees.warnings)
    mask = Mask(inputs.mask)
    pair = plan_pair(before, after, options, chosen, progress, mask, processes=WorkerProcesses())
    repositories = plane.reader.repositories
    return Difference(
        environment=place.environment.name,
        base=DiffSideEntry(environment=place.environment.name, commit=base),
        head=DiffSideEntry(environment=name, commit=head),
        commits=(
            commit_range(repositories, plane.place, place.repository, plane.main, base, head),
        ),
        comparison=_without_pins(pair.masked(mask)),
    )


def _resolved(plane: ControlPlanePlace, revision: str) -> str:
    if not revision:
        return ""
    return plane.reader.repositories.resolve(plane.place, plane.main, revision)


def _snapshot(
    plane: ControlPlanePlace,
    place: EnvironmentPlace,
    commit: str,
    inputs: DiffInputs,
    open_base_trees: Callable[[Sequence[GitOpsRepo]], Sequence[BaseTree]],
) -> Snapshot:
    return gather(
        place.environment.name,
        place.own,
        plane.reader,
        promoted_commit=commit,
        declared=place.environment,
        delivery=inputs.delivery,
        open_base_trees=open_base_trees,
    )


def _without_pins(comparison: MaskedComparison) -> MaskedComparison:
    """Leave out BaseRepos: diff itself chooses the commit of main that they name."""
    documents = tuple(item for item in comparison.documents if item.kind != "BaseRepo")
    return MaskedComparison(dataclasses.replace(comparison, documents=documents))
