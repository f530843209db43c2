"""The keys whose values are secret, by globs of their names.

names = KeyNames(["*pin"])
names.include("api-key"), names.secrets_of({"token": "text"})
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from fnmatch import translate
from functools import lru_cache
from typing import Final

MASKED_KEYS: Final = (
    "*apikey*",
    "*auth",
    "*connectionstring*",
    "*connstr*",
    "*cookie*",
    "*credential*",
    "*creds",
    "*dsn*",
    "*key*",
    "*pass",
    "*passphrase*",
    "*passwd*",
    "*password*",
    "*pat",
    "*pw",
    "*pwd*",
    "*sas",
    "*secret*",
    "*signature*",
    "*token*",
    "*webhook*",
    "authorization",
    "sig",
)
"""Globs; names are compared in lower case without `-`, `_`, `.` and spaces."""

SHOWN_KEYS: Final = (
    *("*keyalgorithm", "*keysize", "*keytype", "*publickey", "hotkey", "partitionkey", "sortkey"),
    *("*keyfile", "*keypath", "*passwordfile", "*secretfile", "*tokenfile", "*tokenpath"),
    *("*keyheader", "*tokenheader", "*tokenurl", "*tokenuri", "*tokenexpiry", "*tokenlifetime"),
    *("*passwordlength", "*passwordminlength", "*secretstore"),
    "*keyname",
    "*keyref",
    "*keyrefs",
    "*pullsecret",
    "*pullsecrets",
    "*secretname",
    "*secretnames",
    "*secretref",
    "*secretrefs",
    "*secretstoreref",
    "automountserviceaccounttoken",
    "existingsecret",
    "secretproviderclass",
    "topologykey",
    "valueskey",
)
"""Globs of keys whose values are only names, although MASKED_KEYS match the keys."""

PLAIN_WORDS: Final = ("keyboard", "keycloak", "keyspace", "keyvault", "keyword")
"""Words in keys that are not about a secret: `KEYCLOAK_URL`, but not `KEYCLOAK_PASSWORD`."""

SHORTEST_SECRET: Final = 6
"""Shorter texts are masked only below secret keys: elsewhere, they are ordinary words."""

_MOST_KNOWN: Final = 20_000
"""The most keys to keep in the cache, and the most lines."""

_IGNORED: Final = str.maketrans("", "", "-_. ")


class KeyNames:
    """The names of keys that match MASKED_KEYS, or other globs."""

    def __init__(self, more: Iterable[str] = ()) -> None:
        self._more = tuple(map(_normal, more))
        self._given, self._masked = _pattern(self._more), _pattern(MASKED_KEYS)
        self._shown = _pattern(SHOWN_KEYS)
        self._plain: set[Hashable] = set()
        self.plain_lines: set[str] = set()
        """Lines of texts without any of these names or any credential."""
        self.include: Callable[[Hashable], bool] = lru_cache(maxsize=_MOST_KNOWN)(self._include)

    def extended(self, more: Iterable[str]) -> KeyNames:
        """Return these names, and more."""
        return KeyNames((*self._more, *more))

    def remember(self, lines: Set[str]) -> None:
        """Add lines to `plain_lines`."""
        if len(self.plain_lines) + len(lines) > _MOST_KNOWN:
            self.plain_lines.clear()
        self.plain_lines |= lines

    def _include(self, key: Hashable) -> bool:
        """Whether the values below a key are secret."""
        if not isinstance(key, str):
            return False
        name = _normal(key)
        if self._given.fullmatch(name):
            return True
        meant = _PLAIN.sub("", name)
        return bool(self._masked.fullmatch(meant)) and not self._shown.fullmatch(meant)

    def is_given(self, key: str) -> bool:
        """Whether a glob beside MASKED_KEYS matches a key: its value is secret in any form."""
        return self._given.fullmatch(_normal(key)) is not None

    def secrets_of(self, values: Mapping[str, object]) -> frozenset[str]:
        """Return the texts to mask everywhere: those below secret keys, and their lines."""
        texts = self._secrets(values, is_secret=False)
        forms = (form for text in texts for form in (text, text.strip()))
        return frozenset(form for form in forms if len(form.strip()) >= SHORTEST_SECRET)

    def _secrets(self, value: object, *, is_secret: bool) -> Iterator[str]:
        if isinstance(value, Mapping):
            secret_keys = value.keys() if is_secret else self._secret_among(value)
            for key in secret_keys:
                yield from self._secrets(value[key], is_secret=True)
            for key, inner in value.items():
                if not isinstance(inner, str) and key not in secret_keys:  # most are texts
                    yield from self._secrets(inner, is_secret=False)
        elif isinstance(value, list | tuple):
            for inner in value:
                yield from self._secrets(inner, is_secret=is_secret)
        elif is_secret and value is not None and not isinstance(value, bool):
            yield str(value)
            yield from str(value).splitlines()

    def _secret_among(self, keys: Mapping[Hashable, object]) -> Set[Hashable]:
        """Return the secret ones of the keys."""
        unknown = keys.keys() - self._plain
        secret = {key for key in unknown if self.include(key)}
        if len(self._plain) < _MOST_KNOWN:
            self._plain |= unknown - secret
        return secret


def _pattern(globs: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, globs)) or r"(?!)")


_PLAIN: Final = re.compile("|".join(PLAIN_WORDS))


def _normal(name: str) -> str:
    return name.casefold().translate(_IGNORED)
