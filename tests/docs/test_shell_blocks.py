"""Blocks of shell can be read by bash, and name workflows, inputs and options that exist."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import pytest
import yaml

from kalypso_actions.cli.app import LazyGroup
from kalypso_actions.cli.command_list import load
from tests.command_line import command_named
from tests.docs.pages import ROOT, Block, Page, pages

WORKFLOWS: Final = ROOT / "workflows-templates"

BLOCKS: Final = [
    (page, block) for page in pages() for block in page.blocks("sh", "bash", "console")
]
SCRIPTS: Final = [(page, block) for page, block in BLOCKS if block.language != "console"]


def name_of(value: object) -> str:
    return f"line {value.line}" if isinstance(value, Block) else str(value)


def script_of(block: Block) -> str:
    """Return the commands of a block; in a console block, the lines after the prompt."""
    if block.language != "console":
        return block.text
    return "".join(
        f"{typed}\n" for typed in re.findall(r"^\$ ((?:.*\\\n)*.*)", block.text, re.MULTILINE)
    )


def commands_of(block: Block, program: str) -> Iterator[list[str]]:
    """Return the arguments of each call of a program."""
    for line in script_of(block).replace("\\\n", " ").splitlines():
        if line.startswith(f"{program} "):
            yield shlex.split(line.removeprefix(f"{program} "), comments=True)


@pytest.mark.skipif(os.name == "nt", reason="the pages are for a shell of POSIX")
@pytest.mark.parametrize(("page", "block"), SCRIPTS, ids=name_of)
def test_bash_can_read_it(page: Page, block: Block) -> None:
    done = subprocess.run(
        ["bash", "-n"], input=block.text, capture_output=True, encoding="utf-8", check=False
    )
    assert done.stderr == ""


def dispatches() -> Iterator[tuple[str, dict[str, str]]]:
    """Return each workflow that a page starts, with its inputs."""
    for _, block in BLOCKS:
        for workflow, *options in commands_of(block, "gh workflow run"):
            fields = [after for option, after in pairwise(options) if option == "--field"]
            yield workflow, dict(field.split("=", 1) for field in fields)


@pytest.mark.parametrize(("workflow", "inputs"), list(dispatches()))
def test_a_workflow_that_is_started_takes_these_inputs(
    workflow: str, inputs: dict[str, str]
) -> None:
    places = (WORKFLOWS / "control-plane", WORKFLOWS / "application-source")
    file = next(folder / workflow for folder in places if (folder / workflow).exists())
    described: dict[Any, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    dispatch = described[True]["workflow_dispatch"] or {}  # YAML 1.1 reads `on` as true
    known = dispatch.get("inputs", {})
    assert set(inputs) <= set(known)
    assert {name for name, declared in known.items() if declared.get("required")} <= set(inputs)


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=name_of)
def test_commands_and_options_exist(page: Page, block: Block) -> None:
    for name, *arguments in commands_of(block, "kalypso"):
        if name.startswith("-"):
            continue
        command = command_named(name)
        while isinstance(command, LazyGroup):
            own = arguments.pop(0)
            command = load(f"{command.prefix}{own}")
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        given = {argument.partition("=")[0] for argument in arguments if argument.startswith("--")}
        assert given <= known, name
