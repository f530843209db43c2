"""Fetching commits of remote repositories, without history and files."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kalypso_actions.errors import KalypsoError
from tests.clients.git.remotes import Counting, bare, origin, remotes
from tests.clients.git.servers import serving
from tests.git_repositories import commit, git, repository

COMMANDS = {
    "version",
    "init",
    "fetch",
    "ls-remote",
    "rev-parse",
    "rev-list",
    "ls-tree",
    "cat-file",
    "push",
}


def test_branch_is_fetched_without_history_and_files(tmp_path: Path) -> None:
    path, first, second = origin(tmp_path)
    started = Counting()
    with remotes(started) as opened:
        files = opened.fetch(f"file://{path}", branch="main")
        assert files.commit == second
        assert len(files.entries()) == 151
        assert files.tree_id("many") == git(path, "rev-parse", "HEAD:many")
        assert len(started.network()) == 1
        objects = git(files._git_dir, "rev-list", "--objects", "--missing=print", "--all").split()
        assert first not in objects
        assert files.entries()["large.bin"].object_id not in objects
        assert files.entries()["large.bin"].size == -1


def test_files_are_fetched_together_and_once(tmp_path: Path) -> None:
    path, _, _ = origin(tmp_path)
    started = Counting()
    with remotes(started) as opened:
        files = opened.fetch(f"file://{path}", branch="main")
        wanted = [f"many/{number}.yaml" for number in range(150)]
        contents = files.read(wanted)
        assert contents["many/0.yaml"] == b"changed\n"
        assert contents["many/149.yaml"] == b"149\n"
        assert len(started.network()) == 2
        started.calls.clear()
        assert files.read(wanted) == contents
        assert started.calls == []
        assert files.read(["large.bin"])["large.bin"] == b"\x00" * 100_000
        assert len(started.network()) == 1
        assert files.read(["large.bin"])["large.bin"] == b"\x00" * 100_000
        assert len(started.calls) == 4, "a large file is not kept, so git reads it again"


def test_commit_by_id_also_behind_the_head(tmp_path: Path) -> None:
    path, first, second = origin(tmp_path)
    started = Counting()
    with remotes(started) as opened:
        files = opened.fetch(f"file://{path}", commit=first)
        assert files.commit == first
        assert files.read(["many/0.yaml"]) == {"many/0.yaml": b"0\n"}
        assert "large.bin" not in files.entries()
        now = opened.fetch(f"file://{path}", commit=second)
        assert now.read(["many/0.yaml"]) == {"many/0.yaml": b"changed\n"}
        calls = len(started.network())
        opened.fetch(f"file://{path}", commit=first)
        assert len(started.network()) == calls


def test_a_branch_stays_the_same_commit_within_one_context(tmp_path: Path) -> None:
    path, _, second = origin(tmp_path)
    with remotes() as opened:
        assert opened.fetch(f"file://{path}", branch="main").commit == second
        commit(path, {"new": "new"})
        assert opened.fetch(f"file://{path}/", branch="main").commit == second
    with remotes() as opened:
        assert opened.fetch(f"file://{path}", branch="main").commit != second


def test_default_branch(tmp_path: Path) -> None:
    path = repository(tmp_path / "origin", branch="trunk/x")
    head = commit(path, {"x": "x"})
    with remotes() as opened:
        assert opened.default_branch(str(path)) == "trunk/x"
        assert opened.fetch(str(path)).commit == head


def test_the_default_branch_is_read_once_unless_everything_is_read_again(
    tmp_path: Path,
) -> None:
    path = repository(tmp_path / "origin", branch="trunk")
    commit(path, {"x": "x"})
    with remotes() as opened:
        assert opened.default_branch(str(path)) == "trunk"
        git(path, "branch", "-m", "trunk", "main")
        assert opened.default_branch(str(path)) == "trunk"
        assert opened.default_branch(str(path), preferred="main") == "main"
        opened.forget_heads()
        assert opened.default_branch(str(path)) == "main"


def test_repository_without_a_default_branch(tmp_path: Path) -> None:
    with remotes() as opened, pytest.raises(KalypsoError, match="default branch does not exist"):
        opened.default_branch(str(repository(tmp_path / "empty")))


def test_server_that_cannot_leave_files_out_sends_them_all(tmp_path: Path) -> None:
    path, _ = bare(tmp_path)
    git(path, "config", "uploadpack.allowFilter", "false")
    with serving(tmp_path / "srv") as server, remotes() as opened:
        files = opened.fetch(f"{server.url}/org/repo", branch="main")
        assert server.asked("/git-upload-pack") == 2
        assert files.read(["x.yaml", "y.yaml"]) == {"x.yaml": b"x", "y.yaml": b"y"}
        assert server.asked("/git-upload-pack") == 2


def test_few_processes_and_requests(tmp_path: Path) -> None:
    path, _ = bare(tmp_path)
    started = Counting()
    with serving(tmp_path / "srv") as server, remotes(started) as opened:
        files = opened.fetch(f"{server.url}/org/repo", branch="main")
        assert files.tree_id("nowhere") is None
        assert files.read(["x.yaml", "y.yaml"]) == {"x.yaml": b"x", "y.yaml": b"y"}
        assert files.tree_id("") == git(path, "rev-parse", "main^{tree}")
        named = [next(word for word in call[1:] if word in COMMANDS) for call in started.calls]
        if named[0] == "version":  # an earlier test may have asked git for it
            del named[0]
        assert named == ["fetch", "ls-tree", "cat-file", "fetch", "cat-file"]
        assert len(server.requests) == 5


def test_small_files_come_with_their_commit(tmp_path: Path) -> None:
    path, _, second = origin(tmp_path)
    url = f"file://{path}"
    started = Counting()
    with remotes(started, with_files=[url]) as opened:
        assert opened.default_branch(f"{url}/", preferred="main") == "main"
        files = opened.fetch(url, branch="main")
        assert files.commit == second
        assert files.read(["many/0.yaml", "many/1.yaml"])["many/0.yaml"] == b"changed\n"
        assert opened.fetch(url, commit=second).read(["many/2.yaml"]) == {"many/2.yaml": b"2\n"}
        assert len(started.network()) == 1
        assert files.read(["large.bin"]) == {"large.bin": b"\x00" * 100_000}
        assert files.read(["large.bin"]).keys() == {"large.bin"}
        assert len(started.network()) == 2


def test_a_second_branch_takes_no_negotiation(tmp_path: Path) -> None:
    path, _ = bare(tmp_path)
    git(path, "branch", "dev", git(path, "commit-tree", "-m", "dev", "main^{tree}"))
    with serving(tmp_path / "srv") as server:
        url = f"{server.url}/org/repo"
        with remotes(with_files=[url]) as opened:
            for branch in ("main", "dev"):
                assert opened.fetch(url, branch=branch).read(["x.yaml"]) == {"x.yaml": b"x"}
        assert len(server.requests) == 6


def test_the_head_of_a_branch_comes_with_its_commit(tmp_path: Path) -> None:
    path, _, second = origin(tmp_path)
    url = f"file://{path}"
    started = Counting()
    with remotes(started) as opened:
        assert opened.fetch_head(url, "main") == second
        assert opened.fetch(url, commit=second).commit == second
        assert len(started.network()) == 1
        assert opened.fetch_head(url, "gone") is None
        third = commit(path, {"new": "new"})
        assert opened.fetch_head(url, "main") == third
        with pytest.raises(KalypsoError, match="the branch 'main' cannot be read"):
            opened.fetch_head(f"{url}-gone", "main")


@pytest.mark.parametrize("serve_http", [False, True])
def test_sha256_repositories(tmp_path: Path, *, serve_http: bool) -> None:
    path, head = bare(tmp_path, object_format="sha256")
    with serving(tmp_path / "srv") as server:
        url = f"{server.url}/org/repo" if serve_http else f"file://{path}"
        for branch, asked in (("", head), ("main", ""), ("", "")):
            with remotes() as opened:
                assert opened.fetch(url, branch=branch, commit=asked).read(["x.yaml"]) == {
                    "x.yaml": b"x"
                }
                assert opened.heads(url, ["main"]) == {"main": head}


def test_forgotten_heads_are_read_again(tmp_path: Path) -> None:
    path, _, second = origin(tmp_path)
    url = f"file://{path}"
    with remotes() as opened:
        before = opened.fetch(url, branch="main")
        third = commit(path, {"new": "new"})
        opened.forget_heads()
        assert opened.fetch(url, branch="main").commit == third
        assert opened.fetch(url, branch="main").read(["new"]) == {"new": b"new"}
        git(path, "reset", "--quiet", "--hard", "HEAD~2")
        git(path, "switch", "--quiet", "-c", "other")
        opened.forget_heads()
        assert opened.fetch(url, branch="main").commit not in {second, third}
        assert before.commit == second
        assert before.read(["many/0.yaml"]) == {"many/0.yaml": b"changed\n"}


def test_a_branch_may_take_the_place_of_another_ones_folder(tmp_path: Path) -> None:
    path, first, second = origin(tmp_path)
    url = f"file://{path}"
    with remotes() as opened:
        for branch, gone, head in (("a", "b", first), ("a/b", "a", second), ("a", "a/b", first)):
            git(path, "branch", "-D", gone, statuses=(0, 1))
            git(path, "branch", branch, head)
            opened.forget_heads()
            assert opened.fetch(url, branch=branch).commit == head


def test_a_second_look_reads_every_branch_again(tmp_path: Path) -> None:
    path, _, second = origin(tmp_path)
    with remotes() as opened:
        assert opened.fetch(f"file://{path}", branch="main").commit == second
        third = commit(path, {"new": "new"})
        assert opened.fetch(f"file://{path}", branch="main").commit == second
        opened.forget_heads()
        assert opened.fetch(f"file://{path}", branch="main").commit == third


def test_heads_are_read_again_by_their_exact_names(tmp_path: Path) -> None:
    path, _, second = origin(tmp_path)
    for name in ("a", "deep/a", "refs/heads/a"):
        git(path, "branch", name)
    git(path, "tag", "tag")
    url = f"file://{path}"
    with remotes() as opened:
        assert opened.heads(url, ["a", "main", "tag", "nope"]) == {"a": second, "main": second}
        third = commit(path, {"new": "new"})
        assert opened.heads(url, ["a", "main"]) == {"a": second, "main": third}
        assert opened.heads(url, []) == {}
        with pytest.raises(KalypsoError, match="not the name of a branch"):
            opened.heads(url, ["--upload-pack=x"])


def test_threads_share_one_copy(tmp_path: Path) -> None:
    path, _, second = origin(tmp_path)
    started = Counting()
    with remotes(started) as opened, ThreadPoolExecutor(8) as pool:

        def read(number: int) -> bytes:
            files = opened.fetch(f"file://{path}", branch="main")
            assert files.commit == second
            return files.read([f"many/{number}.yaml"])[f"many/{number}.yaml"]

        assert list(pool.map(read, range(1, 30))) == [
            f"{number}\n".encode() for number in range(1, 30)
        ]
        assert sum("--depth=1" in call for call in started.calls) == 1


def test_copies_go_with_the_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _, _ = origin(tmp_path)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    opened = remotes()
    for _ in range(2):
        with opened:
            assert opened.fetch(str(path), branch="main").entries()
            assert list(temporary.iterdir())
        assert not list(temporary.iterdir())
    with pytest.raises(RuntimeError, match="outside of the context"):
        opened.fetch(str(path), branch="main")


@pytest.mark.parametrize(
    ("branch", "asked", "message"),
    [
        ("nope", "", "the branch 'nope' cannot be read: there is no such branch"),
        ("", "1" * 40, "the server does not have that commit"),
        ("", "abc", "is not a commit id"),
        ("--upload-pack=x", "", "is not the name of a branch"),
    ],
)
def test_what_the_repository_does_not_have(
    tmp_path: Path, branch: str, asked: str, message: str
) -> None:
    path, _, _ = origin(tmp_path)
    with remotes() as opened, pytest.raises(KalypsoError, match=message):
        opened.fetch(f"file://{path}", branch=branch, commit=asked)


def test_repository_that_does_not_exist(tmp_path: Path) -> None:
    with remotes() as opened, pytest.raises(KalypsoError, match="does not exist") as caught:
        opened.fetch(f"file://{tmp_path}/nowhere", branch="main")
    assert caught.value.problem.where
    assert caught.value.problem.where.repository == f"file://{tmp_path}/nowhere"
    assert "check the URL" in caught.value.problem.advice


def test_protocol_that_is_not_allowed_never_reaches_git(tmp_path: Path) -> None:
    started = Counting()
    with remotes(started, protocols=frozenset({"https"})) as opened:
        for url in (f"file://{tmp_path}", str(tmp_path), "git@host:x", "ext::touch x"):
            with pytest.raises(KalypsoError):
                opened.fetch(url, branch="main")
    assert started.calls == []


def test_submodules_and_hooks_do_nothing(tmp_path: Path) -> None:
    path, _, second = origin(tmp_path)
    module = f'[submodule "m"]\n\tpath = m\n\turl = file://{path}\n'
    (path / ".gitmodules").write_text(module)
    git(path, "add", ".gitmodules")
    git(path, "update-index", "--add", "--cacheinfo", f"160000,{second},m")
    git(path, "commit", "--quiet", "-m", "module")
    started = Counting()
    with remotes(started) as opened:
        files = opened.fetch(f"file://{path}", branch="main")
        assert files.entries()["m"].mode == "160000"
        assert len(started.network()) == 1


def test_a_revision_is_a_branch_a_tag_or_a_whole_id(tmp_path: Path) -> None:
    path, first, second = origin(tmp_path)
    git(path, "tag", "--annotate", "v1", first, "--message", "one")
    git(path, "tag", "light", first)
    with remotes(Counting()) as opened:
        for revision, expected in (
            ("main", second),
            ("v1", first),
            ("light", first),
            ("f" * 40, "f" * 40),
        ):
            assert opened.resolve(f"file://{path}", revision) == expected
        for revision, expected in (
            ("HEAD", second),
            (second[:7], second),
            (first[:7], first),
            ("main~1", first),
            (f"{second[:7]}^", first),
            (f"{second}~", first),
            ("v1~0", first),
        ):
            assert opened.resolve(f"file://{path}", revision, branch="main") == expected
        for revision in ("main~2", "HEAD^^", "0" * 7, "other"):
            with pytest.raises(KalypsoError, match=r"no branch, tag or commit .* on main"):
                opened.resolve(f"file://{path}", revision, branch="main")
        with pytest.raises(KalypsoError, match="there is no branch or tag"):
            opened.resolve(f"file://{path}", first[:7])
