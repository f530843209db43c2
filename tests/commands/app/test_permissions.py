"""An application's command works with the permissions of its table; with one less, it names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest

from kalypso_actions.commands.app.check import app_check
from kalypso_actions.commands.app.ci import app_ci
from kalypso_actions.commands.app.deploy import app_deploy
from kalypso_actions.commands.app.notify import app_notify
from kalypso_actions.commands.app.poll import app_poll
from kalypso_actions.commands.app.preview import app_preview
from kalypso_actions.commands.registry import ACTIONS, APPLICATION, OF_JOBS_ALONE, Level
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.app import (
    AppCheckInputs,
    AppCiInputs,
    AppDeployInputs,
    AppNotifyInputs,
    AppPollInputs,
    AppPreviewInputs,
)
from tests.commands.app.shop import CONFIGS, GITOPS, SOURCE, Application
from tests.commands.app.test_preview import propose
from tests.commands.chain.organisation import Job, Organisation
from tests.commands.chain.previews import newest
from tests.commands.chain.pushes import pushed
from tests.commands.chain.test_permissions import assert_missing, credential, needs

Run = Callable[[Mapping[str, str]], CommandResult]

PLACES: Final = {SOURCE: "source", CONFIGS: "configs", GITOPS: "GitOps repository"}
REPOSITORIES: Final[Mapping[str, str]] = {
    "configs_repository": CONFIGS,
    "gitops_repository": GITOPS,
}


pytestmark = pytest.mark.usefixtures("azure")


@pytest.fixture
def acme(acme_with_permissions: Organisation) -> Organisation:
    """Acme on a server that checks read permissions."""
    return acme_with_permissions


def runs(web: Application, command: Any, model: Any, job: Job, **given: str) -> Run:
    """Return the command with these inputs, which counts what the scene's people have posted."""
    known: dict[str, Any] = {"former_identities": "somebody", **given}
    return lambda credential: web.acme.run(command, model, job=job, **{**known, **credential})


def _ci(web: Application) -> Run:
    given = {"version": "1", "image_tag": "1@sha256:a", "commit": web.push()}
    return runs(web, app_ci, AppCiInputs, Job("push", repository=SOURCE), **given)


def _deploys(web: Application, **more: str) -> Run:
    given = {"environment": "dev", **REPOSITORIES, **more}
    return runs(web, app_deploy, AppDeployInputs, Job(repository=SOURCE), **given)


def _promotes(web: Application) -> Run:
    web.released("1")
    return _deploys(web)


def _merges(web: Application) -> Run:
    web.released("1")
    return _deploys(web, auto_merge="always")


def _configures(web: Application) -> Run:
    web.released("1")
    web.deploy()
    web.merge_open()
    web.acme.commit({"west/values.yaml": ""}, "dev", CONFIGS)
    return _deploys(web)


def _waits(web: Application) -> Run:
    """Check a merge whose branch no cluster follows, and go on."""
    web.released("1")
    web.deploy()
    web.merge_open()
    job = Job(repository=SOURCE)
    given = {"environment": "dev", "require_targets": "false", **REPOSITORIES}
    return runs(web, app_check, AppCheckInputs, job, **given)


def _notifies(web: Application) -> Run:
    web.acme.commit({"west/values.yaml": ""}, "dev", CONFIGS)
    job = Job("push", "refs/heads/dev", repository=CONFIGS, payload=pushed(web.acme, CONFIGS))
    return runs(web, app_notify, AppNotifyInputs, job, source_repository=SOURCE, pushed="configs")


def _polls(web: Application) -> Run:
    _configures(web)
    web.end_runs()
    web.wait()
    return runs(web, app_poll, AppPollInputs, Job("schedule", repository=SOURCE), **REPOSITORIES)


def _previews(web: Application) -> Run:
    web.released("1")
    propose(web, {"src/a.txt": "1"})
    event = newest(web.acme)
    job = Job(event.name, event.ref, event.commit, SOURCE, event.payload)
    return runs(web, app_preview, AppPreviewInputs, job, **REPOSITORIES)


def _previews_configs(web: Application) -> Run:
    number = propose(web, {"west/values.yaml": ""}, CONFIGS, "dev")
    given = {"environment": "dev", "configs_pull_request": str(number), **REPOSITORIES}
    return runs(web, app_preview, AppPreviewInputs, Job(repository=SOURCE), **given)


SCENES: Final[Mapping[str, Mapping[str, Callable[[Application], Run]]]] = {
    "app-ci": {"a release": _ci},
    "app-deploy": {"promotes": _promotes, "merges": _merges, "configures": _configures},
    "app-check": {"clusters": _waits},
    "app-notify": {"a push": _notifies},
    "app-poll": {"a change": _polls},
    "app-preview": {"source": _previews, "configs": _previews_configs},
}
UNRECORDED: Final = frozenset({("app-poll", "statuses")})
"""Permissions without which a command records no start, and logs that."""
ONLY_WARNS: Final = frozenset({("app-preview", "statuses"), ("app-preview", "pull-requests")})
"""Permissions without which a command only warns."""


def rows(command: str) -> dict[str, dict[str, Level]]:
    """Return the permissions of a command's table, by repository."""
    found: dict[str, dict[str, Level]] = {}
    names = {place: repository for repository, place in PLACES.items()}
    for row in ACTIONS[command].permissions:
        if row.name not in OF_JOBS_ALONE:
            found.setdefault(names[row.place], {})[row.name] = row.level
    return found


def together(command: str) -> dict[str, Level]:
    """Return the permissions that one credential needs in all repositories."""
    levels: dict[str, Level] = {}
    for of_repository in rows(command).values():
        for name, level in of_repository.items():
            levels[name] = "write" if "write" in {level, levels.get(name)} else "read"
    return levels


def started(web: Application, scene: Callable[[Application], Run]) -> Run:
    run = scene(web)
    web.acme.forget()
    return run


def _scenes() -> Iterator[object]:
    for command, scenes in SCENES.items():
        for name, scene in scenes.items():
            yield pytest.param(command, scene, id=f"{command} {name}")


@pytest.mark.parametrize(("command", "scene"), list(_scenes()))
def test_a_command_works_with_what_its_table_says(
    web: Application, command: str, scene: Callable[[Application], Run]
) -> None:
    run = started(web, scene)
    result = run(credential(web.acme, together(command), list(PLACES)))
    assert not result.failed, result.document.problems
    assert not result.document.warnings or command == "app-check", "nobody follows it here"
    for repository, needed in needs(web.acme.sandbox.traffic).items():
        known = rows(command).get(repository, {})
        assert all(known.get(name, "") >= level for name, level in needed.items()), repository


def _lowered() -> Iterator[object]:
    for command in SCENES:
        for name, level in together(command).items():
            yield pytest.param(command, name, level, id=f"{command}: {name}: {level}")


@pytest.mark.parametrize(("command", "name", "level"), list(_lowered()))
def test_without_a_permission_some_scene_says_which(
    web: Application, command: str, name: str, level: Level
) -> None:
    """Play the scene that needs the permission, with write reduced to read, or read removed."""
    less = together(command)
    del less[name]
    if level == "write":
        less[name] = "read"
    scene = LOWERED.get((command, name), next(iter(SCENES[command].values())))
    run = started(web, scene)
    if (command, name) in UNRECORDED:
        assert not run(credential(web.acme, less, list(PLACES))).failed
        assert any(line.startswith("The start is not recorded: ") for line in web.acme.logged)
        return
    fails = (command, name) not in ONLY_WARNS
    assert_missing(run, credential(web.acme, less, list(PLACES)), f"{name}: {level}", fails=fails)


LOWERED: Final = {("app-deploy", "actions"): _merges}
"""The scenes that need a permission which the first one does not."""


def test_every_command_has_a_scene() -> None:
    assert {*SCENES} == {command.name for command in APPLICATION if command.icon}
