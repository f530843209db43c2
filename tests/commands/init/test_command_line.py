"""The command line of `kalypso init`: questions, output, exit codes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner, Result

from kalypso_actions.cli import init
from kalypso_actions.cli.app import app
from tests.commands.init import upstream
from tests.commands.init.repositories import CONTROL_PLANE, GITOPS, WORKFLOWS, Acme
from tools.reference.schemas import REFERENCE

BOTH = ["--control-plane", CONTROL_PLANE, "--gitops", GITOPS]


class Terminal:
    """A person at a terminal."""

    def __init__(self, acme: Acme, monkeypatch: pytest.MonkeyPatch) -> None:
        self._acme = acme
        self._monkeypatch = monkeypatch

    def run(self, *arguments: str, typed: str | None = None, token: str | None = None) -> Result:
        """Run init; with `typed`, at a terminal on which a person types these lines."""
        self._monkeypatch.setattr(init, "is_terminal", lambda: typed is not None)
        environment = {
            **self._acme.runtime().environment,
            "GH_TOKEN": self._acme.token if token is None else token,
            "TERMINAL_WIDTH": "100",
        }
        return CliRunner().invoke(app, ["init", *arguments], input=typed, env=environment)


@pytest.fixture
def terminal(acme: Acme, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    for name in ("KALYPSO_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return Terminal(acme, monkeypatch)


def test_consent_to_everything(acme: Acme, terminal: Terminal) -> None:
    upstream.found(acme)
    first = terminal.run(*BOTH, typed="y\ny\n")
    assert first.exit_code == 0
    assert "Overwrite" not in first.stderr
    assert "Delete upstream's unused workflow files (2)? [y/N]:" in first.stderr
    assert re.search(r"Write this \(\d+ files\)\? \[y/N\]:", first.stderr)
    text = acme.files("main")[f"{WORKFLOWS}/cd.yaml"]
    acme.sandbox.commit(CONTROL_PLANE, {f"{WORKFLOWS}/cd.yaml": text + "# mine\n"})
    second = terminal.run(*BOTH, typed="y\ny\n")
    assert "Overwrite the workflow files that differ (1)? [y/N]:" in second.stderr
    assert "Write this (1 file)? [y/N]:" in second.stderr
    assert acme.files("main")[f"{WORKFLOWS}/cd.yaml"] == text
    third = terminal.run(*BOTH, typed="")
    assert third.exit_code == 0
    assert third.stdout.startswith("There is nothing to write: all files are in place.\n")
    assert "[y/N]" not in third.stderr


@pytest.mark.parametrize("typed", ["n\n", ""])
def test_without_consent_nothing_is_written(acme: Acme, terminal: Terminal, typed: str) -> None:
    acme.create()
    result = terminal.run(*BOTH, typed=typed)
    assert result.exit_code == 1
    assert acme.state() == {CONTROL_PLANE: {}, GITOPS: {}}


def test_missing_names_are_asked_for(acme: Acme, terminal: Terminal) -> None:
    acme.create()
    result = terminal.run(typed=f"{CONTROL_PLANE}\n{GITOPS}\nargocd\ndev=berlin-1\ny\n")
    assert result.exit_code == 0
    assert "Control plane (OWNER/NAME):GitOps repository (OWNER/NAME):Where do" in result.stderr
    assert "clusters/dev/standard.yaml" in acme.files("main", GITOPS)


def test_a_source_that_does_not_exist_is_refused(acme: Acme, terminal: Terminal) -> None:
    acme.create()
    result = terminal.run(typed=f"{CONTROL_PLANE}\n{GITOPS}\nmoon\n\n")
    assert "--cluster-reports" in str(result.exception)
    assert acme.branches() == {}


def test_what_is_printed(acme: Acme, terminal: Terminal) -> None:
    upstream.found(acme)
    result = terminal.run(*BOTH, "--yes", "--environments", "dev")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    start = lines.index("acme/gitops, dev")
    assert lines[start : start + 5] == [
        "acme/gitops, dev",
        "  replaced  .github/workflows/check-promote.yaml  (in place of upstream's workflow)",
        "    --- a/.github/workflows/check-promote.yaml",
        "    +++ b/.github/workflows/check-promote.yaml",
        lines[start + 4],
    ]
    assert "    -name: checkpromote" in lines
    assert "acme/gitops, stage (new branch)" in lines
    assert "  to delete .github/workflows/check-promote.yml  (upstream's, no longer used)" in lines
    heads = {name: acme.branches(name) for name in (GITOPS, CONTROL_PLANE)}
    pushed = [line for line in lines if line.startswith("pushed to ")]
    assert pushed == [
        f"pushed to {name}, {branch}: {heads[name][branch][:7]}"
        for name, branch in (
            *((GITOPS, "dev"), (GITOPS, "stage"), (GITOPS, "main")),
            *((CONTROL_PLANE, "dev"), (CONTROL_PLANE, "stage"), (CONTROL_PLANE, "main")),
        )
    ]
    titles = [line for line in lines if re.match(r"\d+\. ", line)]
    assert titles == [
        "1. Delete upstream's workflow files",
        "2. Create a GitHub App",
        "3. Create the notifier, a second GitHub App",
        "4. Give each repository the credentials of its App",
        "5. Protect the environments",
        "6. Let the chain see the clusters",
        "7. Say which environment comes first",
        "8. Look at the first run",
    ]


def test_a_dry_run_writes_nothing(acme: Acme, terminal: Terminal) -> None:
    acme.create()
    result = terminal.run(*BOTH, "--dry-run")
    assert result.exit_code == 0
    assert "acme/control-plane, main (new branch)\n  new       " in result.stdout
    assert re.search(
        r"(?m)^Would acme/gitops: push: \d+ files to dev \(a new branch\): [\w./-]+, \S+$",
        result.stdout,
    )
    assert "\nNothing was written.\n" in result.stdout
    assert acme.state() == {CONTROL_PLANE: {}, GITOPS: {}}


def test_json(acme: Acme, terminal: Terminal) -> None:
    acme.create()
    result = terminal.run(*BOTH, "--yes", "--output", "json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    schema = json.loads((REFERENCE / "kalypso.init.v1.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(document)
    assert document["schema"] == "kalypso.init/v1"
    assert document["environments"] == ["dev", "stage"]
    assert [(branch["branch"], branch["commit"]) for branch in document["branches"]] == [
        (branch, acme.branches(name)[branch])
        for name in (GITOPS, CONTROL_PLANE)
        for branch in ("dev", "stage", "main")
    ]


ERRORS: list[tuple[list[str], str, int, str]] = [
    (BOTH, "", 2, "init cannot ask for consent: there is no terminal"),
    ([*BOTH, "--output", "json"], "", 2, "init cannot ask for consent: the output is JSON"),
    (["--yes"], "", 2, "two repositories are required"),
    ([*BOTH, "--yes"], "none", 2, "no token is given"),
    ([*BOTH, "--yes", "--environments", "Dev"], "", 2, "'Dev' may hold lower-case letters"),
    (["--control-plane", "acme/x", "--gitops", "acme/y", "--yes"], "", 1, "cannot be read"),
]


@pytest.mark.parametrize(("arguments", "token", "status", "message"), ERRORS)
def test_errors_have_their_exit_codes_and_a_json_document(
    acme: Acme, terminal: Terminal, arguments: list[str], token: str, status: int, message: str
) -> None:
    given: dict[str, Any] = {"token": ""} if token == "none" else {}
    as_text = terminal.run(*arguments, **given)
    if "json" not in arguments:
        assert as_text.exception is not None
        assert getattr(as_text.exception, "exit_code", None) == status
        assert message in str(as_text.exception)
        arguments = [*arguments, "--output", "json"]
    if message == "init cannot ask for consent: there is no terminal":
        message = "init cannot ask for consent: the output is JSON"
    as_json = terminal.run(*arguments, **given)
    assert as_json.exit_code == status
    (problem,) = json.loads(as_json.stdout)["problems"]
    assert message in problem["message"]
