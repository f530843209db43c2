"""The values of scalars that yaml.v2 2.4.0 decodes into an `interface{}`.

YAML 1.1 with yaml.v2's deviations: `0o17` is an integer, `1:20` and a lone `=` are strings, `09` is
the float 9, and timestamps stay strings.
"""

from __future__ import annotations

import base64
import re
from calendar import monthrange
from typing import Final

from kalypso_go.goyaml.errors import YAMLError

Scalar = bool | int | float | str | None

TAG_PREFIX: Final = "tag:yaml.org,2002:"
MIN_INT64: Final = -(1 << 63)
MAX_INT64: Final = (1 << 63) - 1
MAX_UINT64: Final = (1 << 64) - 1

WORDS: Final[dict[str, bool | float | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(
        ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True
    ),
    **dict.fromkeys(("n", "N", "no", "No", "NO"), False),
    **dict.fromkeys(("false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}

NUMBER_STARTS: Final = frozenset("+-.0123456789")
INTEGER: Final = re.compile(
    r"([-+]?)(?:0[bB]([01]+)|0[oO]([0-7]+)|0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))"
)
BASES: Final = (2, 8, 16, 8, 10)
SIGN_AFTER_PREFIX: Final = re.compile(r"0b([-+][01]+)")
FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
DOTTED: Final = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")

BASE64: Final = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
TIMESTAMP: Final = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:(?:[Tt]| +)([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?)?"
    r"(Z|[-+]([0-9]{2}):([0-9]{2}))?"
)


def resolve(text: str) -> Scalar:
    """Return the value of a plain scalar without a tag."""
    if text in WORDS:
        return WORDS[text]
    if text[0] in NUMBER_STARTS:
        number = _number(text)
        if number is not None:
            return number
    return text


def is_text(text: str) -> bool:
    """Return whether both versions read a plain scalar as a text; yaml.v3 reads dates as times."""
    return isinstance(resolve(text), str) and not is_timestamp(text)


def _number(text: str) -> int | float | None:
    if text[0] == ".":
        return _finite(text) if DOTTED.fullmatch(text) else None
    digits = text.replace("_", "")
    integer = _integer(digits)
    if integer is not None:
        return integer
    return _finite(digits) if FLOAT.fullmatch(digits) else None


def _integer(digits: str) -> int | None:
    match = INTEGER.fullmatch(digits)
    if match is None:
        # yaml.v2 also tries Go's ParseInt on the text after "0b", where it accepts a sign.
        match = SIGN_AFTER_PREFIX.fullmatch(digits)
        if match is None:
            return None
        value = int(match[1], 2)
        return value if MIN_INT64 <= value <= MAX_INT64 else None
    number = next(number for number in match.groups()[1:] if number is not None)
    base = BASES[(match.lastindex or 0) - 2]
    if base == 10 and len(number) > 20:
        return None
    value = int(number, base)
    if match[1] == "-":
        value = -value
    limit = MAX_INT64 if match[1] else MAX_UINT64
    return value if MIN_INT64 <= value <= limit else None


def _finite(text: str) -> float | None:
    """Return the float, or None if it is out of range: Go's ParseFloat fails then."""
    value = float(text.replace("_", ""))
    return value if abs(value) != float("inf") else None


def tagged(text: str, tag: str, line: int = 0) -> Scalar:
    """Return the value of a scalar, plain or quoted, with an explicit tag (`tag:yaml.org,2002:…`).

    Raises `YAMLError` at `line` if yaml.v2 cannot read the text as that type. Tags unknown to
    yaml.v2, and the lone `!`, leave the text unchanged.
    """
    if not tag.startswith(TAG_PREFIX):
        return text
    name = tag[len(TAG_PREFIX) :]
    if name == "binary":
        return _decoded_binary(text, line)
    if name not in {"bool", "int", "float", "null", "timestamp"}:
        return text
    if name == "timestamp" and is_timestamp(text):
        return text
    value = resolve(text)
    actual = _tag_name(value)
    if name == "float" and actual == "int" and isinstance(value, int) and value <= MAX_INT64:
        return float(value)
    if actual != name:
        raise YAMLError(f"cannot decode !!{actual} `{text}` as a !!{name}", line)
    return value


def _tag_name(value: Scalar) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return "float" if isinstance(value, float) else "str"


def _decoded_binary(text: str, line: int) -> str:
    """Decode base64 with padding, ignoring line breaks, like Go's StdEncoding."""
    encoded = text.replace("\n", "").replace("\r", "")
    if not BASE64.fullmatch(encoded):
        raise YAMLError("!!binary value contains invalid base64 data", line)
    return base64.b64decode(encoded).decode("utf-8", "surrogateescape")


def is_timestamp(text: str) -> bool:
    """Return whether yaml.v2 and yaml.v3 read a plain scalar as a timestamp (Go's four layouts)."""
    match = TIMESTAMP.fullmatch(text)
    if match is None:
        return False
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    zoned = "T" in text or "t" in text
    if zoned != bool(match[7]):
        return False
    if match[4] and (int(match[4]) > 23 or int(match[5]) > 59 or int(match[6]) > 59):
        return False
    # Go allows offsets of 24 hours and 60 minutes.
    if match[8] and (int(match[8]) > 24 or int(match[9]) > 60):
        return False
    # Year 0 is a leap year, as 2000 is.
    return 1 <= month <= 12 and 1 <= day <= monthrange(year or 2000, month)[1]
