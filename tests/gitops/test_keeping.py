"""What stays because a registration cannot be read, and nobody has written down what it has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kalypso_actions.gitops import Keeper, Kept
from kalypso_actions.model.documents import Reading, Revision
from kalypso_actions.model.kinds import Workload
from kalypso_actions.model.tree import BaseTree, RegistrationReading, Snapshot
from tests.builders import HERE, fleet, registration, target

REVISION = Revision("https://git.test/x", "main", "1" * 40, ".", "t")
BASE = BaseTree("gitops", "dev", "", {})


def reading(name: str, *targets: str, environment: str = "dev") -> RegistrationReading:
    """What a registration delivers; one that delivers nothing cannot be read."""
    registered = registration(name, f"https://git.test/{name}")
    delivered = tuple(replace(target(one), environment=environment) for one in targets)
    workloads = (Workload("app", delivered, HERE),) if targets else ()
    return RegistrationReading(
        registered, "head" if targets else "kept", REVISION if targets else None, workloads
    )


def kept(*readings: RegistrationReading, sources: bytes | None = None) -> Kept:
    base = replace(BASE, sources=sources)
    snapshot = Snapshot("dev", Reading(REVISION), (), fleet(), readings, (base,), (), ())
    return Keeper(snapshot, []).of(base)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("app-web", False), ("app-api", True), ("gone", True)],
)
def test_at_first_adoption(name: str, expected: bool) -> None:
    """Nobody knows what the one that cannot be read delivers; what others deliver is theirs."""
    found = kept(reading("good", "web"), reading("lost"))
    assert found.keeps("large", name) == expected


def test_what_is_delivered_for_another_environment_is_not_known_here() -> None:
    found = kept(reading("good", "web", environment="stage"), reading("lost"))
    assert found.keeps("large", "app-web")


def test_nothing_is_kept_where_everything_can_be_read() -> None:
    assert not kept(reading("good", "web")).keeps("large", "gone")


def test_what_an_earlier_run_has_written_down() -> None:
    """`lost` was never read; what `good` once delivered is not its own."""
    sources = b"""{"schema": "kalypso.sources/v1", "environment": "dev",
        "registrations": {}, "targets": {"old-web": "good"}}"""
    found = kept(reading("good", "web"), reading("lost"), sources=sources)
    assert [found.keeps("large", one) for one in ("old-web", "app-web", "other")] == [
        False,
        False,
        True,
    ]
