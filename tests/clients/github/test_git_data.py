"""Commits made and branches moved by the API of the sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.clients.github import (
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
    branches,
    commits,
)
from kalypso_actions.errors import KalypsoError
from kalypso_sandbox import Sandbox
from kalypso_sandbox.embedded import Flavour
from tests.git_repositories import programs

FLEET = "acme/fleet"
FILES = {"README.md": "fleet\n", "a/b.txt": "b\n", "c": "c\n", "keep/é.txt": "1\n"}
MANY = 10_000


@pytest.fixture
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sandbox]:
    flavour: Flavour = getattr(request, "param", "github.com")
    with Sandbox(tmp_path, programs(), flavour=flavour) as made:
        made.create_repository(FLEET, FILES)
        yield made


def connect(sandbox: Sandbox) -> GitHub:
    token = TokenAuth(sandbox.create_token("actions", owner="acme"))
    server = GitHubServer.of_environment(sandbox.environment())
    return GitHub(server, token, {}, sleep=lambda _: None)


def head(sandbox: Sandbox, branch: str = "main") -> str:
    commit = sandbox.git(FLEET).head(branch)
    assert commit
    return commit


def commit(sandbox: Sandbox, changes: Mapping[str, bytes | None]) -> str:
    github = connect(sandbox)
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
    github, first = connect(sandbox), head(sandbox)
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
    github, made, expected = connect(sandbox), commit(sandbox, {"c": b"2"}), head(sandbox)
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
    github, first = connect(sandbox), head(sandbox)
    second, third = commit(sandbox, {"c": b"2"}), commit(sandbox, {"c": b"3"})
    branches.move(github, FLEET, "new", first, expected=None, fast_forward=False)
    branches.move(github, FLEET, "new", second, expected=first, fast_forward=True)
    with pytest.raises(GitHubError, match="updateRefs") as error:
        branches.move(github, FLEET, "new", third, expected=second, fast_forward=False)
    assert "commit-by: git" in error.value.problem.advice
    assert head(sandbox, "new") == second


def test_the_account_of_a_job(sandbox: Sandbox) -> None:
    account = connect(sandbox).account("acme")
    assert (account.login, account.id) == ("github-actions[bot]", 41_898_282)
