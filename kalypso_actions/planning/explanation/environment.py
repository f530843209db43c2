"""The fleet, its schedule and its configuration, which all answers share."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kalypso_actions.comparison import Mask
from kalypso_actions.errors import Problem
from kalypso_actions.model.kinds import Assignment, Fleet
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.planning.plan import PlanOptions, schedule_snapshot
from kalypso_actions.platform_config import PlatformConfig
from kalypso_actions.report.comparison_entries import AssignmentNameEntry
from kalypso_actions.scheduling import Schedule, Scheduler


@dataclass(frozen=True, slots=True)
class ExplainedEnvironment:
    """An environment that is scheduled, not rendered; `mask` removes secrets from answers."""

    snapshot: Snapshot
    options: PlanOptions
    fleet: Fleet
    schedule: Schedule
    config: PlatformConfig
    mask: Mask
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]

    @classmethod
    def of(
        cls, snapshot: Snapshot, options: PlanOptions, scheduler: Scheduler, mask: Mask
    ) -> ExplainedEnvironment:
        """Schedule a snapshot."""
        fleet, schedule, findings = schedule_snapshot(snapshot, scheduler)
        unusable = (problem for item in snapshot.registrations for problem in item.problems)
        return cls(
            snapshot=snapshot,
            options=options,
            fleet=fleet,
            schedule=schedule,
            config=PlatformConfig(fleet),
            mask=mask,
            problems=tuple(findings.problems),
            warnings=(*findings.warnings, *unusable),
        )

    @property
    def unread_registrations(self) -> tuple[str, ...]:
        """The registrations whose targets are unknown."""
        readings = self.snapshot.registrations
        return tuple(item.registration.name for item in readings if item.problems)

    def secrets_of(self, assignment: Assignment) -> Collection[str]:
        """Return the texts that are secret anywhere in an answer about an assignment."""
        config, target = self.config.config_of(assignment), assignment.target
        names = self.mask.names
        own = names.secrets_of({**target.labels, **target.manifests})
        return own | names.secrets_of({"values": config.values, "texts": config.texts})


def names_of(assignments: Iterable[Assignment]) -> tuple[AssignmentNameEntry, ...]:
    """Return the names of assignments, in order."""
    return tuple(
        AssignmentNameEntry(cluster_type=item.cluster_type.name, target=item.target.name)
        for item in assignments
    )
