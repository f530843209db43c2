"""Ends the rendering from within a template."""

from __future__ import annotations

from kalypso_actions.gotemplate.sprig.signature import function
from kalypso_actions.gotemplate.values import STRING, FunctionError


@function("fail", STRING, returns=STRING)
def fail(message: str) -> str:
    """Raises the message as the function's error."""
    raise FunctionError(message)
