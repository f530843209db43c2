"""Making commits without a checkout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kalypso_actions.clients.git import RemoteRepositories, Signature
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.object_ids import FileContent, blob_id
from tests.breaks import breaks, turned
from tests.clients.git.remotes import Counting, bare, origin, remotes
from tests.git_repositories import git, repository

AUTHOR = Signature("Kalypso", "kalypso@example.com")
DATE = datetime(2026, 3, 1, 12, 30, 15, 999_999, tzinfo=UTC)

Files = Mapping[str, bytes]
Changes = Mapping[str, bytes | None]
Content = TypeVar("Content")


def committed(
    opened: RemoteRepositories,
    url: str,
    changes: Mapping[str, FileContent | None],
    *,
    parent: str | None = None,
    message: str = "change",
    date: datetime = DATE,
) -> str:
    return opened.commit(
        url, parent=parent, changes=changes, message=message, author=AUTHOR, date=date
    )


def copy_of(opened: RemoteRepositories, url: str, commit: str) -> Path:
    return opened.fetch(url, commit=commit)._git_dir


def listing(git_dir: Path, commit: str) -> dict[str, str]:
    """Return path -> mode and blob, as git itself lists them."""
    output = git(git_dir, "ls-tree", "-r", "-z", "--full-tree", commit)
    lines = (line.partition("\t") for line in output.split("\0") if line)
    return {path: entry for entry, _, path in lines}


def expected_listing(files: Files) -> dict[str, str]:
    return {path: f"100644 blob {blob_id(content)}" for path, content in files.items()}


def model(files: Files, changes: Changes) -> dict[str, bytes]:
    """Return a tree after changes: deletions first, then files, which replace any obstacle."""
    result = dict(files)
    for path in changes:
        for other in list(result):
            replaced = changes[path] is not None and f"{path}/".startswith(f"{other}/")
            if replaced or f"{other}/".startswith(f"{path}/"):
                del result[other]
    return result | {path: content for path, content in changes.items() if content is not None}


def without_files_in_files(changes: dict[str, Content]) -> dict[str, Content]:
    written = [path for path, content in changes.items() if content is not None]
    return {
        path: content
        for path, content in changes.items()
        if content is None or not any(path.startswith(f"{other}/") for other in written)
    }


SEGMENTS = st.sampled_from(
    [
        *("a", "b", '"', '"a"', "'", "\\", "\\n", "\n", "a\n", " ", " a", "\t", "\x01", "\r"),
        *("é", "\udcff", "\udcc3", "-", "#", "*", "...", ".gitx", "..\n"),
        *("data 3", "D a", "M 100644 inline a"),
    ]
)
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)
CONTENTS = st.one_of(st.binary(max_size=8), st.sampled_from([b"", b"\n", b"done\n", b"D a\n"]))
FILES = st.dictionaries(PATHS, CONTENTS, max_size=8).map(without_files_in_files)
CHANGES = st.dictionaries(PATHS, st.none() | CONTENTS, max_size=8).map(without_files_in_files)


@breaks(
    "a commit forgets the other files of a folder that it changes",
    turned(
        "kalypso_actions.clients.git.commits._commands",
        "folder in existing and folder not in changes",
        "folder not in changes and folder not in existing",
    ),
)
def test_changes_are_what_a_dictionary_would_make_of_them(tmp_path: Path) -> None:
    url = f"file://{repository(tmp_path / 'empty')}"
    commits: list[str] = []
    with remotes() as opened:

        @given(FILES, CHANGES)
        @example({"a": b"file"}, {"a/b": b"in a folder"})
        @example({"a/b": b"1", "a/c": b"2"}, {"a": b"a file"})
        @example({"a/b": b"1", "a/c": b"2"}, {"a": None, "a/b": b"3"})
        @example({"a": b"1"}, {"a": None, "b/c": None})
        @example({"a": b"1"}, {"a/b": None})
        @example({"a/b": b"1", "a/c": b"2"}, {"a/b": None, "a/c": None, "a/d": b"3", "b/a": b"4"})
        @example({"a/b/c": b"1", "a/b/d": b"2", "b": b"3"}, {"a/b/c": None, "a/b/e": b"4"})
        @example({"a/b": b"1", "b/c": b"2"}, {"a/b": None, "b": None})
        @example({"rest/a": b"1", "apart/a": b"2"}, {"rest/b": b"3", "apart/b": b"4", "c/d": b"5"})
        @example({"-x/a/b": b"1", "-x/c": b"2"}, {"-x/a/d": b"3", "-x/e/f": b"4"})
        @example({":x/a/b": b"1", ":(top)": b"2"}, {":x/a/c": b"3", ":x/d/e": b"4"})
        @example({"*/a/b": b"1", "b/c/d": b"2"}, {"*/c/d": b"3"})
        def check(files: dict[str, bytes], changes: dict[str, bytes | None]) -> None:
            first = committed(opened, url, files)
            second = committed(opened, url, changes, parent=first)
            git_dir = copy_of(opened, url, second)
            assert listing(git_dir, first) == expected_listing(files)
            assert listing(git_dir, second) == expected_listing(model(files, changes))
            commits.extend((first, second))

        check()
        fsck = ["fsck", "--strict", "--no-progress", "--no-dangling", *commits[-20:]]
        assert git(copy_of(opened, url, commits[0]), *fsck) == ""


def test_what_a_commit_says(tmp_path: Path) -> None:
    url = f"file://{repository(tmp_path / 'empty')}"
    with remotes() as opened:
        first = committed(opened, url, {"a": b"1"}, message="Ünïcode\n\nBody")
        second = committed(opened, url, {}, parent=first, message="NUL\0, \udcff and end\n\n\n")
        git_dir = copy_of(opened, url, first)
        tree = git(git_dir, "rev-parse", f"{first}^{{tree}}")
        who = "Kalypso <kalypso@example.com> 1772368215 +0000"
        assert git(git_dir, "cat-file", "commit", first) == (
            f"tree {tree}\nauthor {who}\ncommitter {who}\n\nÜnïcode\n\nBody"
        )
        assert git(git_dir, "cat-file", "commit", second) == (
            f"tree {tree}\nparent {first}\nauthor {who}\ncommitter {who}\n\nNUL, ? and end"
        )


def test_equal_inputs_are_the_same_commit(tmp_path: Path) -> None:
    path, head = bare(tmp_path)
    changes = {"x.yaml": None, "new": b"1"}
    made = set()
    for date in (DATE, DATE.replace(microsecond=0).astimezone(timezone(timedelta(hours=5)))):
        with remotes() as opened:
            made.add(committed(opened, str(path), changes, parent=head, date=date))
            made.add(committed(opened, str(path), dict(reversed(changes.items())), parent=head))
    assert len(made) == 1


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@pytest.mark.parametrize("behind_the_head", [False, True])
def test_the_parents_files_stay_where_they_are(
    tmp_path: Path, object_format: str, *, behind_the_head: bool
) -> None:
    path, first, second = origin(tmp_path, object_format=object_format)
    url = f"file://{path}"
    parent = first if behind_the_head else second
    started = Counting()
    with remotes(started) as opened:
        made = committed(opened, url, {"many/7.yaml": b"new", "many/8.yaml": None}, parent=parent)
        assert len(started.network()) == 1
        now = listing(copy_of(opened, url, made), made)
        before = listing(path, parent)
        assert now.keys() == before.keys() - {"many/8.yaml"}
        assert {name for name in now if now[name] != before[name]} == {"many/7.yaml"}
        assert opened.fetch(url, commit=made).read(["many/7.yaml", "many/9.yaml"]) == {
            "many/7.yaml": b"new",
            "many/9.yaml": b"9\n",
        }


def test_the_parents_content_makes_the_parents_tree(tmp_path: Path) -> None:
    path, head = bare(tmp_path)
    with remotes() as opened:
        made = committed(opened, str(path), {"x.yaml": b"x", "nowhere/z": None}, parent=head)
        assert opened.fetch(str(path), commit=made).tree_id("") == git(
            path, "rev-parse", f"{head}^{{tree}}"
        )


def test_executables_and_links_become_regular_files(tmp_path: Path) -> None:
    path = repository(tmp_path / "origin")
    (path / "link").symlink_to("elsewhere")
    (path / "program").write_bytes(b"1")
    (path / "program").chmod(0o755)
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "-m", "first")
    head = git(path, "rev-parse", "HEAD")
    with remotes() as opened:
        made = committed(opened, str(path), {"link": b"2", "program": b"1"}, parent=head)
        assert listing(copy_of(opened, str(path), made), made) == expected_listing(
            {"link": b"2", "program": b"1"}
        )


@pytest.mark.parametrize(
    "before",
    [
        lambda _opened, _url: None,
        lambda opened, url: opened.heads(url, ["main", "new"]),
        lambda opened, url: opened.default_branch(url),
        lambda opened, url: opened.fetch(url),
    ],
)
def test_a_first_commit_has_the_format_of_the_repository(
    tmp_path: Path, before: Callable[[RemoteRepositories, str], object]
) -> None:
    path, _ = bare(tmp_path, object_format="sha256")
    with remotes() as opened:
        before(opened, str(path))
        made = committed(opened, str(path), {"a": b"1"})
        assert len(made) == 64
        assert opened.push(str(path), made, branch="new", expected=None) == "pushed"


@pytest.mark.parametrize(
    "changes",
    [
        {".git/config": b""},
        {"a/.GIT/x": None},
        {"../a": b""},
        {"a/./b": b""},
        {"/a": b""},
        {"a/": b""},
        {"a//b": b""},
        {"": b""},
        {"a\0b": b""},
    ],
)
def test_paths_that_no_checkout_would_write(tmp_path: Path, changes: Changes) -> None:
    with remotes() as opened, pytest.raises(KalypsoError, match="no file can be written at"):
        committed(opened, f"file://{tmp_path}", changes)


def test_a_file_in_a_file_is_refused(tmp_path: Path) -> None:
    changes = {"a/b/c": b"", "a": b""}
    with remotes() as opened, pytest.raises(KalypsoError, match="'a' would be both a file and"):
        committed(opened, f"file://{tmp_path}", changes)


def test_blobs_are_written_before_their_commit(tmp_path: Path) -> None:
    path, head = bare(tmp_path)
    url = f"file://{path}"
    contents = [b"", b"a\n", b"blob\ndata 3\n", "\N{SNOWMAN}".encode()]
    with remotes() as opened:
        opened.fetch(url, branch="main")
        for some in (contents[:2], contents[2:]):
            write = opened.blob_writer(url)
            assert write
            write(some)
        files = {f"{number}": blob_id(each) for number, each in enumerate(contents)}
        commit = committed(opened, url, files, parent=head)
        assert opened.push(url, commit, branch="main", expected=head) == "pushed"
    written = {f"{number}": each for number, each in enumerate(contents)}
    assert listing(path, "main").items() >= expected_listing(written).items()
    assert git(path, "fsck", "--strict", "--no-progress") == ""


def test_blobs_of_repositories_with_other_ids_are_not_written_ahead(tmp_path: Path) -> None:
    path, _ = bare(tmp_path, object_format="sha256")
    with remotes() as opened:
        assert opened.blob_writer(f"file://{path}") is None  # nobody knows the format yet
        opened.fetch(f"file://{path}", branch="main")
        assert opened.blob_writer(f"file://{path}") is None


def test_a_parent_that_the_server_does_not_have(tmp_path: Path) -> None:
    path, _ = bare(tmp_path)
    with remotes() as opened:
        with pytest.raises(KalypsoError, match="the server does not have that commit"):
            committed(opened, f"file://{path}", {}, parent="1" * 40)
        with pytest.raises(KalypsoError, match="is not a commit id"):
            committed(opened, f"file://{path}", {}, parent="main")


@pytest.mark.parametrize(("name", "email"), [("", "e"), (" ", "e"), ("a<b", "e"), ("a", "e\nx")])
def test_signatures_that_git_cannot_write(name: str, email: str) -> None:
    with pytest.raises(KalypsoError, match="git accepts no author"):
        Signature(name, email)


def test_dates_need_a_time_zone(tmp_path: Path) -> None:
    with remotes() as opened, pytest.raises(ValueError, match="time zone"):
        committed(opened, f"file://{tmp_path}", {}, date=DATE.replace(tzinfo=None))
