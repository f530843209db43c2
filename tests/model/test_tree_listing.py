"""A listing, of which only a part is parsed, has the same files as one that is parsed whole."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.clients.git import GitRepository
from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.tree_listing import SINGLE_LOOKUPS, TreeListing, bytewise, folders_of
from tests.git_repositories import commit, programs, repository

SEGMENT = st.sampled_from(
    ["a", "a-b", "a.b", "b", "tree", "100644 blob", "x\ta", "é", "\udcff", "040000 tree 1\ta"]
)
PATHS = st.sets(st.lists(SEGMENT, min_size=1, max_size=4).map("/".join), max_size=12)


def without_blocked(paths: set[str]) -> set[str]:
    """Leave out files that stand where another file needs a folder."""
    return paths - folders_of(paths)


def listing(paths: set[str], size: str = "") -> TreeListing:
    ids = {path: f"{number:040x}" for number, path in enumerate(sorted(paths | folders_of(paths)))}
    lines = {path: f"{FILE_MODE} blob {ids[path]}{size and ' ' + size}\t{path}\0" for path in paths}
    for folder in folders_of(paths):
        unknown = size and "       -"
        lines[f"{folder}/"] = f"040000 tree {ids[folder]}{unknown}\t{folder}\0"
    return TreeListing("".join(lines[path] for path in bytewise(lines)))


def parsed(of: TreeListing) -> Mapping[str, FileEntry]:
    return dict(of.items())


@given(PATHS.map(without_blocked), st.sampled_from(["", "12"]))
def test_single_files_are_found_without_the_others(paths: set[str], size: str) -> None:
    whole = listing(paths, size)
    assert list(parsed(whole)) == bytewise(paths)
    assert {item.size for item in whole.values()} <= {int(size or -1)}
    for path in paths | folders_of(paths) | {"nothing"}:
        one = listing(paths, size)
        assert (path in one) == (path in paths)
        assert one.get(path) == parsed(whole).get(path)
        assert "_files" not in one.__dict__
    assert bool(whole) == bool(paths)
    assert len(whole.tree_ids) == len(folders_of(paths))


def test_a_path_with_a_tab_is_of_no_folder_behind_it() -> None:
    folders = listing({"a/a/a", "x\ta/a/a"}).folders("a")
    assert {name: folder.files() for name, folder in folders.items()} == {"a": ["a/a/a"]}


@given(PATHS.map(without_blocked), st.data())
def test_folders_and_the_rest_make_the_whole(paths: set[str], data: st.DataObject) -> None:
    outer = data.draw(st.sampled_from(["", *sorted(folders_of(paths))]))
    prefix = f"{outer}/" if outer else ""
    made = listing(paths)
    if data.draw(st.booleans()):
        made.folders(outer.rpartition("/")[0])  # then only the lines of `outer` are searched
    folders = made.folders(outer)
    below = {path.removeprefix(prefix) for path in paths if path.startswith(prefix)}
    assert folders.keys() == {path.partition("/")[0] for path in below if "/" in path}
    for name, folder in folders.items():
        start = f"{prefix}{name}/"
        assert folder.path == f"{prefix}{name}"
        assert folder.files() == bytewise(path for path in paths if path.startswith(start))
        inner = {item for item in folders_of(paths) if item.startswith(start)}
        assert sorted(folder.folders()) == sorted({folder.path} | inner)
    left_out = [name for name in sorted(folders) if data.draw(st.booleans())]
    rest = made.without([folders[name] for name in left_out])
    starts = tuple(f"{prefix}{name}/" for name in left_out)
    expected = {path: item for path, item in made.items() if not path.startswith(starts or "\0")}
    assert list(rest.items()) == list(expected.items())


def test_the_versions_of_a_folder_are_its_files() -> None:
    folder = listing({"a/README.md", "a/web/reconciler.yaml", "b"}).folders("")["a"]
    ids = listing({"a/README.md", "a/web/reconciler.yaml", "b"})
    assert folder.versions() == "".join(
        f"100644 {ids[path].object_id} {path}\n"
        for path in ("a/README.md", "a/web/reconciler.yaml")
    )


def test_a_name_that_repeats_another_is_read_once() -> None:
    hostile = listing({"\tx" * 200_000})
    start = time.process_time()
    assert "x" not in hostile
    assert time.process_time() - start < 1


def test_many_lookups_parse_the_listing_once() -> None:
    made = listing({f"f{number}" for number in range(20)})
    for number in range(SINGLE_LOOKUPS):
        assert f"f{number}" in made
    assert "_files" not in made.__dict__
    assert "f19" in made
    assert "_files" in made.__dict__


def test_files_of_a_name_are_found_without_the_others() -> None:
    paths = {".i", "a/.i", "a/b/.i", "a.i", "a/.ix", ".i/x", "c\t.i", "d\t/.i"}
    made = listing({*paths, *(f"large/{number}/x.yaml" for number in range(50))})
    assert {*made.named(".i")} == {".i", "a/.i", "a/b/.i", "d\t/.i"}
    assert "_files" not in made.__dict__


@pytest.mark.parametrize("path", ["a/x.yaml", "a/b/y", "z"])
def test_git_lists_files_in_this_form(tmp_path: Path, path: str) -> None:
    clone = repository(tmp_path / "clone", branch="main")
    commit(clone, {"a/x.yaml": "1\n", "a/b/y": "22\n", "z": "333\n"})
    files = GitRepository(clone, programs()).at_branch("main")
    assert files.entries()[path].size == files.entries()[path].size > 1
    assert [*files.entries().folders("")] == ["a"]
    assert files.entries().folders("a")["b"].files() == ["a/b/y"]


ANY_PATHS = st.binary(max_size=6).map(lambda raw: raw.decode("utf-8", "surrogateescape"))


@given(st.lists(ANY_PATHS | st.text("ab/-.", max_size=6)))
def test_paths_are_sorted_by_their_bytes(paths: list[str]) -> None:
    raw = sorted(path.encode("utf-8", "surrogateescape") for path in paths)
    assert [path.encode("utf-8", "surrogateescape") for path in bytewise(paths)] == raw
