"""Moving branches by compare-and-swap, and the errors of refused pushes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from kalypso_actions.clients.git import CredentialTable, PushConflictError, RemoteRepositories
from kalypso_actions.clients.git.connection import INTERACTIVE_DELAYS
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.object_ids import blob_id
from tests.clients.git.remotes import Counting, add_commit, bare, head, made, remotes
from tests.clients.git.servers import PUSH, Fault, FaultKind, serving
from tests.git_repositories import git, programs, repository

READ = "/git-upload-pack"


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@pytest.mark.parametrize("serve_http", [False, True])
def test_commit_goes_on_top_of_the_head(
    tmp_path: Path, object_format: str, *, serve_http: bool
) -> None:
    path, before = bare(tmp_path, object_format=object_format)
    with serving(tmp_path / "srv") as server, remotes() as opened:
        url = f"{server.url}/org/repo" if serve_http else f"file://{path}"
        fetched = opened.fetch(url, branch="main").commit
        commit = made(opened, url, fetched)
        reads = server.asked(READ)
        assert opened.push(url, commit, branch="main", expected=before) == "pushed"
        assert head(path) == commit
        assert git(path, "ls-tree", "-r", "--name-only", "main").split() == [
            "deep/er/z.yaml",
            "x.yaml",
        ]
        assert git(path, "fsck", "--strict", "--no-progress") == ""
        assert server.asked(READ) == reads
        assert server.asked(PUSH) == serve_http


def test_a_branch_at_that_commit_is_unchanged(tmp_path: Path) -> None:
    path, before = bare(tmp_path)
    url = f"file://{path}"
    with remotes() as opened:
        commit = made(opened, url, before)
        assert opened.push(url, commit, branch="main", expected=before) == "pushed"
        for expected in (before, commit, None, "1" * 40):
            assert opened.push(url, commit, branch="main", expected=expected) == "unchanged"


def test_new_branch_and_one_that_is_rewritten(tmp_path: Path) -> None:
    path, before = bare(tmp_path)
    url = f"file://{path}"
    with remotes() as opened:
        first = made(opened, url, before, b"1")
        assert opened.push(url, first, branch="deep/new", expected=None) == "pushed"
        second = made(opened, url, before, b"2")
        assert opened.push(url, second, branch="deep/new", expected=first) == "pushed"
        assert head(path, "deep/new") == second
        orphan = made(opened, url, None)
        assert opened.push(url, orphan, branch="deep/new", expected=second) == "pushed"
        assert git(path, "rev-list", "--count", "deep/new") == "1"
        assert head(path) == before


@pytest.mark.parametrize("expected", [None, "old", "1" * 40])
def test_branch_at_another_commit_is_left_alone(tmp_path: Path, expected: str | None) -> None:
    path, before = bare(tmp_path)
    now = add_commit(path)
    url = f"file://{path}"
    with remotes() as opened:
        commit = made(opened, url, before)
        with pytest.raises(PushConflictError, match=f"it is at {now}") as it:
            opened.push(
                url, commit, branch="main", expected=before if expected == "old" else expected
            )
        assert it.value.head == now
        with pytest.raises(PushConflictError, match="does not exist now") as it:
            opened.push(url, commit, branch="gone", expected=before)
        assert it.value.head is None
    assert head(path) == now


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@pytest.mark.parametrize("serve_http", [False, True])
def test_parent_that_is_no_branchs_head_any_more(
    tmp_path: Path, object_format: str, *, serve_http: bool
) -> None:
    """git sends the commit without the files that the server has; none of these is here."""
    path, before = bare(tmp_path, object_format=object_format)
    with serving(tmp_path / "srv") as server, remotes(credentials=lambda _: "Bearer t") as opened:
        url = f"{server.url}/org/repo" if serve_http else f"file://{path}"
        commit = made(opened, url, before)
        add_commit(path)
        assert opened.push(url, commit, branch="new", expected=None) == "pushed"
        assert git(path, "ls-tree", "-r", "--name-only", "new").split() == [
            "deep/er/z.yaml",
            "x.yaml",
        ]
        assert git(path, "fsck", "--strict", "--no-progress") == ""
        git_dir = opened.fetch(url, commit=commit)._git_dir
        known = git(git_dir, "cat-file", "--batch-check", "--batch-all-objects")
        assert known.count(" blob ") == 1
    assert {credential for _, _, credential in server.requests} <= {"Bearer t"}


def test_parent_with_its_files_where_the_server_does_not_say_what_it_has(tmp_path: Path) -> None:
    path, before = bare(tmp_path)
    with serving(tmp_path / "srv") as server, remotes() as opened:
        url = f"{server.url}/org/repo"
        commit = made(opened, url, before)
        add_commit(path)
        # The first request reads the head of the branch, the second one is the negotiation.
        server.faults += [Fault(READ, "meanwhile"), Fault(READ, "dropped")]
        assert opened.push(url, commit, branch="new", expected=None) == "pushed"
        assert server.faults == []
    assert git(path, "show", "new:x.yaml") == "x"
    assert git(path, "fsck", "--strict", "--no-progress") == ""


def test_push_of_more_than_git_sends_at_once(tmp_path: Path) -> None:
    path, before = bare(tmp_path)
    content = random.Random(1).randbytes(3 << 20)
    with serving(tmp_path / "srv") as server, remotes() as opened:
        url = f"{server.url}/org/repo"
        commit = made(opened, url, before, content)
        assert opened.push(url, commit, branch="main", expected=before) == "pushed"
    assert git(path, "rev-parse", "main:deep/er/z.yaml") == blob_id(content)


def test_branch_at_a_commit_that_the_server_has(tmp_path: Path) -> None:
    path, before = bare(tmp_path)
    add_commit(path)
    with remotes() as opened:
        url = f"file://{path}"
        assert opened.push(url, before, branch="old", expected=None) == "pushed"
        assert head(path, "old") == before


def hook(path: Path, *message: str) -> None:
    """Install a pre-receive hook that declines every push with this text."""
    file = path / "hooks" / "pre-receive"
    file.parent.mkdir(exist_ok=True)
    lines = [f"echo '{line}' >&2" for line in message]
    file.write_text("\n".join(["#!/bin/sh", *lines, "exit 1", ""]))
    file.chmod(0o755)


def test_refusal_says_what_the_server_says_and_is_not_repeated(tmp_path: Path) -> None:
    path, before = bare(tmp_path)
    hook(
        path,
        "error: GH006: Protected branch update failed for refs/heads/main.",
        "error: Changes must be made through a pull request. long-s3cret",
    )
    with serving(tmp_path / "srv") as server:
        with remotes(credentials=lambda _: "Bearer long-s3cret") as opened:
            url = f"{server.url}/org/repo"
            commit = made(opened, url, before)
            with pytest.raises(KalypsoError, match="the branch is protected") as caught:
                opened.push(url, commit, branch="main", expected=before)
        assert server.asked(PUSH) == 1
    assert "Changes must be made through a pull request. ***" in str(caught.value)
    assert "bypass the protection" in caught.value.problem.advice
    assert head(path) == before


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "there is no valid credential for the repository"),
        (403, "the credential may not write to the repository"),
        (404, "the repository does not exist, or the credential may not see it"),
    ],
)
def test_refused_before_anything_is_sent(tmp_path: Path, status: int, message: str) -> None:
    _, before = bare(tmp_path)
    with serving(tmp_path / "srv") as server, remotes() as opened:
        url = f"{server.url}/org/repo"
        commit = made(opened, url, before)
        start = "/org/repo/info/refs?service=git-receive"
        server.answers[start] = [(status, {"WWW-Authenticate": "Basic"})] * 9
        asked = len(server.requests)
        with pytest.raises(KalypsoError, match=message):
            opened.push(url, commit, branch="main", expected=before)
        assert len(server.requests) == asked + 1


def test_branch_that_is_checked_out(tmp_path: Path) -> None:
    path = repository(tmp_path / "work")
    with remotes() as opened:
        commit = made(opened, str(path), None)
        with pytest.raises(KalypsoError, match="the branch is checked out there"):
            opened.push(str(path), commit, branch="main", expected=None)


def test_renamed_repository_is_pushed_to(tmp_path: Path) -> None:
    path, before = bare(tmp_path, "new/name")
    with serving(tmp_path / "srv") as server, remotes() as opened:
        target = f"{server.url}/new/name/info/refs?service=git-receive-pack"
        server.answers["/old"] = [(301, {"Location": target})] * 9
        url = f"{server.url}/old/name"
        commit = made(opened, url, None)
        assert opened.push(url, commit, branch="main", expected=before) == "pushed"
    assert head(path) == commit


def test_every_call_gets_the_credential_of_its_time(tmp_path: Path) -> None:
    _, before = bare(tmp_path)
    tokens = iter(f"Bearer {number}" for number in range(99))
    with serving(tmp_path / "srv") as server:
        url = f"{server.url}/org/repo"
        with remotes(credentials=lambda _: next(tokens)) as opened:
            commit = made(opened, url, before)
            server.faults.append(Fault(PUSH, "dropped"))
            assert opened.push(url, commit, branch="main", expected=before) == "pushed"
        sent = dict.fromkeys(credential for _, _, credential in server.requests)
    assert list(sent) == ["Bearer 0", "Bearer 1", "Bearer 2", "Bearer 3"]


def test_the_users_configuration_of_pushes_is_not_used(tmp_path: Path) -> None:
    path, before = bare(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[push]\n\tgpgSign = true\n\tfollowTags = true\n\trecurseSubmodules = only\n"
    )
    with remotes(programs(HOME=str(home)), trust_user_config=True) as opened:
        commit = made(opened, str(path), before)
        assert opened.push(str(path), commit, branch="main", expected=before) == "pushed"
    assert head(path) == commit


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda opened: opened.push("u", "1" * 40, branch="-x", expected=None), "name of a branch"),
        (lambda opened: opened.push("u", "main", branch="x", expected=None), "not a commit id"),
        (lambda opened: opened.push("u", "1" * 40, branch="x", expected="y"), "not a commit id"),
    ],
)
def test_what_is_refused_before_git_starts(
    act: Callable[[RemoteRepositories], object], message: str
) -> None:
    started = Counting()
    with remotes(started) as opened, pytest.raises(KalypsoError, match=message):
        act(opened)
    assert started.calls == []


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


def test_trying_again_after_uncertain_pushes_has_an_end(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "the repository does not exist, or is private"),
        (403, "the credential may not read the repository"),
        (404, "the repository does not exist, or the credential may not see it"),
    ],
)
def test_refusals_say_what_to_change_and_are_not_repeated(
    tmp_path: Path, status: int, message: str
) -> None:
    with serving(tmp_path) as server:
        server.answers["/"] = [(status, {"WWW-Authenticate": "Basic"})] * 9
        with remotes() as opened, pytest.raises(KalypsoError, match=message):
            opened.fetch(f"{server.url}/org/repo", branch="main")
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_transient_failures_are_tried_again(tmp_path: Path, status: int) -> None:
    _, head = bare(tmp_path)
    slept: list[float] = []
    with serving(tmp_path / "srv") as server:
        server.answers["/"] = [(status, {})] * 2
        with remotes(sleep=slept.append) as opened:
            assert opened.fetch(f"{server.url}/org/repo", branch="main").commit == head
    assert slept == [1.0, 2.0]


def test_trying_again_has_an_end(tmp_path: Path) -> None:
    slept: list[float] = []
    with serving(tmp_path) as server:
        server.answers["/"] = [(503, {})] * 9
        with (
            remotes(sleep=slept.append) as opened,
            pytest.raises(KalypsoError, match="error: 503"),
        ):
            opened.fetch(f"{server.url}/org/repo", branch="main")
        assert len(server.requests) == 4
    assert slept == [1.0, 2.0, 4.0]


def test_a_person_waits_for_one_retry(tmp_path: Path) -> None:
    slept: list[float] = []
    with serving(tmp_path) as server:
        server.answers["/"] = [(503, {})] * 9
        with (
            remotes(sleep=slept.append, delays=INTERACTIVE_DELAYS) as opened,
            pytest.raises(KalypsoError, match="error: 503"),
        ):
            opened.fetch(f"{server.url}/org/repo", branch="main")
        assert len(server.requests) == 2
    assert slept == [1.0]


def test_a_server_that_does_not_listen() -> None:
    slept: list[float] = []
    with remotes(sleep=slept.append) as opened, pytest.raises(KalypsoError, match="cannot be read"):
        opened.fetch("http://127.0.0.1:9/x", branch="main")
    assert len(slept) == 3


def test_redirect_to_another_server_is_not_followed(tmp_path: Path) -> None:
    bare(tmp_path)
    with serving(tmp_path / "srv") as elsewhere, serving(tmp_path / "srv") as server:
        target = f"{elsewhere.url}/org/repo/info/refs?service=git-upload-pack"
        server.answers["/org"] = [(301, {"Location": target})] * 9
        credentials = {server.url: "Basic c2VjcmV0"}
        with (
            remotes(credentials=CredentialTable(credentials).authorize) as opened,
            pytest.raises(
                KalypsoError, match=f"redirects git elsewhere to {elsewhere.url}/org/repo"
            ),
        ):
            opened.fetch(f"{server.url}/org/repo", branch="main")
    assert elsewhere.requests == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_repository_that_was_renamed_is_found_on_its_server(tmp_path: Path, status: int) -> None:
    _, head = bare(tmp_path, "new/name")
    with serving(tmp_path / "srv") as server:
        target = f"{server.url}/new/name/info/refs?service=git-upload-pack"
        server.answers["/old"] = [(status, {"Location": target})] * 9
        credentials = {f"{server.url}/old": "Basic c2VjcmV0"}
        with remotes(credentials=CredentialTable(credentials).authorize) as opened:
            files = opened.fetch(f"{server.url}/old/name", branch="main")
            assert files.commit == head
            assert files.repository == f"{server.url}/old/name"
            assert files.read(["x.yaml"]) == {"x.yaml": b"x"}
    assert {credential for _, path, credential in server.requests if "/new/" in path} == {None}


def test_redirects_in_a_circle_end(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        target = f"{server.url}/a/info/refs?service=git-upload-pack"
        server.answers["/a"] = [(301, {"Location": target})] * 9
        with remotes() as opened, pytest.raises(KalypsoError, match="redirects git again to"):
            opened.fetch(f"{server.url}/a", branch="main")


@pytest.mark.parametrize("headers", [{}, {"Location": "ssh://-oProxyCommand=x/y"}])
def test_redirect_that_leads_nowhere(tmp_path: Path, headers: dict[str, str]) -> None:
    with serving(tmp_path) as server:
        server.answers["/"] = [(301, headers)] * 9
        with remotes() as opened, pytest.raises(KalypsoError, match="redirects git elsewhere"):
            opened.fetch(f"{server.url}/a", branch="main")
