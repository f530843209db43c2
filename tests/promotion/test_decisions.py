from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.promotion import (
    Advance,
    Merge,
    advance,
    first_environments,
    meaning_of_push,
    next_environments,
)
from kalypso_actions.promotion import statuses as status_table

OLD, NEW = "0" * 40, "1" * 40


def environments(**annotations: str) -> dict[str, Environment]:
    """`dev="first next=stage"`: environments and their annotations."""
    found = {}
    for name, text in annotations.items():
        notes = {}
        for word in text.split():
            key, _, value = word.partition("=")
            notes[f"kalypso.io/{key}{'-environment'}"] = value or "true"
        place = RepositoryPath("https://github.com/acme/fleet", name, ".")
        where = Location("https://github.com/acme/fleet", f".environments/{name}.yaml")
        found[name] = Environment(name, place, notes, where)
    return found


@pytest.mark.parametrize(
    ("given", "annotations", "first"),
    [
        (("prod",), {"dev": "", "prod": ""}, ("prod",)),
        (("dev", "dev"), {"dev": ""}, ("dev",)),
        ((), {"dev": "", "lab": "first", "qa": "first"}, ("lab", "qa")),
        ((), {"dev": "", "lab": "first=false", "qa": ""}, ("dev",)),
        # Only where something names a next one does not being named mean anything.
        ((), {"qa": "next=prod", "prod": "", "lab": ""}, ("qa", "lab")),
        ((), {"dev": "", "stage": "", "prod": ""}, ("dev",)),
        ((), {"production": ""}, ("production",)),
        # All name each other: dev, as upstream.
        ((), {"dev": "next=stage", "stage": "next=dev"}, ("dev",)),
    ],
)
def test_first_environments(
    given: tuple[str, ...], annotations: dict[str, str], first: tuple[str, ...]
) -> None:
    assert first_environments(given, environments(**annotations)) == first


def test_no_first_environment_is_an_error_with_advice() -> None:
    with pytest.raises(KalypsoError) as unclear:
        first_environments((), environments(a="", b=""))
    assert "kalypso.io/first-environment" in unclear.value.problem.advice
    with pytest.raises(KalypsoError, match="main has no Environment object"):
        first_environments((), {})
    with pytest.raises(UsageError, match="first-environments: there is no Environment 'x'"):
        first_environments(("x",), environments(dev=""))


@pytest.mark.parametrize(
    ("given", "after"),
    [((), ("qa", "perf")), (("prod",), ("prod",)), (("prod", "prod"), ("prod",))],
)
def test_next_environments(given: tuple[str, ...], after: tuple[str, ...]) -> None:
    known = environments(dev="next=qa,perf", qa="next=prod", perf="next=prod", prod="")
    assert next_environments(given, "dev", known) == after


def test_a_next_environment_that_does_not_exist() -> None:
    with pytest.raises(KalypsoError) as caught:
        next_environments((), "dev", environments(dev="next=stagge", stage=""))
    assert caught.value.problem.where == Location(
        "https://github.com/acme/fleet", ".environments/dev.yaml"
    )
    with pytest.raises(UsageError):
        next_environments(("x",), "dev", environments(dev=""))
    assert next_environments((), "prod", environments(dev="", prod="")) == ()
    assert next_environments((), "gone", environments(dev="")) == ()


@pytest.mark.parametrize(
    ("current", "relation", "promoted_from", "rollback", "decision"),
    [
        (NEW, "identical", "", False, Advance("unchanged")),
        (NEW, None, "dev", True, Advance("unchanged")),
        (None, None, "", False, Advance("write")),
        (OLD, None, "", False, Advance("write")),
        (OLD, "ahead", "", False, Advance("write")),
        (OLD, "ahead", "ci", False, Advance("write")),
        (OLD, "behind", "dev", False, Advance("superseded")),
        (OLD, "diverged", "ci", False, Advance("superseded")),
        (OLD, "behind", "dev", True, Advance("superseded")),
        (OLD, "behind", "", True, Advance("write", rollback=True)),
        (OLD, "diverged", "", True, Advance("write", rollback=True)),
    ],
)
def test_what_cd_does(
    current: str | None, relation: Any, promoted_from: str, rollback: bool, decision: Advance
) -> None:
    assert (
        advance(
            current,
            NEW,
            relation=relation,
            promoted_from=promoted_from,
            allow_rollback=rollback,
        )
        == decision
    )


@pytest.mark.parametrize("relation", ["behind", "diverged"])
def test_nobody_goes_back_by_accident(relation: Any) -> None:
    with pytest.raises(UsageError) as caught:
        advance(OLD, NEW, relation=relation, promoted_from="", allow_rollback=False)
    assert "allow-rollback" in caught.value.problem.advice


DEPLOYED = status_table.deployed("dev", is_last=False)
FAILED = status_table.failed("dev", "x")


@pytest.mark.parametrize(
    ("before", "after", "back", "base", "latest", "merge"),
    [
        (None, NEW, False, NEW, None, Merge("promotion", NEW)),
        (OLD, NEW, False, NEW, None, Merge("promotion", NEW)),
        # The branch has moved on since: it is a promotion all the same.
        (OLD, NEW, False, OLD, None, Merge("promotion", NEW)),
        (NEW, OLD, True, OLD, None, Merge("promotion", OLD)),
        (NEW, OLD, True, NEW, None, Merge("revert")),
        (NEW, OLD, True, None, FAILED, Merge("revert")),
        (NEW, None, False, NEW, FAILED, Merge("revert")),
        (None, None, False, None, None, Merge("configuration")),
        (NEW, NEW, False, NEW, None, Merge("configuration")),
        (NEW, NEW, False, NEW, DEPLOYED, Merge("configuration")),
        (NEW, NEW, False, NEW, FAILED, Merge("continuation", NEW)),
        (NEW, NEW, False, NEW, status_table.deploying("dev"), Merge("continuation", NEW)),
        (NEW, NEW, False, NEW, CommitStatus("dev environment", "success", "ok"), Merge("configuration")),
    ],
)  # fmt: skip
def test_what_a_push_means(
    before: str | None, after: str | None, back: bool, base: str | None, latest: Any, merge: Merge
) -> None:
    found = meaning_of_push(before, after, goes_back=back, base_commit=base, latest=latest)
    assert found == merge


@pytest.mark.parametrize(
    ("status", "state", "description", "is_open"),
    [
        (status_table.promoted("dev"), "pending", "Promoted", True),
        (status_table.waiting_for("dev", 7), "pending", "Waiting for #7", True),
        (status_table.deploying("dev"), "pending", "Deploying", True),
        (status_table.deployed("dev", is_last=False), "pending", "Deployed", False),
        (status_table.deployed("dev", is_last=True), "success", "Deployed", False),
        (status_table.failed("dev", "a\n b"), "failure", "Failed to deploy: a b", True),
        (status_table.superseded("dev", NEW), "pending", "Superseded by 1111111", True),
        (status_table.rolled_back("dev", OLD), "pending", "Rolled back to 0000000", True),
        (CommitStatus("dev environment", "failure", "Failed to deploy"), "failure", "Failed to deploy", True),
    ],
)  # fmt: skip
def test_the_table_of_statuses(
    status: CommitStatus, state: str, description: str, is_open: bool
) -> None:
    assert (status.context, status.state, status.description) == (
        "dev environment",
        state,
        description,
    )
    assert status_table.is_open(status) == is_open
    assert status_table.is_deployed(status) != is_open


@pytest.mark.parametrize(
    ("status", "before"),
    [
        (status_table.promoted("dev"), True),
        (status_table.waiting_for("dev", 7), True),
        (status_table.deploying("dev"), False),
        (status_table.deployed("dev", is_last=True), False),
        (status_table.superseded("dev", NEW), False),
        (None, False),
    ],
)
def test_what_knows_of_no_merge_yet(status: CommitStatus | None, before: bool) -> None:
    assert status_table.is_before_merge(status) == before


def test_a_description_is_as_long_as_github_allows() -> None:
    assert len(status_table.failed("dev", "long " * 100).description) == 140
    assert not status_table.is_open(None)
    assert not status_table.is_deployed(None)
