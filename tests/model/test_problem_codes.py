"""The package uses the codes of the table, and the table has no others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, get_args

import pytest

from kalypso_actions.errors import Level
from kalypso_actions.model.problem_codes import ProblemCode, packages, problem_codes

ROOT: Final = Path(__file__).parents[2]
NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
POSITIONS: Final = {
    **dict.fromkeys(("Finding", "Problem", "KalypsoError", "UsageError"), 3),
    "_problem": 0,
    "_report": 1,
}
"""The position of the code among the arguments of a call."""


def codes_in(module: ast.Module) -> Iterator[str]:
    """Return the codes that a module gives to problems."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
            position = POSITIONS.get(name, len(node.args))
            yield from texts(node.args[position : position + 1])
            yield from texts(item.value for item in node.keywords if item.arg == "code")
        elif isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "code":
            yield from texts([node.value] if node.value else [])


def texts(values: Iterable[ast.AST]) -> Iterator[str]:
    for value in values:
        for node in ast.walk(value):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
                yield node.value


def modules() -> Iterator[Path]:
    for package in ("kalypso_actions", "kalypso_placement"):
        yield from sorted((ROOT / package).rglob("*.py"))


@cache
def used() -> tuple[dict[str, str], set[str]]:
    """Return the modules of the package by the codes that they use, and all texts in them."""
    codes: dict[str, str] = {}
    named: set[str] = set()
    for file in modules():
        module = ast.parse(file.read_text(encoding="utf-8"))
        place = str(file.relative_to(ROOT))
        codes |= dict.fromkeys(filter(NAME.fullmatch, codes_in(module)), place)
        named.update(texts([module]))
    return codes, named


def test_every_code_of_the_package_is_in_the_table() -> None:
    codes = problem_codes()
    assert {code: file for code, file in used()[0].items() if code not in codes} == {}


def test_every_code_of_the_table_is_used() -> None:
    assert problem_codes().keys() - used()[1] == set()


def test_codes_are_unique() -> None:
    texts = [files(package).joinpath("problem_codes.yaml").read_text() for package in packages()]
    names = re.findall(r"^  (\S+):$", "".join(texts), re.MULTILINE)
    assert sorted(names) == sorted(problem_codes())


@pytest.mark.parametrize("code", problem_codes().values(), ids=lambda code: code.name)
def test_rows_are_complete(code: ProblemCode) -> None:
    assert NAME.fullmatch(code.name)
    assert code.level in get_args(Level)
    assert code.cause.endswith(".")
    assert code.repair.endswith(".")
    assert code.example
