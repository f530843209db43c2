"""Syntax errors of PyYAML: words, places and advice for people."""

from __future__ import annotations

import re
from typing import Final, Protocol

import yaml

from kalypso_actions.model.documents import Mark

INDENTING_TAB: Final = re.compile(" *\t")


class PyYamlMark(Protocol):
    """A place in the text; the marks of libyaml and of PyYAML have no common class."""

    @property
    def line(self) -> int:
        """The line, counted from 0."""

    @property
    def column(self) -> int:
        """The column, counted from 0."""


def counted_from_one(mark: PyYamlMark | None) -> Mark:
    """Convert a mark of PyYAML, which counts from 0; (0, 0) without one."""
    return (int(mark.line) + 1, int(mark.column) + 1) if mark else (0, 0)


def error_message(error: yaml.YAMLError) -> str:
    """Return PyYAML's words without its places."""
    if isinstance(error, yaml.MarkedYAMLError):
        return ", ".join(part for part in (error.context, error.problem) if part)
    if isinstance(error, yaml.reader.ReaderError):
        code = error.character if isinstance(error.character, int) else ord(error.character)
        return f"#x{code:04x}: {error.reason}"
    return str(error)


def error_mark(error: yaml.YAMLError, text: str) -> Mark:
    """Return the place of a syntax error; (0, 0) if it is unknown."""
    if isinstance(error, yaml.MarkedYAMLError):
        # libyaml counts the end of a text without a final newline as a line.
        last = text.count("\n") + (0 if text.endswith("\n") else 1)
        line, column = counted_from_one(error.problem_mark or error.context_mark)
        return (line, column) if line <= last else (last, 0)
    if isinstance(error, yaml.reader.ReaderError):
        start = text.rfind("\n", 0, error.position) + 1
        return text.count("\n", 0, error.position) + 1, error.position - start + 1
    return 0, 0


def tab_fault(error: yaml.YAMLError, text: str) -> str:
    """Say which line of a syntax error begins with a tab; "" if none does."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return ""
    lines = text.split("\n")
    for mark in (error.problem_mark, error.context_mark):
        number = counted_from_one(mark)[0]
        if 0 < number <= len(lines) and INDENTING_TAB.match(lines[number - 1]):
            return f"line {number} is indented with a tab, which YAML forbids"
    return ""
