"""The files of locations that are on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kalypso_actions.clients.files_at_hand import FilesAtHand
from kalypso_actions.clients.git.local import GitRepository
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import Location
from tests.git_repositories import commit_branch, git

URL = "https://github.com/acme/fleet"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, str]]:
    """A repository in the current folder, with the commits of its branches."""
    repository = tmp_path / "clone"
    commits = {
        "dev": commit_branch(repository, {"a.yaml": "of: dev\n"}, "dev"),
        "main": commit_branch(repository, {"a.yaml": "of: main\n"}, "main"),
    }
    monkeypatch.chdir(tmp_path)
    return repository, commits


def at_hand(clone: Path) -> FilesAtHand:
    return FilesAtHand(Programs(os.environ), lambda: {URL: clone})


def test_a_file_of_a_folder(clone: tuple[Path, dict[str, str]]) -> None:
    folder, _ = clone
    (folder / "a.yaml").write_text("now\n")
    files = at_hand(folder)
    for repository, path in ((str(folder), "clone/a.yaml"), ("clone", "clone/a.yaml")):
        where = Location(repository, "a.yaml", 1)
        assert (files.path(where), files.text(where)) == (path, "now\n")


def test_a_file_outside_of_the_current_folder_has_its_whole_path(
    clone: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = clone
    (folder / "a.yaml").write_text("now\n")
    (folder / "inside").mkdir()
    monkeypatch.chdir(folder / "inside")
    assert at_hand(folder).path(Location(str(folder), "a.yaml", 1)) == str(folder / "a.yaml")


def test_a_file_of_a_commit(clone: tuple[Path, dict[str, str]]) -> None:
    folder, commits = clone
    (folder / "a.yaml").write_text("of: main\n")
    files = at_hand(folder)
    same = Location(URL, "a.yaml", 1, commit=commits["main"])
    other = Location(URL, "a.yaml", 1, commit=commits["dev"])
    assert (files.path(same), files.text(same)) == ("clone/a.yaml", "of: main\n")
    assert (files.path(other), files.text(other)) == ("", "of: dev\n")


@pytest.mark.parametrize(
    ("checked_out", "branch", "is_there"),
    [
        ("main", "main", True),
        ("main", "", True),
        ("main", "dev", False),
        ("dev", "main", False),
        ("dev", "dev", True),
        ("a-change", "main", False),
        ("--detach", "main", True),
        ("--detach", "dev", False),
    ],
)
def test_the_same_content_of_another_branch_is_another_file(
    clone: tuple[Path, dict[str, str]], checked_out: str, branch: str, *, is_there: bool
) -> None:
    folder, commits = clone
    (folder / "a.yaml").write_text("of: main\n")
    git(folder, "checkout", "--quiet", "--force", "dev")
    commits["dev"] = commit_branch(folder, {"a.yaml": "of: main\n", "b.yaml": ""}, "dev")
    git(folder, "branch", "a-change", "main")
    names = ["--detach", "main"] if checked_out == "--detach" else [checked_out]
    git(folder, "checkout", "--quiet", "--force", *names)
    where = Location(URL, "a.yaml", 1, branch=branch, commit=commits[branch or "main"])
    files = at_hand(folder)
    assert files.path(where) == ("clone/a.yaml" if is_there else "")
    assert files.text(where) == "of: main\n"


@pytest.mark.parametrize("path", ["link.yaml", "../secret", "absent.yaml", "binary.yaml", ""])
def test_nothing_else_is_read(clone: tuple[Path, dict[str, str]], path: str) -> None:
    folder, commits = clone
    (folder.parent / "secret").write_text("secret\n")
    (folder / "link.yaml").symlink_to(folder.parent / "secret")
    (folder / "binary.yaml").write_bytes(b"\xff\xfe\xff")
    files = at_hand(folder)
    for where in (
        Location(str(folder), path, 1),
        Location(URL, path, 1, commit=commits["dev"]),
        Location(URL, path, 1, commit="0" * 40),
        Location("https://github.com/acme/other", path, 1),
    ):
        assert (files.path(where), files.text(where)) == ("", "")


def test_the_clone_of_many_findings_is_asked_once(
    clone: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = clone
    git(folder, "remote", "add", "origin", URL)
    calls: list[GitRepository] = []
    remotes = GitRepository.remotes

    def counted(repository: GitRepository) -> tuple[str, ...]:
        calls.append(repository)
        return remotes(repository)

    monkeypatch.setattr(GitRepository, "remotes", counted)
    files = at_hand(folder)
    for line in range(1, 100):
        assert files.path_in_clone(Location(URL, "a.yaml", line), "acme/fleet") == "a.yaml"
    assert len(calls) == 1
