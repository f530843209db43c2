"""The reading client and the embedded GitHub, over HTTP without fakes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from kalypso_actions.clients.github import (
    AppAuth,
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
    branches,
    commits,
    overviews,
    statuses,
    workflows,
)
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.reading.document_reader import PARALLEL_READS
from kalypso_actions.model.github import (
    CommitStatus,
    PathHead,
    RegisteredPath,
    RunStatus,
)
from kalypso_sandbox import Fault, Sandbox
from kalypso_sandbox.embedded import Flavour
from kalypso_sandbox.store import Permissions
from tests.git_repositories import ENVIRONMENT, git

FLEET = "acme/fleet"
Flavours = pytest.mark.parametrize("sandbox", ["github.com", "ghes"], indirect=True)


@pytest.fixture
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sandbox]:
    flavour: Flavour = getattr(request, "param", "github.com")
    with Sandbox(tmp_path, Programs(ENVIRONMENT), flavour=flavour) as made:
        made.create_repository("acme/fleet", {"deploy/a": "1", "README": "x"})
        yield made


def connect(sandbox: Sandbox, auth: TokenAuth | AppAuth | None = None) -> GitHub:
    environment = sandbox.environment()
    return GitHub(
        GitHubServer.of_environment(environment),
        auth or TokenAuth(sandbox.create_token()),
        environment,
        sleep=lambda _: None,
    )


def app(sandbox: Sandbox, owner: str, permissions: Permissions | None = None) -> AppAuth:
    number, key = sandbox.create_app(owner, permissions)
    return AppAuth(str(number), key)


@Flavours
def test_branches_and_commits(sandbox: Sandbox) -> None:
    github = connect(sandbox)
    first = branches.head(github, "acme/fleet", "main")
    second = sandbox.commit("acme/fleet", {"deploy/a": "2"})
    assert first is not None
    assert branches.head(github, "acme/fleet", "main") == second
    assert branches.head(github, "acme/fleet", "mai") is None
    assert commits.get(github, "acme/fleet", second).parents == (first,)
    assert commits.relation(github, "acme/fleet", second, first) == "behind"
    assert commits.relation(github, "acme/fleet", first, first) == "identical"
    assert commits.position(github, "acme/fleet", first, "main").ahead == 1


@Flavours
@pytest.mark.parametrize("kind", ["token", "app"])
def test_heads(sandbox: Sandbox, kind: str) -> None:
    commit = sandbox.git("acme/fleet").head("main")
    assert commit is not None
    paths = [RegisteredPath("acme/fleet", "main", path) for path in ("", "deploy", "x", "README")]
    gone = [
        RegisteredPath("acme/fleet", "other", ""),
        RegisteredPath("acme/absent", "main", ""),
        RegisteredPath("other/absent", "main", ""),
    ]
    github = connect(sandbox, app(sandbox, "acme") if kind == "app" else None)
    result = overviews.read_registered_heads(github, [*paths, *gone])
    root, deploy, absent, file = (result[path] for path in paths)
    assert root is not None and root == PathHead(
        commit, commits.get(github, "acme/fleet", commit).tree
    )
    assert deploy is not None and deploy.tree not in {None, root.tree}
    assert absent == file == PathHead(commit, None)
    assert [result[path] for path in gone] == [None, None, None]


@Flavours
def test_statuses_of_many_commits(sandbox: Sandbox) -> None:
    github = connect(sandbox)
    root = sandbox.git(FLEET).head("main") or ""
    newest = sandbox.commit(FLEET, {"a": "1"})
    wanted = CommitStatus("dev environment", "pending", "Promoted", "https://a.b/c")
    for status in (replace(wanted, state="error", target_url=""), wanted):
        assert statuses.post(github, FLEET, root, status)
    read = {root: {"dev environment": wanted}, newest: {}}
    commits_of_nobody = ["e" * 40, "main", root[:7], ""]
    assert statuses.of_commits(github, FLEET, [root, *commits_of_nobody, newest]) == read
    result = statuses.of_history(github, FLEET, "main", 100)
    assert (result, list(result)) == (read, [newest, root])
    assert list(statuses.of_history(github, FLEET, "main", 1)) == [newest]
    assert statuses.of_history(github, FLEET, "nowhere", 1) == {}
    assert result[root]["dev environment"].created_at is not None
    assert not statuses.post(github, FLEET, root, wanted)


def many_commits(sandbox: Sandbox, parent: str, count: int) -> list[str]:
    """Return successive commits of main, the oldest first."""
    stream = "".join(
        "commit refs/heads/main\n"
        # Later than its parent: git relies on this order when it searches the commits in between.
        f"committer n <n@example.com> {4_000_000_000 + number} +0000\ndata 1\nx\n"
        + (f"from {parent}\n" if number == 0 else "")
        + f"M 100644 inline a\ndata <<E\n{number}\nE\n\n"
        for number in range(count)
    )
    folder = sandbox.git("acme/fleet").git_dir
    git(folder, "fast-import", "--quiet", stdin=stream.encode())
    return git(folder, "rev-list", "--reverse", f"{parent}..refs/heads/main").split()


def test_a_hundred_commits_by_one_request(sandbox: Sandbox) -> None:
    github = connect(sandbox)
    ids = many_commits(sandbox, sandbox.git(FLEET).head("main") or "", 101)
    assert list(statuses.of_commits(github, FLEET, ids)) == ids
    assert len(sandbox.traffic.of("POST", "/graphql")) == 2
    assert list(statuses.of_history(github, FLEET, "main", 100)) == ids[:0:-1]
    assert len(sandbox.traffic.of("POST", "/graphql")) == 3


@pytest.mark.parametrize("permission", ["statuses", "contents"])
def test_statuses_that_may_not_be_read(sandbox: Sandbox, permission: str) -> None:
    """The client must not take them for absent."""
    commit = sandbox.git(FLEET).head("main") or ""
    granted: Permissions = {"statuses": "read", "contents": "read"}
    del granted[permission]
    github = connect(sandbox, TokenAuth(sandbox.create_token("user", granted)))
    with pytest.raises(GitHubError, match="Resource not accessible"):
        statuses.of_commits(github, FLEET, [commit])
    with pytest.raises(GitHubError, match="Resource not accessible"):
        statuses.of_history(github, FLEET, "main", 1)


def test_unfinished_runs(sandbox: Sandbox) -> None:
    """A run may wait for an approval while many later ones are completed."""
    github = connect(sandbox)
    workflow = (
        "name: Check\nrun-name: Check ${{ inputs.name }}\n"
        "on: {workflow_dispatch: {inputs: {name: {}}}}\n"
    )
    names = ("check.yaml", "other.yaml")
    sandbox.commit(FLEET, {f".github/workflows/{name}": workflow for name in names})
    assert workflows.unfinished(github, FLEET, "check.yaml") == ()
    for number in range(7):
        inputs = {"name": str(number)}
        workflows.dispatch(github, FLEET, "check.yaml", ref="main", inputs=inputs)
    workflows.dispatch(github, FLEET, "other.yaml", ref="main", inputs={})
    runs = sandbox.runs(FLEET)
    open_states: tuple[RunStatus, ...] = ("requested", "waiting", "pending", "in_progress")
    for run, status in zip(runs, open_states, strict=False):
        sandbox.change_run(run.id, status)
    for run in runs[4:6]:
        sandbox.change_run(run.id, "completed", "success")
    result = workflows.unfinished(github, FLEET, "check.yaml")
    assert [(run.id, run.title, run.status) for run in result] == [
        (runs[6].id, "Check 6", "queued"),
        (runs[3].id, "Check 3", "in_progress"),
        (runs[2].id, "Check 2", "pending"),
        (runs[1].id, "Check 1", "waiting"),
        (runs[0].id, "Check 0", "requested"),
    ]
    assert result[0].url == f"{sandbox.url}/acme/fleet/actions/runs/{result[0].id}"
    assert result[0].created_at == runs[6].created_at
    assert workflows.unfinished(github, FLEET, "absent.yaml") == ()
    with pytest.raises(GitHubError):
        workflows.unfinished(github, "acme/absent", "check.yaml")


def test_a_renamed_repository_is_left_to_git(sandbox: Sandbox) -> None:
    github = connect(sandbox)
    before = branches.head(github, "acme/fleet", "main")
    sandbox.rename_repository("acme/fleet", "drones")
    path = RegisteredPath("acme/fleet", "main", "deploy")
    assert branches.head(github, "acme/fleet", "main") == before
    assert overviews.read_registered_heads(github, [path]) == {path: None}


def test_many_ask_at_once_and_keep_their_connections(
    sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    """As many as `snapshot` reads at once; urllib3 warns of each connection that it drops."""
    github = connect(sandbox)
    sandbox.faults.add(Fault("*", "*", "slow", count=0, seconds=0.3))
    read = [lambda: branches.head(github, "acme/fleet", "main")] * PARALLEL_READS
    with caplog.at_level(logging.WARNING, "urllib3"), ThreadPoolExecutor(PARALLEL_READS) as pool:
        result = set(pool.map(lambda read_head: read_head(), read))
    assert result == {sandbox.git("acme/fleet").head("main")}
    assert caplog.messages == []
