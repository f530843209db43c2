"""What a compiled manifest is, whatever language it is written in."""

from __future__ import annotations

from typing import Protocol

from kalypso_actions.rendering.data import TemplateData


class ManifestError(Exception):
    """A manifest that does not compile or render.

    `message` is the engine's whole text, as upstream reports it. `text` is the template that was at
    work: the manifest, a text inside of it, or what an earlier pass has rendered; `line` and
    `column` count from 1 inside of it, 0 stands for unknown.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0, text: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.text = text


class Manifest(Protocol):
    """A manifest, compiled once and rendered for many assignments."""

    def render(self, data: TemplateData) -> str:
        """The manifest's text for one assignment. Raises ManifestError."""
