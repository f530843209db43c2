"""The writes of check-promote as values, by its verdict."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from kalypso_actions.commands.check_promote.reading import VerifiedRequest
from kalypso_actions.commands.check_promote.writes import CheckPromoteWrites, refusal
from kalypso_actions.compliance import Cluster, Verdict
from kalypso_actions.errors import Location
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.model.writes import PostStatus, Write, parts
from kalypso_actions.promotion import statuses
from kalypso_actions.promotion.requests import PromotionRequest
from kalypso_actions.promotion.start_records import Kind, StartRecord
from kalypso_actions.promotion.starts import cd_start
from tests.breaks import breaks, turned

PLANE, MAIN, MERGED, LATER = "acme/fleet", "a" * 40, "b" * 40, "c" * 40
STATUS = "post status: dev environment: {} (on aaaaaaa)"
RECORD = "post status: kalypso / check-promote dev acme/gitops: {} (on aaaaaaa)"


def writes(promoted_commit: str | None = MAIN, onward: tuple[str, ...] = ()) -> CheckPromoteWrites:
    branch = GitOpsBranch("acme/gitops", "https://x/acme/gitops", "dev", "", Location(""))
    request = PromotionRequest("dev", promoted_commit, MERGED)
    started = datetime(2026, 1, 1, tzinfo=UTC)
    none: Any = None
    verified = VerifiedRequest(request, none, {}, {branch: MAIN}, (), none, onward, started)
    return CheckPromoteWrites(verified, PLANE, "cd.yaml")


def lines(made: tuple[Write, ...]) -> list[str]:
    return [f"{part.kind}: {part.what}" for write in made for part in parts(write)]


@breaks(
    "a rolled back commit counts as superseded",
    turned(CheckPromoteWrites.after, "verdict.goes_back", "False"),
)
@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (Verdict("compliant"), "Deployed"),
        (Verdict("nothing-scheduled"), "Deployed"),
        (Verdict("failed", "why"), "Failed to deploy: why"),
        (Verdict("none-targeted", "none"), "Failed to deploy: none"),
        (Verdict("timed-out", "late"), "Failed to deploy: late"),
        (Verdict("superseded", by=LATER), "Superseded by ccccccc"),
        (Verdict("superseded", by=LATER, goes_back=True), "Rolled back to ccccccc"),
        (Verdict("superseded", goes_back=True), "Rolled back to none"),
    ],
)
def test_the_status_after_a_verdict(verdict: Verdict, status: str) -> None:
    assert lines(writes().after(verdict)) == [STATUS.format(status)]
    assert writes(None).after(verdict) == ()


def test_the_run_of_another_merge_posts_the_status_of_a_waiting_promotion() -> None:
    assert writes().after(Verdict("waiting", "other does not hold the commit yet")) == ()


@breaks(
    "a deployed commit stays pending while a next environment exists",
    turned(statuses.deployed, '"success"', '"pending"'),
)
@pytest.mark.parametrize("onward", [(), ("stage",)])
def test_deployed_is_success_in_each_environment(onward: tuple[str, ...]) -> None:
    *_, post = writes(onward=onward).after(Verdict("compliant"))
    assert isinstance(post, PostStatus)
    assert isinstance(post.status, CommitStatus)
    assert (post.status.state, post.keeps_deployed) == ("success", True)


@breaks(
    "a commit is deployed before the next environment is started",
    turned(
        CheckPromoteWrites.after,
        "(*starts, *self._status(statuses.deployed(name)))",
        "(*self._status(statuses.deployed(name)), *starts)",
    ),
)
@breaks(
    "a commit on its way to the next environment is green",
    turned(cd_start, "statuses.awaits_cd(environment)", "statuses.deployed(environment)"),
)
def test_next_environments_are_started_before_the_commit_is_deployed() -> None:
    made = lines(writes(onward=("stage", "lab")).after(Verdict("compliant")))
    assert [line.partition(" (")[0] for line in made] == [
        "post status: stage environment: Waiting: cd",
        "post status: kalypso / cd stage: Starting, attempt 1: dev",
        "start workflow: cd.yaml",
        "post status: lab environment: Waiting: cd",
        "post status: kalypso / cd lab: Starting, attempt 1: dev",
        "start workflow: cd.yaml",
        "post status: dev environment: Deployed",
    ]


def test_another_run_continues_an_open_verdict() -> None:
    record, start = lines(writes().after(Verdict("waiting", is_open=True)))
    assert record == RECORD.format(f"Starting, attempt 1: {MERGED}")
    assert start.startswith("start workflow: check-promote.yaml (environment dev, ")
    assert start.endswith("started_at 2026-01-01T00:00:00+00:00)")


@breaks(
    "the end of a run replaces the start of a later merge",
    turned(CheckPromoteWrites.ended, "latest.subject not in checked", "False"),
)
@breaks(
    "the numbers replace the start of a later merge",
    turned(CheckPromoteWrites.numbers, "latest.subject == gitops_commit", "True"),
)
@pytest.mark.parametrize(
    ("kind", "subject", "numbers", "ended"),
    [
        ("received", MERGED, True, True),
        ("received", LATER, False, True),
        ("starting", MERGED, False, True),
        ("starting", LATER, False, False),
        ("refused", MERGED, False, True),
        (None, "", False, True),
    ],
)
def test_the_start_of_a_later_merge_keeps_its_record(
    kind: Kind | None, subject: str, numbers: bool, ended: bool
) -> None:
    latest = StartRecord(kind, subject) if kind else None
    cluster = Cluster("/c", "large", "compliant", "", "")
    seen = Verdict("waiting", clusters=(cluster, replace(cluster, state="failed")))
    counted = RECORD.format(f"Received: {MERGED}, 1/2 clusters comply")
    assert lines(writes().numbers(seen, latest)) == [counted] * numbers
    received = RECORD.format(f"Received: {MERGED}")
    assert lines(writes().ended(latest, MERGED)) == [received] * ended


@breaks("any claim is recorded as refused", turned(refusal, 'latest.kind == "starting"', "True"))
def test_only_a_recorded_start_is_refused() -> None:
    request = PromotionRequest("dev", MAIN, MERGED, "acme/gitops")
    started = StartRecord("starting", MERGED)
    refused = RECORD.format(f"Refused: {MERGED}")
    assert lines(refusal(request, started, PLANE)) == [refused]
    for other in (None, replace(started, kind="received"), replace(started, subject=LATER)):
        assert refusal(request, other, PLANE) == ()
