"""Names for the cases of tables, made of their values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import date, timedelta
from typing import Final

LONGEST: Final = 60
PLAIN: Final = (str, bytes, int, float, type(None), date, timedelta)


def readable(value: object) -> str | None:
    """Return a short text, the same in every process; None if there is none, or pytest has one."""
    if not isinstance(value, Mapping | list | tuple | AbstractSet) and not _is_record(value):
        return None
    try:
        text = ascii(_text(value))[1:-1].replace("\\'", "'")
    except TypeError:
        return None
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _text(value: object) -> str:
    """Raises TypeError for a value whose text may differ from process to process."""
    match value:
        case _ if isinstance(value, PLAIN):
            return str(value)
        case Mapping():
            return ", ".join(f"{_text(key)}: {_text(item)}" for key, item in value.items()) or "{}"
        case list() | tuple():
            return ", ".join(map(_text, value)) or "()"
        case AbstractSet():
            return ", ".join(sorted(map(_text, value))) or "{}"
        case _ if _is_record(value):
            return f"{type(value).__name__}({', '.join(_changed(value))})"
        case _:
            raise TypeError(type(value))


def _is_record(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _changed(record: object) -> list[str]:
    """Return the fields of a dataclass that differ from their defaults."""
    assert dataclasses.is_dataclass(record)
    return [
        f"{field.name}={_text(value)}"
        for field in dataclasses.fields(record)
        if (value := getattr(record, field.name)) != field.default
    ]
