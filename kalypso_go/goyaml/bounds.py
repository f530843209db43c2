"""Limits on the YAML that is read and written.

yaml.v2 and yaml.v3 allow much more (10,000 levels), but people do not write such documents.
"""

from __future__ import annotations

from typing import Final

MAX_DEPTH: Final = 100
"""Levels of nested lists and mappings, both read and written."""

MAX_BYTES: Final = 16 * 1024 * 1024
"""The default limit on the size of a written text."""
