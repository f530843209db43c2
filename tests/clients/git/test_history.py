"""The first-parent line of a branch, with the changes of its commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_actions.clients.git import history
from kalypso_actions.errors import KalypsoError
from tests.clients.git.remotes import Counting, remotes
from tests.git_repositories import commit, git, repository


def lined(tmp_path: Path, count: int = 5) -> tuple[Path, list[str]]:
    """Make a repository with commits of one file; return it and the commits, newest first."""
    path = repository(tmp_path / "origin")
    ids = [commit(path, {"a.yaml": f"{number}\n"}) for number in range(count)]
    return path, ids[::-1]


def test_what_each_commit_changes(tmp_path: Path) -> None:
    path = repository(tmp_path / "origin")
    first = commit(path, {"a.yaml": "1\n", "b/é .yaml": "x\n"}, message="one\n\nbody")
    (path / "b/é .yaml").unlink()
    second = commit(path, {"a.yaml": "2\n"})
    with remotes() as opened:
        newest, oldest = opened.history(f"file://{path}", second)
    assert (newest.id, newest.parents) == (second, (first,))
    assert (oldest.id, oldest.parents) == (first, ())
    assert oldest.message == "one\n\nbody\n"
    before, after = newest.changes["a.yaml"]
    assert before == oldest.changes["a.yaml"].after
    assert after is not None
    assert after.object_id == git(path, "rev-parse", f"{second}:a.yaml")
    assert newest.changes["b/é .yaml"] == (oldest.changes["b/é .yaml"].after, None)
    assert oldest.changes["a.yaml"].before is None


def test_commits_that_change_a_whole_fleet_are_read_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three commits that change the files of 100,000 assignments exceed the limit together."""
    path = repository(tmp_path / "origin")
    ids = [commit(path, {f"{number}.yaml": f"{of}\n" for number in range(100)}) for of in range(12)]
    monkeypatch.setattr(history, "MAX_CHANGES", 20_000)
    with remotes() as opened:
        line = list(opened.history(f"file://{path}", ids[-1]))
    assert [each.id for each in line] == ids[::-1]
    assert all(len(each.changes) == 100 for each in line)
    monkeypatch.setattr(history, "MAX_CHANGES", 5_000)
    with remotes() as opened, pytest.raises(KalypsoError, match="changes too many files"):
        list(opened.history(f"file://{path}", ids[-1]))


def test_a_merge_is_compared_with_its_first_parent(tmp_path: Path) -> None:
    path = repository(tmp_path / "origin")
    first = commit(path, {"a.yaml": "1\n"})
    git(path, "checkout", "--quiet", "-b", "side")
    side = commit(path, {"side.yaml": "s\n"})
    git(path, "checkout", "--quiet", "main")
    second = commit(path, {"a.yaml": "2\n"})
    git(path, "merge", "--quiet", "--no-ff", "-m", "merge", "side")
    head = git(path, "rev-parse", "HEAD")
    started = Counting()
    with remotes(started) as opened:
        line = list(opened.history(f"file://{path}", head))
        ancestry = opened.ancestry(f"file://{path}", head)
        started.calls.clear()
        assert opened.ancestry(f"file://{path}", head) is ancestry
        assert started.calls == []
    assert [commit.id for commit in line] == [head, second, first]
    assert line[0].parents == (second, side)
    assert line[0].changes.keys() == {"side.yaml"}
    assert side in ancestry
    assert ancestry.contains(head, side)
    assert ancestry.contains(side, first)
    assert not ancestry.contains(second, side)
    assert not ancestry.contains("1" * 40, first)


def test_only_the_inspected_commits_are_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "DEPTHS", (2, 4))
    path, ids = lined(tmp_path, 7)
    started = Counting()
    with remotes(started) as opened:
        line = opened.history(f"file://{path}", ids[0])
        contents = [next(line).id]
        assert len(started.network()) == 1
        contents += [next(line).id, next(line).id]
        assert len(started.network()) == 2
        rest = list(line)
        assert [*contents, *(commit.id for commit in rest)] == ids
        assert len(started.network()) == 3
        assert rest[-1].changes["a.yaml"].before is None
        assert all(commit.changes["a.yaml"].before for commit in rest[:-1])


def test_no_file_is_fetched(tmp_path: Path) -> None:
    path, ids = lined(tmp_path)
    with remotes() as opened:
        list(opened.history(f"file://{path}", ids[0]))
        opened.ancestry(f"file://{path}", ids[0])
        folder = Path(opened._folder.name if opened._folder else "")
        for copy in folder.glob("history-*.git"):
            missing = git(copy, "rev-list", "--objects", "--missing=print", "--all", ids[0])
            assert "?" in missing, copy


def test_histories_and_shallow_copies_do_not_cut_one_another(tmp_path: Path) -> None:
    path, ids = lined(tmp_path)
    with remotes() as opened:
        list(opened.history(f"file://{path}", ids[0]))
        opened.fetch(f"file://{path}", commit=ids[0])
        assert len(list(opened.history(f"file://{path}", ids[0]))) == 5


def test_a_commit_that_does_not_exist(tmp_path: Path) -> None:
    path, _ = lined(tmp_path)
    with remotes() as opened, pytest.raises(KalypsoError, match="history of the commit"):
        list(opened.history(f"file://{path}", "1" * 40))


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_object_formats(tmp_path: Path, object_format: str) -> None:
    path = repository(tmp_path / "origin", object_format=object_format)
    head = commit(path, {"a.yaml": "1\n"})
    with remotes() as opened:
        (only,) = opened.history(f"file://{path}", head)
        assert only.id == head
        assert head in opened.ancestry(f"file://{path}", head)


def test_contents_are_read_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "BLOBS", 3)
    path, ids = lined(tmp_path, 5)
    started = Counting()
    with remotes(started) as opened:
        url = f"file://{path}"
        line = list(opened.history(url, ids[0]))
        versions = [commit.changes["a.yaml"].after for commit in line]
        wanted = [version.object_id for version in versions if version]
        before = len(started.network())
        contents = opened.blobs(url, wanted)
        assert [contents[blob] for blob in wanted] == [b"4\n", b"3\n", b"2\n", b"1\n", b"0\n"]
        assert opened.blobs(url, wanted[:1]) == {wanted[0]: b"4\n"}
        assert opened.blobs(url, []) == {}
        assert len(started.network()) == before + 2
        with pytest.raises(KalypsoError, match="files"):
            opened.blobs(url, ["1" * 40])


@pytest.mark.parametrize("depths", [(50, 1000), (2, 2)], ids=["newest", "whole"])
def test_changed_lines_continue_after_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depths: tuple[int, int]
) -> None:
    monkeypatch.setattr(history, "DEPTHS", depths)
    path, ids = lined(tmp_path)
    with remotes() as opened:
        log = opened.line_log(f"file://{path}", ids[0], ids[3])
        commits = [(each.commit, each.files["a.yaml"]) for each in log.commits]
    assert log.continues
    assert commits == [
        (ids[2], (["1"], ["2"])),
        (ids[1], (["2"], ["3"])),
        (ids[0], (["3"], ["4"])),
    ]


@pytest.mark.parametrize("after", ["", "f" * 40])
def test_changed_lines_begin_anew_after_a_foreign_commit(tmp_path: Path, after: str) -> None:
    path, ids = lined(tmp_path)
    with remotes() as opened:
        log = opened.line_log(f"file://{path}", ids[0], after)
        assert [each.commit for each in log.commits] == ids[::-1]
    assert not log.continues
