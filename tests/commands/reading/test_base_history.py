"""The commits of main that an environment's branch named, with renames and broken files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_actions.clients.git import history
from kalypso_actions.commands.shared.reading import base_history
from kalypso_actions.commands.shared.reading.base_history import read_base_writes
from tests.clients.git.remotes import Counting, remotes
from tests.commands.chain.documents import base_repo, config_map, gitops_repo
from tests.git_repositories import commit, git, repository

URL = "https://github.com/acme/fleet"
MS = tuple(f"{number}" + "f" * 39 for number in range(1, 10))
M1, M2, M3, M4, M5 = MS[:5]
BASE = "base-repo.yaml"


def base(named: str) -> str:
    return base_repo(URL, named)


class Branch:
    """An environment's branch, commit by commit (None deletes a file)."""

    def __init__(self, path: Path) -> None:
        self.path = repository(path)

    def commit(self, **files: str | None) -> str:
        return self.change(
            {name.replace("__", "/") + ".yaml": text for name, text in files.items()}
        )

    def change(self, files: dict[str, str | None]) -> str:
        for path, text in files.items():
            if text is None:
                (self.path / path).unlink()
        return commit(self.path, {path: text for path, text in files.items() if text is not None})

    def named(self, folder: str = ".", main: frozenset[str] = frozenset()) -> list[str | None]:
        """Return the commits that the writes name, newest first."""
        head = git(self.path, "rev-parse", "HEAD")
        with remotes() as opened:
            writes = read_base_writes(opened, f"file://{self.path}", head, folder, main)
            return [write.promoted_commit for write in writes]


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    return Branch(tmp_path / "origin")


def test_each_write_and_nothing_else(branch: Branch) -> None:
    branch.change({"config.yaml": config_map(A="1")})
    branch.change({BASE: base(M1)})
    branch.change({"config.yaml": config_map(A="2")})
    branch.change({BASE: "# a comment\n" + base(M1)})
    branch.change({BASE: base(M2), "config.yaml": config_map(A="3")})
    branch.change({BASE: base(M1)})
    assert branch.named() == [M1, M2, M1]


def test_a_branch_that_names_nothing(branch: Branch) -> None:
    branch.change({"config.yaml": config_map(A="1")})
    assert branch.named() == []
    branch.change({BASE: base("HEAD")})
    assert branch.named() == []
    branch.change({BASE: base(M1)})
    branch.change({BASE: base("HEAD")})
    assert branch.named() == [None, M1]


def test_a_file_that_was_moved(branch: Branch) -> None:
    branch.change({BASE: base(M1)})
    branch.change({BASE: base(M2)})
    branch.change({BASE: None, "flux/main.yaml": base(M2)})
    branch.change({"flux/main.yaml": base(M3)})
    branch.change({"flux/main.yaml": None, "z.yml": base(M1), "config.yaml": config_map(A="1")})
    assert branch.named() == [M1, M3, M2, M1]


def test_a_document_that_went_from_one_file_to_another(branch: Branch) -> None:
    other = gitops_repo(URL, "dev")
    branch.change({"all.yaml": f"{other}---\n{base(M1)}", "config.yaml": config_map(A="1")})
    branch.change({"all.yaml": f"{other}---\n{base(M2)}"})
    branch.change({"all.yaml": other, "config.yaml": config_map(A="1") + "---\n" + base(M3)})
    assert branch.named() == [M3, M2, M1]


def test_a_file_that_was_gone_for_a_while(branch: Branch) -> None:
    branch.change({BASE: base(M1), "config.yaml": config_map(A="1")})
    branch.change({BASE: base(M2)})
    branch.change({BASE: None})
    branch.change({"config.yaml": config_map(A="2")})
    branch.change({"later.yaml": base(M1)})
    assert branch.named() == [M1, None, M2, M1]
    branch.change({"later.yaml": None})
    assert branch.named() == [None, M1, None, M2, M1]


@pytest.mark.parametrize("broken", ["kind: [BaseRepo\n", "kind: BaseRepo\nspec: {commit: 7}\n"])
def test_a_file_that_was_broken_names_nothing(branch: Branch, broken: str) -> None:
    branch.change({BASE: base(M1)})
    branch.change({BASE: broken})
    branch.change({BASE: base(M2)})
    assert branch.named() == [M2, None, M1]
    branch.change({BASE: broken})
    assert branch.named() == [None, M2, None, M1]


def test_an_environment_in_a_folder_beside_another_one(branch: Branch) -> None:
    branch.change({BASE: base(M1)})
    branch.change({BASE: None, "a/base-repo.yaml": base(M1), "b/base-repo.yaml": base(M5)})
    branch.change({"a/base-repo.yaml": base(M2)})
    branch.change({"b/base-repo.yaml": base(M4)})
    assert branch.named("a") == [M2, M1]
    assert branch.named("./b/") == [M4, M5, M1]
    branch.change({"b/base-repo.yaml": None, "c/config.yaml": config_map(A="1")})
    assert branch.named("c") == []
    branch.change({"c/main.yaml": base(M3)})
    assert branch.named("c") == [M3]


def test_a_merge_names_what_it_brings(branch: Branch) -> None:
    branch.change({BASE: base(M1)})
    git(branch.path, "checkout", "--quiet", "-b", "side")
    branch.change({BASE: base(M2)})
    branch.change({BASE: base(M3)})
    git(branch.path, "checkout", "--quiet", "main")
    git(branch.path, "merge", "--quiet", "--no-ff", "-m", "merge", "side")
    assert branch.named() == [M3, M1]


def test_commits_before_the_branch_was_cut_are_not_searched(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = branch.change({"a.yaml": base(M4)})
    gone = branch.change({"a.yaml": None})
    branch.change({BASE: base(M1)})
    assert branch.named() == [M1, None, M4]
    assert branch.named(main=frozenset({old, gone})) == [M1]


def test_many_writes_take_few_requests(branch: Branch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_history, "CHUNK", 4)
    monkeypatch.setattr(history, "DEPTHS", (5, 20))
    for named in MS:
        branch.change({BASE: base(named)})
    assert branch.named() == list(reversed(MS))
    head = git(branch.path, "rev-parse", "HEAD")
    started = Counting()
    with remotes(started) as opened:
        writes = read_base_writes(opened, f"file://{branch.path}", head, ".", frozenset())
        assert next(writes).promoted_commit == MS[-1]
        early = len(started.network())
        assert len(list(writes)) == len(MS) - 1
        # The file at the head, its history and contents, then more of both.
        assert early == 4
        assert len(started.network()) == early + 2
