"""Read the items of a template, and create errors about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kalypso_go.gotemplate.errors import TemplateError
from kalypso_go.gotemplate.lexer import Item, Kind


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a template, with the name that errors show."""

    name: str
    text: str

    def line(self, position: int) -> int:
        """Return the line of a position, from 1."""
        return self.text.count("\n", 0, position) + 1

    def column(self, position: int) -> int:
        """Return the number of characters before a position in its line."""
        return position - (self.text.rfind("\n", 0, position) + 1)


class Cursor:
    """Reads items; several cursors may read from the same stream, one after the other.

    `depth` counts the current nesting, up to `max_depth`.
    """

    def __init__(self, source: Source, stream: Iterator[Item], max_depth: int) -> None:
        self.source = source
        self.stream = stream
        self.max_depth = max_depth
        self.depth = 0
        self.items: list[Item] = []
        self.index = 0
        self.action: Item | None = None
        """The start of the current action, for errors on its later lines."""

    def next(self) -> Item:
        """Return the next item and consume it."""
        if self.index == len(self.items):
            item = next(self.stream, None)
            self.items.append(item or Item(Kind.EOF, len(self.source.text), "EOF"))
        self.index += 1
        return self.items[self.index - 1]

    def peek(self) -> Item:
        """Return the next item without consuming it."""
        item = self.next()
        self.index -= 1
        return item

    def next_non_space(self) -> Item:
        """Return the next item that is not a space, and consume it."""
        item = self.next()
        while item.kind is Kind.SPACE:
            item = self.next()
        return item

    def peek_non_space(self) -> Item:
        """Return the next item that is not a space; consume only the spaces before it."""
        item = self.next_non_space()
        self.index -= 1
        return item

    def expect(self, context: str, *kinds: Kind) -> Item:
        """Return the next item that is not a space; raise an error unless it is one of `kinds`."""
        item = self.next_non_space()
        if item.kind not in kinds:
            raise self.unexpected(item, context)
        return item

    def error(self, detail: str) -> TemplateError:
        """Return an error at the last item read."""
        position = self.items[-1].position
        line = self.source.line(position)
        return TemplateError(
            f"template: {self.source.name}:{line}: {detail}",
            name=self.source.name,
            line=line,
            column=self.source.column(position) + 1,
            detail=detail,
        )

    def unexpected(self, item: Item, context: str) -> TemplateError:
        """Return an error about an item that is not allowed here, or is an error itself."""
        if item.kind is not Kind.ERROR:
            return self.error(f"unexpected {item} in {context}")
        started = ""
        if self.action is not None:
            line = self.source.line(self.action.position)
            if line != self.source.line(item.position):
                begins = " started" if item.value.endswith(" action") else " in action started"
                started = f"{begins} at {self.source.name}:{line}"
        return self.error(f"{item}{started}")

    def enter(self, what: str) -> None:
        """Enter a nested level; the caller leaves it with `self.depth -= 1`."""
        if self.depth >= self.max_depth:
            raise self.error(f"max {what} depth exceeded ({self.max_depth})")
        self.depth += 1
