"""A command works with the permissions of its table; with one less, it names the missing one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from kalypso_actions.commands.check_promote import check_promote
from kalypso_actions.commands.registry import (
    CHAIN,
    COMMANDS,
    OF_JOBS_ALONE,
    POLICY,
    RECORD,
    Level,
    Permission,
    Place,
    app_permissions,
)
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.chain import CheckPromoteInputs
from kalypso_sandbox import Exchange
from kalypso_sandbox.store import Permissions
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, SHOP, Organisation
from tests.commands.chain.permission_scenes import SCENES, Credential, Run, Scene
from tests.commands.chain.promotions import merge

pytestmark = pytest.mark.usefixtures("azure")

PLACES: Mapping[str, Place] = {
    CONTROL_PLANE: "control plane",
    GITOPS: "GitOps repositories",
    SHOP: "registered repositories",
}
BY_ID = {scene.id: scene for scene in SCENES}

ONLY_WARNS: frozenset[tuple[str, str]] = frozenset(
    {
        # Pull requests from forks have tokens without it: the check is useful anyway.
        ("ci", "statuses"),
        # Then only the changes are unknown, not the problems of the commit.
        ("ci", GITOPS),
        # The last good commit of a registered repository is used instead.
        ("ci", SHOP),
        # schedule turns off auto-merge as well.
        ("cd", GITOPS),
        *(("rollback", name) for name in ("pull-requests", GITOPS)),
        ("schedule", SHOP),
        # A pull request from a fork has no more permissions, and a partial comparison is useful.
        *(("preview", name) for name in ("statuses", "pull-requests", GITOPS, SHOP)),
        ("poll", SHOP),
        # The states of commits are not recorded; what the clusters run is.
        *(("observe", name) for name in ("statuses", "pull-requests")),
    }
)
"""Permissions without which a command only warns."""

UNRECORDED: frozenset[tuple[str, str]] = frozenset(
    (command, "statuses") for command in ("schedule", "notify", "poll", "start-schedule")
)
"""Permissions without which a command records no start, and logs that."""


@pytest.fixture
def acme(acme_with_permissions: Organisation) -> Organisation:
    """Acme on a server that checks read permissions."""
    return acme_with_permissions


def _scenes(*, of_jobs: bool = False) -> pytest.MarkDecorator:
    chosen = [scene.id for scene in SCENES if scene.is_job or not of_jobs]
    return pytest.mark.parametrize("scene", chosen)


def credential(
    acme: Organisation,
    permissions: Mapping[str, Level],
    repositories: list[str],
    *,
    is_job: bool = False,
) -> Credential:
    """Return credentials with exactly these permissions: a job's own token, or an App."""
    levels: Permissions = {name.replace("-", "_"): level for name, level in permissions.items()}
    if is_job:
        token = acme.sandbox.create_token("actions", levels, repositories=repositories)
        return {"token": token}
    app_id, key = acme.sandbox.create_app("acme", levels, repositories=repositories)
    return {"app_id": str(app_id), "app_private_key": key}


def together(scene: Scene) -> dict[str, Level]:
    """Return the permissions that one credential needs in all repositories of the scene."""
    levels: dict[str, Level] = {}
    for needed in scene.needs.values():
        for name, level in needed.items():
            levels[name] = higher(level, levels.get(name))
    return levels


def higher(level: Level, other: Level | None) -> Level:
    return "write" if "write" in {level, other} else "read"


def started(acme: Organisation, scene: Scene) -> Run:
    """Prepare the scene, and forget its traffic and starts."""
    run = scene.prepare(acme)
    with acme.sandbox.lock:
        acme.sandbox.repository(CONTROL_PLANE).runs.clear()
    acme.forget()
    return run


@_scenes()
def test_a_command_works_with_what_it_needs(acme: Organisation, scene: str) -> None:
    played = BY_ID[scene]
    run = started(acme, played)
    result = run(credential(acme, together(played), list(played.needs)))
    assert not result.failed, result.document.problems
    assert needs(acme.sandbox.traffic) == played.needs
    played.check(acme)


@_scenes(of_jobs=True)
def test_a_jobs_own_token_is_enough_for_its_own_repository(acme: Organisation, scene: str) -> None:
    played = BY_ID[scene]
    run = started(acme, played)
    result = run(credential(acme, together(played), list(played.needs), is_job=True))
    assert not result.failed, result.document.problems
    played.check(acme)


def _lowered() -> Iterator[object]:
    """Yield each command's permissions, with the first scene that needs them."""
    seen = set()
    for scene in SCENES:
        for name, level in together(scene).items():
            if (scene.command, name) not in seen:
                yield pytest.param(scene.id, name, level, id=f"{scene.id}: {name}: {level}")
            seen.add((scene.command, name))


@pytest.mark.parametrize(("scene", "name", "level"), list(_lowered()))
def test_without_a_permission_it_says_which(
    acme: Organisation, scene: str, name: str, level: Level
) -> None:
    """Return the permissions with write reduced to read, or read removed."""
    played = BY_ID[scene]
    run = started(acme, played)
    less = together(played)
    del less[name]
    if level == "write":
        less[name] = "read"
    if (played.command, name) in UNRECORDED:
        result = run(credential(acme, less, list(played.needs), is_job=played.is_job))
        assert not result.failed, result.document.problems
        assert any(" is not posted: " in line for line in acme.logged)
        played.check(acme)
        return
    assert_missing(
        run,
        credential(acme, less, list(played.needs), is_job=played.is_job),
        f"{name}: {level}",
        fails=(played.command, name) not in ONLY_WARNS,
    )


def _absent() -> Iterator[object]:
    """Yield each command's repositories, with the first scene that uses them."""
    seen = set()
    for scene in SCENES:
        for repository in scene.needs:
            if (scene.command, repository) not in seen:
                yield pytest.param(scene.id, repository, id=f"{scene.id}: {repository}")
            seen.add((scene.command, repository))


@pytest.mark.parametrize(("scene", "repository"), list(_absent()))
def test_without_a_repository_it_says_which(
    acme: Organisation, scene: str, repository: str
) -> None:
    played = BY_ID[scene]
    run = started(acme, played)
    others = [need for need in played.needs if need != repository]
    problems = assert_missing(
        run,
        credential(acme, together(played), others),
        "that the App is installed for it",
        fails=(played.command, repository) not in ONLY_WARNS,
    )
    # For a GitOps repository it may name the GitOpsRepo instead.
    assert any(
        repository in str(problem) or "gitops-repo.yaml" in str(problem) for problem in problems
    )


def test_a_job_that_signs_in_to_azure_by_oidc_says_what_it_lacks(acme: Organisation) -> None:
    commit = acme.head("main") or ""
    given: dict[str, Any] = {
        "environment": "dev",
        "promoted_commit": commit,
        "gitops_commit": merge(acme, commit),
        "azure_client_id": "a",
        "azure_tenant_id": "b",
        "azure_scopes": "c",
    }

    def run(credential: Credential) -> CommandResult:
        return acme.run(check_promote, CheckPromoteInputs, **{**given, **credential})

    (row,) = [row for row in COMMANDS["check-promote"].permissions if row.name in OF_JOBS_ALONE]
    assert_missing(run, {"token": acme.token}, f"{row.name}: {row.level}", fails=True)


def assert_missing(
    run: Run, credential: Credential, permission: str, *, fails: bool
) -> list[Problem]:
    """Assert that the result names the missing permission; return its texts."""
    try:
        result = run(credential)
    except KalypsoError as error:
        failed, problems = True, list(error.problems)
    else:
        document = result.document
        failed, problems = result.failed, list(document.all_findings)
    assert failed == fails
    assert any(permission in problem.advice for problem in problems), problems
    return problems


def test_every_command_has_a_scene() -> None:
    assert {scene.command for scene in SCENES} == set(COMMANDS)


@pytest.mark.parametrize("command", sorted({scene.command for scene in SCENES}))
def test_the_table_is_what_the_scenes_need(command: str) -> None:
    # A policy has tests of its own in test_cd_policy.py, a record in test_recording.py.
    others = {*OF_JOBS_ALONE, *POLICY, *RECORD}
    rows = [row for row in COMMANDS[command].permissions if not {row, row.name} & others]
    assert levels_of(rows) == needed(command)
    assert len(rows) == len(needed(command))


@pytest.mark.parametrize("command", [command.name for command in CHAIN if command.verify_only])
def test_the_table_is_what_is_needed_to_verify(command: str) -> None:
    rows = [row for row in COMMANDS[command].verify_only if row not in POLICY]
    assert levels_of(rows) == needed(command, verify_only=True)


def levels_of(rows: Iterable[Permission]) -> dict[tuple[Place, str], Level]:
    return {(row.place, row.name): row.level for row in rows}


def needed(command: str, *, verify_only: bool = False) -> dict[tuple[Place, str], Level]:
    """Return the permissions that the scenes of a command need together."""
    levels: dict[tuple[Place, str], Level] = {}
    for scene in SCENES:
        if (scene.command, scene.verify_only) == (command, verify_only):
            for repository, of_repository in scene.needs.items():
                for name, level in of_repository.items():
                    key = PLACES[repository], name
                    levels[key] = higher(level, levels.get(key))
    return levels


def test_an_app_gets_the_most_of_every_row() -> None:
    everything: dict[str, Level] = {
        "actions": "write",
        "contents": "write",
        "issues": "write",
        "pull_requests": "write",
        "statuses": "write",
    }
    assert app_permissions() == everything
    assert app_permissions(["notify"]) == {
        "actions": "write",
        "contents": "read",
        "statuses": "write",
    }


def needs(traffic: Iterable[Exchange]) -> dict[str, dict[str, str]]:
    """Return the permissions that the requests needed, by repository, as few as possible.

    Every token may read metadata.
    """
    by_repository: dict[str, dict[str, str]] = {}
    choices = []
    for exchange in traffic:
        for repository in repositories(exchange):
            levels = by_repository.setdefault(repository, {})
            if "PullRequestAutoMerge" in str(exchange.request_body):
                levels |= {"contents": "write", "pull-requests": "write"}
                continue
            permissions = exchange.permissions or of_query(exchange)
            if len(permissions) > 1:
                choices.append((levels, permissions))
                continue
            name, _, level = permissions[0].replace("_", "-").partition(": ")
            if name == "metadata":
                continue
            levels[name] = max(level, levels.get(name, ""))
    for levels, permissions in choices:
        split = [permission.replace("_", "-").partition(": ") for permission in permissions]
        if not any(levels.get(name, "") >= level for name, _, level in split):
            name, _, level = split[-1]  # the narrower permission: issues include pull requests
            levels[name] = max(level, levels.get(name, ""))
    return by_repository


def of_query(exchange: Exchange) -> tuple[str, ...]:
    """Return the permission for a query of GraphQL: statuses, or refs and trees."""
    is_of_statuses = "contexts" in exchange.request_body["query"]
    return ("statuses: read",) if is_of_statuses else ("contents: read",)


def repositories(exchange: Exchange) -> set[str]:
    """Return the repository of a request; requests for a token have none."""
    if exchange.template in {"azure", ""} or "/access_tokens" in exchange.template:
        return set()
    if exchange.template.endswith("/installation"):
        return set()
    if exchange.template == "/graphql":
        given = exchange.request_body["variables"]
        if "pull" in given:  # a node id; auto-merge is used only in this repository
            return {GITOPS}
        if "owner" in given:
            return {f"{given['owner']}/{given['name']}"}
        count = len([name for name in given if name.startswith("owner")])
        return {f"{given[f'owner{n}']}/{given[f'name{n}']}" for n in range(count)}
    path = exchange.path.partition("/repos/")[2] or exchange.path.removeprefix("/")
    owner, name = path.split("/")[:2]
    return {f"{owner}/{name}".removesuffix(".git")}
