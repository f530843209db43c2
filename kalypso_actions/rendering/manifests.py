"""The interface of compiled manifests, and their error."""

from __future__ import annotations

from typing import Protocol

from kalypso_actions.rendering.data import TemplateData


class ManifestError(Exception):
    """A manifest does not compile or render.

    `message` is the engine's complete message, as upstream reports it. `text` is the template that
    failed: the manifest, a text inside it, or the output of an earlier pass. `line` and `column`
    are places in it; they count from 1, and 0 means unknown.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0, text: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.text = text


class Manifest(Protocol):
    """A manifest, compiled once and rendered for many assignments."""

    @property
    def changes_data(self) -> bool:
        """Whether rendering may change the configuration in the data."""

    def render(self, data: TemplateData) -> str:
        """Return the manifest's text for one assignment. Raises ManifestError."""
