"""An application's command works with the permissions of its table; with one less, it names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import pytest

from kalypso_actions.commands.registry import ACTIONS, APPLICATION, OF_JOBS_ALONE, Level
from tests.commands.app.scenes import SCENES, Run, merges
from tests.commands.app.shop import CONFIGS, GITOPS, SOURCE, Application
from tests.commands.chain.organisation import Organisation
from tests.commands.chain.test_permissions import assert_missing, credential, needs

PLACES: Final = {SOURCE: "source", CONFIGS: "configs", GITOPS: "GitOps repository"}
pytestmark = pytest.mark.usefixtures("azure")


@pytest.fixture
def acme(acme_with_permissions: Organisation) -> Organisation:
    """Acme on a server that checks read permissions."""
    return acme_with_permissions


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
        assert any(" is not posted: " in line for line in web.acme.logged)
        return
    fails = (command, name) not in ONLY_WARNS
    assert_missing(run, credential(web.acme, less, list(PLACES)), f"{name}: {level}", fails=fails)


LOWERED: Final = {("app-deploy", "actions"): merges}
"""The scenes that need a permission which the first one does not."""


def test_every_command_has_a_scene() -> None:
    assert {*SCENES} == {command.name for command in APPLICATION if command.icon}
