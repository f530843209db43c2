"""Rendering with sprig's functions."""

from __future__ import annotations

from kalypso_go.gotemplate import DEFAULT_LIMITS, Limits, parse
from kalypso_go.gotemplate.sprig import FUNCTIONS, REFUSED


def render(text: str, data: object = None, limits: Limits = DEFAULT_LIMITS) -> str:
    """Return the output; raise `TemplateError`."""
    template = parse(text, functions=FUNCTIONS, refused=REFUSED)
    return template.execute({} if data is None else data, limits)
