"""Malformed and hostile requests are refused and leave nothing behind."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from kalypso_sandbox import Sandbox
from kalypso_sandbox.git.receive_pack import FLUSH, line
from kalypso_sandbox.git.repositories import NO_OBJECT, is_valid_ref
from kalypso_sandbox.store import LOGIN, REPOSITORY, BranchRule
from tests.git_repositories import git
from tests.sandbox.served_sandbox import FLEET, ask, clone, serving, user

ISSUES = f"/repos/{FLEET}/issues"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("issues", rb'{"title": "\ud800"}'),
        ("dispatches", rb'{"event_type": "x", "client_payload": {"a": "\ud800"}}'),
        ("dispatches", b'{"event_type": "x", "client_payload": {"a": NaN}}'),
        ("issues", b'{"a":' * 20_000),
        ("issues", b"[" * 100_000),
        ("issues", b"\xff\xfe{\x00}\x00"),
    ],
)
def test_invalid_json(sandbox: Sandbox, path: str, body: bytes) -> None:
    who = user(sandbox)
    answer = ask(sandbox, "POST", f"/repos/{FLEET}/{path}", by=who, data=body)
    assert (answer.status_code, answer.json()["message"]) == (400, "Problems parsing JSON")
    made = ask(sandbox, "POST", ISSUES, by=who, json={"title": "x"})
    assert made.status_code == 201, "the world can still be saved"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{ISSUES}?page={'9' * 5000}&per_page={'9' * 5000}", 200),
        (f"{ISSUES}?page=²", 200),
        (f"{ISSUES}/{'9' * 5000}", 404),
        (f"{ISSUES}/²", 404),
        (f"/repos/{FLEET}/pulls/{'9' * 5000}", 404),
        (f"/repositories/{'9' * 5000}/issues", 404),
        ("/repositories/²/issues", 404),
        ("//[/x", 404),
        ("/%00", 404),
        (f"/repos/{FLEET}/branches/%00", 404),
        (f"/repos/{FLEET}/commits/%00/statuses", 404),
        (f"/repos/{FLEET}/compare/main...%0a", 404),
        (f"/repos/{FLEET}/../../../world.json", 404),
        (f"/{FLEET}.git/../../../world.json", 404),
        ("/..%2f..%2fworld.json/x/info/refs?service=git-upload-pack", 404),
    ],
    ids=lambda value: str(value)[:40],
)
def test_paths_and_numbers(sandbox: Sandbox, path: str, status: int) -> None:
    assert asked_as_written(sandbox, path, user(sandbox)) == status


def asked_as_written(sandbox: Sandbox, path: str, authorization: str) -> int:
    """Send a path without normalizing it, as a library would."""
    lines = [f"GET {path} HTTP/1.1", "Host: localhost", f"Authorization: {authorization}"]
    lines += ["User-Agent: x", "Connection: close", "", ""]
    parts = urlsplit(sandbox.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
        connection.sendall("\r\n".join(lines).encode())
        return int(connection.makefile("rb").readline().split()[1])


@pytest.mark.parametrize("ref", ["refs/heads/a\0b", "refs/heads/a\nb", "refs/heads/a..b"])
def test_refs_over_the_api(sandbox: Sandbox, ref: str) -> None:
    body = {"ref": ref, "sha": sandbox.git(FLEET).head("main")}
    answer = ask(sandbox, "POST", f"/repos/{FLEET}/git/refs", by=user(sandbox), json=body)
    assert answer.status_code == 422
    assert answer.json()["message"] == f"{ref} is not a valid ref name."


@pytest.mark.parametrize(
    "name", ["../../evil", "..", ".", "", "a/b", "x.git", "é", "a\\b", "n" * 101]
)
def test_repositories_that_would_be_other_folders(
    sandbox: Sandbox, tmp_path: Path, name: str
) -> None:
    changes = {"name": name}
    path = f"/_sandbox/repositories/{FLEET}"
    assert ask(sandbox, "PATCH", path, json=changes).status_code == 422
    with pytest.raises(ValueError, match="is not a valid repository name"):
        sandbox.create_repository(f"acme/{name}")
    token = {"login": "../../evil"}
    assert ask(sandbox, "POST", "/_sandbox/tokens", json=token).status_code == 422
    assert sandbox.git(FLEET).head("main")
    assert {entry.name for entry in tmp_path.iterdir()} == {"sandbox"}
    assert {entry.name for entry in (tmp_path / "sandbox" / "repositories").iterdir()} == {"acme"}


def test_names() -> None:
    assert all(map(LOGIN.fullmatch, ["acme", "Acme-2", "github-actions[bot]", "a_b"]))
    assert not any(map(LOGIN.fullmatch, ["", "-a", "a/b", "a.b", "a[bot]b", "a\n"]))
    assert all(map(REPOSITORY.fullmatch, ["fleet", ".github", "a.b-c_d", "git"]))
    assert not any(map(REPOSITORY.fullmatch, ["", "..", "...", "a b", "a.git", "a\n"]))
    assert all(
        map(is_valid_ref, ["refs/heads/main", "refs/heads/feat/a", "refs/tags/v1.0", "refs/x/y"])
    )
    wrong = ["HEAD", "refs/main", "refs//a", "refs/heads/", "refs/heads/a.lock", "refs/heads/.a"]
    assert not any(
        map(is_valid_ref, [*wrong, "refs/heads/a//b", "refs/heads/a.", "refs/heads/\ud800"])
    )


def pushed(sandbox: Sandbox, command: str) -> bytes:
    """Push without objects, and return the answer."""
    body = line(command.encode() + b"\0report-status") + FLUSH
    answer = ask(sandbox, "POST", f"/{FLEET}.git/git-receive-pack", by=user(sandbox), data=body)
    return answer.content


def test_a_push_past_the_rules(sandbox: Sandbox) -> None:
    """HEAD stands for the protected branch."""
    first = sandbox.git(FLEET).head("main")
    head = sandbox.commit(FLEET, {"a": "1"})
    sandbox.repository(FLEET).rules.append(BranchRule(pattern="main", required_reviews=1))
    assert b"ng HEAD funny refname" in pushed(sandbox, f"{head} {first} HEAD")
    report = pushed(sandbox, f"{NO_OBJECT} {head[:8]} refs/heads/short")
    assert b"not a valid git request" in report
    assert sandbox.git(FLEET).refs() == {"refs/heads/main": head}


@pytest.mark.parametrize("date", ["1000000000000 +0000", "1700000000 +9999"])
def test_impossible_dates(sandbox: Sandbox, tmp_path: Path, date: str) -> None:
    copy = clone(sandbox, tmp_path)
    commit = git(copy.folder, "cat-file", "commit", "HEAD")
    odd = re.sub(r"\d+ [+-]\d{4}$", date, commit, flags=re.MULTILINE)
    (tmp_path / "odd").write_text(odd, newline="\n")
    made = git(copy.folder, "hash-object", "-t", "commit", "-w", "../odd")
    assert copy.push(f"{made}:refs/heads/odd")[0] == 0
    who = f"token {copy.token}"
    answer = ask(sandbox, "GET", f"/repos/{FLEET}/branches/odd", by=who)
    assert answer.json()["commit"]["commit"]["author"]["date"] == "1970-01-01T00:00:00Z"


def test_a_commit_s_author_is_not_an_account(sandbox: Sandbox, tmp_path: Path) -> None:
    copy = clone(sandbox, tmp_path)
    address = "1+../../evil@users.noreply.github.com"
    copy.run("-c", f"user.email={address}", "commit", "--allow-empty", "-qm", "x")
    assert copy.push("HEAD:main")[0] == 0
    known = set(sandbox.store.accounts)
    who = f"token {copy.token}"
    answer = ask(sandbox, "GET", f"/repos/{FLEET}/branches/main", by=who)
    assert answer.json()["commit"]["author"] is None
    assert set(sandbox.store.accounts) == known


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:1", 200),
        ("127.0.0.1", 200),
        ("[::1]:1", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("[", 421),
        ("", 421),
    ],
)
def test_a_page_under_a_strangers_host_name(tmp_path: Path, host: str, status: int) -> None:
    """A browser sends a stranger's name as Host if DNS leads that name to this address."""
    paths = ["/_sandbox/requests", "/rate_limit"]
    with serving(tmp_path) as sandbox:
        for path in paths:
            headers = {"Host": host}
            answer = ask(sandbox, "GET", path, by=user(sandbox), headers=headers)
            assert answer.status_code == status
