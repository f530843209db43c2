"""Every write with every fault; `make faults` prints the whole matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from kalypso_actions.clients.git import PushConflictError
from tests.faults.disturbances import DISTURBANCES, Disturbance, Extent
from tests.faults.matrix import cell, undisturbed
from tests.faults.state import STRANGER
from tests.faults.table import BY_NAME
from tests.faults.trials import ground
from tests.faults.write import Write
from tests.faults.writes import WRITES
from tests.git_repositories import git
from tests.github_api.client_calls import CALLS, CLIENT_ENDPOINTS

TEMPTING: Final = frozenset({"lost", "doubled"})
"""Faults after which a careless client writes twice."""


def disturbances(write: Write, extent: Extent, *, every: bool) -> list[Disturbance]:
    """Return transient faults, all or the tempting ones, and uncertain lasting ones."""
    met = [disturbance for disturbance in DISTURBANCES if disturbance.meets(write, extent)]
    if extent == "once":
        return [disturbance for disturbance in met if every or disturbance.name in TEMPTING]
    return [disturbance for disturbance in met if disturbance.uncertain]


@pytest.mark.parametrize(
    ("extent", "every"),
    [
        pytest.param("once", False, id="a tempting fault once"),
        pytest.param("once", True, id="every fault once", marks=pytest.mark.slow),
        pytest.param("from then on", True, id="from then on", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("name", BY_NAME)
def test_the_state_is_as_before_or_as_wanted_once(
    tmp_path: Path, name: str, extent: Extent, *, every: bool
) -> None:
    write = BY_NAME[name]
    with ground(tmp_path) as prepared:
        course = undisturbed(prepared, write)
        wrong = {}
        for disturbance in disturbances(write, extent, every=every):
            tried = cell(prepared, write, course, disturbance, extent)
            if tried.faults:
                wrong[disturbance.name] = tried.faults
    assert wrong == {}


def test_every_request_of_the_clients_that_writes_meets_the_faults() -> None:
    writing = {endpoint for endpoint in CLIENT_ENDPOINTS if not endpoint.startswith("GET ")}
    assert {" ".join(write.endpoint) for write in WRITES} == writing


def test_every_function_of_the_clients_that_writes_is_tried() -> None:
    tried = {write.name.partition(" ")[0].rstrip(":") for write in WRITES}
    for name, call in CALLS.items():
        if any(not endpoint.startswith("GET ") for endpoint in call.endpoints - {"POST /graphql"}):
            assert name.replace("pull_requests", "pulls").removeprefix("merging.") in tried


@pytest.mark.parametrize("name", ["new branch", "commit on top"])
def test_an_earlier_concurrent_write_is_not_overwritten(tmp_path: Path, name: str) -> None:
    write = BY_NAME[name]
    raced = next(disturbance for disturbance in DISTURBANCES if disturbance.kind == "raced")
    with ground(tmp_path) as prepared, prepared.trial() as trial:
        with (
            prepared.sandbox.faults.on(raced.fault(write, "once", 0)),
            pytest.raises(PushConflictError),
        ):
            write.act(trial)
        write.act(trial)
        branch = "new" if name == "new branch" else "main"
        git_dir = prepared.sandbox.git(trial.repository).git_dir
        messages = git(git_dir, "log", "--format=%s", branch).splitlines()
        files = git(git_dir, "ls-tree", "--name-only", branch).splitlines()
    assert messages[:2] == ["Ours", STRANGER[0]]
    assert {"ours.txt", STRANGER[1]} <= set(files)
