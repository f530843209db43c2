"""The state of configurations over time: tables of seconds after the start."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_sandbox.azure.sync import SyncState, sync_state
from tests.sandbox.azure.builders import at, configuration, pushes, sha

HISTORY = pushes((0, "a"), (100, "b"), (105, "c"))

NOTHING = ("", "waiting")


def at_second(seconds: float, broken: str = "", **fields: Any) -> SyncState:
    return sync_state(
        configuration(**fields), HISTORY, lambda commit: commit in broken, at(seconds)
    )


def seen(seconds: float, broken: str = "", **fields: Any) -> tuple[str, str]:
    """Return the first digit of the commit, and the phase."""
    state = at_second(seconds, broken, **fields)
    return state.commit[:1], state.phase


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-1, NOTHING),
        (0, NOTHING),
        (29, NOTHING),
        (30, ("a", "applying")),
        (34, ("a", "applying")),
        (35, ("a", "depending")),
        (39, ("a", "depending")),
        (40, ("a", "ready")),
        (129, ("a", "ready")),
        (130, ("b", "applying")),
        # The newer commit waits for the health check.
        (135, ("c", "depending")),
        (140, ("c", "applying")),
        (150, ("c", "ready")),
        (9999, ("c", "ready")),
    ],
)
def test_following_takes_every_head_after_the_delay(
    seconds: float, expected: tuple[str, str]
) -> None:
    assert seen(seconds, delay=30, settle=10) == expected


@pytest.mark.parametrize(
    ("seconds", "source", "applied", "phase"),
    [
        pytest.param(0, "a", "", "applying", id="nothing was applied before"),
        pytest.param(20, "a", "a", "ready", id="begins after a delay"),
        pytest.param(100, "b", "a", "ready", id="a new source, an old state"),
        pytest.param(119, "c", "a", "ready", id="another replaces it"),
        pytest.param(125, "c", "c", "ready", id="begins with the newest"),
    ],
)
def test_kustomizations_begin_later_than_the_source(
    seconds: float, source: str, applied: str, phase: str
) -> None:
    state = at_second(seconds, reconcile_delay=20)
    assert (state.commit[:1], state.applied[:1], state.phase) == (source, applied, phase)


def test_a_failure_is_left_over_until_the_kustomizations_begin() -> None:
    given: dict[str, Any] = {"behaviour": "fail", "reconcile_delay": 20}
    state = at_second(124, sha("a"), **given)
    assert (state.phase, state.synced_at, state.changed_at) == ("failing", at(105), at(20))
    assert at_second(125, sha("a"), **given).phase == "ready"


def test_nested_kustomizations_follow_later_than_those_that_apply_them() -> None:
    given: dict[str, Any] = {"behaviour": "fail", "reconcile_delay": 20, "nested_delay": 10}
    state = at_second(134, sha("a"), **given)
    assert (state.phase, state.changed_at, state.nested_since) == ("failing", at(125), at(20))
    assert state.applied == sha("c")
    assert at_second(135, sha("a"), **given).phase == "ready"
    assert at_second(134, sha("b"), **given).phase == "ready"


def test_following_without_delays_is_ready_at_once() -> None:
    assert seen(0) == ("a", "ready")


def test_the_times_of_a_sync() -> None:
    state = at_second(37, delay=30, settle=10, reports_every=1)
    assert (state.synced_at, state.changed_at, state.reported_at) == (at(30), at(35), at(37))


@pytest.mark.parametrize(
    ("seconds", "reported"),
    [(0, 0), (59, 30), (60, 60), (75, 75), (80, 80), (89, 80), (90, 90), (119, 90)],
)
def test_reports_come_regularly_and_with_every_change(seconds: float, reported: float) -> None:
    state = sync_state(
        configuration(delay=20, settle=10), pushes((50, "a")), lambda _: False, at(seconds)
    )
    assert state.reported_at == at(reported)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, ("a", "ready")),
        (101, ("b", "applying")),
        (104, ("b", "failing")),
        (105, ("c", "applying")),
        (109, ("c", "ready")),
    ],
)
def test_failing_is_for_broken_commits_and_their_repair_succeeds(
    seconds: float, expected: tuple[str, str]
) -> None:
    given = {"settle": 0 if seconds == 0 else 4}
    assert seen(seconds, sha("b"), behaviour="fail", **given) == expected


def test_a_failure_begins_when_the_sync_has_settled() -> None:
    state = at_second(200, sha("c"), behaviour="fail", delay=10, settle=4)
    assert (state.phase, state.changed_at) == ("failing", at(119))


@pytest.mark.parametrize(
    ("seconds", "phase", "since"),
    [
        (7, "depending", 5),
        (10, "ready", 10),
        (69, "ready", 10),
        (70, "failing", 70),
        (99, "failing", 70),
    ],
)
def test_flapping_takes_turns(seconds: float, phase: str, since: float) -> None:
    state = at_second(seconds, behaviour="flap", settle=10, period=60)
    assert (state.phase, state.changed_at) == (phase, at(since))


@pytest.mark.parametrize("behaviour", ["stall", "suspended", "disconnected"])
@pytest.mark.parametrize(
    ("since", "expected"),
    [(None, NOTHING), (0, NOTHING), (50, ("a", "ready")), (104, ("a", "ready"))],
)
def test_a_stalled_cluster_keeps_its_last_commit(
    behaviour: str, since: float | None, expected: tuple[str, str]
) -> None:
    given: dict[str, Any] = {"behaviour": behaviour, "since": since if since is None else at(since)}
    assert seen(9999, delay=30, settle=10, **given) == expected


@pytest.mark.parametrize(
    ("behaviour", "since", "reported"),
    [
        ("stall", 61, 9990),
        ("suspended", 61, 9990),
        ("disconnected", 61, 60),
        ("disconnected", None, None),
        ("stall", None, 9990),
    ],
)
def test_only_the_disconnected_stop_reporting(
    behaviour: str, since: float | None, reported: float | None
) -> None:
    given: dict[str, Any] = {"behaviour": behaviour, "since": since if since is None else at(since)}
    state = at_second(9999, **given)
    assert state.reported_at == (reported if reported is None else at(reported))


@pytest.mark.parametrize(
    ("seconds", "commit", "expected"),
    [
        (100, "", ("b", "ready")),
        (105, "", ("c", "ready")),
        (-1, sha("f"), NOTHING),
        (105, sha("f"), ("f", "ready")),
        (0, sha("c"), ("c", "ready")),
    ],
)
def test_ahead_has_a_given_commit_or_the_newest_before_all_others(
    seconds: float, commit: str, expected: tuple[str, str]
) -> None:
    assert seen(seconds, behaviour="ahead", commit=commit, delay=1000) == expected


def test_a_behaviour_has_no_past() -> None:
    state = at_second(200, sha("c"), behaviour="fail", since=at(150), settle=10)
    assert (state.phase, state.synced_at, state.changed_at) == ("failing", at(150), at(160))


def test_other_sources_follow_no_branch() -> None:
    state = at_second(50, source_kind="Bucket")
    assert (state.commit, state.phase) == ("", "ready")


def test_the_same_moment_gives_the_same_answer() -> None:
    assert at_second(137.5, delay=30, settle=10) == at_second(137.5, delay=30, settle=10)
