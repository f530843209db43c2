"""Prune, fill in defaults and validate an object as Kubernetes' API server does.

Structural schemas: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from kalypso_actions.model.documents import Path
from kalypso_actions.model.kubernetes_names import (
    label_key_fault,
    label_value_fault,
    object_name_fault,
)
from kalypso_placement.instants import parse_instant
from kalypso_placement.quantities import parse_quantity
from kalypso_placement.schemas import TEXT, Schema

_ROOT: Final = frozenset({"apiVersion", "kind", "metadata"})
_RANGES: Final = {"int32": 2**31, "int64": 2**63}
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "int-or-string": (int, str),
    "array": (list,),
    "object": (dict,),
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """The API server's message about a field; `path` is inside the object.

    `unreadable` is whether OCM's own types cannot hold the value.
    """

    path: Path
    message: str
    code: str = "placement-refused"
    unreadable: bool = False

    @property
    def field(self) -> str:
        """The field in Kubernetes' notation."""
        text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in self.path)
        return text.removeprefix(".")


@dataclass(slots=True)
class AdmittedObject:
    """An object with defaults and without unknown fields, and its faults."""

    body: dict[str, object]
    refusals: list[Refusal] = field(default_factory=list)

    @property
    def unreadable(self) -> Refusal | None:
        """The first value that OCM cannot read."""
        return next((refusal for refusal in self.refusals if refusal.unreadable), None)


def admit(body: Mapping[str, object], schema: Schema) -> AdmittedObject:
    """Return the object as the API server stores it."""
    admitted = AdmittedObject({})
    own = {key: value for key, value in body.items() if key not in _ROOT}
    admitted.body = cast("dict[str, object]", _filled(own, schema, (), admitted))
    admitted.refusals += _faults(admitted.body, schema, ())
    for key in _ROOT & body.keys():
        admitted.body[key] = body[key]
    admitted.body["metadata"] = _metadata(body.get("metadata"), admitted)
    return admitted


def _filled(value: object, schema: Schema, path: Path, admitted: AdmittedObject) -> object:
    """Drop unknown fields and nulls that are not allowed, and fill in defaults."""
    if isinstance(value, list) and schema.items is not None:
        return [_filled(v, schema.items, (*path, i), admitted) for i, v in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if schema.values is not None:
        return {k: _filled(v, schema.values, (*path, k), admitted) for k, v in value.items()}
    if schema.properties is None:
        return value
    return _filled_object(value, schema.properties, path, admitted)


def _filled_object(
    value: dict[str, object],
    properties: Mapping[str, Schema],
    path: Path,
    admitted: AdmittedObject,
) -> dict[str, object]:
    filled: dict[str, object] = {}
    for key, item in value.items():
        known = properties.get(key)
        if known is None:
            message = f"{Refusal((*path, key), '').field} is unknown"
            admitted.refusals.append(Refusal((*path, key), message, code="placement-field-unknown"))
        elif item is not None or known.nullable:
            filled[key] = item
    for key, known in properties.items():
        if key not in filled and known.default is not None:
            filled[key] = copy.deepcopy(known.default)
        if key in filled:
            filled[key] = _filled(filled[key], known, (*path, key), admitted)
    return filled


def _faults(value: object, schema: Schema, path: Path) -> Iterator[Refusal]:
    if value is None and schema.nullable:
        return
    wrong_type = schema.type in _TYPES and not isinstance(value, _TYPES[schema.type])
    if wrong_type or (isinstance(value, bool) and schema.type != "boolean"):
        name = Refusal(path, "").field
        message = f"{name} must be of type {schema.type}, not {_type_name(value)}"
        yield Refusal(path, message, unreadable=True)
    elif isinstance(value, dict):
        yield from _object_faults(value, schema, path)
    elif isinstance(value, list):
        yield from _list_faults(value, schema, path)
    else:
        yield from _scalar_faults(value, schema, path)


def _object_faults(value: dict[str, object], schema: Schema, path: Path) -> Iterator[Refusal]:
    for key in schema.required:
        if key not in value:
            yield Refusal((*path, key), f"{Refusal((*path, key), '').field} is required")
    for key, item in value.items():
        known = schema.values or (schema.properties or {}).get(key)
        if known is not None:
            yield from _faults(item, known, (*path, key))


def _list_faults(value: list[object], schema: Schema, path: Path) -> Iterator[Refusal]:
    name = Refusal(path, "").field
    if schema.max_items is not None and len(value) > schema.max_items:
        yield Refusal(path, f"{name} may have {schema.max_items} items at most")
    seen: set[tuple[object, ...]] = set()
    for index, item in enumerate(value):
        if schema.items is not None:
            yield from _faults(item, schema.items, (*path, index))
        if schema.unique and isinstance(item, dict):
            key = tuple(str(item.get(part)) for part in schema.unique)
            if key in seen:
                yield Refusal((*path, index), f"{name}[{index}] repeats {', '.join(map(str, key))}")
            seen.add(key)


def _scalar_faults(value: object, schema: Schema, path: Path) -> Iterator[Refusal]:
    if isinstance(value, str):
        yield from _text_faults(value, schema, path)
    elif isinstance(value, int):
        yield from _number_faults(value, schema, path)


def _text_faults(value: str, schema: Schema, path: Path) -> Iterator[Refusal]:
    shown = f"{Refusal(path, '').field} is {value[:100]!r}, but"
    if schema.enum and value not in schema.enum:
        yield Refusal(path, f"{shown} must be one of {', '.join(schema.enum)}")
    if len(value) < schema.min_length:
        yield Refusal(path, f"{shown} needs {schema.min_length} characters")
    if schema.max_length is not None and len(value) > schema.max_length:
        yield Refusal(path, f"{shown} may have {schema.max_length} characters at most")
    unreadable = schema.format == "quantity" and parse_quantity(value) is None
    if schema.pattern and not re.search(schema.pattern.replace("$", r"\Z"), value):
        yield Refusal(path, f"{shown} must match {schema.pattern}", unreadable=unreadable)
    elif unreadable:
        yield Refusal(path, f"{shown} must be a quantity", unreadable=True)
    if schema.format == "date-time" and parse_instant(value) is None:
        message = f"{shown} must be a time, such as 2026-03-01T12:00:00Z"
        yield Refusal(path, message, unreadable=True)


def _number_faults(value: int, schema: Schema, path: Path) -> Iterator[Refusal]:
    shown = f"{Refusal(path, '').field} is {value}, but"
    if schema.minimum is not None and value < schema.minimum:
        yield Refusal(path, f"{shown} must be at least {schema.minimum}")
    if schema.maximum is not None and value > schema.maximum:
        yield Refusal(path, f"{shown} must be at most {schema.maximum}")
    form = "int32" if schema.type == "int-or-string" and not schema.format else schema.format
    limit = _RANGES.get(form)
    if limit is not None and not -limit <= value < limit:
        message = f"{shown} OCM reads {form}"
        yield Refusal(path, message, code="placement-unreadable", unreadable=True)


def _metadata(metadata: object, admitted: AdmittedObject) -> dict[str, object]:
    if not isinstance(metadata, dict):
        admitted.refusals.append(Refusal(("metadata",), "metadata.name is required"))
        return {}
    name = metadata.get("name")
    if not isinstance(name, str) or object_name_fault(name):
        fault = object_name_fault(name) if isinstance(name, str) else "must be a text"
        refusal = Refusal(("metadata", "name"), f"metadata.name {name!r} {fault}")
        admitted.refusals.append(refusal)
    for part in ("labels", "annotations"):
        entries = metadata.get(part)
        if entries is None:
            continue
        path: Path = ("metadata", part)
        admitted.refusals += _faults(entries, Schema("object", values=TEXT), path)
        if isinstance(entries, dict):
            admitted.refusals += _key_faults(entries, path, is_label=part == "labels")
    return metadata


def _key_faults(entries: dict[str, object], path: Path, *, is_label: bool) -> Iterator[Refusal]:
    for key, value in entries.items():
        fault = label_key_fault(key if is_label else key.lower())
        if fault:
            yield Refusal((*path, key), f"the key {key!r} {fault}")
        elif is_label and isinstance(value, str) and label_value_fault(value):
            yield Refusal(
                (*path, key), f"the label {key!r} is {value!r}: {label_value_fault(value)}"
            )


def _type_name(value: object) -> str:
    names = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer"}
    return "null" if value is None else names.get(type(value), "number")
