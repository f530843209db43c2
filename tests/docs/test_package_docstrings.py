"""A package's docstring that lists modules lists all of them, and no others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.docs.pages import ROOT

NAME: Final = r"[a-z][a-z0-9_]*(?:\.py|/)?"
ENTRY: Final = re.compile(rf"^ {{0,4}}({NAME}(?:, {NAME})*)(?:,$|$| +\S)")
"""A line of a list: names, and their description; or names that the next line describes."""
COLUMN: Final = re.compile(rf"^ {{0,4}}{NAME}(?:, {NAME})*  +\S")
WITHIN: Final = re.compile(r"\b([a-z0-9_]+)(?:\.py\b|/)")


def docstring_of(package: Path) -> str:
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    return ast.get_docstring(tree) or ""


def modules_of(package: Path) -> set[str]:
    modules = {path.stem for path in package.glob("*.py")}
    modules |= {path.parent.name for path in package.glob("*/__init__.py")}
    return modules - {"__init__", "__main__"}


def listed(docstring: str) -> set[str]:
    """Return the names at the beginning of lines, in paragraphs with a column of descriptions."""
    return {name for paragraph in docstring.split("\n\n") for name in _entries(paragraph)}


def _entries(paragraph: str) -> Iterator[str]:
    lines = paragraph.splitlines()
    if not any(map(COLUMN.match, lines)):
        return
    for line in lines:
        if entry := ENTRY.match(line):
            yield from (re.sub(r"\.py$|/$", "", name) for name in entry[1].split(", "))


PACKAGES: Final = {
    path.parent.relative_to(ROOT).as_posix(): path.parent
    for top in ("kalypso_actions", "tools", "bench")
    for path in sorted((ROOT / top).rglob("__init__.py"))
}
WITH_LISTS: Final = [name for name, package in PACKAGES.items() if listed(docstring_of(package))]


@pytest.mark.parametrize("name", WITH_LISTS)
def test_the_listed_modules_are_those_of_the_package(name: str) -> None:
    docstring, modules = docstring_of(PACKAGES[name]), modules_of(PACKAGES[name])
    mentioned = listed(docstring) | set(WITHIN.findall(docstring))
    assert (listed(docstring) - modules, modules - mentioned) == (set(), set())


@pytest.mark.parametrize(
    ("docstring", "names"),
    [
        ("Title.\n\none    the first\ntwo, three\n       others", {"one", "two", "three"}),
        ("Title.\n\none.py    the first\ntwo/      a package", {"one", "two"}),
        ("Title.\n\none     the first\n  two   a part of it", {"one", "two"}),
        ("Title.\n\none    the first\nlonger a second", {"one", "longer"}),
        ("Title.\n\nA text, which\nlists nothing.", set()),
        ("Title.\n\n    parse(text)    a function", set()),
    ],
)
def test_what_counts_as_a_list(docstring: str, names: set[str]) -> None:
    assert listed(docstring) == names
