"""Real git repositories for tests: files in, commit ids out."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Container, Mapping
from pathlib import Path

from kalypso_actions.clients.process import Programs

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "n",
    "GIT_AUTHOR_EMAIL": "n@example.com",
    "GIT_COMMITTER_NAME": "n",
    "GIT_COMMITTER_EMAIL": "n@example.com",
    "GIT_ALLOW_PROTOCOL": "file",
    # A commit starts no second process for maintenance.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "maintenance.auto",
    "GIT_CONFIG_VALUE_0": "false",
}


def programs(**more: str) -> Programs:
    """Return a runner of programs with the machine's PATH and no other variable of it."""
    return Programs({"PATH": os.environ["PATH"], **more})


def git(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    statuses: Container[int] = (0,),
    extra: Mapping[str, str] | None = None,
) -> str:
    """Run git as a person would, and return its output; it must end with one of `statuses`.

    `extra` is added to its environment.
    """
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**ENVIRONMENT, **(extra or {})},
        input=stdin,
        capture_output=True,
        check=False,
    )
    assert done.returncode in statuses, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def repository(path: Path, *, branch: str = "main", object_format: str = "sha1") -> Path:
    """Make an empty repository that serves the requests of our client."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet", f"--initial-branch={branch}", f"--object-format={object_format}")
    with (path / ".git/config").open("a", encoding="utf-8") as config:
        config.write("[uploadpack]\n\tallowFilter = true\n")
    return path


def commit(path: Path, files: Mapping[str, str | bytes], message: str = "change") -> str:
    """Commit these files on the checked-out branch; return the commit's id."""
    for name, content in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--allow-empty", "-m", message)
    head = (path / ".git/HEAD").read_text(encoding="utf-8").strip()
    return (path / ".git" / head.removeprefix("ref: ")).read_text(encoding="utf-8").strip()


def commit_branch(path: Path, files: Mapping[str, str | bytes], branch: str = "main") -> str:
    """Commit these files as the whole content of a branch; return the commit's id.

    Make the repository if it does not exist; a new branch has no history.
    """
    if not path.exists():
        repository(path, branch=branch)
    (path / ".git/HEAD").write_text(f"ref: refs/heads/{branch}\n", encoding="utf-8")
    for entry in path.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            if entry.name != ".git":
                shutil.rmtree(entry)
        else:
            entry.unlink()
    return commit(path, files)
