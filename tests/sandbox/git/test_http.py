"""Git over HTTP: authorization, and git's own operations."""

from __future__ import annotations

import base64
import gzip
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from kalypso_actions.clients.process import Programs
from kalypso_sandbox import Sandbox
from kalypso_sandbox.git.receive_pack import FLUSH, line
from kalypso_sandbox.store import Permissions
from tests.git_repositories import ENVIRONMENT, git
from tests.sandbox.served_sandbox import FLEET, ask, clone, over_http, serving, user

READ = "git-upload-pack"
WRITE = "git-receive-pack"


def begin(sandbox: Sandbox, service: str, authorization: str = "", name: str = FLEET) -> str:
    """Return the status of the first request of a fetch or push, and the text of a refusal."""
    path = f"/{name}.git/info/refs?service={service}"
    answer = ask(sandbox, "GET", path, by=authorization)
    if answer.status_code == 401:
        assert answer.headers["www-authenticate"] == 'Basic realm="GitHub"'
    return str(answer.status_code) + (f" {answer.text}" if answer.status_code >= 400 else "")


def test_who_may_fetch_and_push(tmp_path: Path) -> None:
    unknown = (
        "Invalid username or token. Password authentication is not supported for Git operations."
    )
    with serving(tmp_path) as sandbox:
        sandbox.create_repository("acme/open", private=False)

        def token(kind: Literal["user", "actions"], permissions: Permissions) -> str:
            made = sandbox.create_token(kind, permissions, repositories=[FLEET])
            return "Basic " + base64.b64encode(f"x-access-token:{made}".encode()).decode()

        reader, writer = token("user", {"contents": "read"}), token("user", {"contents": "write"})
        job, other = token("actions", {"contents": "read"}), token("user", {"issues": "write"})
        denied = f"Permission to {FLEET}.git denied to github-actions[bot]."
        cases = [
            (READ, "", FLEET, "401 Authentication is required."),
            (WRITE, "", FLEET, "401 Authentication is required."),
            (READ, "", "acme/absent", "401 Authentication is required."),
            (READ, "Bearer x", FLEET, f"401 {unknown}"),
            (READ, reader, FLEET, "200"),
            (WRITE, reader, FLEET, "403 Write access to repository not granted."),
            (WRITE, writer, FLEET, "200"),
            (READ, writer, FLEET, "200"),
            (READ, job, FLEET, "200"),
            (WRITE, job, FLEET, f"403 {denied}"),
            (READ, other, FLEET, "403 Write access to repository not granted."),
            (READ, reader, "acme/absent", "404 Repository not found."),
            (READ, "", "acme/open", "200"),
            (WRITE, "", "acme/open", "401 Authentication is required."),
            (READ, other, "acme/open", "200"),
            (WRITE, writer, "acme/open", "403 Write access to repository not granted."),
        ]
        for service, authorization, name, expected in cases:
            assert begin(sandbox, service, authorization, name) == expected, (service, name)
        elsewhere = f"Bearer {sandbox.create_token(owner='other')}"
        assert begin(sandbox, READ, elsewhere) == "404 Repository not found."
        sandbox.repository(FLEET).archived = True
        words = "403 This repository was archived so it is read-only."
        assert begin(sandbox, WRITE, writer) == words
        assert begin(sandbox, READ, writer) == "200"


def test_a_renamed_repository_has_moved(sandbox: Sandbox, tmp_path: Path) -> None:
    token = sandbox.create_token()
    sandbox.rename_repository(FLEET, "ships")
    path = f"/{FLEET}/info/refs?service={READ}"
    answer = ask(sandbox, "GET", path, by=f"Bearer {token}")
    moved = f"{sandbox.url}/acme/ships.git/info/refs?service={READ}"
    assert (answer.status_code, answer.headers["location"]) == (301, moved)
    assert begin(sandbox, READ).startswith("401"), "it is nobody's business"
    assert clone(sandbox, tmp_path, token=token).run("rev-parse", "HEAD")


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("suffix", ["", ".git"])
def test_git_clones(sandbox: Sandbox, tmp_path: Path, version: int, suffix: str) -> None:
    url = f"{sandbox.url}/{FLEET}{suffix}"
    options = ["-c", f"protocol.version={version}", "clone", "--quiet", url, "clone"]
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        git(tmp_path / name, *options, extra=over_http(sandbox.create_token()))
        assert (tmp_path / name / "clone" / "README.md").read_text() == "fleet\n"


def test_git_fetches_what_a_commit_needs(sandbox: Sandbox, tmp_path: Path) -> None:
    first = sandbox.git(FLEET).head("main")
    assert first is not None
    sandbox.commit(FLEET, {"a": "1"})
    copy = clone(sandbox, tmp_path, "--depth=1", "--filter=blob:none", "--no-checkout")
    missing = copy.run("rev-list", "--objects", "--missing=print", "HEAD")
    assert missing.count("?") == 2, "no file is fetched that is not asked for"
    copy.run("fetch", "--quiet", "--depth=1", "origin", first)
    assert copy.run("cat-file", "-t", first) == "commit"
    copy.run("checkout", "--quiet", "HEAD")
    assert (copy.folder / "a").read_text() == "1"


class RecordingPrograms(Programs):
    """Programs that record the requests that git answers."""

    def __init__(self) -> None:
        super().__init__({"PATH": ENVIRONMENT["PATH"]})
        self.requests: list[bytes] = []

    def run(self, arguments: Sequence[str], **options: Any) -> bytes:
        if "upload-pack" in arguments:
            self.requests.append(options["stdin"])
        return super().run(arguments, **options)


@pytest.mark.parametrize("command", ["ls-refs", "fetch"])
def test_the_same_request_runs_git_once(tmp_path: Path, command: str) -> None:
    programs = RecordingPrograms()
    with serving(tmp_path, programs=programs) as sandbox:
        heads = []
        for number, name in enumerate(("first", "again", "changed")):
            (tmp_path / name).mkdir()
            if name == "changed":
                sandbox.commit(FLEET, {"a": "1"})
            copy = clone(sandbox, tmp_path / name, "--depth=1")
            heads.append(copy.run("rev-parse", "HEAD"))
            assert heads[number] == sandbox.git(FLEET).head("main")
    assert heads[0] == heads[1] != heads[2]
    requests = [item for item in programs.requests if f"command={command}".encode() in item]
    assert len(requests) == 2


def test_a_missing_commit(sandbox: Sandbox, tmp_path: Path) -> None:
    copy = clone(sandbox, tmp_path)
    done = subprocess.run(
        ["git", "fetch", "origin", "e" * 40],
        cwd=copy.folder,
        env={**ENVIRONMENT, **over_http(copy.token)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 128
    assert f"upload-pack: not our ref {'e' * 40}" in done.stderr


def test_an_empty_repository(sandbox: Sandbox, tmp_path: Path) -> None:
    token = sandbox.create_token()
    sandbox.create_repository("acme/empty", default_branch="trunk")
    url = f"{sandbox.url}/acme/empty"
    git(tmp_path, "clone", "--quiet", url, "empty", extra=over_http(token))
    assert git(tmp_path / "empty", "branch", "--show-current") == "trunk"


def test_requests_that_git_compresses(tmp_path: Path) -> None:
    refs = b"".join(
        [line(b"command=ls-refs\n"), line(b"object-format=sha1"), b"0001", line(b"peel\n"), FLUSH]
    )
    with serving(tmp_path) as sandbox:
        head = sandbox.git(FLEET).head("main")

        def post(body: bytes) -> tuple[int, bytes]:
            answer = ask(
                sandbox,
                "POST",
                f"/{FLEET}.git/{READ}",
                by=user(sandbox),
                headers={
                    "Content-Encoding": "gzip",
                    "Content-Type": f"application/x-{READ}-request",
                    "Git-Protocol": "version=2",
                },
                data=body,
            )
            return answer.status_code, answer.content

        assert post(gzip.compress(refs)) == (
            200,
            line(f"{head} HEAD\n".encode()) + line(f"{head} refs/heads/main\n".encode()) + FLUSH,
        )
        assert post(gzip.compress(refs)[:-9])[0] == 400
        assert post(b"no gzip")[0] == 400


@pytest.mark.parametrize(
    ("method", "kind", "status"),
    [
        ("POST", f"application/x-{READ}-request", 200),
        ("POST", "application/json", 415),
        ("POST", "", 415),
        ("GET", f"application/x-{READ}-request", 405),
    ],
)
def test_invalid_fetches(sandbox: Sandbox, method: str, kind: str, status: int) -> None:
    answer = ask(
        sandbox,
        method,
        f"/{FLEET}.git/{READ}",
        by=user(sandbox),
        headers={"Content-Type": kind, "Git-Protocol": "version=2"},
        data=FLUSH,
    )
    assert answer.status_code == status


@pytest.mark.parametrize("body", [b"", b"nonsense", b"0009 0000", b"0005", line(b"x y") + FLUSH])
def test_invalid_pushes(sandbox: Sandbox, body: bytes) -> None:
    answer = ask(sandbox, "POST", f"/{FLEET}.git/{WRITE}", by=user(sandbox), data=body)
    assert answer.status_code == 400


def test_git_finds_out_that_it_may_not(sandbox: Sandbox) -> None:
    done = subprocess.run(
        ["git", "ls-remote", f"{sandbox.url}/acme/absent"],
        env={**ENVIRONMENT, **over_http(sandbox.create_token())},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 128
    assert "remote: Repository not found." in done.stderr
