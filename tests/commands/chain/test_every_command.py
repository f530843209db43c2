"""Every command of the chain, killed before each write, repeated, and run twice at once.

Tests of a single command are in its own files (`test_…_at_once.py` and others).
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kalypso_actions.commands.registry import COMMANDS
from tests.commands.chain.killing import is_killed
from tests.commands.chain.organisation import Dispatch, Organisation
from tests.commands.chain.permission_scenes import DEV, SCENES, Scene
from tests.commands.chain.promotions import sign_in

ATTEMPT = re.compile(r", attempt \d")
"""A repeated start increases the count, because the first one may be lost."""


def left(acme: Organisation) -> dict[str, Any]:
    """Return the state of acme, without the numbers of starts."""
    with acme.sandbox.lock:
        repositories = list(acme.sandbox.store.repositories.values())
        return {
            repository.full_name: {
                "refs": acme.sandbox.git(repository.full_name).refs(),
                "issues and pull requests": [
                    issue.model_dump(exclude={"updated_at"}) for issue in repository.issues.values()
                ],
                "statuses": {
                    (status.commit, status.context): (
                        status.state,
                        ATTEMPT.sub("", status.description or ""),
                    )
                    for status in repository.statuses
                },
                "labels": sorted(repository.labels),
            }
            for repository in repositories
        } | {"started": started(acme)}


def started(acme: Organisation) -> list[Dispatch]:
    """Return each start once, because workflows are idempotent."""
    once: list[Dispatch] = []
    for dispatch in Organisation.dispatches(acme):
        if dispatch not in once:
            once.append(dispatch)
    return once


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.id)
def test_killed_anywhere_run_again_and_twice_at_once(
    acme: Organisation, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run gets one write further than the run before; after that nothing changes."""
    sign_in(acme, monkeypatch)
    act = scene.prepare(acme)
    monkeypatch.setattr(acme, "dispatches", lambda: started(acme))
    if scene.command == "schedule":
        acme.status(acme.head("main") or "", DEV, "Promoted")  # as cd posts it

    def run() -> None:
        act({"token": acme.token})

    writes = 0
    while is_killed(writes, run):
        writes += 1
        assert writes < 20
    may_write = any("write" in levels.values() for levels in scene.needs.values())
    assert writes == may_write if scene.verify_only else bool(writes) == may_write
    scene.check(acme)
    once = left(acme)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: run(), range(2)))
    assert left(acme) == once


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.id)
def test_a_dry_run_sends_no_write(
    acme: Organisation, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says what it would write, and where the command would write nothing, it says nothing."""
    sign_in(acme, monkeypatch)
    act = scene.prepare(acme)
    before = left(acme)
    acme.forget()
    acme.logged.clear()
    result = act({"token": acme.token, "dry_run": "true"})
    assert (acme.writes(), acme.recorded(), left(acme)) == ([], [], before)
    assert bool(result.document.writes) == any(
        "write" in levels.values() for levels in scene.needs.values()
    )
    assert [f"Would {entry.line}" for entry in result.document.writes] == acme.logged[
        -1 - len(result.document.writes) : -1
    ]
    if result.document.writes:
        assert acme.logged[-1] == "nothing was written (dry run)."
        assert any(line.startswith("Would ") for line in acme.logged)


def test_there_is_a_scene_of_every_command() -> None:
    assert {scene.command for scene in SCENES} == set(COMMANDS)
