"""The code contains every error text that the pages quote."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import Final

import pytest

from tests.docs.pages import ROOT, Page

TROUBLESHOOTING: Final = Page(ROOT / "docs" / "guide" / "troubleshooting.md")
QUOTED: Final = re.compile(r"^\*\*`([^`]+)`\*\*", re.MULTILINE)
GAP: Final = "…"
"""The placeholder of a variable part."""


def quoted() -> list[str]:
    return QUOTED.findall(TROUBLESHOOTING.text)


@cache
def texts() -> tuple[str, ...]:
    """Return every string of the code, with variable parts as gaps."""
    texts = [(ROOT / "actions" / "launch.sh").read_text(encoding="utf-8").replace("\\\n", "")]
    for folder in ("kalypso_actions", "actions"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                text = text_of(node)
                if text:
                    texts.append(text)
    return tuple(texts)


def text_of(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) or GAP for part in parts)
    return ""


def is_in_the_code(text: str) -> bool:
    """Tell whether the words are part of a string of the code; gaps match anything."""
    parts = text.split(GAP)
    pattern = re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
    return any(
        all(part in literal for part in parts) and pattern.search(literal) for literal in texts()
    )


@pytest.mark.parametrize("text", quoted())
def test_a_quoted_error_exists(text: str) -> None:
    assert is_in_the_code(text)


def test_there_are_quoted_errors_each_once() -> None:
    assert len(quoted()) > 30
    assert len(set(quoted())) == len(quoted())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("there is no Environment … on main", True),
        ("there is no Environment … on the moon", False),
    ],
)
def test_a_text_that_the_code_lacks_is_found(text: str, expected: bool) -> None:
    assert is_in_the_code(text) is expected
