"""Every break still fits the code, and names tests that exist."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools.mutants.all_breaks import BREAKS
from tools.mutants.breaks import Break
from tools.mutants.trials import ROOT

BY_NAME = pytest.mark.parametrize("broken", BREAKS, ids=lambda one: one.name.replace(" ", "-"))


@BY_NAME
def test_what_is_replaced_stands_there_once(broken: Break) -> None:
    """Who moves or rewrites the line moves the break with it."""
    assert (ROOT / broken.file).read_text(encoding="utf-8").count(broken.old) == 1


@BY_NAME
def test_what_is_broken_can_still_be_read(broken: Break) -> None:
    text = (ROOT / broken.file).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(text.replace(broken.old, broken.new))) != ast.dump(ast.parse(text))


@BY_NAME
def test_the_tests_exist(broken: Break) -> None:
    for test in broken.tests:
        file, _, name = test.partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name.partition("[")[0] in functions


def test_names_are_told_apart() -> None:
    assert len({one.name for one in BREAKS}) == len(BREAKS)
    assert {Path(one.file).parts[0] for one in BREAKS} == {"kalypso_actions"}
