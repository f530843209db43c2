"""A successful push is never repeated, even if its response is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.errors import KalypsoError
from tests.clients.git.remotes import add_commit, bare, head, made, remotes
from tests.clients.git.servers import PUSH, Fault, FaultKind, serving
from tests.git_repositories import git


def updates(path: Path, branch: str = "main") -> int:
    """Return how often a branch has changed since `core.logAllRefUpdates` was turned on."""
    return len(git(path, "reflog", "show", branch).splitlines())


@pytest.mark.parametrize("kind", ["lost", "cut"])
def test_push_whose_answer_is_lost_was_done(tmp_path: Path, kind: FaultKind) -> None:
    path, before = bare(tmp_path)
    git(path, "config", "core.logAllRefUpdates", "always")
    with serving(tmp_path / "srv") as server, remotes() as opened:
        url = f"{server.url}/org/repo"
        commit = made(opened, url, before)
        server.faults.append(Fault(PUSH, kind))
        assert opened.push(url, commit, branch="main", expected=before) == "pushed"
        assert server.asked(PUSH) == 1
    assert head(path) == commit
    assert updates(path) == 1


def test_push_that_the_http_library_repeats_by_itself(tmp_path: Path) -> None:
    path, before = bare(tmp_path)
    git(path, "config", "core.logAllRefUpdates", "always")
    with serving(tmp_path / "srv", keep_connections=True) as server, remotes() as opened:
        url = f"{server.url}/org/repo"
        commit = made(opened, url, before)
        server.faults.append(Fault(PUSH, "lost"))
        assert opened.push(url, commit, branch="main", expected=before) == "pushed"
        assert server.asked(PUSH) == 2
    assert head(path) == commit
    assert updates(path) == 1


@pytest.mark.parametrize("end", [PUSH, "service=git-receive-pack"])
def test_push_that_did_not_arrive_is_done_again(tmp_path: Path, end: str) -> None:
    path, before = bare(tmp_path)
    git(path, "config", "core.logAllRefUpdates", "always")
    slept: list[float] = []
    with serving(tmp_path / "srv") as server, remotes(sleep=slept.append) as opened:
        url = f"{server.url}/org/repo"
        commit = made(opened, url, before)
        server.faults += [Fault(end, "dropped"), Fault(end, "dropped")]
        assert opened.push(url, commit, branch="main", expected=before) == "pushed"
    assert head(path) == commit
    assert updates(path) == 1
    assert slept == [1.0, 2.0]


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_transient_statuses_are_tried_again(tmp_path: Path, status: int) -> None:
    path, before = bare(tmp_path)
    with serving(tmp_path / "srv") as server, remotes() as opened:
        url = f"{server.url}/org/repo"
        commit = made(opened, url, before)
        server.answers["/org/repo/info/refs?service=git-receive"] = [(status, {})] * 2
        assert opened.push(url, commit, branch="main", expected=before) == "pushed"
    assert head(path) == commit


def test_trying_again_has_an_end(tmp_path: Path) -> None:
    path, before = bare(tmp_path)
    with serving(tmp_path / "srv") as server, remotes() as opened:
        url = f"{server.url}/org/repo"
        commit = made(opened, url, before)
        server.faults += [Fault(PUSH, "dropped")] * 9
        with pytest.raises(KalypsoError, match="'main' cannot be pushed"):
            opened.push(url, commit, branch="main", expected=before)
        assert server.asked(PUSH) == 4
    assert head(path) == before


def test_an_unknown_outcome_is_reported(tmp_path: Path) -> None:
    path, before = bare(tmp_path)
    with serving(tmp_path / "srv") as server, remotes() as opened:
        url = f"{server.url}/org/repo"
        commit = made(opened, url, before)
        server.faults.append(Fault(PUSH, "lost"))
        server.answers["/org/repo/info/refs?service=git-upload"] = [(503, {})] * 9
        with pytest.raises(
            KalypsoError, match="it is not known whether the branch 'main' was pushed"
        ):
            opened.push(url, commit, branch="main", expected=before)
        server.answers.clear()
        assert opened.push(url, commit, branch="main", expected=before) == "unchanged"
    assert head(path) == commit


@pytest.mark.parametrize("kind", ["dropped", "meanwhile", "lost", "cut"])
def test_the_first_push_wins(tmp_path: Path, kind: FaultKind) -> None:
    path, before = bare(tmp_path)
    landed: list[str] = []

    def land() -> None:
        landed.append(add_commit(path))

    with serving(tmp_path / "srv") as server, remotes() as opened:
        url = f"{server.url}/org/repo"
        commit = made(opened, url, before)
        server.faults.append(Fault(PUSH, kind, land))
        with pytest.raises(PushConflictError) as caught:
            opened.push(url, commit, branch="main", expected=before)
        assert [caught.value.head] == landed
        assert server.asked(PUSH) == 1
    assert [head(path)] == landed
