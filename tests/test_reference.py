"""The output of commands is as docs/reference describes it."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import call_kalypso
from tests.output_schemas import validator
from tests.sample_commands import DEV, EXPLAIN, RENDER, ROOT
from tools.reference.schemas import REFERENCE, output_documents


def kalypso(arguments: list[str]) -> tuple[int, dict[str, Any]]:
    """Return exit code and JSON document of a command, run as users run it."""
    with chdir(ROOT):
        done = call_kalypso(*arguments, "--output", "json")
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def broken(tmp_path: Path, policy: str) -> str:
    """Write an environment branch with one policy, which has this selector."""
    (tmp_path / "policy.yaml").write_text(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: SchedulingPolicy\n"
        f"metadata: {{name: broken}}\nspec: {policy}\n",
        encoding="utf-8",
    )
    return str(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([*RENDER, f"--environment-dir={DEV}", "--gitops=samples/gitops"], 0),
        ([*RENDER, f"--environment-dir={DEV}", "--base-commit", "0" * 40], 0),
        (["validate", "samples/control-plane/main", DEV], 0),
        (EXPLAIN, 0),
        ([*EXPLAIN, "--target=departure-boards", "--cluster-type=depot"], 0),
        ([*EXPLAIN, "--key=LOGGING"], 0),
        ([*EXPLAIN, "--file=depot/time-server/reconciler.yaml"], 0),
        ([*EXPLAIN, "--target=departure-bords"], 2),
    ],
    ids=[
        "onto a tree",
        "onto nothing",
        "validate",
        "explain an environment",
        "explain pairs",
        "explain a value",
        "explain a file",
        "explain nothing",
    ],
)
def test_output_is_as_its_schema_says(arguments: list[str], status: int) -> None:
    code, document = kalypso(arguments)
    assert code == status
    assert [error.message for error in validator(document["schema"]).iter_errors(document)] == []


@pytest.mark.parametrize("command", ["render", "validate"])
def test_output_with_problems_is_as_its_schema_says(command: str, tmp_path: Path) -> None:
    folder = broken(tmp_path, "{clusterTypeSelector: {labelSelector: 1}}")
    arguments = {
        "render": [*RENDER, f"--environment-dir={folder}"],
        "validate": ["validate", folder],
    }
    code, document = kalypso(arguments[command])
    assert code == 1
    assert document["problems"]
    assert [error.message for error in validator(document["schema"]).iter_errors(document)] == []


def test_every_output_has_a_schema_and_every_schema_an_output() -> None:
    described = {json.loads(path.read_text())["title"] for path in REFERENCE.glob("*.schema.json")}
    assert described == set(output_documents())


@pytest.fixture(scope="module")
def validated() -> dict[str, Any]:
    """A document of validate, from one run for all tests."""
    return kalypso(["validate", DEV])[1]


@pytest.mark.parametrize("name", output_documents())
def test_a_schema_refuses_what_lacks_or_adds_a_field(name: str, validated: dict[str, Any]) -> None:
    document = {**validated, "schema": name}
    lacking = {key: value for key, value in document.items() if key != "problems"}
    assert not validator(name).is_valid(lacking)
    assert not validator(name).is_valid({**document, "more": 1})
