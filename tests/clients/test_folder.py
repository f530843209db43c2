"""Plain folders, read like commits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.clients.git import GitRepository
from kalypso_actions.errors import KalypsoError
from tests.git_repositories import commit, programs, repository

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes and links as POSIX has them")


@POSIX
def test_entries_are_those_of_git(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    (path / "run.sh").write_bytes(b"#!/bin/sh\n")
    (path / "run.sh").chmod(0o755)
    (path / "link").symlink_to("./a//x.yaml")
    (path / "to-folder").symlink_to("a")
    commit(
        path,
        {"a/x.yaml": "x: 1\n", "a-b": "", "a0": b"\x00\xff", "ü/é.yaml": "y", ".hidden/z": "z"},
    )
    expected = GitRepository(path, programs()).at_branch("main").entries()
    folder = FolderFiles(path)
    assert folder.entries() == expected
    assert list(folder.entries()) == list(expected)
    assert folder.read(expected) == GitRepository(path, programs()).at_branch("main").read(expected)


def test_git_folders_are_left_out_and_ignored_files_are_not(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    commit(path, {".gitignore": "*.log\n"})
    (path / "a.log").write_text("x")
    (path / "inner").mkdir()
    (path / "inner" / ".git").write_text("gitdir: elsewhere\n")
    (path / "inner" / "x.yaml").write_text("x")
    assert set(FolderFiles(path).entries()) == {".gitignore", "a.log", "inner/x.yaml"}


@POSIX
def test_names_need_not_be_utf8_and_sockets_are_no_files(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.yaml")).write_text("x")
    os.mkfifo(tmp_path / "pipe")
    folder = FolderFiles(tmp_path)
    assert set(folder.entries()) == {"\udcff.yaml"}
    assert folder.read(["\udcff.yaml"]) == {"\udcff.yaml": b"x"}


def test_a_folder_has_neither_commit_nor_trees(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    folder = FolderFiles(tmp_path, repository="https://example.com/x")
    assert (folder.repository, folder.commit, folder.tree_id("a")) == (
        "https://example.com/x",
        None,
        None,
    )
    assert FolderFiles(tmp_path).repository == str(tmp_path)


def test_unknown_path_is_a_key_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        FolderFiles(tmp_path).read(["../secret"])


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(KalypsoError, match="cannot be read: No such file") as caught:
        FolderFiles(tmp_path / "nowhere").entries()
    assert caught.value.problem.where
    assert caught.value.problem.where.repository == str(tmp_path / "nowhere")


def test_file_that_goes_away(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    folder = FolderFiles(tmp_path)
    folder.entries()
    (tmp_path / "x").unlink()
    with pytest.raises(KalypsoError, match="cannot be read"):
        folder.read(["x"])
