"""Functions on strings: trimming, slicing, searching, joining, quoting, indenting, wrapping."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.coercion import sprint, to_string, to_strings, to_texts
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.text import SPACES, byte_length, from_bytes, normal, to_bytes
from kalypso_go.gotemplate.text import quote as quoted
from kalypso_go.gotemplate.values import (
    ANY,
    BOOL,
    INT,
    STRING,
    STRING_MAP,
    STRING_SLICE,
    FunctionError,
    GoMap,
    GoSlice,
)


@function("hello", returns=STRING)
def hello() -> str:
    """Return `Hello!`, sprig's test of its presence."""
    return "Hello!"


@function("trim", STRING, returns=STRING)
def trim(text: str) -> str:
    """Go's `strings.TrimSpace`."""
    return text.strip(SPACES)


@function("trimAll", "trimall", STRING, STRING, returns=STRING)
def trim_all(cutset: str, text: str) -> str:
    """Go's `strings.Trim`: remove the runes of `cutset` from both ends."""
    if cutset.isascii():
        return text.strip(cutset) if cutset else text
    return normal(text).strip(normal(cutset))


def _bytewise(text: str, part: str) -> bool:
    """Return whether `part` may occur inside a rune of `text`, so that bytes must be compared."""
    return not part.isascii() and not text.isascii()


@function("trimPrefix", STRING, STRING, returns=STRING)
def trim_prefix(prefix: str, text: str) -> str:
    """Remove `prefix` once."""
    if _bytewise(text, prefix):
        return from_bytes(to_bytes(text).removeprefix(to_bytes(prefix)))
    return text.removeprefix(prefix)


@function("trimSuffix", STRING, STRING, returns=STRING)
def trim_suffix(suffix: str, text: str) -> str:
    """Remove `suffix` once."""
    if _bytewise(text, suffix):
        return from_bytes(to_bytes(text).removesuffix(to_bytes(suffix)))
    return text.removesuffix(suffix)


@function("contains", STRING, STRING, returns=BOOL)
def contains(part: str, text: str) -> bool:
    """Return whether `text` contains `part`."""
    if _bytewise(text, part):
        return to_bytes(part) in to_bytes(text)
    return part in text


@function("hasPrefix", STRING, STRING, returns=BOOL)
def has_prefix(prefix: str, text: str) -> bool:
    """Return whether `text` begins with `prefix`."""
    if _bytewise(text, prefix):
        return to_bytes(text).startswith(to_bytes(prefix))
    return text.startswith(prefix)


@function("hasSuffix", STRING, STRING, returns=BOOL)
def has_suffix(suffix: str, text: str) -> bool:
    """Return whether `text` ends with `suffix`."""
    if _bytewise(text, suffix):
        return to_bytes(text).endswith(to_bytes(suffix))
    return text.endswith(suffix)


def cut(text: str, start: int, end: int) -> str:
    """Return the bytes of `text` from `start` to `end`, which may split a rune."""
    if text.isascii():
        return text[start:end]
    return from_bytes(to_bytes(text)[start:end])


@function("trunc", INT, STRING, returns=STRING)
def trunc(count: int, text: str) -> str:
    """Return the first `count` bytes."""
    if byte_length(text) <= count:
        return text
    if count < 0:
        raise FunctionError(f"runtime error: slice bounds out of range [:{count}]")
    return cut(text, 0, count)


@function("substr", INT, INT, STRING, returns=STRING)
def substr(start: int, end: int, text: str) -> str:
    """Return the bytes from `start` to `end`; a negative one means the beginning or the end."""
    length = byte_length(text)
    if start < 0:
        if end < 0:
            raise FunctionError(f"runtime error: slice bounds out of range [:{end}]")
        if end > length:
            raise FunctionError(
                f"runtime error: slice bounds out of range [:{end}] with length {length}"
            )
        return cut(text, 0, end)
    if end < 0 or end > length:
        end = length
    if start > end:
        raise FunctionError(f"runtime error: slice bounds out of range [{start}:{end}]")
    return cut(text, start, end)


@function("repeat", INT, STRING, returns=STRING, takes_budget=True)
def repeat(budget: Budget, count: int, text: str) -> str:
    """Repeat `text` `count` times."""
    if count < 0:
        raise FunctionError("strings: negative Repeat count")
    budget.reserve(byte_length(text) * count, "repeat")
    # An empty str cannot be multiplied by numbers of 64 bits.
    return text * count if text else ""


@function("replace", STRING, STRING, STRING, returns=STRING, takes_budget=True)
def replace(budget: Budget, old: str, new: str, text: str) -> str:
    """Go's `strings.ReplaceAll`: an empty `old` matches between all runes."""
    if _bytewise(text, old):
        data, old_data, new_data = map(to_bytes, (text, old, new))
        budget.reserve(
            len(data) + data.count(old_data) * (len(new_data) - len(old_data)), "replace"
        )
        return from_bytes(data.replace(old_data, new_data))
    text = normal(text)
    growth = byte_length(new) - len(old)
    budget.reserve(byte_length(text) + text.count(old) * growth, "replace")
    return text.replace(old, new)


@function("plural", STRING, STRING, INT, returns=STRING)
def plural(one: str, many: str, count: int) -> str:
    """Return `one` if `count` is 1, else `many`."""
    return one if count == 1 else many


def _indented(budget: Budget, before: str, spaces: int, text: str) -> str:
    if spaces < 0:
        raise FunctionError("strings: negative Repeat count")
    growth = spaces * (text.count("\n") + 1)
    budget.reserve(len(before) + byte_length(text) + growth, "indent")
    pad = " " * spaces
    return before + pad + text.replace("\n", "\n" + pad)


@function("indent", INT, STRING, returns=STRING, takes_budget=True)
def indent(budget: Budget, spaces: int, text: str) -> str:
    """Indent every line, including empty ones."""
    return _indented(budget, "", spaces, text)


@function("nindent", INT, STRING, returns=STRING, takes_budget=True)
def nindent(budget: Budget, spaces: int, text: str) -> str:
    """Return a newline and the result of `indent`."""
    return _indented(budget, "\n", spaces, text)


@function("quote", ANY, variadic=True, returns=STRING, takes_budget=True)
def quote(budget: Budget, value: object = None, *others: object) -> str:
    """Put all values but nil in double quotes, as Go quotes strings."""
    if type(value) is str and not others:  # the most frequent case
        return quoted(value)
    return _spaced(budget, (value, *others), lambda spent, value: quoted(to_string(spent, value)))


@function("squote", ANY, variadic=True, returns=STRING, takes_budget=True)
def squote(budget: Budget, *values: object) -> str:
    """Put all values but nil in single quotes, without escapes."""
    if len(values) == 1 and type(values[0]) is str:
        return f"'{values[0]}'"
    return _spaced(budget, values, lambda spent, value: f"'{sprint(spent, value)}'")


@function("cat", ANY, variadic=True, returns=STRING, takes_budget=True)
def cat(budget: Budget, *values: object) -> str:
    """Join all values but nil with spaces."""
    return _spaced(budget, values, sprint)


def _spaced(
    budget: Budget, values: Sequence[object], to_text: Callable[[Budget, object], str]
) -> str:
    return " ".join(to_texts(budget, [value for value in values if value is not None], to_text))


function("toString", ANY, returns=STRING, takes_budget=True)(to_string)


@function("toStrings", ANY, returns=STRING_SLICE, takes_budget=True)
def to_strings_(budget: Budget, value: object) -> GoSlice:
    """Return all elements but nil as strings; a value that is not a list counts as one element.

    A list of strings is returned itself, so `sortAlpha` of the result sorts that list.
    """
    if isinstance(value, GoSlice) and value.type == STRING_SLICE:
        return value
    return GoSlice(STRING_SLICE, to_strings(budget, value))


@function("join", STRING, ANY, returns=STRING, takes_budget=True)
def join(budget: Budget, separator: str, value: object) -> str:
    """Join the elements as strings with `separator`."""
    texts = to_strings(budget, value)
    budget.reserve(sum(map(len, texts)) + len(separator) * max(len(texts) - 1, 0), "join")
    return separator.join(texts)


def split_text(budget: Budget, separator: str, count: int, text: str) -> list[str]:
    """Go's `strings.SplitN`: at most `count` parts, all if it is negative, none if it is 0."""
    if count == 0:
        return []
    parts_of_all = text.count(separator) + 1
    budget.reserve_elements(parts_of_all if count < 0 else min(count, parts_of_all), "splitting")
    if not separator:
        text = normal(text)
        if count < 0 or count >= len(text):
            return list(text)
        return [*text[: count - 1], text[count - 1 :]]
    if _bytewise(text, separator):
        parts = to_bytes(text).split(to_bytes(separator), max(count - 1, -1))
        return [from_bytes(part) for part in parts]
    return text.split(separator, max(count - 1, -1))


def _numbered(budget: Budget, parts: list[str]) -> GoMap:
    budget.reserve_elements(2 * len(parts), "splitting")  # the keys need space, too
    return GoMap(STRING_MAP, {f"_{index}": part for index, part in enumerate(parts)})


@function("split", STRING, STRING, returns=STRING_MAP, takes_budget=True)
def split(budget: Budget, separator: str, text: str) -> GoMap:
    """Split `text` into a map with the keys `_0`, `_1` and so on."""
    return _numbered(budget, split_text(budget, separator, -1, text))


@function("splitn", STRING, INT, STRING, returns=STRING_MAP, takes_budget=True)
def splitn(budget: Budget, separator: str, count: int, text: str) -> GoMap:
    """Split `text` like `split`, into at most `count` parts."""
    return _numbered(budget, split_text(budget, separator, count, text))


@function("splitList", STRING, STRING, returns=STRING_SLICE, takes_budget=True)
def split_list(budget: Budget, separator: str, text: str) -> GoSlice:
    """Split `text` into a list."""
    return GoSlice(STRING_SLICE, split_text(budget, separator, -1, text))


@function("wrap", INT, STRING, returns=STRING, takes_budget=True, cost=16)
def wrap(budget: Budget, width: int, text: str) -> str:
    """Wrap `text` into lines of at most `width` bytes, without breaking longer words."""
    return _wrapped(budget, text, width, "\n", break_words=False)


@function("wrapWith", INT, STRING, STRING, returns=STRING, takes_budget=True, cost=16)
def wrap_with(budget: Budget, width: int, separator: str, text: str) -> str:
    """Wrap `text` with another separator, breaking longer words."""
    return _wrapped(budget, text, width, separator or "\n", break_words=True)


def _wrapped(budget: Budget, text: str, width: int, separator: str, *, break_words: bool) -> str:
    """Goutils' `WrapCustom`: remove spaces at the start of a line, not at its end."""
    data = to_bytes(text)
    width = max(width, 1)
    lines: list[bytes] = []
    size = 0
    start = 0
    while len(data) - start > width:
        if data[start] == ord(" "):
            start += 1
            continue
        end = data.rfind(b" ", start, start + width + 1)
        following = end + 1
        if end < 0 and break_words:
            end = following = start + width
        elif end < 0:
            end = data.find(b" ", start + width)
            if end < 0:
                break
            following = end + 1
        lines.append(data[start:end])
        size += end - start + len(separator)
        budget.fit(size, "wrap")
        start = following
    lines.append(data[start:])
    return from_bytes(to_bytes(separator).join(lines))


@function("abbrev", INT, STRING, returns=STRING)
def abbrev(width: int, text: str) -> str:
    """Cut `text` to `width` bytes including three dots; a width below 4 changes nothing."""
    return text if width < 4 else _abbreviated(text, 0, width)


@function("abbrevboth", INT, INT, STRING, returns=STRING)
def abbrevboth(left: int, right: int, text: str) -> str:
    """Cut `text` to `right` bytes from about `left` on, with dots for omitted parts."""
    if right < 4 or (left > 0 and right < 7):
        return text
    return _abbreviated(text, left, right)


def _abbreviated(text: str, offset: int, width: int) -> str:
    """Goutils' `AbbreviateFull`."""
    length = byte_length(text)
    if length <= width:
        return text
    kept = width - 3
    offset = min(offset, length)
    if length - offset < kept:
        offset = length - kept
    if offset <= 4:
        return cut(text, 0, kept) + "..."
    if width < 7:
        return ""
    if offset + kept < length:
        return "..." + _abbreviated(cut(text, offset, length), 0, kept)
    return "..." + cut(text, length - kept, length)
