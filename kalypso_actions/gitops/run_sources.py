"""The record of a run in `sources.json`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kalypso_actions import __version__
from kalypso_actions.gitops.provenance import (
    InputsRecord,
    PreviousSources,
    SourceRevision,
    SourcesFile,
    previous_sources,
)
from kalypso_actions.model.kinds import DeploymentTarget
from kalypso_actions.model.tree import RegistrationReading, Snapshot
from kalypso_actions.model.urls import repository_key


def run_sources(
    snapshot: Snapshot,
    targets: Collection[DeploymentTarget],
    options: Mapping[str, str],
    preserved_targets: Collection[str],
    inputs: InputsRecord | None = None,
) -> SourcesFile:
    """Return the content of `sources.json` for a tree with these targets.

    Preserved targets keep their old commits. Registrations without a usable commit keep the names
    of their Workloads.
    """
    previous = previous_sources(
        snapshot.base_trees, snapshot.environment, snapshot.promoted_commit
    ) or PreviousSources(environment=snapshot.environment)
    registrations = {
        reg.registration.name: _registered(reg, previous.registrations.get(reg.registration.name))
        for reg in snapshot.registrations
    }
    owners = {target: previous.targets[target] for target in preserved_targets}
    owners |= {target.name: target.registration for target in targets if target.registration}
    for owner in previous.registrations.keys() & owners.values():
        registrations.setdefault(owner, previous.registrations[owner])
    kept = {reg.registration.name for reg in snapshot.registrations if reg.state == "kept"}
    workloads = {name: owner for name, owner in previous.workloads.items() if owner in kept}
    workloads |= {
        workload.name: reg.registration.name
        for reg in snapshot.registrations
        for workload in reg.workloads
    }
    return SourcesFile(
        version=__version__,
        environment=snapshot.environment,
        options=options,
        environment_branch=SourceRevision.of(snapshot.own.revision),
        base_repos={
            base.name: SourceRevision.of(reading.revision) for base, reading in snapshot.bases
        },
        registrations=registrations,
        targets=owners,
        workloads=workloads,
        inputs=inputs,
    )


def _registered(reading: RegistrationReading, previous: SourceRevision | None) -> SourceRevision:
    """Return the revision of a registration in the tree, read by this run or an earlier one.

    A registration that no run could read has no commit.
    """
    if reading.revision is not None:
        return SourceRevision.of(reading.revision)
    source = reading.registration.source
    if (
        previous is not None
        and previous.commit is not None
        and repository_key(previous.repository) == repository_key(source.repo)
    ):
        return previous
    return SourceRevision(
        repository=source.repo, branch=source.branch, path=source.path, commit=None, tree=None
    )
