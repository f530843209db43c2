"""Base64 and base32 with Go's error messages, and JSON like that of its `encoding/json`."""

from __future__ import annotations

import base64
import math
import re
import string
from base64 import b64encode

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.numerals import json_number
from kalypso_go.gotemplate.sprig.coercion import check_depth
from kalypso_go.gotemplate.sprig.dates import TimeValue, json_text
from kalypso_go.gotemplate.sprig.semver import VersionValue
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.text import from_bytes, quote_json, to_bytes
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

_NEWLINES = b"\r\n"
_BASE64 = (string.ascii_letters + string.digits + "+/").encode()
_BASE64_TEXT = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_BASE32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


class CorruptInputError(ValueError):
    """The input is not valid base64 or base32; the message is Go's and names the byte."""


@function("b64enc", STRING, returns=STRING)
def b64enc(text: str) -> str:
    """Encode the bytes in base64."""
    return base64.b64encode(to_bytes(text)).decode()


@function("b64dec", STRING, returns=STRING)
def b64dec(text: str) -> str:
    """Decode base64; return the error's text for invalid input."""
    try:
        return from_bytes(decode_base64(to_bytes(text)))
    except CorruptInputError as error:
        return str(error)


@function("b32enc", STRING, returns=STRING)
def b32enc(text: str) -> str:
    """Encode the bytes in base32."""
    return base64.b32encode(to_bytes(text)).decode()


@function("b32dec", STRING, returns=STRING)
def b32dec(text: str) -> str:
    """Decode base32; return the error's text for invalid input."""
    data = to_bytes(text).translate(None, _NEWLINES)
    try:
        return from_bytes(_decode_base32(data))
    except CorruptInputError as error:
        return str(error)


def decode_base64(data: bytes) -> bytes:
    """Go's `base64.StdEncoding.DecodeString`, which ignores newlines."""
    plain = data.translate(None, _NEWLINES)
    if _BASE64_TEXT.fullmatch(plain):
        return base64.b64decode(plain)
    raise CorruptInputError(f"illegal base64 data at input byte {_corrupt_base64(data)}")


def _corrupt_base64(data: bytes) -> int:
    """Return the position at which Go rejects the base64 data."""
    in_group = 0
    for position, byte in enumerate(data):
        if byte in _BASE64:
            in_group = (in_group + 1) % 4
        elif byte == ord("="):
            return _corrupt_padding(data, position, in_group)
        elif byte not in _NEWLINES:
            return position
    # Go subtracts the characters of the last group, without the newlines between them.
    return len(data) - in_group


def _corrupt_padding(data: bytes, position: int, in_group: int) -> int:
    """Return the position of the error in padding that begins at `position`.

    The padding follows `in_group` characters of a group of four.
    """
    if in_group < 2:
        return position
    end = position + 1
    if in_group == 2:
        while data[end : end + 1] in (b"\n", b"\r"):
            end += 1
        if end == len(data):
            return end
        if data[end] != ord("="):
            return end - 1
        end += 1
    while data[end : end + 1] in (b"\n", b"\r"):
        end += 1
    return end


def _decode_base32(data: bytes) -> bytes:
    """Go's `base32.StdEncoding`, which ignores the groups after the padding."""
    decoded = bytearray()
    for start in range(0, len(data), 8):
        group = data[start : start + 8]
        kept = _significant(data, start, group)
        bits = 0
        for byte in group[:kept].ljust(8, b"A"):
            bits = bits << 5 | _BASE32.index(byte)
        decoded += bits.to_bytes(5, "big")[: kept * 5 // 8]
        if kept < 8:
            break
    return bytes(decoded)


def _significant(data: bytes, start: int, group: bytes) -> int:
    """Return how many characters of a group of eight precede the padding."""
    for offset, byte in enumerate(group):
        rest = len(data) - start - offset - 1
        if byte == ord("=") and offset >= 2 and rest < 8:
            if rest + offset < 7:
                raise _corrupt_base32(len(data))
            for padding in range(7 - offset):
                if data[start + offset + 1 + padding] != ord("="):
                    raise _corrupt_base32(start + offset + padding)
            if offset in (3, 6):
                raise _corrupt_base32(start + offset)
            return offset
        if byte not in _BASE32:
            raise _corrupt_base32(start + offset)
    if len(group) < 8:
        raise _corrupt_base32(start)
    return 8


def _corrupt_base32(position: int) -> CorruptInputError:
    return CorruptInputError(f"illegal base32 data at input byte {position}")


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
