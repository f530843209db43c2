"""Schema text → compiled schema, keyword by keyword in upstream's order.

The order only decides which of several errors is reported. Each target of a `$ref` is compiled
once, after the schemas that refer to it, so circles and long chains need no stack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kalypso_actions.config_schemas import assertions
from kalypso_actions.config_schemas.assertions import Members, wrong_type
from kalypso_actions.config_schemas.errors import (
    MAX_PATTERN_SIZE,
    MAX_PATTERNS,
    MAX_SCHEMA_LENGTH,
    MAX_SUBSCHEMAS,
    SchemaError,
)
from kalypso_actions.config_schemas.json_decoder import decode
from kalypso_actions.config_schemas.json_values import Json
from kalypso_actions.config_schemas.patterns import Pattern, PatternError
from kalypso_actions.config_schemas.references import Documents, parse_reference, resolve
from kalypso_actions.config_schemas.schema import Draft, Schema
from kalypso_actions.model.sized_cache import SizedCache
from kalypso_go.gotemplate.urls import URL


@dataclass(frozen=True, slots=True, eq=False)
class CompiledSchema:
    """A schema that is ready to apply, or the error in its text."""

    root: Schema | None
    error: str = ""


_schemas: SizedCache[CompiledSchema] = SizedCache(8 << 20)
"""Compiled schemas of so many characters, each of which takes about eight bytes: enough for a
thousand registrations with schemas of their own."""


def compile_schema(text: str) -> CompiledSchema:
    """Compile a schema; return upstream's error for a broken one.

    Many assignments share few schemas, so the results are cached.
    """
    schema = _schemas.get(text)
    if schema is None:
        schema = _compile(text)
        _schemas.put(text, schema, len(text))
    return schema


ONLY_TYPES: Final = frozenset({"type", "title", "description", "default"})
"""The keywords of most schemas of one value."""


def _compile(text: str) -> CompiledSchema:
    if len(text) > MAX_SCHEMA_LENGTH:
        return CompiledSchema(
            None,
            f"the schema has {len(text):,} characters, more than {MAX_SCHEMA_LENGTH:,}: "
            "split it into several schemas",
        )
    try:
        return CompiledSchema(_Compiler(decode(text)).root())
    except SchemaError as error:
        return CompiledSchema(None, str(error))


class _Compiler:
    """The compilation of one schema."""

    def __init__(self, document: Json) -> None:
        self._document = document
        self._documents = Documents(document)
        self._patterns: dict[str, Pattern] = {}
        self._pattern_size = 0
        self._targets: dict[str, Schema] = {}
        self._waiting: list[tuple[Json, Schema, URL]] = []
        self._count = 0

    def root(self) -> Schema:
        """Compile the whole document; raise `SchemaError`."""
        root = self._new()
        self._fill(root, self._document, URL(), is_root=True)
        while self._waiting:
            document, schema, base = self._waiting.pop()
            self._fill(schema, document, base)
        return root

    def _new(self) -> Schema:
        self._count += 1
        if self._count > MAX_SUBSCHEMAS:
            raise SchemaError(f"the schema holds more than {MAX_SUBSCHEMAS:,} schemas: simplify it")
        return Schema(self._documents.draft)

    def _schema(self, document: Json, base: URL) -> Schema:
        schema = self._new()
        self._fill(schema, document, base)
        return schema

    def _fill(self, schema: Schema, document: Json, base: URL, *, is_root: bool = False) -> None:
        if isinstance(document, bool) and schema.draft >= Draft.DRAFT6:
            schema.always = document
            return
        if not isinstance(document, dict):
            raise SchemaError("Expected: valid schema, given: Invalid JSON")
        base = self._base(document, schema.draft, base, is_root=is_root)
        self._definitions(document, base)
        assertions.read_texts(document, "title", "description", "$ref")
        reference = document.get("$ref")
        if isinstance(reference, str) and self._refer(schema, reference):
            return
        assertions.read_types(document, schema)
        self._object_schemas(schema, document, base)
        self._item_schemas(schema, document, base)
        assertions.read_number_bounds(document, schema)
        assertions.read_text_rules(document, schema, self._pattern)
        assertions.read_object_rules(document, schema)
        assertions.read_array_rules(document, schema)
        if "contains" in document and schema.draft >= Draft.DRAFT6:
            schema.contains = self._schema(document["contains"], base)
        assertions.read_const(document, schema)
        assertions.read_enum(document, schema)
        self._combinations(schema, document, base)
        is_text = not schema.types or "string" in schema.types
        schema.takes_texts = is_text and document.keys() <= ONLY_TYPES

    def _base(self, members: Members, draft: Draft, base: URL, *, is_root: bool) -> URL:
        """Return the base URL of the references inside."""
        keyword = "$id"
        if draft == Draft.DRAFT4 or (draft == Draft.HYBRID and "id" in members):
            keyword = "id"
        assertions.read_texts(members, keyword)
        identifier = members.get(keyword)
        if not isinstance(identifier, str):
            return base
        url = parse_reference(identifier)
        return url if is_root else resolve(base, url)

    def _definitions(self, members: Members, base: URL) -> None:
        """Compile the definitions for their errors only; `_refer` compiles the targets again."""
        if "definitions" not in members:
            return
        definitions = members["definitions"]
        if not isinstance(definitions, dict):
            raise wrong_type("array of schemas", "definitions")
        for definition in definitions.values():
            if not isinstance(definition, dict | bool):
                raise wrong_type("array of schemas", "definitions")
            self._schema(definition, base)

    def _refer(self, schema: Schema, text: str) -> bool:
        """Set the target of a `$ref`; return whether this is the first reference to it.

        Upstream reads the keywords next to a `$ref` only if an earlier `$ref` has the same target.
        """
        url = parse_reference(text)
        name = str(url)
        if name in self._targets:
            schema.target = self._targets[name]
            return False
        schema.target = self._targets[name] = self._new()
        document = self._documents.find(url)
        if not isinstance(document, dict | bool):
            raise SchemaError("valid schema must be of type object")
        self._waiting.append((document, schema.target, url))
        return True

    def _pattern(self, text: str) -> Pattern:
        if text not in self._patterns:
            if len(self._patterns) == MAX_PATTERNS:
                raise SchemaError(
                    f"the schema has more than {MAX_PATTERNS} different patterns: join some with |"
                )
            pattern = self._patterns[text] = Pattern(text)
            self._pattern_size += pattern.size
            if self._pattern_size > MAX_PATTERN_SIZE:
                raise SchemaError(
                    "the patterns of the schema are too large together: "
                    "lower the counts of their repetitions"
                )
        return self._patterns[text]

    def _object_schemas(self, schema: Schema, members: Members, base: URL) -> None:
        """Read the keywords whose schemas describe an object's values and keys."""
        if "properties" in members:
            properties = members["properties"]
            if not isinstance(properties, dict):
                raise SchemaError("properties must be of type object")
            for name, document in properties.items():
                schema.properties[name] = self._schema(document, base)
        schema.additional_properties = self._schema_or_bool(members, "additionalProperties", base)
        if "patternProperties" in members:
            self._pattern_properties(schema, members["patternProperties"], base)
        if "propertyNames" in members and schema.draft >= Draft.DRAFT6:
            document = members["propertyNames"]
            if not isinstance(document, dict | bool):
                raise wrong_type("valid schema", "patternProperties")  # upstream's mistake
            schema.property_names = self._schema(document, base)
        if "dependencies" in members:
            self._dependencies(schema, members["dependencies"], base)

    def _schema_or_bool(self, members: Members, keyword: str, base: URL) -> bool | Schema | None:
        if keyword not in members:
            return None
        document = members[keyword]
        if isinstance(document, bool):
            return document
        if isinstance(document, dict):
            return self._schema(document, base)
        raise wrong_type("boolean/valid schema", keyword)

    def _pattern_properties(self, schema: Schema, documents: Json, base: URL) -> None:
        if not isinstance(documents, dict):
            raise wrong_type("valid schema", "patternProperties")
        for text, document in documents.items():
            try:
                pattern = self._pattern(text)
            except PatternError as error:
                raise SchemaError(f"Invalid regex pattern '{text}'") from error
            schema.pattern_properties.append((pattern, self._schema(document, base)))

    def _dependencies(self, schema: Schema, documents: Json, base: URL) -> None:
        if not isinstance(documents, dict):
            raise SchemaError("dependencies must be of type object")
        for name, document in documents.items():
            if isinstance(document, dict | bool):
                schema.dependencies[name] = self._schema(document, base)
                continue
            names = document if isinstance(document, list) else [None]
            required = tuple(other for other in names if isinstance(other, str))
            if len(required) < len(names):
                raise SchemaError("dependency must be of type schema or array of strings")
            schema.dependencies[name] = required

    def _item_schemas(self, schema: Schema, members: Members, base: URL) -> None:
        """Read `items` and `additionalItems`."""
        if "items" in members:
            items = members["items"]
            documents = items if isinstance(items, list) else [items]
            schemas = []
            for document in documents:
                if not isinstance(document, dict | bool):
                    raise wrong_type("valid schema/array of schemas", "items")
                schemas.append(self._schema(document, base))
            schema.items = schemas if isinstance(items, list) else schemas[0]
        schema.additional_items = self._schema_or_bool(members, "additionalItems", base)

    def _combinations(self, schema: Schema, members: Members, base: URL) -> None:
        """Read the keywords that combine schemas."""
        schema.one_of = self._schemas(members, "oneOf", base)
        schema.any_of = self._schemas(members, "anyOf", base)
        schema.all_of = self._schemas(members, "allOf", base)
        schema.not_ = self._condition(members, "not", base)
        if schema.draft >= Draft.DRAFT7:
            schema.if_ = self._condition(members, "if", base)
            schema.then = self._condition(members, "then", base)
            schema.else_ = self._condition(members, "else", base)

    def _schemas(self, members: Members, keyword: str, base: URL) -> list[Schema]:
        documents = members.get(keyword, [])
        if not isinstance(documents, list):
            shown = "anyOf" if keyword == "allOf" else keyword  # upstream's mistake
            raise SchemaError(f"{shown} must be of an array")
        return [self._schema(document, base) for document in documents]

    def _condition(self, members: Members, keyword: str, base: URL) -> Schema | None:
        if keyword not in members:
            return None
        document = members[keyword]
        if not isinstance(document, dict | bool):
            raise SchemaError(f"{keyword} must be of an object")
        return self._schema(document, base)
