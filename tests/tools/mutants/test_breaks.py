"""Every break still fits the code, and `make test` runs the tests that catch it."""

from __future__ import annotations

import ast
import importlib
import shutil
from pathlib import Path

import pytest

from tools.mutants.all_breaks import BREAKS
from tools.mutants.breaks import Break
from tools.mutants.trials import ROOT, apply

BY_NAME = pytest.mark.parametrize(
    "broken", BREAKS, ids=lambda broken: broken.name.replace(" ", "-")
)


@BY_NAME
def test_it_changes_what_the_code_does(broken: Break, tmp_path: Path) -> None:
    copy = tmp_path / broken.file
    copy.parent.mkdir(parents=True)
    shutil.copy(ROOT / broken.file, copy)
    before = ast.dump(ast.parse(copy.read_text(encoding="utf-8")))
    assert apply(broken, tmp_path) == ""
    assert ast.dump(ast.parse(copy.read_text(encoding="utf-8"))) != before


@BY_NAME
def test_make_test_runs_what_catches_it(broken: Break) -> None:
    for test in broken.tests:
        file, _, name = test.partition("::")
        module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
        function = getattr(module, name.partition("[")[0])
        marks = [getattr(place, "pytestmark", []) for place in (module, function)]
        assert "slow" not in {mark.name for every in marks for mark in every}


def test_names_are_unique() -> None:
    assert len({listed.name for listed in BREAKS}) == len(BREAKS)
