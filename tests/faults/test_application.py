"""Every write of an application's commands with faults: the state is that of an undisturbed run.

The rows are scenes of the commands. A fault hits the first request to each endpoint that the scene
writes to, and its push.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from kalypso_actions.commands.shared.result import CommandResult
from kalypso_sandbox import Exchange, Fault
from tests.chain.quick_reads import quick_reads
from tests.commands.app.scenes import SCENES
from tests.commands.app.shop import CONFIGS, GITOPS, SOURCE, Application
from tests.commands.chain.conftest import founded as founded  # noqa: PLC0414 - a fixture
from tests.commands.chain.founding import copied_organisation
from tests.commands.chain.killing import is_killed
from tests.commands.chain.promotions import sign_in
from tests.faults.disturbances import DISTURBANCES, Disturbance
from tests.faults.matrix import is_write
from tests.faults.pushes import PUSH
from tests.faults.state import Facts, facts
from tests.faults.write import Write

ROWS: Final = {
    f"{command}: {name}": scene
    for command, scenes in SCENES.items()
    for name, scene in scenes.items()
}
TRANSIENT: Final = [
    each for each in DISTURBANCES if not each.ends and each.kind not in {"lag", "slow"}
]
Endpoint = tuple[str, str]


@contextmanager
def played(
    founded: Path, folder: Path, row: str
) -> Iterator[tuple[Application, Callable[[], CommandResult]]]:
    """Play a scene in a new application; yield it with the command."""
    folder.mkdir()
    with (
        copied_organisation(founded, folder) as acme,
        quick_reads(acme.sandbox),
        pytest.MonkeyPatch.context() as patch,
    ):
        sign_in(acme, patch)
        web = Application.found(acme)
        run = ROWS[row](web)
        acme.forget()
        yield web, partial(run, {"token": acme.token})


COMMIT: Final = re.compile(r"\b[0-9a-f]{40}\b")


def state(web: Application) -> Facts:
    """Return the facts of the repositories without ids of commits, which a merge's time decides."""
    return {
        f"{repository} {name}": (
            [COMMIT.sub("a commit", text or "") for text in fact]
            if isinstance(fact, tuple)
            else fact
        )
        for repository in (SOURCE, CONFIGS, GITOPS)
        for name, fact in facts(web.acme.sandbox, repository).items()
    }


def endpoint(exchange: Exchange) -> Endpoint:
    return PUSH if exchange.template == "git" else (exchange.method, exchange.template)


UNDISTURBED: Final[dict[str, tuple[Facts, list[Endpoint]]]] = {}


def undisturbed(founded: Path, folder: Path, row: str) -> tuple[Facts, list[Endpoint]]:
    """Return the facts after the command, and the endpoints that it writes to."""
    if row not in UNDISTURBED:
        with played(founded, folder / "undisturbed", row) as (web, run):
            assert not run().failed
            written = {
                endpoint(each)
                for each in web.acme.sandbox.traffic
                if is_write(each) and each.template != "azure"  # a query
            }
            UNDISTURBED[row] = state(web), sorted(written)
    return UNDISTURBED[row]


def cells() -> Iterator[object]:
    """Yield each row with each fault; all are slow but the lost answer, which tempts to repeat."""
    for row in ROWS:
        for fault in TRANSIENT:
            marks = [] if fault.name == "lost" else [pytest.mark.slow]
            yield pytest.param(row, fault, id=f"{row}, {fault.name}", marks=marks)


@pytest.mark.parametrize(("row", "fault"), list(cells()))
def test_a_command_ends_as_without_the_fault(
    founded: Path, tmp_path: Path, row: str, fault: Disturbance
) -> None:
    wanted, endpoints = undisturbed(founded, tmp_path, row)
    assert endpoints
    writes = [Write("", each, lambda _: None, lambda _: None) for each in endpoints]
    faults: list[Fault] = [
        fault.fault(write, "once", 0)
        for write in writes
        # To git, the 403 of a limit is that of a missing permission.
        if fault.meets(write, "once") and not (write.by_git and fault.kind == "secondary")
    ]
    with played(founded, tmp_path / "disturbed", row) as (web, run):
        with web.acme.sandbox.faults.on(*faults):
            assert not run().failed
        assert state(web) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_a_command_that_is_killed_anywhere_is_run_again(
    founded: Path, tmp_path: Path, row: str
) -> None:
    wanted, _ = undisturbed(founded, tmp_path, row)
    with played(founded, tmp_path / "disturbed", row) as (web, run):
        writes = 0
        while is_killed(writes, run):
            writes += 1
            assert writes < 30
        assert state(web) == wanted
