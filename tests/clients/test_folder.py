"""Plain folders, read like commits."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kalypso_actions.clients.folder import FileWatch, FolderFiles, OutputFile, OutputFolder
from kalypso_actions.clients.git import GitRepository
from kalypso_actions.errors import KalypsoError, UsageError
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


MARK = ".github/tracking/sources.json"
TREE = {
    "large/app/reconciler.yaml": OutputFile(b"r"),
    MARK: OutputFile(b'{"schema": "kalypso.sources/v1"}'),
}


def listing(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def write(folder: Path, files: dict[str, OutputFile]) -> None:
    out = OutputFolder(folder)
    out.check()
    out.write(files)


@pytest.mark.parametrize("exists", [False, True])
def test_written_into_nothing(tmp_path: Path, exists: bool) -> None:
    out = tmp_path / "a" / "out"
    if exists:
        out.mkdir(parents=True)
    write(out, TREE)
    assert listing(out) == {path: file.content for path, file in TREE.items()}


def test_a_second_run_replaces_the_first(tmp_path: Path) -> None:
    write(tmp_path / "out", {**TREE, "small/old/namespace.yaml": OutputFile(b"x")})
    write(tmp_path / "out", {**TREE, "large/app/reconciler.yaml": OutputFile(b"new")})
    assert listing(tmp_path / "out")["large/app/reconciler.yaml"] == b"new"
    assert not (tmp_path / "out" / "small").exists()


def test_a_run_that_was_cut_off_can_be_repeated(tmp_path: Path) -> None:
    write(tmp_path / "out", {MARK: TREE[MARK]})
    write(tmp_path / "out", TREE)
    assert set(listing(tmp_path / "out")) == set(TREE)


@pytest.mark.parametrize(
    "content",
    [
        {"thesis.txt": "x"},
        {MARK: "{}"},
        {MARK: "not json"},
        {MARK: TREE[MARK].content.decode(), ".git/HEAD": "x"},
    ],
    ids=["a stranger's", "no schema", "no JSON", "a clone"],
)
def test_refused(tmp_path: Path, content: dict[str, str]) -> None:
    for name, text in content.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match="is not empty, and is not an output of this command"):
        OutputFolder(tmp_path).check()


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    with pytest.raises(UsageError, match="is not a folder"):
        OutputFolder(tmp_path / "out").check()


def test_files_added_by_somebody_are_not_removed(tmp_path: Path) -> None:
    write(tmp_path, TREE)
    (tmp_path / "large" / "app" / "thesis.txt").write_text("x")
    before = listing(tmp_path)
    with pytest.raises(UsageError, match=r"contains other files: large/app/thesis\.txt"):
        write(tmp_path, {**TREE, "large/app/reconciler.yaml": OutputFile(b"new")})
    assert listing(tmp_path) == before


@pytest.mark.parametrize(
    ("path", "text"),
    [("README.md", "about these files"), ("older/.github/tracking/sources.json", "{}")],
    ids=["a README of somebody", "another tree"],
)
def test_files_of_our_names_that_we_did_not_write_are_not_removed(
    tmp_path: Path, path: str, text: str
) -> None:
    write(tmp_path, TREE)
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    before = listing(tmp_path)
    with pytest.raises(UsageError, match=f"contains other files: {path}"):
        write(tmp_path, TREE)
    assert listing(tmp_path) == before


def test_the_folder_that_holds_older_outputs_is_not_ours(tmp_path: Path) -> None:
    write(tmp_path / "old", TREE)
    write(tmp_path / "new", TREE)
    with pytest.raises(UsageError, match="contains other files"):
        write(tmp_path, TREE)
    assert set(listing(tmp_path / "old")) == set(listing(tmp_path / "new")) == set(TREE)


def test_empty_folders_may_be_replaced(tmp_path: Path) -> None:
    """A run that stopped before its first file leaves such folders."""
    (tmp_path / ".github" / "tracking").mkdir(parents=True)
    write(tmp_path, TREE)
    assert set(listing(tmp_path)) == set(TREE)


def test_a_refusal_of_the_system_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match=r"--out .*/file/out cannot be written: Not a directory"):
        write(tmp_path / "file" / "out", TREE)


@pytest.mark.parametrize(
    "path", ["../up", "a/../../up", "/etc/x", ".git/config", "a/.GIT/hooks/x", "a//b", "a\\b"]
)
def test_paths_that_leave_the_folder(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        OutputFolder(tmp_path / "out").write({path: OutputFile(b"x")})
    assert not (tmp_path / "out").exists()


def test_modes(tmp_path: Path) -> None:
    write(
        tmp_path / "out",
        {**TREE, "run.sh": OutputFile(b"x", "100755"), "link": OutputFile(b"run.sh", "120000")},
    )
    assert (tmp_path / "out" / "run.sh").stat().st_mode & 0o111
    assert (tmp_path / "out" / "link").readlink() == Path("run.sh")
    write(tmp_path / "out", {**TREE, "run.sh": OutputFile(b"x"), "link": OutputFile(b"x")})
    assert not (tmp_path / "out" / "run.sh").stat().st_mode & 0o111


def test_a_link_that_is_a_folder_too_leads_nowhere(tmp_path: Path) -> None:
    """Git itself refuses a tree with such entries, but it can be made by hand."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    tree = {"a": OutputFile(str(elsewhere).encode(), "120000"), "a/b": OutputFile(b"x")}
    with pytest.raises(UsageError, match="'a/b', which cannot be written"):
        write(tmp_path / "out", {**TREE, **tree})
    assert not any(elsewhere.iterdir())


def test_nothing_is_written_through_a_symlink(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    write(
        tmp_path / "out",
        {**TREE, "large/app/namespace.yaml": OutputFile(str(victim).encode(), "120000")},
    )
    write(tmp_path / "out", {**TREE, "large/app/namespace.yaml": OutputFile(b"n")})
    assert victim.read_text() == "precious"
    assert not (tmp_path / "out/large/app/namespace.yaml").is_symlink()


def add(folder: Path) -> None:
    (folder / "b" / "new.yaml").write_text("x")


def change(folder: Path) -> None:
    (folder / "b" / "a.yaml").write_text("longer")


def delete(folder: Path) -> None:
    (folder / "b" / "a.yaml").unlink()


def fetch(folder: Path) -> None:
    (folder / ".git" / "refs" / "dev").write_text("1")


@pytest.mark.parametrize("act", [add, change, delete, fetch])
def test_it_waits_for_a_change(act: Callable[[Path], None], tmp_path: Path) -> None:
    for name in ("b", ".git/refs"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "b" / "a.yaml").write_text("x")
    looks = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        (tmp_path / ".git" / "index").write_text("looking changes it")
        if len(looks) == 2:
            act(tmp_path)

    watch = FileWatch([tmp_path, tmp_path / "absent"], sleep)
    watch.wait(watch.state())
    assert len(looks) == 2
