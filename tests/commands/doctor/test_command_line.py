"""The command line of `kalypso doctor`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE
from kalypso_sandbox.faults import Fault
from kalypso_sandbox.git.repositories import BareRepository
from tests.command_line import call_kalypso
from tests.commands.doctor.organisation import Acme, acme
from tests.git_repositories import git


@pytest.fixture(scope="module")
def organisation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    with acme(tmp_path_factory.mktemp("acme"), lambda: datetime.now(UTC)) as made:
        yield made


def typed(
    organisation: Acme, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    own = {"GITHUB_TOKEN": "", "GH_TOKEN": "", "COLUMNS": "200"}
    return call_kalypso(
        "doctor", *arguments, variables={**own, **organisation.variables, **variables}
    )


def test_what_is_printed(organisation: Acme) -> None:
    del organisation.control_plane.environments["stage"]
    organisation.gitops.secrets.clear()
    done = typed(organisation, "--control-plane", CONTROL_PLANE, GH_TOKEN=organisation.token)
    assert done.returncode == 1, done.stderr
    assert "\nacme/gitops\n  ok        the branch dev exists\n" in done.stdout
    assert (
        "  problem   the secret KALYPSO_NOTIFIER_PRIVATE_KEY is not set "
        "(for .github/workflows/check-promote.yaml)\n"
        "            → set it for the repository or its owner\n"
        f"              {organisation.sandbox.url}/acme/gitops/settings/secrets/actions\n"
    ) in done.stdout
    assert done.stdout.endswith(" ok, 2 warnings, 1 problem\n")
    assert organisation.token not in done.stdout + done.stderr


def test_in_a_clone_it_finds_the_control_plane(
    organisation: Acme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "remote", "add", "origin", f"{organisation.sandbox.url}/{CONTROL_PLANE}")
    monkeypatch.chdir(tmp_path)
    done = typed(organisation, "--json", GH_TOKEN=organisation.token)
    assert json.loads(done.stdout)["controlPlane"] == CONTROL_PLANE, done.stderr


def test_as_json(organisation: Acme) -> None:
    arguments = ("--control-plane", CONTROL_PLANE, "--output", "json")
    done = typed(
        organisation,
        *arguments,
        KALYPSO_APP_ID=organisation.app_id,
        KALYPSO_APP_PRIVATE_KEY=organisation.key,
    )
    document = json.loads(done.stdout)
    assert document["schema"] == "kalypso.doctor/v1"
    assert {check["state"] for check in document["checks"] if check["place"] == "acme"} == {"ok"}
    assert done.returncode == 0, document


def test_a_terminated_probe_deletes_its_branches(organisation: Acme) -> None:
    slow = Fault("POST", "/repos/{owner}/{repo}/pulls", "slow", seconds=5.0)
    command = [sys.executable, "-m", "kalypso_actions", "doctor", "--probe", "--yes"]
    variables = {**organisation.variables, "GH_TOKEN": organisation.token}
    git = organisation.sandbox.git(CONTROL_PLANE)
    with (
        organisation.sandbox.faults.on(slow),
        subprocess.Popen(
            [*command, "--control-plane", CONTROL_PLANE],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as started,
    ):
        while started.poll() is None and len(_probes(git)) < 2:
            time.sleep(0.1)
        started.send_signal(signal.SIGTERM)
        _, errors = started.communicate(timeout=120)
    assert started.returncode == 130, errors
    assert f"Interrupted: deleting what the probe has made in {CONTROL_PLANE}" in errors
    assert not _probes(git)


def _probes(git: BareRepository) -> list[str]:
    return [ref for ref in git.refs() if ref.startswith("refs/heads/kalypso/probe-")]


@pytest.mark.parametrize("output", ["json", "text"])
def test_nobody_can_agree_to_a_probe(organisation: Acme, output: str) -> None:
    arguments = ("--control-plane", CONTROL_PLANE, "--probe", "--output", output)
    done = typed(organisation, *arguments, GH_TOKEN=organisation.token)
    assert done.returncode == 2
    assert "doctor cannot ask whether to probe" in done.stdout + done.stderr


def test_wrong_usage(organisation: Acme) -> None:
    done = typed(organisation, "--control-plane", CONTROL_PLANE)
    assert done.returncode == 2
    assert "no token is given" in done.stderr
    done = typed(organisation, "--output", "json", GH_TOKEN=organisation.token)
    assert (done.returncode, json.loads(done.stdout)["problems"][0]["message"]) == (
        2,
        "control-plane is needed",
    )
