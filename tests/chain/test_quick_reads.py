"""Reads without git give the same results as git."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chain.loose_objects import LooseObjects
from tests.git_repositories import commit, git, repository

FILES = {"a": "1", "x/y/z": "22", "x/é": "3", "x.b": "4"}


@pytest.mark.parametrize("options", [[], ["-l"]], ids=["names", "sizes"])
def test_a_listing(tmp_path: Path, options: list[str]) -> None:
    path = repository(tmp_path / "fleet")
    head = commit(path, FILES)
    listing = LooseObjects(path / ".git" / "objects").listing(head, sizes=bool(options))
    wanted = git(path, "ls-tree", "-r", "-t", "-z", "--full-tree", *options, head)
    assert listing.decode() == wanted


def test_objects(tmp_path: Path) -> None:
    path = repository(tmp_path / "fleet")
    names = [commit(path, FILES), git(path, "rev-parse", "HEAD:x/y/z")]
    names.append(f"{names[0]}^{{tree}}")
    printed = LooseObjects(path / ".git" / "objects").batch(names)
    wanted = git(path, "cat-file", "--batch", stdin="\n".join(names).encode())
    assert printed.decode("utf-8", "surrogateescape").strip() == wanted


def test_packed_objects_are_left_to_git(tmp_path: Path) -> None:
    path = repository(tmp_path / "fleet")
    head = commit(path, FILES)
    git(path, "repack", "-a", "-d", "--quiet")
    with pytest.raises(LookupError):
        LooseObjects(path / ".git" / "objects").batch([head])
