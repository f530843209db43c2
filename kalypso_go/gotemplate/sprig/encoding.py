"""Base64 and base32, with Go's error messages."""

from __future__ import annotations

import base64
import re
import string

from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.text import from_bytes, to_bytes
from kalypso_go.gotemplate.values import STRING

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
