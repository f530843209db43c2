"""Real git repositories for tests: files in, commit ids out."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

AUTHOR = {
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@git.test",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@git.test",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def git(repository: Path, *arguments: str) -> str:
    """What a git command says in `repository`."""
    return subprocess.run(
        ["git", *arguments],
        cwd=repository,
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(repository), **AUTHOR},
    ).stdout.strip()


def commit(repository: Path, files: Mapping[str, str], branch: str = "main") -> str:
    """Commit `files` (their texts are dedented) as the whole content of `branch`; the commit's id.

    The repository is made where it does not exist; a new branch has no history.
    """
    if not repository.exists():
        repository.mkdir(parents=True)
        git(repository, "init", "-q", "-b", branch)
    if git(repository, "branch", "--list", branch):
        git(repository, "switch", "-q", branch)
    elif git(repository, "branch", "--list"):
        git(repository, "switch", "-q", "--orphan", branch)
    git(repository, "rm", "-rq", "--ignore-unmatch", ".")
    for path, text in files.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(dedent(text))
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "--allow-empty", "-m", "change")
    return git(repository, "rev-parse", "HEAD")
