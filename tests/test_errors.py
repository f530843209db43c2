"""The docstring of `errors` draws every public exception class, below its base, with its module."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import kalypso_actions
from kalypso_actions import errors

DRAWN = re.compile(
    r"^ {4}(?P<branch>[ │├└─]*)(?P<names>\w+(?:, \w+)*) +(?P<module>[a-z][\w.]*) ", re.MULTILINE
)


def drawn() -> Iterator[tuple[str, str, str]]:
    """Yield module, name and drawn base (or "") of each exception in the docstring."""
    bases: list[str] = []
    for match in DRAWN.finditer(errors.__doc__ or ""):
        depth = len(match["branch"]) // 4
        for name in match["names"].split(", "):
            bases[depth:] = [name]
            yield match["module"], name, bases[depth - 1] if depth else ""


def defined() -> Iterator[tuple[str, str, str]]:
    """Yield module, name and base (or "") of each public exception class of the package."""
    for module in pkgutil.walk_packages(kalypso_actions.__path__, "kalypso_actions."):
        if module.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            is_error = inspect.isclass(value) and issubclass(value, BaseException)
            if is_error and value.__module__ == module.name and not name.startswith("_"):
                base = value.__bases__[0]
                base_name = base.__name__ if base.__module__.startswith("kalypso_actions.") else ""
                yield module.name.removeprefix("kalypso_actions."), name, base_name


def test_every_exception_is_drawn() -> None:
    assert sorted(drawn()) == sorted(defined())
