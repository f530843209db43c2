"""Plans of snapshots for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import Reading, Revision
from kalypso_actions.model.kinds import DeploymentTarget, Fleet, Workload
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.processes import no_progress
from kalypso_actions.model.tree import BaseTree, RegistrationReading, Snapshot
from kalypso_actions.planning.plan import Plan, PlanOptions, make_plan
from kalypso_actions.scheduling import LabelScheduler
from tests.builders import HERE, cluster_type, entry, policy, registration

REVISION = Revision("https://git.test/app", "main", "c" * 40, ".", "t" * 40)
LARGE = cluster_type("large")
POLICY = policy("all")


def reading(
    *targets: DeploymentTarget,
    name: str = "app",
    state: Literal["head", "last-good", "kept"] = "head",
    problems: Sequence[Problem] = (),
) -> RegistrationReading:
    return RegistrationReading(
        registration=registration(name, f"https://git.test/{name}"),
        state=state,
        revision=None if state == "kept" else REVISION,
        workloads=(Workload("app", targets, HERE),) if targets else (),
        problems=tuple(problems),
    )


def tree(files: Mapping[str, str], sources: bytes | None = None, path: str = "") -> BaseTree:
    entries = {name: entry(name, blob_id(text.encode())) for name, text in files.items()}
    return BaseTree("gitops", "dev", path, entries, sources=sources)


def snapshot_of(
    fleet_: Fleet,
    *registrations: RegistrationReading,
    base_trees: Sequence[BaseTree] = (),
    problems: Sequence[Problem] = (),
) -> Snapshot:
    return Snapshot(
        environment=fleet_.environment,
        own=Reading(REVISION),
        bases=(),
        fleet=fleet_,
        registrations=registrations,
        base_trees=tuple(base_trees),
        problems=tuple(problems),
        warnings=(),
    )


def plan(
    fleet_: Fleet,
    *registrations: RegistrationReading,
    base: Mapping[str, str] | None = None,
    sources: bytes | None = None,
    options: PlanOptions = PlanOptions(),  # noqa: B008 - frozen
    problems: Sequence[Problem] = (),
    others: Sequence[BaseTree] = (),
    base_tree: BaseTree | None = None,
) -> Plan:
    own = base_tree or tree(base or {}, sources)
    snapshot = snapshot_of(fleet_, *registrations, base_trees=(own, *others), problems=problems)
    return make_plan(snapshot, options, LabelScheduler(), no_progress)
