"""Remote repositories for tests, with a record of git's calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kalypso_actions.clients.git import Authorize, RemoteRepositories, Signature
from kalypso_actions.clients.git.connection import DELAYS
from kalypso_actions.clients.process import Programs
from tests.git_repositories import commit, git, programs, repository


def remotes(
    started: Programs | None = None,
    *,
    protocols: frozenset[str] = frozenset({"file", "http"}),
    credentials: Authorize = lambda _: "",
    trust_user_config: bool = False,
    sleep: Callable[[float], None] = lambda _: None,
    delays: Sequence[float] = DELAYS,
    with_files: Collection[str] = (),
) -> RemoteRepositories:
    return RemoteRepositories(
        started or programs(),
        protocols=protocols,
        credentials=credentials,
        trust_user_config=trust_user_config,
        sleep=sleep,
        delays=delays,
        with_files=with_files,
    )


class Counting(Programs):
    """Runs programs, and records every call of git."""

    def __init__(self, **variables: str) -> None:
        super().__init__(programs(**variables)._environment)
        self.calls: list[list[str]] = []
        self.extras: list[dict[str, str]] = []

    def run(self, arguments: Sequence[str], **more: Any) -> bytes:
        self.calls.append(list(arguments))
        self.extras.append(dict(more.get("extra") or {}))
        return super().run(arguments, **more)

    def network(self) -> list[list[str]]:
        return [call for call in self.calls if {"fetch", "ls-remote", "push"} & set(call)]


def origin(tmp_path: Path, *, object_format: str = "sha1") -> tuple[Path, str, str]:
    """Create a repository with two commits and 150 files; return its path and commits."""
    path = repository(tmp_path / "origin", object_format=object_format)
    first = commit(path, {f"many/{number}.yaml": f"{number}\n" for number in range(150)})
    second = commit(path, {"many/0.yaml": "changed\n", "large.bin": b"\x00" * 100_000})
    return path, first, second


def bare(
    tmp_path: Path, name: str = "org/repo", *, object_format: str = "sha1"
) -> tuple[Path, str]:
    """Create a bare repository below `srv` for pushes; return its path and head."""
    work = repository(tmp_path / "work" / name, object_format=object_format)
    head = commit(work, {"x.yaml": "x", "y.yaml": "y"})
    path = tmp_path / "srv" / name
    git(tmp_path, "clone", "--quiet", "--bare", str(work), str(path))
    git(path, "config", "uploadpack.allowFilter", "true")
    git(path, "config", "http.receivepack", "true")
    return path, head


def made(opened: RemoteRepositories, url: str, parent: str | None, content: bytes = b"new") -> str:
    """Make a commit on `parent` that writes deep/er/z.yaml and deletes y.yaml."""
    return opened.commit(
        url,
        parent=parent,
        changes={"deep/er/z.yaml": content, "y.yaml": None},
        message="change",
        author=Signature("n", "n@example.com"),
        date=datetime(2026, 3, 1, tzinfo=UTC),
    )


def head(path: Path, branch: str = "main") -> str:
    """Return the head of a branch; "" if it does not exist."""
    return git(path, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}", statuses=(0, 1))


def add_commit(path: Path, branch: str = "main") -> str:
    """Add a commit of somebody else to a branch of a bare repository."""
    tree = f"refs/heads/{branch}^{{tree}}"
    commit = git(path, "commit-tree", "-p", f"refs/heads/{branch}", "-m", "other", tree)
    git(path, "update-ref", f"refs/heads/{branch}", commit)
    return commit
