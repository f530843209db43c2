"""A served sandbox with a stopped clock, requests to it, and a clone of acme/fleet."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import requests

from kalypso_actions.clients.process import Programs
from kalypso_sandbox import Sandbox
from tests import git_repositories
from tests.git_repositories import ENVIRONMENT, commit, git

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FLEET = "acme/fleet"


class Clock:
    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        return self.time

    def advance(self, **by: float) -> None:
        self.time += timedelta(**by)


@contextmanager
def serving(
    folder: Path, clock: Clock | None = None, programs: Programs | None = None, **options: Any
) -> Iterator[Sandbox]:
    """Serve a sandbox with the private repository acme/fleet, unless the folder has one."""
    programs = programs or git_repositories.programs()
    with Sandbox(folder / "sandbox", programs, now=clock or Clock(), **options) as sandbox:
        if sandbox.store.repository(FLEET) is None:
            sandbox.create_repository(FLEET, {"README.md": "fleet\n"})
        yield sandbox


def ask(
    sandbox: Sandbox,
    method: str,
    path: str,
    *,
    by: str = "",
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> requests.Response:
    """Send a request without the machine's proxy and .netrc, and follow no redirect.

    `by` is the header Authorization.
    """
    with requests.Session() as session:
        session.trust_env = False
        known = {"Authorization": by} if by else {}
        return session.request(
            method,
            (sandbox.api_url if path.startswith("/repos") else sandbox.url) + path,
            headers={**known, **(headers or {})},
            allow_redirects=False,
            timeout=60,
            **more,
        )


def user(sandbox: Sandbox, *kind: Any, **more: Any) -> str:
    """Return the Authorization of a new token, by default of a user with all permissions."""
    return f"token {sandbox.create_token(*kind, **more)}"


def over_http(token: str = "", scheme: str = "Bearer") -> dict[str, str]:
    """Return the environment variables that git needs to talk to the sandbox."""
    variables = {"GIT_ALLOW_PROTOCOL": "http:https", "GIT_TERMINAL_PROMPT": "0"}
    if not token:
        return variables
    return {
        **variables,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: {scheme} {token}",
    }


class Clone:
    """A working copy that pushes with this token."""

    def __init__(self, sandbox: Sandbox, folder: Path, token: str, *options: str) -> None:
        self.sandbox = sandbox
        self.folder = folder
        self.token = token
        self.url = f"{sandbox.url}/{FLEET}.git"
        self.run("clone", "--quiet", *options, self.url, str(folder), folder=folder.parent)

    def run(self, *arguments: str, folder: Path | None = None) -> str:
        return git(folder or self.folder, *arguments, extra=over_http(self.token))

    def commit(self, **files: str) -> str:
        return commit(self.folder, files)

    def push(self, *arguments: str) -> tuple[int, str]:
        """Push, and return exit code and output."""
        done = subprocess.run(
            ["git", "push", "--porcelain", "origin", *arguments],
            cwd=self.folder,
            env={**ENVIRONMENT, **over_http(self.token)},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return done.returncode, done.stdout + done.stderr


def clone(sandbox: Sandbox, folder: Path, *options: str, token: str = "") -> Clone:
    return Clone(sandbox, folder / "clone", token or sandbox.create_token(), *options)
