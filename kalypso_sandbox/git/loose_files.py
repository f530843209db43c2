"""Create the files of bare repositories, and read and write loose refs, without running git.

https://git-scm.com/docs/gitrepository-layout
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from kalypso_sandbox.git.objects import FULL_ID

CONFIGURATION: Final = """\
[core]
	repositoryformatversion = 0
	bare = true
	fsync = none
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[http]
	receivepack = true
[receive]
	autogc = false
	advertisePushOptions = true
[gc]
	auto = 0
"""
"""The features of GitHub's repositories: partial clones, fetches by commit id, and pushes. fsync is
off, because the data of a sandbox need not survive a crash.
"""


def create(git_dir: Path, default_branch: str) -> None:
    """Create a repository, ready to serve partial and shallow clones and commits by id."""
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (git_dir / folder).mkdir(parents=True)
    (git_dir / "HEAD").write_text(f"ref: refs/heads/{default_branch}\n", encoding="utf-8")
    (git_dir / "config").write_text(CONFIGURATION, encoding="utf-8")


def ref(git_dir: Path, name: str) -> str | None:
    """Return the object of a full ref; None if it has no file, or is symbolic."""
    with suppress(OSError, ValueError):
        object_id = (git_dir / name).read_text("ascii").removesuffix("\n")
        if FULL_ID.match(object_id):
            return object_id
    return None


def move(git_dir: Path, name: str, new: str | None, old: str | None) -> bool:
    """Set or delete (None) a ref that still is at `old` (None: it does not exist).

    Return False if git must make or refuse the change: for packed and symbolic refs, and for
    conflicts of names.
    """
    file = git_dir / name
    if (git_dir / "packed-refs").exists() or (old is None and os.path.lexists(file)):
        return False
    lock = file.with_name(f"{file.name}.lock")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lock.touch(exist_ok=False)
    except OSError:
        return False
    try:
        if ref(git_dir, name) != old:
            return False
        if new is None:
            file.unlink()
        else:
            lock.write_text(f"{new}\n", "ascii")
            lock.replace(file)
    finally:
        lock.unlink(missing_ok=True)
    return True


def all_refs(git_dir: Path) -> bytes:
    """Return the content of all files that git reads to list the refs."""
    content = bytearray()
    for name in ("HEAD", "packed-refs", *sorted(paths(git_dir, "refs"))):
        with suppress(FileNotFoundError):  # a push may be removing it
            content += b"%s %s\n" % (os.fsencode(name), (git_dir / name).read_bytes())
    return bytes(content)


def paths(git_dir: Path, folder: str) -> Iterator[str]:
    """Yield the paths of files below a folder, except lock files. A push may remove some."""
    with suppress(FileNotFoundError), os.scandir(git_dir / folder) as entries:
        for entry in entries:
            path = f"{folder}/{entry.name}"
            if entry.is_dir():
                yield from paths(git_dir, path)
            elif not path.endswith(".lock"):
                yield path


def copy_objects(source: Path, target: Path) -> None:
    """Copy all objects of a bare repository to another, without changing refs."""
    shutil.copytree(source / "objects", target / "objects", dirs_exist_ok=True)
