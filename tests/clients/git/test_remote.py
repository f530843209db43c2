"""Repositories elsewhere."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError
from tests.clients.git.servers import serving
from tests.git_repositories import commit, git, programs, repository


def remotes(
    started: Programs | None = None,
    *,
    protocols: frozenset[str] = frozenset({"file", "http"}),
    credentials: Mapping[str, str] | None = None,
    trust_user_config: bool = False,
    sleep: Callable[[float], None] = lambda _: None,
) -> RemoteRepositories:
    return RemoteRepositories(
        started or programs(),
        protocols=protocols,
        credentials=credentials,
        trust_user_config=trust_user_config,
        sleep=sleep,
    )


class Counting(Programs):
    """Programs that notes every call of git."""

    def __init__(self) -> None:
        super().__init__(programs()._environment)
        self.calls: list[list[str]] = []
        self.extras: list[dict[str, str]] = []

    def run(self, arguments, **more):  # type: ignore[no-untyped-def]
        self.calls.append(list(arguments))
        self.extras.append(dict(more.get("extra") or {}))
        return super().run(arguments, **more)

    def network(self) -> list[list[str]]:
        return [call for call in self.calls if "fetch" in call or "ls-remote" in call]


def origin(tmp_path: Path) -> tuple[Path, str, str]:
    """A repository with two commits and 150 files; its path and its commits."""
    path = repository(tmp_path / "origin")
    first = commit(path, {f"many/{number}.yaml": f"{number}\n" for number in range(150)})
    second = commit(path, {"many/0.yaml": "changed\n", "large.bin": b"\x00" * 100_000})
    return path, first, second


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
        assert files.read(wanted) == contents
        assert len(started.network()) == 2
        assert files.read(["large.bin"])["large.bin"] == b"\x00" * 100_000
        assert len(started.network()) == 3


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


def test_repository_without_a_default_branch(tmp_path: Path) -> None:
    with remotes() as opened, pytest.raises(KalypsoError, match="has no default branch"):
        opened.default_branch(str(repository(tmp_path / "empty")))


def test_server_that_cannot_leave_files_out_sends_them_all(tmp_path: Path) -> None:
    path, _, _ = origin(tmp_path)
    git(path, "config", "uploadpack.allowFilter", "false")
    started = Counting()
    with remotes(started) as opened:
        files = opened.fetch(f"file://{path}", branch="main")
        assert files.entries()["large.bin"].size == 100_000
        assert files.read(["many/1.yaml"]) == {"many/1.yaml": b"1\n"}
        assert len(started.network()) == 1


def test_sha256_repositories(tmp_path: Path) -> None:
    path = repository(tmp_path / "origin", object_format="sha256")
    head = commit(path, {"x": "hello"})
    with remotes() as opened:
        assert opened.fetch(str(path), commit=head).read(["x"]) == {"x": b"hello"}
    with remotes() as opened:
        assert opened.fetch(str(path)).read(["x"]) == {"x": b"hello"}


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
    with remotes() as opened:
        opened.fetch(str(path), branch="main")
        assert list(temporary.iterdir())
    assert not list(temporary.iterdir())
    with pytest.raises(RuntimeError, match="outside of the context"):
        opened.fetch(str(path), branch="main")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"branch": "nope"}, "the branch 'nope' cannot be read: there is no such branch"),
        ({"commit": "1" * 40}, "the server does not have that commit"),
        ({"commit": "abc"}, "is not a commit id"),
        ({"branch": "--upload-pack=x"}, "is not the name of a branch"),
    ],
)
def test_what_the_repository_does_not_have(
    tmp_path: Path, what: dict[str, str], message: str
) -> None:
    path, _, _ = origin(tmp_path)
    with remotes() as opened, pytest.raises(KalypsoError, match=message):
        opened.fetch(f"file://{path}", **what)


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


def bare(tmp_path: Path, name: str = "org/repo") -> tuple[Path, str]:
    """A bare repository below `srv`, and its head."""
    work = repository(tmp_path / "work" / name)
    head = commit(work, {"x.yaml": "x", "y.yaml": "y"})
    path = tmp_path / "srv" / name
    git(tmp_path, "clone", "--quiet", "--bare", str(work), str(path))
    git(path, "config", "uploadpack.allowFilter", "true")
    return path, head


def test_over_http_with_the_credential_of_its_prefix(tmp_path: Path) -> None:
    _, head = bare(tmp_path)
    bare(tmp_path, "other/repo")
    with serving(tmp_path / "srv") as server:
        credentials = {f"{server.url}/org": "Basic c2VjcmV0", "http://127.0.0.2": "Basic b3RoZXI="}
        with remotes(credentials=credentials) as opened:
            files = opened.fetch(f"{server.url}/org/repo", branch="main")
            assert files.commit == head
            assert files.read(["x.yaml", "y.yaml"]) == {"x.yaml": b"x", "y.yaml": b"y"}
            opened.fetch(f"{server.url}/other/repo", branch="main")
    sent = {(path.split("/")[1], credential) for _, path, credential in server.requests}
    assert sent == {("org", "Basic c2VjcmV0"), ("other", None)}


def test_credentials_are_neither_in_arguments_nor_in_other_calls(tmp_path: Path) -> None:
    bare(tmp_path)
    started = Counting()
    with serving(tmp_path / "srv") as server:
        credentials = {server.url: "Basic c2VjcmV0"}
        with remotes(started, credentials=credentials) as opened:
            opened.fetch(f"{server.url}/org/repo", branch="main").read(["x.yaml"])
    assert "c2VjcmV0" not in str(started.calls)
    with_secret = [
        call
        for call, extra in zip(started.calls, started.extras, strict=True)
        if "c2VjcmV0" in str(extra)
    ]
    assert with_secret == started.network()


def test_redirect_to_another_server_is_not_followed(tmp_path: Path) -> None:
    bare(tmp_path)
    with serving(tmp_path / "srv") as elsewhere, serving(tmp_path / "srv") as server:
        target = f"{elsewhere.url}/org/repo/info/refs?service=git-upload-pack"
        server.answers["/org"] = [(301, {"Location": target})] * 9
        credentials = {server.url: "Basic c2VjcmV0"}
        with (
            remotes(credentials=credentials) as opened,
            pytest.raises(KalypsoError, match=f"sends git elsewhere to {elsewhere.url}/org/repo"),
        ):
            opened.fetch(f"{server.url}/org/repo", branch="main")
    assert elsewhere.requests == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_repository_that_was_renamed_is_found_on_its_server(tmp_path: Path, status: int) -> None:
    _, head = bare(tmp_path, "new/name")
    with serving(tmp_path / "srv") as server:
        target = f"{server.url}/new/name/info/refs?service=git-upload-pack"
        server.answers["/old"] = [(status, {"Location": target})] * 9
        credentials = {f"{server.url}/old": "Basic c2VjcmV0"}
        with remotes(credentials=credentials) as opened:
            files = opened.fetch(f"{server.url}/old/name", branch="main")
            assert files.commit == head
            assert files.repository == f"{server.url}/old/name"
            assert files.read(["x.yaml"]) == {"x.yaml": b"x"}
    assert {credential for _, path, credential in server.requests if "/new/" in path} == {None}


def test_redirects_in_a_circle_end(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        target = f"{server.url}/a/info/refs?service=git-upload-pack"
        server.answers["/a"] = [(301, {"Location": target})] * 9
        with remotes() as opened, pytest.raises(KalypsoError, match="error: 301"):
            opened.fetch(f"{server.url}/a", branch="main")


@pytest.mark.parametrize("headers", [{}, {"Location": "ssh://-oProxyCommand=x/y"}])
def test_redirect_that_leads_nowhere(tmp_path: Path, headers: dict[str, str]) -> None:
    with serving(tmp_path) as server:
        server.answers["/"] = [(301, headers)] * 9
        with remotes() as opened, pytest.raises(KalypsoError, match="sends git elsewhere"):
            opened.fetch(f"{server.url}/a", branch="main")


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "the repository does not exist, or is private"),
        (403, "the credential may not read the repository"),
        (404, "the repository does not exist, or the credential may not see it"),
    ],
)
def test_refusals_say_what_to_change_and_are_not_repeated(
    tmp_path: Path, status: int, message: str
) -> None:
    with serving(tmp_path) as server:
        server.answers["/"] = [(status, {"WWW-Authenticate": "Basic"})] * 9
        with remotes() as opened, pytest.raises(KalypsoError, match=message):
            opened.fetch(f"{server.url}/org/repo", branch="main")
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_transient_failures_are_tried_again(tmp_path: Path, status: int) -> None:
    _, head = bare(tmp_path)
    slept: list[float] = []
    with serving(tmp_path / "srv") as server:
        server.answers["/"] = [(status, {})] * 2
        with remotes(sleep=slept.append) as opened:
            assert opened.fetch(f"{server.url}/org/repo", branch="main").commit == head
    assert slept == [1.0, 2.0]


def test_trying_again_has_an_end(tmp_path: Path) -> None:
    slept: list[float] = []
    with serving(tmp_path) as server:
        server.answers["/"] = [(503, {})] * 9
        with (
            remotes(sleep=slept.append) as opened,
            pytest.raises(KalypsoError, match="error: 503"),
        ):
            opened.fetch(f"{server.url}/org/repo", branch="main")
        assert len(server.requests) == 4
    assert slept == [1.0, 2.0, 4.0]


def test_server_that_is_not_there() -> None:
    slept: list[float] = []
    with remotes(sleep=slept.append) as opened, pytest.raises(KalypsoError, match="cannot be read"):
        opened.fetch("http://127.0.0.1:9/x", branch="main")
    assert len(slept) == 3


def test_configuration_of_the_user_counts_only_when_trusted(tmp_path: Path) -> None:
    path, _, second = origin(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[url "file://{path}"]\n\tinsteadOf = http://nowhere.invalid/x\n'
    )
    started = programs(HOME=str(home))
    with remotes(started, trust_user_config=True) as opened:
        assert opened.fetch("http://nowhere.invalid/x", branch="main").commit == second
    with remotes(started) as opened, pytest.raises(KalypsoError, match="cannot be read"):
        opened.fetch("http://nowhere.invalid/x", branch="main")


@pytest.mark.parametrize("trusted", [True, False])
def test_credentials_of_the_user_are_sent_only_when_trusted(
    tmp_path: Path, *, trusted: bool
) -> None:
    _, head = bare(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".netrc").write_text("machine 127.0.0.1 login me password mine\n")
    with serving(tmp_path / "srv") as server:
        with remotes(programs(HOME=str(home)), trust_user_config=trusted) as opened:
            assert opened.fetch(f"{server.url}/org/repo", branch="main").commit == head
        server.answers["/"] = [(401, {"WWW-Authenticate": "Basic"})]
        with remotes(programs(HOME=str(home)), trust_user_config=trusted) as opened:
            if trusted:
                assert opened.fetch(f"{server.url}/org/repo", branch="main").commit == head
            else:
                with pytest.raises(KalypsoError, match="or is private"):
                    opened.fetch(f"{server.url}/org/repo", branch="main")
    assert any(credential for _, _, credential in server.requests) is trusted


def test_credential_helper_of_the_user_is_asked_only_when_trusted(tmp_path: Path) -> None:
    _, head = bare(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    helper = "!f() { echo username=me; echo password=mine; }; f"
    (home / ".gitconfig").write_text(f'[credential]\n\thelper = "{helper}"\n')
    started = programs(HOME=str(home))
    with serving(tmp_path / "srv") as server:
        url = f"{server.url}/org/repo"
        server.answers["/"] = [(401, {"WWW-Authenticate": "Basic"})]
        with remotes(started, trust_user_config=True) as opened:
            assert opened.fetch(url, branch="main").commit == head
        assert server.requests[1][2] == "Basic bWU6bWluZQ=="
        server.answers["/"] = [(401, {"WWW-Authenticate": "Basic"})]
        with remotes(started) as opened, pytest.raises(KalypsoError, match="or is private"):
            opened.fetch(url, branch="main")
