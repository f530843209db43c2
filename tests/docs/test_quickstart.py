"""The quickstart, from two empty repositories to the first pull request."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.docs.pages import ROOT, Page

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the pages are for a shell of POSIX")

README = Page(ROOT / "README.md")
KALYPSO = f"{shlex.quote(sys.executable)} -m kalypso_actions"


def scripts() -> dict[str, str]:
    """Return the blocks of the quickstart, by their first command."""
    section = README.section("Quickstart")
    return {
        block.text.split(" --")[0].strip(): block.text.replace("kalypso ", f"{KALYPSO} ")
        for block in README.blocks("sh")
        if block.text.startswith("kalypso ") and block.text.splitlines()[0] in section
    }


def environment() -> dict[str, str]:
    variables = {"HOME": os.devnull, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    return {"PATH": os.environ["PATH"], **variables}


@contextmanager
def sandbox(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the variables that the other shell of the quickstart exports."""
    command = scripts()["kalypso sandbox"].strip()
    with subprocess.Popen(
        ["bash", "-c", f"exec {command} --output json"],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout
        lines: list[str] = []
        while lines[-1:] != ["}\n"]:
            lines.append(process.stdout.readline())
            assert lines[-1], "the sandbox has ended"
        try:
            yield json.loads("".join(lines))["environment"]
        finally:
            process.send_signal(signal.SIGTERM)


@pytest.mark.slow
def test_two_commands_open_the_first_pull_request(tmp_path: Path) -> None:
    with sandbox(tmp_path) as exported:
        done = subprocess.run(
            ["bash", "-euc", scripts()["kalypso init"]],
            cwd=tmp_path,
            env={**environment(), **exported},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        pulls = open_pull_requests(exported)
    assert "dev: #1 was created." in done.stdout + done.stderr
    assert "dev: #1 was created." in README.section("Quickstart")
    assert [(pull["number"], pull["base"]["ref"]) for pull in pulls] == [(1, "dev")]


def open_pull_requests(exported: dict[str, str]) -> list[Any]:
    answer = requests.get(
        f"{exported['GITHUB_API_URL']}/repos/acme/gitops/pulls",
        headers={"Authorization": f"Bearer {exported['GITHUB_TOKEN']}"},
        timeout=30,
    )
    answer.raise_for_status()
    pulls: list[Any] = answer.json()
    return pulls
