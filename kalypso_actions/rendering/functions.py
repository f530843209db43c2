"""The functions of templates that sprig and Go lack: `toYaml`, `stringify`, `hash` and `unquote`.

Upstream's functions return "" if they fail; ours raise, because a manifest without its
configuration is worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kalypso_actions.rendering.hashstructure import hash_of
from kalypso_go import goyaml
from kalypso_go.gotemplate import sprig
from kalypso_go.gotemplate.budget import Budget, LimitError
from kalypso_go.gotemplate.sprig.dates import TIME
from kalypso_go.gotemplate.text import SPACES
from kalypso_go.gotemplate.values import (
    ANY,
    ANY_MAP,
    ANY_SLICE,
    STRING,
    Function,
    FunctionError,
    GoInt,
    GoStruct,
    type_of,
)

RFC_3339_NANO: Final = "2006-01-02T15:04:05.999999999Z07:00"


def to_yaml(budget: Budget, value: object) -> str:
    """Implement `toYaml`: the value as yaml.v3 writes it, without the last line feed.

    Raises `FunctionError` for a value that YAML cannot express, `LimitError` for one that is too
    large or too deep.
    """
    try:
        text = goyaml.dump_v3(value, budget.limits.output_bytes, _represent)
    except goyaml.YAMLBoundError as error:
        raise LimitError(error.message) from error
    except goyaml.YAMLError as error:
        raise FunctionError(error.message) from error
    budget.reserve(len(text), "toYaml")
    return text.removesuffix("\n")


def stringify(budget: Budget, value: object) -> str:
    """Implement `stringify`: `toYaml` of a map in which each list becomes the text of its YAML.

    The texts keep their final newline, which `toYaml` removes. Nested `map[string]interface {}`
    become texts, too. Mappings in configuration have another type, and stay mappings.
    """
    if type_of(value) != ANY_MAP or not isinstance(value, dict):
        return to_yaml(budget, value)
    texts = dict(value)
    for key, inner in value.items():
        if type(inner) is not str and type_of(inner) in (ANY_SLICE, ANY_MAP):
            texts[key] = to_yaml(budget, inner) + "\n"
    return to_yaml(budget, texts)


def hash_(budget: Budget, value: object) -> str:
    """Implement `hash`: hashstructure's hash of the value, in decimal digits."""
    return str(hash_of(value, budget))


def unquote(value: object) -> str:
    """Implement `unquote`: strip space, then `"`, then `'` from a text; "" for other values."""
    if not isinstance(value, str):
        return ""
    return value.strip(SPACES).strip('"').strip("'")


FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType(
    {
        **sprig.FUNCTIONS,
        "toYaml": Function("toYaml", to_yaml, (ANY,), result=STRING, takes_budget=True),
        "stringify": Function("stringify", stringify, (ANY,), result=STRING, takes_budget=True),
        "hash": Function("hash", hash_, (ANY,), result=STRING, takes_budget=True),
        "unquote": Function("unquote", unquote, (ANY,), result=STRING),
    }
)
"""The functions of templates, in addition to Go's own."""

REFUSED: Final[Mapping[str, str]] = sprig.REFUSED
"""The functions that exist in upstream but not here, and why."""


def _represent(value: object) -> object:
    """Represent structs, and the types that yaml.v3 writes in a special way."""
    if isinstance(value, GoStruct):
        if value.type == TIME and not value.pointer:
            return goyaml.Verbatim(value.methods["Format"].call(RFC_3339_NANO))
        return goyaml.InOrder({name.lower(): field for name, field in value.fields.items()})
    if isinstance(value, GoInt) and value.type.name == "time.Duration":
        return value.methods["String"].call()
    if isinstance(value, dict | list | str | int | float):
        return value
    raise goyaml.YAMLError(f"cannot marshal type: {type_of(value)}")
