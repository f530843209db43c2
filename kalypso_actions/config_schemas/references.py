"""`$id` and `$ref`: where a reference leads inside a schema's own text.

References are first made absolute by the `$id`s around them, then looked up among the schemas
that have an `$id`, else as a JSON pointer into one of them. Upstream would fetch every other
URL or file; that never happens here.
"""

from __future__ import annotations

import re
from dataclasses import replace

from kalypso_actions.config_schemas.errors import MAX_REFERENCE_LENGTH, SchemaError
from kalypso_actions.config_schemas.json_values import Json
from kalypso_actions.config_schemas.schema import Draft
from kalypso_actions.gotemplate.urls import URL, URLError, parse_url

_LITERAL_KEYS = frozenset({"const", "enum"})
_NAMED_SCHEMAS = frozenset({"properties", "dependencies", "patternProperties"})
_DRAFTS = {
    "http://json-schema.org/draft-04/schema": Draft.DRAFT4,
    "http://json-schema.org/draft-06/schema": Draft.DRAFT6,
    "http://json-schema.org/draft-07/schema": Draft.DRAFT7,
}
_INDEX = re.compile(r"[-+]?[0-9]+")


def reference(text: str) -> URL:
    """The URL of a `$ref`, `$id` or `$schema`; raises `SchemaError`."""
    if len(text) > MAX_REFERENCE_LENGTH:
        raise SchemaError(
            f"the reference {text[:40]}… has more than {MAX_REFERENCE_LENGTH:,} characters: "
            "name what it leads to in `definitions`"
        )
    try:
        return parse_url(text)
    except URLError as error:
        raise SchemaError(str(error)) from error


def inherited(base: URL, child: URL) -> URL:
    """The child made absolute by the base, whose own fragment does not count."""
    parent = replace(base, fragment="", raw_fragment="")
    return reference(str(parent.resolve(child)))


def detected_draft(document: Json) -> Draft | None:
    """The draft that `$schema` names, None for another or none; raises `SchemaError`.

    What is neither an object nor a boolean is no schema.
    """
    if isinstance(document, bool):
        return None
    if not isinstance(document, dict):
        raise SchemaError("schema is invalid")
    if "$schema" not in document:
        return None
    named = document["$schema"]
    if not isinstance(named, str):
        raise SchemaError("$schema must be of type string")
    return _DRAFTS.get(str(reference(named)))


class Documents:
    """The schema and those of its parts that have a name of their own."""

    def __init__(self, document: Json) -> None:
        """Collects the names in the document and makes its references absolute, in place.

        Raises `SchemaError` where `$schema` is wrong.
        """
        self.draft = detected_draft(document) or Draft.HYBRID
        self._named: dict[str, Json] = {}
        self._collect(document, URL())
        self._named[""] = document

    def _collect(self, document: Json, base: URL) -> None:
        """Names and references of a part. What is wrong here is found again by the compiler."""
        if isinstance(document, list):
            for item in document:
                self._collect(item, base)
        elif isinstance(document, dict):
            own = _own_url(document, base)
            if own is not None:
                if str(own) in self._named:
                    return
                self._named[str(own)] = document
                base = own
            referred = document.get("$ref")
            if isinstance(referred, str):
                absolute = _inherited_or_none(base, referred)
                document["$ref"] = referred if absolute is None else str(absolute)
            self._collect_parts(document, base)

    def _collect_parts(self, document: dict[str, Json], base: URL) -> None:
        for key, value in document.items():
            if key in _LITERAL_KEYS:
                continue
            if key in _NAMED_SCHEMAS:
                # Its keys are names of the configuration, "$ref" and "const" too.
                for part in value.values() if isinstance(value, dict) else ():
                    self._collect(part, base)
            else:
                self._collect(value, base)

    def find(self, url: URL) -> Json:
        """What a reference names; raises `SchemaError`."""
        name = str(url)
        if name in self._named:
            return self._named[name]
        document = str(replace(url, fragment="", raw_fragment=""))
        if document in self._named:
            return _at_pointer(self._named[document], url.fragment)
        is_file = url.scheme == "file"
        if url.path.startswith("/") if is_file else url.scheme and url.host:
            raise SchemaError(
                f"Reference {name} leads out of the schema, where nothing is read: "
                "copy what it names into `definitions`"
            )
        raise SchemaError(f"Reference {name} must be canonical")


def _own_url(document: dict[str, Json], base: URL) -> URL | None:
    named = document.get("id" if "id" in document else "$id")
    return _inherited_or_none(base, named) if isinstance(named, str) else None


def _inherited_or_none(base: URL, text: str) -> URL | None:
    try:
        return inherited(base, reference(text))
    except SchemaError:
        return None


def _at_pointer(document: Json, pointer: str) -> Json:
    """The part that a JSON pointer names; a fragment that is no pointer names the whole."""
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
