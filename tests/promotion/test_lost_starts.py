"""Whether a recorded start was lost, and whether poll repeats it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.errors import Location
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.promotion.lost_starts import (
    MOST_ATTEMPTS,
    Repair,
    inputs_digest,
    is_at_rest,
    may_be_run_of,
    may_rest,
    overdue,
    schedule_due,
)
from kalypso_actions.promotion.start_records import UNREAD, Command, StartRecord, read_record
from tests.breaks import breaks, negated, turned
from tests.promotion.dated_records import NOON, record

LIMIT = timedelta(minutes=10)
M, OTHER = "a" * 40, "b" * 40


@breaks(
    "a lost start with force is repeated without it",
    turned(overdue, "record.force", "False"),
)
@breaks(
    "a start is repeated for ever",
    turned(
        overdue,
        "record.attempt + 1 if record.attempt < MOST_ATTEMPTS else 0",
        "record.attempt + 1",
    ),
)
@pytest.mark.parametrize(
    ("made", "repair"),
    [
        (record(minutes=0), None),
        (record(minutes=9.9), None),
        (record(minutes=10), Repair(2)),
        (record(minutes=None), Repair(2)),
        (record(attempt=2), Repair(3)),
        (replace(record(attempt=2), force=True), Repair(3, force=True)),
        (record(attempt=MOST_ATTEMPTS - 1), Repair(MOST_ATTEMPTS)),
        (record(attempt=MOST_ATTEMPTS), Repair(0)),
        (record(attempt=MOST_ATTEMPTS + 1), Repair(0)),
        (record(attempt=MOST_ATTEMPTS, minutes=9), None),
        *((record(kind), None) for kind in ("received", "not needed", "given up")),
    ],
)
def test_overdue_starts(made: StartRecord, repair: Repair | None) -> None:
    assert overdue(made, now=NOON, repair_after=LIMIT) == repair


def test_three_attempts_at_most() -> None:
    assert MOST_ATTEMPTS == 3


CD = {"environment": "dev", "commit": M}
CHECK = {"environment": "dev", "commit": M, "repository": "Acme/GitOps"}
SCHEDULE = {"environment": "dev"}


@breaks("a run that waits is doubled", negated(may_be_run_of))
@pytest.mark.parametrize(
    ("title", "command", "facts", "may_be"),
    [
        (f"{M} to dev", "cd", CD, True),
        (f" {M} to Dev\n", "cd", CD, True),
        (f"{M} to stage", "cd", CD, False),
        (f"{OTHER} to dev", "cd", CD, False),
        (f"{M} to dev2", "cd", CD, False),
        ("CD", "cd", CD, True),
        ("abcdef0 to stage", "cd", CD, True),
        ("", "cd", CD, True),
        (f"Check dev with {M}", "check-promote", CHECK, True),
        (f"Check dev with {M} acme/gitops", "check-promote", CHECK, True),
        (f"Check dev with {M} acme/other", "check-promote", CHECK, False),
        (f"Check dev with {OTHER} acme/gitops", "check-promote", CHECK, False),
        (f"Check stage with {M} acme/gitops", "check-promote", CHECK, False),
        (f"{M} to stage", "check-promote", CHECK, True),
        ("Schedule dev", "schedule", SCHEDULE, True),
        ("Schedule stage", "schedule", SCHEDULE, False),
        ("Our own schedule of stage", "schedule", SCHEDULE, True),
    ],
)
def test_runs_that_may_come_from_a_start(
    title: str, command: Command, facts: dict[str, str], may_be: bool
) -> None:
    assert may_be_run_of(title, command, facts) == may_be


DIGEST, CHANGED = "0123456789abcdef", "fedcba9876543210"


@pytest.mark.parametrize(
    ("made", "repair"),
    [
        pytest.param(None, Repair(1), id="never looked at"),
        pytest.param(record("scheduled", subject=DIGEST), None, id="scheduled"),
        pytest.param(record("blocked", subject=DIGEST), None, id="blocked"),
        pytest.param(record("given up", subject=DIGEST), None, id="given up"),
        pytest.param(record("scheduled", subject=CHANGED, minutes=0), Repair(1), id="changed"),
        pytest.param(record("blocked", subject=CHANGED), Repair(1), id="blocked, changed"),
        pytest.param(record("given up", subject=CHANGED), Repair(1), id="given up, changed"),
        pytest.param(record(subject=DIGEST, minutes=1), None, id="a young start"),
        pytest.param(record(subject=UNREAD, minutes=1), None, id="a young start, unread"),
        pytest.param(record(subject=CHANGED, minutes=1), None, id="a young start, changed"),
        pytest.param(record(subject=DIGEST, attempt=2), Repair(3), id="a lost start"),
        pytest.param(record(subject=UNREAD, attempt=2), Repair(3), id="a lost start, unread"),
        pytest.param(record(subject=DIGEST, attempt=3), Repair(0), id="the last start"),
        pytest.param(record(subject=UNREAD, attempt=3), Repair(0), id="the last start, unread"),
        pytest.param(record(subject=CHANGED, attempt=2), Repair(1), id="lost, then changed"),
        pytest.param(record(subject=CHANGED, attempt=3), Repair(1), id="the last, then changed"),
    ],
)
def test_when_schedule_is_due(made: StartRecord | None, repair: Repair | None) -> None:
    assert schedule_due(made, DIGEST, now=NOON, repair_after=LIMIT) == repair


@breaks(
    "poll starts schedule again and again in the minute that is over",
    turned(
        "kalypso_actions.promotion.lost_starts.is_over",
        "minute > record.again_at",
        "now >= record.again_at",
    ),
)
@pytest.mark.parametrize(
    ("minutes", "repair"),
    [pytest.param(0, None, id="not-yet"), pytest.param(1, Repair(1), id="over")],
)
def test_schedule_is_due_once_its_time_is_over(minutes: int, repair: Repair | None) -> None:
    made = StartRecord("scheduled", DIGEST, again_at=NOON)
    now = NOON + timedelta(minutes=minutes, seconds=30)
    assert schedule_due(made, DIGEST, now=now, repair_after=LIMIT) == repair
    status = made.status("kalypso / schedule dev")
    assert read_record(status) == made
    received = StartRecord("received", DIGEST)
    assert schedule_due(received, DIGEST, now=now, repair_after=LIMIT) is None


@breaks(
    "another attempt repairs nothing",
    turned(may_rest, "attempt == 1", "attempt"),
)
@pytest.mark.parametrize(
    ("event", "attempt", "force", "may"),
    [
        ("schedule", 1, False, True),
        ("schedule", 2, False, False),
        ("schedule", 1, True, False),
        ("workflow_dispatch", 1, False, False),
        ("push", 1, False, False),
        ("", 1, False, False),
    ],
)
def test_only_a_run_by_the_clock_may_rest(event: str, attempt: int, force: bool, may: bool) -> None:
    assert may_rest(event, attempt, force=force) == may


RESTING = StartRecord("scheduled", DIGEST, run=CHANGED, assignments=4)


@breaks(
    "a run rests although its code is another",
    turned(
        is_at_rest,
        "record.run == run != ''",
        "record.run != ''",
    ),
)
@breaks(
    "a run by the clock rests after the time of a placement",
    turned(is_at_rest, "not is_over(record, now)", "record"),
)
@pytest.mark.parametrize(
    ("made", "digest", "run", "rests"),
    [
        pytest.param(RESTING, DIGEST, CHANGED, True, id="nothing has moved"),
        pytest.param(None, DIGEST, CHANGED, False, id="no record"),
        pytest.param(RESTING, CHANGED, CHANGED, False, id="other inputs"),
        pytest.param(RESTING, DIGEST, DIGEST, False, id="other code"),
        pytest.param(replace(RESTING, run=""), DIGEST, "", False, id="something was left"),
        pytest.param(replace(RESTING, kind="blocked"), DIGEST, CHANGED, False, id="blocked"),
        pytest.param(replace(RESTING, kind="starting"), DIGEST, CHANGED, False, id="starting"),
        pytest.param(
            replace(RESTING, again_at=NOON), DIGEST, CHANGED, True, id="in the minute it waits for"
        ),
        pytest.param(
            replace(RESTING, again_at=NOON - timedelta(minutes=1)),
            DIGEST,
            CHANGED,
            False,
            id="after it",
        ),
    ],
)
def test_environments_at_rest(made: StartRecord | None, digest: str, run: str, rests: bool) -> None:
    assert is_at_rest(made, digest, run, NOON) == rests


SHOP = RepositoryPath("https://git.test/acme/shop", "main", "workload")
TEA = RepositoryPath("https://git.test/acme/tea", "main", ".")
T, OTHER = "a" * 40, "b" * 40
HEAD, OWN = "c" * 40, "d" * 40

FOLDERS: Mapping[RepositoryPath, str | None] = {SHOP: T}


def branch(
    repository: str = "acme/gitops", name: str = "dev", head: str = HEAD, **pulls: str
) -> GitOpsBranch:
    """Return a GitOps branch; pull requests are written `pr<number>=<head>`."""
    numbers = {int(key.removeprefix("pr")): commit for key, commit in pulls.items()}
    return GitOpsBranch(repository, "", name, "", Location(""), head=head, own_pulls=numbers)


@breaks(
    "what has moved is not polled",
    turned(
        inputs_digest,
        "['folder', place.repo, place.branch, place.path, tree]",
        "['folder', place.repo, place.branch, place.path]",
    ),
)
@pytest.mark.parametrize(
    ("folders", "branches"),
    [
        pytest.param({SHOP: OTHER}, [branch()], id="another tree"),
        pytest.param({SHOP: None}, [branch()], id="a folder that is gone"),
        pytest.param({}, [branch()], id="no registration"),
        pytest.param({SHOP: T, TEA: None}, [branch()], id="one more that cannot be seen"),
        pytest.param(
            {RepositoryPath(SHOP.repo, "dev", SHOP.path): T}, [branch()], id="another branch"
        ),
        pytest.param(
            {RepositoryPath(SHOP.repo, SHOP.branch, "apps"): T}, [branch()], id="another path"
        ),
        pytest.param({TEA: T}, [branch()], id="another repository"),
        pytest.param({SHOP: T}, [], id="no GitOps branch"),
        pytest.param({SHOP: T}, [branch(head=OTHER)], id="another head of the GitOps branch"),
        pytest.param({SHOP: T}, [branch(name="stage")], id="another GitOps branch"),
        pytest.param({SHOP: T}, [branch("acme/other")], id="another GitOps repository"),
        pytest.param({SHOP: T}, [branch(), branch("acme/other")], id="one GitOps branch more"),
        pytest.param({SHOP: T}, [branch(pr1=OWN)], id="our pull request"),
    ],
)
def test_what_changes_the_digest(
    folders: Mapping[RepositoryPath, str | None], branches: Sequence[GitOpsBranch]
) -> None:
    assert inputs_digest(folders, branches) != inputs_digest(FOLDERS, [branch()])


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(branch(), id="closed or merged"),
        pytest.param(branch(pr1=OTHER), id="somebody has pushed to it"),
        pytest.param(branch(pr2=OWN), id="another one"),
        pytest.param(branch(pr1=OWN, pr2=OWN), id="one more"),
    ],
)
def test_the_state_of_our_pull_request_changes_the_digest(other: GitOpsBranch) -> None:
    assert inputs_digest(FOLDERS, [other]) != inputs_digest(FOLDERS, [branch(pr1=OWN)])


def test_the_case_of_the_gitops_repository_does_not() -> None:
    upper, lower = branch("Acme/GitOps"), branch("acme/gitops")
    assert inputs_digest(FOLDERS, [upper]) == inputs_digest(FOLDERS, [lower])


def test_the_digest_fits_into_a_description() -> None:
    assert re.fullmatch("[0-9a-f]{16}", inputs_digest({}, []))


NAMES = st.text(max_size=4)
IDS = st.sampled_from([T, OTHER])
PLACES = st.builds(RepositoryPath, NAMES, NAMES, NAMES)
BRANCHES = st.builds(
    lambda repository, name, head, pulls: GitOpsBranch(
        repository, "", name, "", Location(""), head=head, own_pulls=pulls
    ),
    NAMES,
    NAMES,
    IDS,
    st.dictionaries(st.integers(1, 9), IDS, max_size=3),
)


@given(
    folders=st.lists(
        st.tuples(PLACES, st.none() | IDS), max_size=4, unique_by=lambda folder: folder[0]
    ),
    branches=st.lists(BRANCHES, max_size=4),
    data=st.data(),
)
def test_the_order_does_not_matter(
    folders: list[tuple[RepositoryPath, str | None]],
    branches: list[GitOpsBranch],
    data: st.DataObject,
) -> None:
    shuffled = dict(data.draw(st.permutations(folders)))
    turned = [
        replace(branch, own_pulls=dict(reversed(list(branch.own_pulls.items()))))
        for branch in data.draw(st.permutations(branches))
    ]
    assert inputs_digest(shuffled, turned) == inputs_digest(dict(folders), branches)


@given(first=PLACES, second=PLACES)
def test_two_folders_are_told_apart(first: RepositoryPath, second: RepositoryPath) -> None:
    same = inputs_digest({first: T}, []) == inputs_digest({second: T}, [])
    assert same == (first == second)
