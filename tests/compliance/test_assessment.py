from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from kalypso_actions.compliance import Requirements, Target, assess
from kalypso_actions.compliance.assessment import Assessment, ForeignPaths
from kalypso_actions.model.flux import FluxConfiguration
from tests.compliance.flux_configurations import (
    MERGED,
    NOW,
    OLD,
    TREE,
    broken_row,
    cluster_id,
    kustomizations,
    minutes,
    row,
)

LATE = row("late", synced_revision=f"dev@sha1:{OLD}")


def look(
    rows: Sequence[FluxConfiguration],
    assigned: Sequence[str] = ("drone",),
    *,
    since: float = 10,
    **requirements: Any,
) -> Assessment:
    return assess(
        rows,
        Target(frozenset({MERGED}), TREE),
        assigned,
        Requirements(**requirements),
        started=NOW - minutes(since),
        now=NOW,
    )


def drones(count: int) -> list[FluxConfiguration]:
    return [row(f"drone-{number}") for number in range(count)]


@pytest.mark.parametrize(
    ("rows", "options", "outcome"),
    [
        (drones(3), {}, "compliant"),
        ([*drones(3), LATE], {}, "waiting"),
        ([*drones(3), LATE], {"min_compliant": 75}, "compliant"),
        ([*drones(3), LATE], {"min_compliant": 76}, "waiting"),
        ([*drones(3), broken_row("bad")], {}, "failed"),
        ([*drones(3), broken_row("bad")], {"min_compliant": 75}, "compliant"),
        ([*drones(2), broken_row("bad"), broken_row("worse")], {"min_compliant": 75}, "failed"),
        # Rounded up: 90% of 3 are 3.
        ([*drones(2), broken_row("bad")], {"min_compliant": 90}, "failed"),
        # The percentage holds in each cluster type, not only overall.
        ([*drones(9), broken_row("big", "./large")], {"min_compliant": 90}, "failed"),
        ([*drones(9), row("big", "./large", suspended=True)], {"min_compliant": 90}, "waiting"),
        ([*drones(2), row("s", suspended=True)], {}, "waiting"),
        ([*drones(2), row("elsewhere", "./")], {}, "compliant"),
        ([*drones(2), broken_row("elsewhere", "./")], {}, "failed"),
    ],
)
def test_the_outcome(rows: list[FluxConfiguration], options: dict[str, Any], outcome: str) -> None:
    assert look(rows, **options).outcome == outcome


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ({"since": 1}, "waiting"),
        ({"since": 3}, "none-targeted"),
        ({"since": 3, "require_targets": False}, "compliant"),
        ({"since": 1, "require_targets": False}, "waiting"),
    ],
)
def test_without_a_row(options: dict[str, Any], outcome: str) -> None:
    assert look([], **options).outcome == outcome


def test_a_cluster_type_without_a_cluster() -> None:
    seen = look(drones(2), ("drone", "large"))
    assert (seen.outcome, seen.missing, seen.reason) == (
        "waiting",
        ("large",),
        "missing: large",
    )
    lenient = look(drones(2), ("drone", "large"), missing="warn")
    assert (lenient.outcome, lenient.missing) == ("compliant", ("large",))
    # What has failed has failed, whoever is missing.
    assert look([broken_row()], ("drone", "large")).outcome == "failed"


def test_who_is_waited_for_and_who_is_missing_is_told_at_once() -> None:
    assert look([*drones(1), LATE], ("drone", "post", "large")).reason == (
        "progressing: late; missing: large, post"
    )


def test_cluster_types_that_are_left_out() -> None:
    rows = [*drones(1), broken_row("lamp-1", "./lamp")]
    assert look(rows).outcome == "failed"
    seen = assess(
        rows,
        Target(frozenset({MERGED}), dataclasses.replace(TREE, left_out=frozenset({"lamp"}))),
        ("drone",),
        Requirements(),
        started=NOW - minutes(10),
        now=NOW,
    )
    assert seen.not_ours == ()
    assert (seen.outcome, [one.name for one in seen.clusters]) == ("compliant", ["drone-0"])


def test_other_paths_of_the_branch_do_not_count() -> None:
    others = [broken_row("mon", "./monitoring"), row("old", "./Drone", suspended=True)]
    seen = look([*drones(2), *others])
    assert (seen.outcome, seen.reason) == ("compliant", "2 clusters comply")
    assert seen.not_ours == (
        ForeignPaths(cluster_id("mon"), ("./monitoring",)),
        ForeignPaths(cluster_id("old"), ("./Drone",)),
    )
    # Nor do they among those that must comply.
    late = row("late", synced_revision="")
    assert look([*drones(1), late, row("mon", "./monitoring")], min_compliant=60).outcome == (
        "waiting"
    )
    # Nor is a cluster type there because of them.
    assert look([*drones(1), row("mon", "./x/large")], ("drone", "large")).missing == ("large",)
    assert look([*drones(1), others[0]], ignore_clusters=("*/mon",)).not_ours == ()


def test_a_cluster_is_named_once_with_all_its_other_paths() -> None:
    provider = "/providers/Microsoft.KubernetesConfiguration/fluxConfigurations"
    rows = [
        row("a", kustomizations=kustomizations("./drone", "./x", "./y"), objects=()),
        row("a", "./z", id=f"{cluster_id('a')}{provider}/other"),
    ]
    assert look(rows).not_ours == (ForeignPaths(cluster_id("a"), ("./x", "./y", "./z")),)


def test_nobody_follows_the_tree() -> None:
    rows = [row(f"mon-{number}", "./monitoring") for number in range(5)]
    seen = look(rows)
    assert (seen.outcome, seen.reason) == (
        "none-targeted",
        "no Flux configuration follows this environment's tree; other paths: "
        "mon-0 (./monitoring), mon-1 (./monitoring), mon-2 (./monitoring) and 2 more",
    )
    assert look(rows, require_targets=False).outcome == "compliant"
    assert look(rows, since=1).outcome == "waiting"


def test_ignored_clusters() -> None:
    rows = [*drones(1), broken_row("lab-7")]
    assert look(rows, ignore_clusters=("*/LAB-*",)).outcome == "compliant"
    assert look(rows, ignore_clusters=(cluster_id("lab-8"),)).outcome == "failed"
    assert look([broken_row("lab-7")], ignore_clusters=("*",)).outcome == "none-targeted"


def test_a_cluster_is_as_good_as_its_worst_configuration() -> None:
    second = broken_row(
        "drone-1",
        id=cluster_id("DRONE-1")
        + "/providers/Microsoft.KubernetesConfiguration/fluxConfigurations/b",
    )
    seen = look([row("drone-1"), second])
    assert [(cluster.state, cluster.cluster_type) for cluster in seen.clusters] == [
        ("failed", "drone")
    ]


@pytest.mark.parametrize(
    ("number", "reason"), [(1, "1 cluster complies"), (2, "2 clusters comply")]
)
def test_how_many_comply(number: int, reason: str) -> None:
    assert look(drones(number)).reason == reason


def test_reasons_name_some_and_say_how_many_more() -> None:
    rows = [*drones(2), *(row(f"late-{n}", synced_revision="") for n in range(5))]
    seen = look([*rows, row("s", suspended=True)])
    assert seen.reason == "progressing: late-0, late-1, late-2 and 2 more; suspended: s"
    failed = look([broken_row("a"), broken_row("b"), *drones(1)])
    assert failed.reason == "a and 1 more: HealthCheckFailed: pod web-1 crashes"


def test_the_order_of_rows_makes_no_difference() -> None:
    rows = [*drones(3), LATE, broken_row("bad", "./large")]
    assert look(rows) == look(rows[::-1])
