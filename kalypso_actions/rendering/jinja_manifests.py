"""Manifests written in Jinja2, for Templates annotated `kalypso.io/engine: jinja2`."""

from __future__ import annotations

from kalypso_actions.rendering.data import TemplateData


class JinjaManifest:
    """A Jinja2 template in the sandbox, undefined names being errors."""

    def __init__(self, text: str) -> None:
        """Compile. Raises ManifestError."""

    def render(self, data: TemplateData) -> str:
        """Render. Raises ManifestError."""
        raise NotImplementedError
