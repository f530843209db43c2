"""The imports of a start, which every step of a job waits for."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import pytest

from kalypso_actions.cli.command_list import COMMANDS, load
from kalypso_actions.cli.plugin_commands import plugin_summary
from kalypso_actions.commands.registry import CHAIN, ChainCommand
from tests.command_line import PLUGINS, command_named
from tests.sample_commands import DEV, RENDER, ROOT

GITHUB = {"requests", "urllib3", "github", "jwt", "cryptography"}
AZURE = {"azure", "msal"}
SANDBOX = {"flask", "werkzeug", "graphql"}
SERVERS = GITHUB | AZURE | SANDBOX
JINJA = {"jinja2"}  # a Template can ask for it; those of the samples do not
LIBRARIES = SERVERS | JINJA | {"yaml", "re2", "pathspec"}

RUN = """
import sys
from kalypso_actions.__main__ import main
try:
    main()
finally:
    names = {".".join(name.split(".")[:depth]) for name in sys.modules for depth in (1, 2, 3)}
    print(*sorted(names), file=sys.stderr, end="")
"""

RENDERING = {"kalypso_actions.planning.plan", "kalypso_actions.rendering", "kalypso_go.gotemplate"}
OF_A_FULL_RUN = RENDERING | {"kalypso_actions.gitops", "kalypso_actions.scheduling"}
"""What schedule imports after the question whether it may end early."""

MAIN = "samples/control-plane/main"
FLEET = ["--control-plane", "acme/fleet"]
ENVIRONMENT = ["--environment", "dev"]
COMMIT = [*ENVIRONMENT, "--commit", "1" * 40]
GITOPS = [*ENVIRONMENT, "--gitops-commit", "1" * 40]


def imported(*arguments: str, **variables: str) -> tuple[int, set[str]]:
    """Return the exit code of a run, and the modules that it has imported."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        cwd=ROOT,
        env={"PATH": "", **variables},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    names = done.stderr.rpartition("\n")[2].split()
    assert "kalypso_actions" in names, done.stderr
    return done.returncode, set(names)


QUICK = ("--version", "validate", "set-up", "ci", "demo")
"""One command for each set of libraries; the other commands are slow to start together."""


def starts(*cases: tuple[list[str], set[str], set[str]]) -> pytest.MarkDecorator:
    """Parametrize a test with arguments, needed modules and unneeded ones."""
    return pytest.mark.parametrize(
        ("arguments", "needed", "unneeded"),
        [
            pytest.param(
                *case,
                id=" ".join(case[0][:2]),
                marks=() if case[0][0] in QUICK else pytest.mark.slow,
            )
            for case in cases
        ],
    )


@starts(
    (["--version"], set(), LIBRARIES | {"rich", "typer"}),
    (["--help"], {"typer"}, LIBRARIES | {"pydantic", "kalypso_placement.command"}),
    ([*RENDER, f"--environment-dir={DEV}"], {"yaml", "pathspec"}, SERVERS | JINJA),
    (["validate", MAIN, DEV], {"yaml", "pathspec"}, SERVERS | JINJA),
    (
        ["placement", "--help"],
        {"pydantic", "kalypso_placement"},
        SERVERS | JINJA | {"cel_expr_python"},
    ),
    (["template", "LICENSE"], {"yaml"}, SERVERS | JINJA | {"pathspec"}),
    (["set-up"], {"pydantic"}, LIBRARIES),
    (["ci", *FLEET], {"github", *RENDERING}, AZURE | SANDBOX | JINJA),
    # schedule renders only if it does not end at once.
    (["schedule", *FLEET, *ENVIRONMENT], {"github"}, AZURE | SANDBOX | RENDERING),
    (["cd", *FLEET, *COMMIT], {"github"}, AZURE | SANDBOX | RENDERING),
    (["notify", *FLEET], {"github"}, AZURE | SANDBOX | RENDERING),
    # They can record what they see, which reads the fleet.
    (["check-promote", *FLEET, *GITOPS], {"github"}, AZURE | SANDBOX),
    (["poll", *FLEET], {"github"}, AZURE | SANDBOX),
    (["start-schedule", *FLEET], {"github"}, AZURE | SANDBOX | RENDERING),
    (["doctor", "--help"], {"github"}, AZURE | SANDBOX),
    (["init", "--help"], {"github"}, AZURE | SANDBOX),
    (["sandbox", "--help"], {"pydantic"}, LIBRARIES),
    (["demo", "--help"], {"pydantic"}, LIBRARIES),
)
def test_nothing_is_imported_that_a_command_does_not_need(
    arguments: list[str], needed: set[str], unneeded: set[str]
) -> None:
    status, names = imported(*arguments)
    assert status == (2 if "--control-plane" in arguments else 0)  # no token is given
    assert (needed - names, unneeded & names) == (set(), set())


def test_an_action_needs_no_parser_of_options() -> None:
    given = json.dumps({"control-plane": "acme/fleet", "environment": "dev"})
    status, names = imported("schedule", GITHUB_ACTIONS="true", KALYPSO_INPUTS=given)
    assert (status, names & {"typer", *AZURE, *OF_A_FULL_RUN}) == (2, set())


@pytest.mark.parametrize("name", PLUGINS)
def test_the_summary_of_an_entry_point_is_read_without_its_import(name: str) -> None:
    assert plugin_summary(PLUGINS[name]) == paragraph(command_named(name).help) != ""


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_describes_a_command_as_its_help(name: str) -> None:
    command = load(name)
    assert command.name in {name, ""}  # a group gets its name where the app adds it
    assert paragraph(command.help) == COMMANDS[name].summary


@pytest.mark.parametrize("chain", CHAIN, ids=lambda chain: chain.name)
def test_the_list_describes_a_command_of_the_chain_as_its_function(
    chain: ChainCommand,
) -> None:
    assert paragraph(chain.function.__doc__) == COMMANDS[chain.name].summary


def paragraph(text: str | None) -> str:
    """Return the first paragraph."""
    return inspect.cleandoc(text or "").partition("\n\n")[0]
