"""The history of real repositories, and the state of configurations over time."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from kalypso_sandbox.azure import Azure, Failure
from kalypso_sandbox.azure.sync import Head, RepositoryHistory, SyncState, sync_state
from kalypso_sandbox.git.objects import Person
from kalypso_sandbox.git.repositories import RefUpdate
from kalypso_sandbox.github.access import access_of_event
from kalypso_sandbox.github.pushes import handle_push
from kalypso_sandbox.store import Store
from tests.sandbox.azure.builders import (
    SOMEBODY,
    Clock,
    at,
    azure,
    cluster,
    configuration,
    push,
    pushes,
    sha,
    store,
)


@pytest.fixture
def made(tmp_path: Path, clock: Clock) -> Store:
    return azure(tmp_path, clock).store


def test_every_push_is_a_head(made: Store, tmp_path: Path, clock: Clock) -> None:
    first = push(made, {"a": "1"})
    push(made, {"a": "other"}, branch="main")
    clock.seconds = 40
    second = push(made, {"a": "2"})
    expected = [Head(first, at(0)), Head(second, at(40))]
    assert RepositoryHistory(made).heads("acme/fleet", "dev") == expected
    made.save()
    assert RepositoryHistory(store(tmp_path, clock)).heads("acme/fleet", "dev") == expected


@pytest.mark.parametrize(
    "name",
    [
        "acme/fleet",
        "Acme/Fleet",
        "https://github.com/acme/fleet",
        "https://127.0.0.1:8443/acme/fleet.git",
        "git@github.com:acme/fleet.git",
        "ssh://git@github.com/acme/fleet",
    ],
)
def test_a_repository_is_found_by_any_form_of_its_url(made: Store, name: str) -> None:
    commit = push(made, {"a": "1"})
    assert RepositoryHistory(made).heads(name, "dev") == [Head(commit, at(0))]


@pytest.mark.parametrize(
    "name", ["acme/other", "https://github.com/fleet", "", "oci://x", "http://[x"]
)
def test_unknown_repositories_have_no_heads(made: Store, name: str) -> None:
    assert RepositoryHistory(made).heads(name, "dev") == []


def test_a_renamed_repository_keeps_its_history(made: Store, tmp_path: Path) -> None:
    commit = push(made, {"a": "1"})
    repository = made.repositories.pop("acme/fleet")
    made.git(repository).git_dir.rename(tmp_path / "repositories" / "acme" / "ships.git")
    repository.former_names.append("acme/fleet")
    repository.name = "ships"
    made.repositories["acme/ships"] = repository
    for name in ("acme/fleet", "acme/ships"):
        assert RepositoryHistory(made).heads(name, "dev") == [Head(commit, at(0))]


def test_a_deleted_branch_leaves_what_it_was(made: Store) -> None:
    commit = push(made, {"a": "1"})
    fleet = made.repositories["acme/fleet"]
    assert made.git(fleet).update_ref("refs/heads/dev", None, commit)
    handle_push(access_of_event(made, fleet, SOMEBODY), RefUpdate("refs/heads/dev", commit, None))
    assert RepositoryHistory(made).heads("acme/fleet", "dev") == [Head(commit, at(0))]


@pytest.mark.parametrize(("committed", "counts_from"), [(-500, 0), (60, 60)])
def test_a_head_without_a_push_counts_from_its_commit_and_after_all_pushes(
    made: Store, committed: float, counts_from: float
) -> None:
    author = Person("n", "n@example.com", at(committed))
    pushed = push(made, {"a": "1"})
    git = made.git(made.repositories["acme/fleet"])
    commit = git.commit_files("dev", {"a": "2"}, "quietly", author)
    alone = git.commit_files("quiet", {"a": "2"}, "quietly", author)
    heads = RepositoryHistory(made).heads
    assert heads("acme/fleet", "dev") == [Head(pushed, at(0)), Head(commit, at(counts_from))]
    assert heads("acme/fleet", "quiet") == [Head(alone, at(committed))]


@pytest.mark.parametrize(
    ("path", "text", "broken"),
    [
        ("*", "", True),
        ("*", "replicas: -1", True),
        ("drone/*.yaml", "replicas: -1", True),
        ("drone/*", "replicas: -2", False),
        ("drone/*.json", "", False),
        ("apps/*", "replicas: -1", False),
    ],
)
def test_commits_are_broken_by_their_files(made: Store, path: str, text: str, broken: bool) -> None:
    files = {"drone/app/deployment.yaml": "spec:\n  replicas: -1\n", "apps/x": "y"}
    commit = push(made, files)
    repaired = push(made, dict.fromkeys(files))
    failure = Failure(path=path, text=text)
    repositories = RepositoryHistory(made)
    for _ in range(2):
        assert repositories.is_broken("acme/fleet", failure, commit) is broken
        assert not repositories.is_broken("acme/fleet", failure, repaired)


def test_unknown_commits_are_not_broken(made: Store) -> None:
    repositories = RepositoryHistory(made)
    assert not repositories.is_broken("acme/fleet", Failure(), "f" * 40)
    assert not repositories.is_broken("acme/nothing", Failure(), "f" * 40)


def test_clusters_go_on_after_a_restart(tmp_path: Path, clock: Clock) -> None:
    before = azure(tmp_path, clock, cluster(delay=30, settle=0))
    commit = push(before.store, {"a": "1"})
    before.store.save()
    clock.seconds = 30
    after = Azure(store(tmp_path, clock), threading.RLock())
    rows = after.tables()["kubernetesconfigurationresources"]
    assert rows[1]["properties"]["sourceSyncedCommitId"] == f"dev@sha1:{commit}"
    assert rows == before.tables()["kubernetesconfigurationresources"]


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
        (4, ("a", "ready")),
        (101, ("b", "applying")),
        (104, ("b", "failing")),
        (105, ("c", "applying")),
        (109, ("c", "ready")),
    ],
)
def test_failing_is_for_broken_commits_and_their_repair_succeeds(
    seconds: float, expected: tuple[str, str]
) -> None:
    assert seen(seconds, sha("b"), behaviour="fail", settle=4) == expected


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


def test_other_sources_follow_no_branch_and_others_need_no_delay() -> None:
    assert seen(0) == ("a", "ready")
    assert seen(50, source_kind="Bucket") == ("", "ready")
