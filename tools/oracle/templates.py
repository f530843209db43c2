"""Random templates as trees, which can be reduced.

A tree's text is its parts joined. `kind` determines the possible replacements: a smaller tree of
the same kind inside it, or the kind's `SIMPLEST` text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

SIMPLEST = {
    "body": ("",),
    "item": ("",),
    "call": ("1", '"a"', "."),
    "argument": ("1", '"a"', "."),
    "pipeline": ("1", '"a"', "."),
    "stage": ("print",),
    "piped": ("",),
    "option": ("",),
}
"""Replacements for trees by kind; an `option` may be absent."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A piece of a template: its text is the text of its parts."""

    kind: str
    parts: tuple[str | Tree, ...]

    def __str__(self) -> str:
        return "".join(str(part) for part in self.parts)


def tree(kind: str, *parts: str | Tree) -> Tree:
    """Return a tree of these parts."""
    return Tree(kind, parts)


def smaller(whole: Tree) -> Iterator[Tree]:
    """Yield `whole` with each piece replaced by a shorter one, large pieces first."""
    yield from _replacements(whole)
    for index, part in enumerate(whole.parts):
        if isinstance(part, Tree):
            for replacement in smaller(part):
                yield Tree(
                    whole.kind, (*whole.parts[:index], replacement, *whole.parts[index + 1 :])
                )


def _replacements(whole: Tree) -> Iterator[Tree]:
    text = str(whole)
    for simplest in SIMPLEST.get(whole.kind, ()):
        if len(simplest) < len(text):
            yield Tree(whole.kind, (simplest,))
    for inner in _inside(whole):
        if inner.kind == whole.kind and len(str(inner)) < len(text):
            yield inner


def _inside(whole: Tree) -> Iterator[Tree]:
    for part in whole.parts:
        if isinstance(part, Tree):
            yield part
            yield from _inside(part)
