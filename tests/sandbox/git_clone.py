"""A clone of acme/fleet, and the output of its pushes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kalypso_sandbox import Sandbox
from tests.git_repositories import ENVIRONMENT, commit, git
from tests.sandbox.served_sandbox import FLEET, over_http


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
