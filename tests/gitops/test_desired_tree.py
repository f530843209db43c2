"""The folders that stay because a registration cannot be read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kalypso_actions.gitops.preserved_folders import PreservedFolders, preserved_folders
from kalypso_actions.model.documents import Revision
from kalypso_actions.model.kinds import Workload
from kalypso_actions.model.tree import BaseTree, RegistrationReading
from tests.breaks import breaks, returning, turned
from tests.builders import HERE, fleet, registration, target
from tests.plans import snapshot_of

REVISION = Revision("https://git.test/x", "main", "1" * 40, ".", "t")
BASE = BaseTree("gitops", "dev", "", {})


def reading(name: str, *targets: str, environment: str = "dev") -> RegistrationReading:
    """Return a registration with its targets; without targets, it cannot be read."""
    registered = registration(name, f"https://git.test/{name}")
    delivered = tuple(replace(target(name), environment=environment) for name in targets)
    workloads = (Workload("app", delivered, HERE),) if targets else ()
    return RegistrationReading(
        registered, "head" if targets else "kept", REVISION if targets else None, workloads
    )


def preserved(*readings: RegistrationReading, sources: bytes | None = None) -> PreservedFolders:
    base = replace(BASE, sources=sources)
    snapshot = snapshot_of(fleet(), *readings, base_trees=[base])
    (folders,) = preserved_folders(snapshot, [])
    return folders


@breaks(
    "what cannot be read is deleted",
    returning("kalypso_actions.gitops.provenance.PreviousSources.has_read", True),
)
@pytest.mark.parametrize(
    ("name", "expected"),
    [("app-web", False), ("app-api", True), ("gone", True)],
)
def test_at_first_adoption(name: str, expected: bool) -> None:
    """No run knows the targets of the unreadable registration; those of others are known."""
    folders = preserved(reading("good", "web"), reading("lost"))
    assert folders.includes("large", name) == expected


def test_targets_of_another_environment_are_not_known_here() -> None:
    folders = preserved(reading("good", "web", environment="stage"), reading("lost"))
    assert folders.includes("large", "app-web")


def test_nothing_is_preserved_if_everything_can_be_read() -> None:
    assert not preserved(reading("good", "web")).includes("large", "gone")


@breaks(
    "targets of an unreadable registration are deleted",
    turned(preserved_folders, "owner in unread", "False"),
)
def test_the_targets_that_an_earlier_run_recorded() -> None:
    sources = b"""{"schema": "kalypso.sources/v1", "environment": "dev", "registrations": {},
        "targets": {"old-web": "lost", "old-api": "good", "app-web": "lost"}}"""
    folders = preserved(reading("good", "api"), reading("lost"), sources=sources)
    kept = [name for name in ("old-web", "app-web", "old-api") if folders.includes("large", name)]
    assert kept == ["old-web", "app-web"]


@breaks(
    "targets of an unreadable registration without a record are deleted",
    turned(preserved_folders, "any(not previous.has_read(name) for name in unread)", "False"),
)
def test_the_record_of_an_earlier_run() -> None:
    """`lost` was never read; the former targets of `good` are not among its targets."""
    sources = b"""{"schema": "kalypso.sources/v1", "environment": "dev",
        "registrations": {}, "targets": {"old-web": "good"}}"""
    folders = preserved(reading("good", "web"), reading("lost"), sources=sources)
    assert [folders.includes("large", name) for name in ("old-web", "app-web", "other")] == [
        False,
        False,
        True,
    ]
