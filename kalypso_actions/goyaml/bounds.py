"""How much YAML is read or written before it is refused.

yaml.v2 and yaml.v3 go much further (10,000 levels); nothing that people write does.
"""

from __future__ import annotations

from typing import Final

MAX_DEPTH: Final = 100
"""Levels of lists and mappings, in what is read and in what is written."""

MAX_BYTES: Final = 16 * 1024 * 1024
"""The size of a written text, unless the caller says otherwise."""
