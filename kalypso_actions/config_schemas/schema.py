r"""A compiled schema, and its regular expressions.

Schemas may refer to each other in circles, so the compiler creates each one empty and then fills
it; later code only reads it. Regular expressions are RE2's: linear time, no backreferences. Go's
own library differs in `\C`, names of groups beyond ASCII, and `\B` inside a character.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from functools import lru_cache

import re2

from kalypso_actions.config_schemas.errors import MAX_REFERENCE_LENGTH, SchemaError
from kalypso_actions.config_schemas.json_values import Json
from kalypso_go.gotemplate.text import to_bytes
from kalypso_go.gotemplate.urls import URL, URLError, parse_url


class Draft(IntEnum):
    """The version of JSON Schema; HYBRID mixes all of them, if `$schema` names none."""

    DRAFT4 = 4
    DRAFT6 = 6
    DRAFT7 = 7
    HYBRID = 1000


@dataclass(slots=True, eq=False)
class Schema:
    """One schema; an absent keyword is None or an empty collection."""

    draft: Draft

    always: bool | None = None
    """The value of a schema that is just `true` or `false`."""
    target: Schema | None = None
    """The schema that `$ref` names; it replaces all keywords."""

    takes_texts: bool = False
    """Whether every text is valid: `types` is the only keyword that checks anything."""
    types: tuple[str, ...] = ()
    enum: frozenset[str] = frozenset()
    enum_text: str = ""
    const: str | None = None

    multiple_of: int | Fraction | None = None
    minimum: int | Fraction | None = None
    exclusive_minimum: int | Fraction | None = None
    maximum: int | Fraction | None = None
    exclusive_maximum: int | Fraction | None = None

    min_length: int | None = None
    max_length: int | None = None
    pattern: Pattern | None = None
    format: str = ""

    min_properties: int | None = None
    max_properties: int | None = None
    required: tuple[str, ...] = ()
    properties: dict[str, Schema] = field(default_factory=dict)
    pattern_properties: list[tuple[Pattern, Schema]] = field(default_factory=list)
    additional_properties: bool | Schema | None = None
    property_names: Schema | None = None
    dependencies: dict[str, tuple[str, ...] | Schema] = field(default_factory=dict)

    min_items: int | None = None
    max_items: int | None = None
    unique_items: bool = False
    items: Schema | list[Schema] | None = None
    """One schema for all items, or one for each index."""
    additional_items: bool | Schema | None = None
    contains: Schema | None = None

    any_of: list[Schema] = field(default_factory=list)
    one_of: list[Schema] = field(default_factory=list)
    all_of: list[Schema] = field(default_factory=list)
    not_: Schema | None = None
    if_: Schema | None = None
    then: Schema | None = None
    else_: Schema | None = None


CACHED_LENGTH = 256

_QUICK = 128
"""RE2 executes this many instructions in the time of one step of an evaluation."""


class PatternError(ValueError):
    """A text is not a regular expression of RE2."""


class Pattern:
    """A compiled regular expression."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        """Compile; raise `PatternError`, or `SchemaError` if the pattern takes too much memory."""
        self.text = text
        options = re2.Options()
        options.log_errors = False
        try:
            self._compiled = re2.compile(to_bytes(text), options)
        except re2.error as error:
            if b"too large" in error.args[0]:
                raise SchemaError(
                    f"pattern {text[:100]} is too large: lower the counts of its repetitions"
                ) from error
            raise PatternError(text) from error

    @property
    def size(self) -> int:
        """The number of instructions, of a few bytes each."""
        size: int = self._compiled.programsize
        return size

    def steps(self, text: str) -> int:
        """Return how many steps of an evaluation to count for a search in the text.

        RE2 may need all instructions for each byte.
        """
        return 1 + self.size * (len(text) if text.isascii() else len(to_bytes(text))) // _QUICK

    def matches(self, text: str) -> bool:
        """Return whether any part of the text matches."""
        return self._compiled.search(to_bytes(text)) is not None


def is_regex(text: str) -> bool:
    """Return whether a text is a regular expression of RE2, of any size."""
    return _cached_is_regex(text) if len(text) <= CACHED_LENGTH else _is_regex(text)


def _is_regex(text: str) -> bool:
    try:
        Pattern(text)
    except PatternError:
        return False
    except SchemaError:
        return True
    return True


_cached_is_regex = lru_cache(maxsize=128)(_is_regex)


_LITERAL_KEYS = frozenset({"const", "enum"})
_NAMED_SCHEMAS = frozenset({"properties", "dependencies", "patternProperties"})
_DRAFTS = {
    "http://json-schema.org/draft-04/schema": Draft.DRAFT4,
    "http://json-schema.org/draft-06/schema": Draft.DRAFT6,
    "http://json-schema.org/draft-07/schema": Draft.DRAFT7,
}
_INDEX = re.compile(r"[-+]?[0-9]+")


def parse_reference(text: str) -> URL:
    """Return the URL of a `$ref`, `$id` or `$schema`; raise `SchemaError`."""
    if len(text) > MAX_REFERENCE_LENGTH:
        raise SchemaError(
            f"the reference {text[:40]}… has more than {MAX_REFERENCE_LENGTH:,} characters: "
            "move its target to `definitions`"
        )
    try:
        return parse_url(text)
    except URLError as error:
        raise SchemaError(str(error)) from error


def resolve(base: URL, reference: URL) -> URL:
    """Make the reference absolute; ignore the fragment of the base."""
    return parse_reference(str(_without_fragment(base).resolve(reference)))


def _without_fragment(url: URL) -> URL:
    return replace(url, fragment="", raw_fragment="")


def _draft(document: Json) -> Draft:
    """Return the draft that `$schema` names; raise `SchemaError`."""
    if isinstance(document, bool):
        return Draft.HYBRID
    if not isinstance(document, dict):
        raise SchemaError("schema is invalid")
    if "$schema" not in document:
        return Draft.HYBRID
    name = document["$schema"]
    if not isinstance(name, str):
        raise SchemaError("$schema must be of type string")
    return _DRAFTS.get(str(parse_reference(name)), Draft.HYBRID)


class Documents:
    """The schema, and its parts that have an `$id`."""

    def __init__(self, document: Json) -> None:
        """Collect the `$id`s of the document and make its references absolute, in place.

        Raise `SchemaError` if `$schema` is wrong.
        """
        self.draft = _draft(document)
        self._by_id: dict[str, Json] = {}
        self._collect(document, URL())
        self._by_id[""] = document

    def _collect(self, document: Json, base: URL) -> None:
        """Collect the `$id`s of a part; ignore errors, which the compiler finds again."""
        if isinstance(document, list):
            for item in document:
                self._collect(item, base)
        elif isinstance(document, dict):
            own = _own_url(document, base)
            if own is not None:
                if str(own) in self._by_id:
                    return
                self._by_id[str(own)] = document
                base = own
            reference = document.get("$ref")
            if isinstance(reference, str):
                absolute = _resolve_or_none(base, reference)
                document["$ref"] = reference if absolute is None else str(absolute)
            self._collect_parts(document, base)

    def _collect_parts(self, document: dict[str, Json], base: URL) -> None:
        for key, value in document.items():
            if key in _LITERAL_KEYS:
                continue
            if key in _NAMED_SCHEMAS:
                # The keys are names in the configuration, even "$ref" and "const".
                for part in value.values() if isinstance(value, dict) else ():
                    self._collect(part, base)
            else:
                self._collect(value, base)

    def find(self, url: URL) -> Json:
        """Return the target of a reference; raise `SchemaError`."""
        name = str(url)
        if name in self._by_id:
            return self._by_id[name]
        document_id = str(_without_fragment(url))
        if document_id in self._by_id:
            return _at_pointer(self._by_id[document_id], url.fragment)
        is_file = url.scheme == "file"
        if url.path.startswith("/") if is_file else url.scheme and url.host:
            raise SchemaError(
                f"Reference {name} leads out of the schema, which Kalypso never follows: "
                "copy its target to `definitions`"
            )
        raise SchemaError(f"Reference {name} must be canonical")


def _own_url(document: dict[str, Json], base: URL) -> URL | None:
    identifier = document.get("id" if "id" in document else "$id")
    return _resolve_or_none(base, identifier) if isinstance(identifier, str) else None


def _resolve_or_none(base: URL, text: str) -> URL | None:
    try:
        return resolve(base, parse_reference(text))
    except SchemaError:
        return None


def _at_pointer(document: Json, pointer: str) -> Json:
    """Return the part that a JSON pointer names; return the document for any other fragment."""
    if not pointer.startswith("/"):
        return document
    for token in pointer[1:].split("/"):
        if isinstance(document, dict):
            key = token.replace("~1", "/").replace("~0", "~")
            if key not in document:
                raise SchemaError(f"Object has no key '{key}'")
            document = document[key]
        elif isinstance(document, list):
            document = document[_index(token, len(document))]
        else:
            raise SchemaError(f"Invalid token reference '{token}'")
    return document


def _index(token: str, length: int) -> int:
    if not _INDEX.fullmatch(token) or len(token) > 20 or abs(int(token)) >= 1 << 63:
        raise SchemaError(f"Invalid array index '{token}'")
    index = int(token)
    if not 0 <= index < length:
        raise SchemaError(f"Out of bound array[0,{length}] index '{index}'")
    return index
