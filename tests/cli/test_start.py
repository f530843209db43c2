"""What a start imports: a step of a job waits for it each time."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from kalypso_actions.cli.command_list import COMMANDS, load
from tests.test_reference import DEV, RENDER, ROOT

GITHUB = {"github", "requests", "urllib3", "jwt", "cryptography", "nacl"}
AZURE = {"azure", "msal"}
SANDBOX = {"flask", "werkzeug", "graphql"}
SERVERS = GITHUB | AZURE | SANDBOX
JINJA = {"jinja2"}  # a Template can ask for it; those of the samples do not
LIBRARIES = SERVERS | JINJA | {"yaml", "re2", "pathspec"}

RUN = """
import sys
from kalypso_actions.cli.main import main
try:
    main()
finally:
    names = {name.partition(".")[0] for name in sys.modules}
    print(*sorted(names), file=sys.stderr, end="")
"""

MAIN = "samples/control-plane/main"


def imported(*arguments: str) -> tuple[int, set[str]]:
    """The exit code of a run, and the packages that are imported when it has ended."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        cwd=ROOT,
        env={"PATH": ""},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    names = done.stderr.rpartition("\n")[2].split()
    assert "kalypso_actions" in names, done.stderr
    return done.returncode, set(names)


@pytest.mark.parametrize(
    ("arguments", "needed", "unneeded"),
    [
        (["--version"], {"typer"}, LIBRARIES | {"rich"}),
        (["--help"], {"typer", "rich"}, LIBRARIES | {"pydantic"}),
        ([*RENDER, f"--environment-dir={DEV}"], {"yaml", "pathspec"}, SERVERS | JINJA),
        (["validate", MAIN, DEV], {"yaml", "pathspec"}, SERVERS | JINJA),
        (["template", "LICENSE"], {"yaml"}, SERVERS | JINJA | {"pathspec"}),
        (["set-up"], {"pydantic"}, LIBRARIES),
        (["ci"], {"github"}, AZURE | SANDBOX),
        (["check-promote", "--help"], {"github"}, AZURE | SANDBOX),
        (["doctor", "--help"], {"github"}, AZURE | SANDBOX),
        (["init", "--help"], {"github"}, AZURE | SANDBOX),
        (["sandbox", "--help"], {"pydantic"}, LIBRARIES),
        (["demo", "--help"], {"pydantic"}, LIBRARIES),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_nothing_is_imported_that_a_command_does_not_need(
    arguments: list[str], needed: set[str], unneeded: set[str]
) -> None:
    status, names = imported(*arguments)
    assert status == (2 if arguments == ["ci"] else 0)
    assert (needed - names, unneeded & names) == (set(), set())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_a_command_what_it_says_of_itself(name: str) -> None:
    command = load(name)
    paragraph = inspect.cleandoc(command.help).partition("\n\n")[0]
    assert (command.name, paragraph) == (name, COMMANDS[name].summary)
