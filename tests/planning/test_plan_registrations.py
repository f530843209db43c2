"""A plan with an unreadable registration: preserved folders and records."""

from __future__ import annotations

import json

import pytest

from kalypso_actions.errors import Problem
from kalypso_actions.model.layout import README_TEXT
from kalypso_actions.planning.plan import PlanOptions
from tests.builders import HERE, fleet
from tests.plans import LARGE, plan, reading, tree


def test_an_unusable_registration_warns_or_blocks() -> None:
    unreadable = reading(state="kept", problems=[Problem("cannot be read", HERE)])
    kept = plan(fleet(cluster_types=[LARGE]), unreadable)
    assert ([p.message for p in kept.problems], kept.degraded) == ([], True)
    assert [w.message for w in kept.warnings] == ["cannot be read"]
    blocked = plan(
        fleet(cluster_types=[LARGE]), unreadable, options=PlanOptions(on_source_failure="block")
    )
    assert [p.message for p in blocked.problems] == ["cannot be read"]
    assert blocked.faults == ()


BASE = {
    "large/README.md": README_TEXT.decode(),
    "large/lost-a/reconciler.yaml": "x",
    "large/other-b/reconciler.yaml": "x",
}
SOURCES = b"""{"schema": "kalypso.sources/v1", "environment": "dev", "targets": {"lost-a": "app"},
"registrations": {"app": {"repository": "https://git.test/app", "branch": "main", "path": ".",
"commit": "1", "tree": "2"}}}"""


def test_without_sources_nothing_is_deleted_while_a_registration_is_unreadable() -> None:
    made = plan(fleet(cluster_types=[LARGE]), reading(state="kept"), base=BASE)
    assert made.changes.deleted == ()


def test_with_sources_the_targets_of_an_unreadable_registration_stay() -> None:
    made = plan(fleet(cluster_types=[LARGE]), reading(state="kept"), base=BASE, sources=SOURCES)
    assert made.changes.deleted == ("large/other-b/reconciler.yaml",)
    written = made.changes.files[".github/tracking/sources.json"]
    assert b'"lost-a": "app"' in written
    assert b'"commit": "1"' in written


def test_an_unreadable_registration_that_no_run_has_read_keeps_what_may_be_its_own() -> None:
    """This is the second run after an adoption that could not read it, or after a renaming."""
    made = plan(
        fleet(cluster_types=[LARGE]),
        reading(state="head"),
        reading(name="unread", state="kept"),
        base={**BASE, "large/left-c/reconciler.yaml": "x"},
        sources=SOURCES.replace(b'"targets": {', b'"targets": {"left-c": "renamed",'),
    )
    assert made.changes.deleted == ("large/lost-a/reconciler.yaml",)
    assert b'"left-c": "renamed"' in made.changes.files[".github/tracking/sources.json"]


@pytest.mark.parametrize(
    ("sources", "recorded"),
    [
        (None, None),
        (SOURCES, "1"),
        (SOURCES.replace(b'"1"', b"null"), None),
        (SOURCES.replace(b"git.test/app", b"git.test/App.git"), "1"),
        (SOURCES.replace(b"git.test/app", b"git.test/before"), None),
    ],
)
def test_a_never_readable_registration_is_recorded_without_a_commit(
    sources: bytes | None, recorded: str | None
) -> None:
    """poll starts schedule as soon as the registration can be read."""
    made = plan(fleet(cluster_types=[LARGE]), reading(state="kept"), base=BASE, sources=sources)
    written = json.loads(made.changes.files[".github/tracking/sources.json"])
    entry = written["registrations"]["app"]
    assert entry["commit"] == recorded
    if recorded is None:
        place = {"repository": "https://git.test/app", "branch": "main", "path": "."}
        assert entry == {**place, "commit": None, "tree": None}


def test_a_registration_that_is_recorded_but_was_never_read_keeps_what_may_be_its_own() -> None:
    """This is the second run after an adoption that could not read it."""
    never = SOURCES.replace(b'"lost-a": "app"', b"").replace(b'"1"', b"null")
    made = plan(fleet(cluster_types=[LARGE]), reading(state="kept"), base=BASE, sources=never)
    assert made.changes.deleted == ()


def test_another_environments_sources_say_nothing_of_this_one() -> None:
    made = plan(
        fleet(cluster_types=[LARGE]),
        reading(state="kept"),
        base=BASE,
        sources=SOURCES.replace(b"dev", b"stage"),
    )
    assert made.changes.deleted == ()


def test_the_targets_known_to_one_branch_are_kept_in_all() -> None:
    """Only one of two GitOpsRepos is merged."""
    made = plan(
        fleet(cluster_types=[LARGE]),
        reading(state="kept"),
        base=BASE,
        sources=SOURCES.replace(b'"lost-a": "app"', b'"other-b": "gone"'),
        others=[tree(BASE, SOURCES), tree(BASE)],
    )
    assert [changes.preserved_folders for changes in made.trees] == [
        ("large/lost-a",),
        ("large/lost-a",),
        ("large/lost-a", "large/other-b"),  # both may belong to the registration
    ]
    written = {changes.files[".github/tracking/sources.json"] for changes in made.trees}
    assert len(written) == 1
    assert b'"lost-a": "app"' in written.pop()


def test_a_removed_registration_takes_its_targets_along() -> None:
    made = plan(fleet(cluster_types=[LARGE]), base=BASE, sources=SOURCES)
    assert made.changes.deleted == (
        "large/lost-a/reconciler.yaml",
        "large/other-b/reconciler.yaml",
    )
