"""The names of keys whose values are secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import translate
from typing import Final

MASKED_KEYS: Final = (
    "*apikey*",
    "*connectionstring*",
    "*connstr*",
    "*cookie*",
    "*credential*",
    "*dsn*",
    "*key*",
    "*passphrase*",
    "*passwd*",
    "*password*",
    "*pwd*",
    "*sas",
    "*secret*",
    "*signature*",
    "*token*",
    "*webhook*",
    "auth",
    "authorization",
    "pass",
)
"""Globs; names are compared in lower case without `-`, `_`, `.` and spaces."""

SHORTEST_SECRET: Final = 6
"""Shorter texts are masked below their keys only: elsewhere, they are ordinary words."""

_IGNORED: Final = str.maketrans("", "", "-_. ")


class KeyNames:
    """The names of keys that match MASKED_KEYS, or other globs."""

    def __init__(self, more: Iterable[str] = ()) -> None:
        globs = [*MASKED_KEYS, *(_normal(glob) for glob in more)]
        self._pattern = re.compile("|".join(map(translate, globs)))
        self._known: dict[str, bool] = {}

    def include(self, key: object) -> bool:
        """Whether the values below a key are secret."""
        if not isinstance(key, str):
            return False
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._pattern.fullmatch(_normal(key)) is not None
        return known

    def secrets_of(self, values: Mapping[str, object]) -> frozenset[str]:
        """Return the texts below secret keys, by lines, that are masked wherever they stand."""
        texts = (text.strip() for text in self._secrets(values, is_secret=False))
        return frozenset(text for text in texts if len(text) >= SHORTEST_SECRET)

    def _secrets(self, value: object, *, is_secret: bool) -> Iterator[str]:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                yield from self._secrets(inner, is_secret=is_secret or self.include(key))
        elif isinstance(value, list | tuple):
            for inner in value:
                yield from self._secrets(inner, is_secret=is_secret)
        elif is_secret and value is not None and not isinstance(value, bool):
            yield str(value)
            yield from str(value).splitlines()


def _normal(name: str) -> str:
    return name.casefold().translate(_IGNORED)
