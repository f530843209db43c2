r"""Regular expressions of RE2: linear time, no backreferences.

Go's own library differs in `\C`, names of groups beyond ASCII, and `\B` between the bytes of one
character.
"""

from __future__ import annotations

from functools import lru_cache

import re2

from kalypso_actions.config_schemas.errors import SchemaError
from kalypso_go.gotemplate.text import to_bytes

CACHED_LENGTH = 256

_QUICK = 128
"""RE2 executes this many instructions in the time of one step of an evaluation."""


class PatternError(ValueError):
    """A text is not a regular expression of RE2."""


class Pattern:
    """A compiled regular expression."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        """Compile; raise `PatternError`, or `SchemaError` if the pattern takes too much memory."""
        self.text = text
        options = re2.Options()
        options.log_errors = False
        try:
            self._compiled = re2.compile(to_bytes(text), options)
        except re2.error as error:
            if b"too large" in error.args[0]:
                raise SchemaError(
                    f"pattern {text[:100]} is too large: lower the counts of its repetitions"
                ) from error
            raise PatternError(text) from error

    @property
    def size(self) -> int:
        """The number of instructions, of a few bytes each."""
        size: int = self._compiled.programsize
        return size

    def steps(self, text: str) -> int:
        """Return how many steps of an evaluation to count for a search in the text.

        RE2 may need all instructions for each byte.
        """
        return 1 + self.size * (len(text) if text.isascii() else len(to_bytes(text))) // _QUICK

    def matches(self, text: str) -> bool:
        """Return whether any part of the text matches."""
        return self._compiled.search(to_bytes(text)) is not None


def is_regex(text: str) -> bool:
    """Return whether a text is a regular expression of RE2, of any size."""
    return _cached_is_regex(text) if len(text) <= CACHED_LENGTH else _is_regex(text)


def _is_regex(text: str) -> bool:
    try:
        Pattern(text)
    except PatternError:
        return False
    except SchemaError:
        return True
    return True


_cached_is_regex = lru_cache(maxsize=128)(_is_regex)
