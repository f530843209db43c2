"""Commits, and comparisons of two commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import responses
from responses import matchers

from kalypso_actions.clients.github import (
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
    branches,
    commits,
)
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.github import Commit
from kalypso_actions.model.history import BranchPosition
from kalypso_sandbox import Sandbox
from kalypso_sandbox.embedded import Flavour
from tests.clients.github.connections import REPOSITORY_URL, connect
from tests.git_repositories import programs


def test_get() -> None:
    answer = {
        "sha": "c1",
        "tree": {"sha": "t1"},
        "parents": [{"sha": "c0"}, {"sha": "b0"}],
        "message": "Promote\n\nto qa",
        "committer": {"date": "2026-03-01T12:00:00Z"},
    }
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY_URL}/git/commits/c1", json=answer)
        result = commits.get(connect(), "acme/fleet", "c1")
    date = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert result == Commit("c1", "t1", ("c0", "b0"), "Promote\n\nto qa", date)


def test_get_of_an_unknown_commit() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY_URL}/git/commits/c1", status=404, json={"message": "Not Found"})
        with pytest.raises(GitHubError, match="the commit c1 cannot be read"):
            commits.get(connect(), "acme/fleet", "c1")


def compared(server: responses.RequestsMock, path: str, **answer: Any) -> None:
    """Answer the second page of a comparison, which has no files."""
    server.get(
        f"{REPOSITORY_URL}/compare/{path}",
        json={"total_commits": 5000, "commits": [{"sha": "c2"}], **answer},
        match=[matchers.query_param_matcher({"per_page": "1", "page": "2"})],
    )


@pytest.mark.parametrize("relation", ["identical", "ahead", "behind", "diverged"])
def test_a_relation_takes_one_request_without_files(relation: str) -> None:
    """Branches with slashes are one segment each."""
    with responses.RequestsMock() as server:
        compared(server, "env%2Fdev...env%2Fqa", status=relation)
        assert commits.relation(connect(), "acme/fleet", "env/dev", "env/qa") == relation


def test_missing_commits_have_no_relation() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY_URL}/compare/old...new", status=404, json={"message": "Not Found"})
        server.get(REPOSITORY_URL, json={"full_name": "acme/fleet"})
        assert commits.relation(connect(), "acme/fleet", "old", "new") is None


def test_a_merge_base() -> None:
    with responses.RequestsMock() as server:
        compared(server, "old...new", merge_base_commit={"sha": "base"})
        assert commits.merge_base(connect(), "acme/fleet", "old", "new") == "base"


@pytest.mark.parametrize(
    ("status", "ahead"), [("identical", 0), ("ahead", 3), ("behind", None), ("diverged", None)]
)
def test_the_position_of_a_commit_on_a_branch(status: str, ahead: int | None) -> None:
    base = {"sha": "c1", "commit": {"message": "Promote\n\nto qa"}}
    with responses.RequestsMock() as server:
        compared(server, "c1...env%2Fqa", status=status, ahead_by=ahead or 0, base_commit=base)
        position = commits.position(connect(), "acme/fleet", "c1", "env/qa")
    assert position == BranchPosition("env/qa", "c1", "Promote", ahead)


def test_a_missing_commit_has_no_position() -> None:
    with responses.RequestsMock() as server:
        server.get(
            f"{REPOSITORY_URL}/compare/old...main", status=404, json={"message": "Not Found"}
        )
        server.get(REPOSITORY_URL, json={"full_name": "acme/fleet"})
        position = commits.position(connect(), "acme/fleet", "old", "main")
    assert position == BranchPosition("main", "old", "", None)


FLEET = "acme/fleet"
FILES = {"README.md": "fleet\n", "a/b.txt": "b\n", "c": "c\n", "keep/é.txt": "1\n"}
MANY = 10_000


@pytest.fixture
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sandbox]:
    flavour: Flavour = getattr(request, "param", "github.com")
    with Sandbox(tmp_path, programs(), flavour=flavour) as made:
        made.create_repository(FLEET, FILES)
        yield made


def connect_here(sandbox: Sandbox) -> GitHub:
    token = TokenAuth(sandbox.create_token("actions", owner="acme"))
    server = GitHubServer.of_environment(sandbox.environment())
    return GitHub(server, token, {}, sleep=lambda _: None)


def head(sandbox: Sandbox, branch: str = "main") -> str:
    commit = sandbox.git(FLEET).head(branch)
    assert commit
    return commit


def commit(sandbox: Sandbox, changes: Mapping[str, bytes | None]) -> str:
    github = connect_here(sandbox)
    return commits.create(
        github, FLEET, parent=head(sandbox), changes=changes, message="Change\n\nTrailer: 1"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"a/b.txt": b"new\n", "d/e/f.txt": b"f"},
        {"c": None, "keep/\u00e9.txt": b""},
        {"logo.png": b"\x89PNG\r\n\0", "crlf.txt": b"1\r\n2\r\n", "latin.txt": b"\xe9"},
        {"c": None, "c/d.txt": b"a file becomes a folder"},
        {"a/b.txt": None, "a": b"a folder becomes a file"},
    ],
    ids=["texts", "deletions", "no-texts", "file-to-folder", "folder-to-file"],
)
def test_a_commit_has_the_changes(sandbox: Sandbox, changes: dict[str, bytes | None]) -> None:
    made = commit(sandbox, changes)
    expected = {path: text.encode() for path, text in FILES.items()}
    for path, content in changes.items():
        if content is None:
            del expected[path]
        else:
            expected[path] = content
    assert sandbox.git(FLEET).files(made) == expected
    written = sandbox.git(FLEET).commit(made)
    assert written.parents == (head(sandbox),)
    assert written.message == "Change\n\nTrailer: 1"
    assert written.signature


@pytest.mark.slow
def test_many_files_need_few_requests(sandbox: Sandbox) -> None:
    changes = {f"large/{n % 100}/{n}.yaml": b"kind: ConfigMap\n" * 40 for n in range(MANY)}
    sandbox.traffic.clear()
    made = commit(sandbox, changes)
    assert len(sandbox.traffic) <= 20
    assert len(sandbox.git(FLEET).files(made)) == MANY + len(FILES)


def test_a_missing_file_cannot_be_deleted(sandbox: Sandbox) -> None:
    with pytest.raises(GitHubError, match="BadObjectState") as error:
        commit(sandbox, {"nothing.txt": None})
    assert "run again" in error.value.problem.advice


def test_a_path_that_is_not_utf8_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(KalypsoError, match="cannot name") as error:
        commit(sandbox, {"a/\udce9.txt": None})
    assert "commit-by: git" in error.value.problem.advice


def test_a_branch_moves_only_from_the_expected_commit(sandbox: Sandbox) -> None:
    github, first = connect_here(sandbox), head(sandbox)
    second, third = commit(sandbox, {"c": b"2"}), commit(sandbox, {"c": b"3"})
    move = branches.move
    assert move(github, FLEET, "new", second, expected=None, fast_forward=False) == "updated"
    assert move(github, FLEET, "new", second, expected=None, fast_forward=False) == "unchanged"
    assert move(github, FLEET, "new", third, expected=second, fast_forward=False) == "updated"
    with pytest.raises(branches.RefConflictError) as conflict:
        move(github, FLEET, "new", first, expected=second, fast_forward=False)
    assert conflict.value.head == third
    assert head(sandbox, "new") == third


def test_a_commit_that_arrives_between_check_and_change_stays(sandbox: Sandbox) -> None:
    github, made, expected = connect_here(sandbox), commit(sandbox, {"c": b"2"}), head(sandbox)
    arrived: list[str] = []

    class Late(GitHub):
        def mutate(self, *arguments: Any) -> None:
            arrived.append(sandbox.commit(FLEET, {"c": "faster"}))
            github.mutate(*arguments)

    late = Late(github.server, TokenAuth(sandbox.create_token()), {}, sleep=lambda _: None)
    with pytest.raises(branches.RefConflictError) as conflict:
        branches.move(late, FLEET, "main", made, expected=expected, fast_forward=True)
    assert conflict.value.head == head(sandbox) == arrived[0]


@pytest.mark.parametrize("sandbox", ["ghes"], indirect=True)
def test_a_server_without_the_mutation_moves_branches_forward_only(sandbox: Sandbox) -> None:
    github, first = connect_here(sandbox), head(sandbox)
    second, third = commit(sandbox, {"c": b"2"}), commit(sandbox, {"c": b"3"})
    branches.move(github, FLEET, "new", first, expected=None, fast_forward=False)
    branches.move(github, FLEET, "new", second, expected=first, fast_forward=True)
    with pytest.raises(GitHubError, match="updateRefs") as error:
        branches.move(github, FLEET, "new", third, expected=second, fast_forward=False)
    assert "commit-by: git" in error.value.problem.advice
    assert head(sandbox, "new") == second


def test_the_account_of_a_job(sandbox: Sandbox) -> None:
    account = connect_here(sandbox).account("acme")
    assert (account.login, account.id) == ("github-actions[bot]", 41_898_282)
