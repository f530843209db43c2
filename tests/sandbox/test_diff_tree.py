"""The output of `git diff-tree` becomes changes of files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from kalypso_sandbox.git.commits import FileChange, Person
from kalypso_sandbox.git.repositories import BareRepository
from tests.git_repositories import programs

ANNA = Person("Anna", "anna@example.com", datetime(2026, 3, 1, tzinfo=UTC))
Files = dict[str, str | bytes | None]
TEXT = "".join(f"line {number}\n" for number in range(20))


def test_every_kind_of_change(tmp_path: Path) -> None:
    git = BareRepository(tmp_path / "a.git", programs())
    git.create("main")
    before: Files = {
        "a b\tc": TEXT,
        "changed": "1\n2\n",
        "gone": "1\n2\n3\n",
        "image": b"\0\1",
        "ü": "1",
    }
    first = git.commit_files("main", before, "first", ANNA)
    after: Files = {"a b\tc": None, "moved\nhere": TEXT + "more\n", "changed": "1\n3\n4\n"}
    second = git.commit_files("main", {**after, "gone": None, "image": b"\0\2"}, "second", ANNA)
    changes = {change.path: change for change in git.diff(first, second)}
    known = {
        path: (change.status, change.additions, change.deletions)
        for path, change in changes.items()
    }
    assert known == {
        "changed": ("modified", 2, 1),
        "gone": ("removed", 0, 3),
        "image": ("modified", 0, 0),
        "moved\nhere": ("renamed", 1, 0),
    }
    assert changes["moved\nhere"].previous_path == "a b\tc"
    assert git.object_at(first, "gone") == (changes["gone"].blob, "blob")
    assert git.object_at(second, "changed") == (changes["changed"].blob, "blob")


def test_all_is_new_in_the_first_commit(tmp_path: Path) -> None:
    git = BareRepository(tmp_path / "a.git", programs())
    git.create("main")
    first = git.commit_files("main", {"a": "1\n"}, "first", ANNA)
    (change,) = git.diff(None, first)
    assert change == FileChange("a", "added", change.blob, additions=1, deletions=0)
    assert git.diff(first, first) == []
