"""The plain scalars of exported documents.

kubectl quotes every text that could be read as something else. Other exporters follow YAML 1.1,
where `019`, `1e3` and `y` are texts: here they stay texts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import yaml
from yaml.resolver import Resolver

from kalypso_go.goyaml.scalars import resolve

_RESOLVER: Final = Resolver()
_TEXT: Final = "tag:yaml.org,2002:str"


@lru_cache(maxsize=65536)
def resolve_exported(text: str) -> object:
    """Return the value of a plain scalar; a text if YAML 1.1 or yaml.v2 calls it one."""
    value = resolve(text)
    if isinstance(value, str):
        return value
    tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return text if tag == _TEXT else value
