"""`$id` and `$ref`: find the target of a reference in the schema's own text.

Make references absolute with the `$id`s around them, then look them up among the schemas with an
`$id`, else as a JSON pointer into one of these. Upstream fetches every other URL or file; this
module never does.
"""

from __future__ import annotations

import re
from dataclasses import replace

from kalypso_actions.config_schemas.errors import MAX_REFERENCE_LENGTH, SchemaError
from kalypso_actions.config_schemas.json_values import Json
from kalypso_actions.config_schemas.schema import Draft
from kalypso_go.gotemplate.urls import URL, URLError, parse_url

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
