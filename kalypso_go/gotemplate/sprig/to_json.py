"""JSON like that of Go's `encoding/json`, which escapes HTML; `""` for unsupported values."""

from __future__ import annotations

import math
from base64 import b64encode

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.numerals import json_number
from kalypso_go.gotemplate.sprig.nesting import check_depth
from kalypso_go.gotemplate.sprig.semver import VersionValue
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.sprig.times import TimeValue, json_text
from kalypso_go.gotemplate.text import quote_json, to_bytes
from kalypso_go.gotemplate.values import (
    ANY,
    STRING,
    UINT8,
    Function,
    FunctionError,
    GoSlice,
    GoStruct,
    type_of,
)


class _UnsupportedError(Exception):
    """JSON cannot represent the value."""


@function("toJson", ANY, returns=STRING, takes_budget=True)
def to_json(budget: Budget, value: object) -> str:
    """Encode the value as JSON in one line."""
    return _encoded(_Encoder(budget, pretty=False), value)


@function("toPrettyJson", ANY, returns=STRING, takes_budget=True)
def to_pretty_json(budget: Budget, value: object) -> str:
    """Encode the value as JSON with each element on its own line."""
    return _encoded(_Encoder(budget, pretty=True), value)


def _encoded(encoder: _Encoder, value: object) -> str:
    try:
        encoder.value(value, 0)
    except _UnsupportedError:
        return ""
    return "".join(encoder.parts)


class _Encoder:
    """Collects the parts of one JSON text."""

    def __init__(self, budget: Budget, *, pretty: bool) -> None:
        self.budget = budget
        self.pretty = pretty
        self.parts: list[str] = []
        self.size = 0
        self.path: set[int] = set()

    def value(self, value: object, depth: int) -> None:
        check_depth(depth, "toJson")
        if isinstance(value, dict | list):
            if id(value) in self.path:
                raise _UnsupportedError("a value within itself")
            self.path.add(id(value))
            self._container(value, depth + 1)
            self.path.remove(id(value))
        elif isinstance(value, GoStruct):
            self._struct(value, depth + 1)
        else:
            self._write(_scalar(value))

    def _write(self, text: str) -> None:
        self.parts.append(text)
        self.size += len(text)
        self.budget.fit(self.size, "toJson")
        self.budget.spend(len(text), "toJson")

    def _container(self, value: dict[object, object] | list[object], depth: int) -> None:
        nil = getattr(value, "nil", False)
        if isinstance(value, list):
            if nil:
                self._write("null")
            elif isinstance(value, GoSlice) and value.type.elem == UINT8:
                self._write(f'"{b64encode(bytes(_integers(value))).decode()}"')
            else:
                self._members("[", [("", element) for element in value], "]", depth)
            return
        go_type = type_of(value)
        if go_type is None or go_type.key is None or go_type.key.kind != "string":
            raise _UnsupportedError("keys that are not strings")
        if nil:
            self._write("null")
            return
        texts = sorted((str(key) for key in value), key=to_bytes)
        self._members("{", [(key, value[key]) for key in texts], "}", depth, keyed=True)

    def _members(
        self,
        opening: str,
        members: list[tuple[str, object]],
        closing: str,
        depth: int,
        *,
        keyed: bool = False,
    ) -> None:
        self._write(opening)
        line = "\n" + "  " * depth if self.pretty else ""
        colon = ": " if self.pretty else ":"
        for index, (key, value) in enumerate(members):
            self._write("," + line if index else line)
            if keyed:
                self._write(quote_json(key) + colon)
            self.value(value, depth)
        self._write((line[:-2] if members else "") + closing)

    def _struct(self, value: GoStruct, depth: int) -> None:
        if isinstance(value, TimeValue):
            try:
                self._write(f'"{json_text(value.instant)}"')
            except FunctionError as error:
                raise _UnsupportedError(str(error)) from None
        elif isinstance(value, VersionValue):
            self._write(quote_json(str(value.version)))
        else:
            self._members("{", list(value.fields.items()), "}", depth, keyed=True)


def _integers(values: list[object]) -> list[int]:
    return [value for value in values if isinstance(value, int)]


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return quote_json(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _UnsupportedError("not a finite number")
        return json_number(value)
    raise _UnsupportedError(f"{type_of(value)}" if isinstance(value, Function) else "no Go value")
