"""Where the sandbox's answers differ from recorded ones, and why they may."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Explained:
    """Differences whose text fits the pattern, in which `*` is any text."""

    pattern: str
    reason: str

    def explains(self, difference: str) -> bool:
        """Whether it is about this difference."""
        parts = map(re.escape, self.pattern.split("*"))
        return re.fullmatch(".*".join(parts), difference) is not None


EXPLAINED: Final = ()
