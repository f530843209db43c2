"""`kalypso cd` at a terminal: the clone names the control plane, and the commit is any revision."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import start_kalypso
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation
from tests.git_repositories import git


@pytest.fixture
def clone(acme: Organisation, tmp_path: Path) -> Path:
    """Make a folder whose remote is the control plane; it needs no commits."""
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "remote", "add", "hub", f"{acme.sandbox.url}/{CONTROL_PLANE}.git")
    return folder


def cd(
    acme: Organisation, folder: Path, revision: str, *more: str
) -> tuple[int, dict[str, Any], str]:
    variables = {"PATH": os.environ["PATH"], **acme.sandbox.environment(), "GH_TOKEN": acme.token}
    arguments = ("cd", "--environment", "dev", "--commit", revision, "--dry-run", "--json", *more)
    done = start_kalypso(*arguments, variables=variables, folder=folder)
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("revision", ["id", "abbreviated", "main", "HEAD", "main~1", "v1"])
def test_any_revision_of_main(acme: Organisation, clone: Path, revision: str) -> None:
    first = acme.commit({"notes.txt": "1"})
    acme.sandbox.git(CONTROL_PLANE).update_ref("refs/tags/v1", first, None)
    second = acme.commit({"notes.txt": "2"})
    texts = {"id": second, "abbreviated": second[:9]}
    status, document, log = cd(acme, clone, texts.get(revision, revision))
    expected = first if revision in {"main~1", "v1"} else second
    assert (status, document["commit"], document["problems"]) == (0, expected, [])
    assert (f"is {expected}." in log) == (revision != "id")


@pytest.mark.parametrize("revision", ["nowhere", "1234567", "a b", "main~999", "--all"])
def test_an_unknown_revision(acme: Organisation, clone: Path, revision: str) -> None:
    status, document, _ = cd(acme, clone, revision)
    assert status != 0
    message = document["problems"][0]["message"]
    assert "there is no branch, tag or commit" in message or "is not the name of" in message


def test_a_folder_in_no_clone(acme: Organisation, tmp_path: Path) -> None:
    commit = acme.commit({"notes.txt": "1"})
    status, document, _ = cd(acme, tmp_path, commit)
    assert (status, document["problems"][0]["message"]) == (2, "control-plane is needed")
    status, document, _ = cd(acme, tmp_path, commit, "--control-plane", CONTROL_PLANE)
    assert (status, document["commit"]) == (0, commit)
