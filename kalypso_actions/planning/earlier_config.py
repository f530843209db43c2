"""The configuration values that differ from an earlier state of the control plane."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator

from kalypso_actions.comparison import Configured, value_changes
from kalypso_actions.model.differences import AssignmentName, ValueChange
from kalypso_actions.model.kinds import Fleet
from kalypso_actions.planning.assignment_rendering import PlannedAssignment
from kalypso_actions.platform_config import ConfigChanges, PlatformConfig


def changed_values(
    earlier: Fleet, fleet: Fleet, items: Iterable[PlannedAssignment], added: Collection[str]
) -> tuple[ValueChange, ...]:
    """Return the values of assignments that differ from the values in an earlier fleet.

    The earlier fleet needs no targets: the current targets replace them. `added` has the folders of
    assignments that the earlier fleet did not have.
    """
    known = (item for item in items if item.assignment.folder not in added)
    return value_changes(_configured(earlier, fleet, known))


def _configured(
    earlier: Fleet, fleet: Fleet, items: Iterable[PlannedAssignment]
) -> Iterator[Configured]:
    changes = ConfigChanges(earlier, fleet)
    config = PlatformConfig(earlier)
    cluster_types = {cluster_type.name: cluster_type for cluster_type in earlier.cluster_types}
    for item in items:
        assignment = item.assignment
        before = cluster_types.get(assignment.cluster_type.name)
        if before is None:
            continue
        if before.labels != assignment.cluster_type.labels or changes.affect(assignment):
            name = AssignmentName(fleet.environment, before.name, assignment.target.name)
            then = dataclasses.replace(assignment, cluster_type=before)
            yield name, config.config_of(then), item.config
