"""Schema text → compiled schema, keyword by keyword in upstream's order.

The order only decides which of several errors is reported. Each target of a `$ref` is compiled
once, after the schemas that refer to it, so circles and long chains need no stack. The functions
`_read_…` copy the values of keywords without inner schemas, and raise `SchemaError` with upstream's
text for a value of a wrong type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from kalypso_actions.config_schemas.errors import (
    MAX_PATTERN_SIZE,
    MAX_PATTERNS,
    MAX_SCHEMA_LENGTH,
    MAX_SUBSCHEMAS,
    SchemaError,
)
from kalypso_actions.config_schemas.json_values import Json, Number, canonical_text, decode
from kalypso_actions.config_schemas.schema import (
    Documents,
    Draft,
    Pattern,
    PatternError,
    Schema,
    parse_reference,
    resolve,
)
from kalypso_actions.model.caches import SizedCache
from kalypso_go.gotemplate.urls import URL


@dataclass(frozen=True, slots=True, eq=False)
class CompiledSchema:
    """A schema that is ready to apply, or the error in its text with its path."""

    root: Schema | None
    error: str = ""
    path: tuple[str | int, ...] = ()


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
        return CompiledSchema(None, str(error), error.path)


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
            try:
                self._fill(schema, document, base)
            except SchemaError as error:
                error.path = ()  # it is relative to the target of a $ref
                raise
        return root

    def _new(self) -> Schema:
        self._count += 1
        if self._count > MAX_SUBSCHEMAS:
            raise SchemaError(f"the schema holds more than {MAX_SUBSCHEMAS:,} schemas: simplify it")
        return Schema(self._documents.draft)

    def _schema(self, document: Json, base: URL, *path: str | int) -> Schema:
        """Compile an inner schema; `path` leads to it from the schema around it."""
        schema = self._new()
        try:
            self._fill(schema, document, base)
        except SchemaError as error:
            error.path = (*path, *error.path)
            raise
        return schema

    def _fill(self, schema: Schema, document: Json, base: URL, *, is_root: bool = False) -> None:
        if isinstance(document, bool) and schema.draft >= Draft.DRAFT6:
            schema.always = document
            return
        if not isinstance(document, dict):
            raise SchemaError("Expected: valid schema, given: Invalid JSON")
        base = self._base(document, schema.draft, base, is_root=is_root)
        self._definitions(document, base)
        _read_texts(document, "title", "description", "$ref")
        reference = document.get("$ref")
        if isinstance(reference, str) and self._refer(schema, reference):
            return
        _read_types(document, schema)
        self._object_schemas(schema, document, base)
        self._item_schemas(schema, document, base)
        _read_number_bounds(document, schema)
        _read_text_rules(document, schema, self._pattern)
        _read_object_rules(document, schema)
        _read_array_rules(document, schema)
        if "contains" in document and schema.draft >= Draft.DRAFT6:
            schema.contains = self._schema(document["contains"], base, "contains")
        _read_const(document, schema)
        _read_enum(document, schema)
        self._combinations(schema, document, base)
        is_text = not schema.types or "string" in schema.types
        schema.takes_texts = is_text and document.keys() <= ONLY_TYPES

    def _base(self, members: Members, draft: Draft, base: URL, *, is_root: bool) -> URL:
        """Return the base URL of the references inside."""
        keyword = "$id"
        if draft == Draft.DRAFT4 or (draft == Draft.HYBRID and "id" in members):
            keyword = "id"
        _read_texts(members, keyword)
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
            raise _wrong_type("array of schemas", "definitions")
        for name, definition in definitions.items():
            if not isinstance(definition, dict | bool):
                raise _wrong_type("array of schemas", "definitions")
            self._schema(definition, base, "definitions", name)

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
                raise SchemaError("properties must be of type object", "properties")
            for name, document in properties.items():
                schema.properties[name] = self._schema(document, base, "properties", name)
        schema.additional_properties = self._schema_or_bool(members, "additionalProperties", base)
        if "patternProperties" in members:
            self._pattern_properties(schema, members["patternProperties"], base)
        if "propertyNames" in members and schema.draft >= Draft.DRAFT6:
            document = members["propertyNames"]
            if not isinstance(document, dict | bool):
                raise _wrong_type("valid schema", "patternProperties")  # upstream's mistake
            schema.property_names = self._schema(document, base, "propertyNames")
        if "dependencies" in members:
            self._dependencies(schema, members["dependencies"], base)

    def _schema_or_bool(self, members: Members, keyword: str, base: URL) -> bool | Schema | None:
        if keyword not in members:
            return None
        document = members[keyword]
        if isinstance(document, bool):
            return document
        if isinstance(document, dict):
            return self._schema(document, base, keyword)
        raise _wrong_type("boolean/valid schema", keyword)

    def _pattern_properties(self, schema: Schema, documents: Json, base: URL) -> None:
        if not isinstance(documents, dict):
            raise _wrong_type("valid schema", "patternProperties")
        for text, document in documents.items():
            try:
                pattern = self._pattern(text)
            except PatternError as error:
                raise SchemaError(
                    f"Invalid regex pattern '{text}'", "patternProperties", text
                ) from error
            inner = self._schema(document, base, "patternProperties", text)
            schema.pattern_properties.append((pattern, inner))

    def _dependencies(self, schema: Schema, documents: Json, base: URL) -> None:
        if not isinstance(documents, dict):
            raise SchemaError("dependencies must be of type object", "dependencies")
        for name, document in documents.items():
            if isinstance(document, dict | bool):
                schema.dependencies[name] = self._schema(document, base, "dependencies", name)
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
            for index, document in enumerate(documents):
                if not isinstance(document, dict | bool):
                    raise _wrong_type("valid schema/array of schemas", "items")
                path = ("items", index) if isinstance(items, list) else ("items",)
                schemas.append(self._schema(document, base, *path))
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
            raise SchemaError(f"{shown} must be of an array", keyword)
        return [self._schema(each, base, keyword, index) for index, each in enumerate(documents)]

    def _condition(self, members: Members, keyword: str, base: URL) -> Schema | None:
        if keyword not in members:
            return None
        document = members[keyword]
        if not isinstance(document, dict | bool):
            raise SchemaError(f"{keyword} must be of an object", keyword)
        return self._schema(document, base, keyword)


TYPES = ("array", "boolean", "integer", "number", "null", "object", "string")

Members = dict[str, Json]


def _wrong_type(expected: str, keyword: str) -> SchemaError:
    """Return the error for a value of another type; upstream shows the keyword as given."""
    return SchemaError(f"Invalid type. Expected: {expected}, given: {keyword}", keyword)


def _read_texts(members: Members, *keywords: str) -> None:
    """Check that the values of the keywords are texts."""
    for keyword in keywords:
        if keyword in members and not isinstance(members[keyword], str):
            raise _wrong_type("string", keyword)


def _read_types(members: Members, schema: Schema) -> None:
    """Read `type`: one name or a list of names."""
    if "type" not in members:
        return
    value = members["type"]
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list):
        raise _wrong_type("string/array of strings", "type")
    for name in names:
        if not isinstance(name, str):
            raise _wrong_type("string/array of strings", "type")
        if name not in TYPES:
            raise SchemaError(
                f"has a primitive type that is NOT VALID -- given: /{name}/ "
                f"Expected valid values are:[{' '.join(TYPES)}]",
                "type",
            )
        if name in schema.types:
            raise SchemaError(f"{name} type is duplicated", "type")
        schema.types += (name,)


def _read_number_bounds(members: Members, schema: Schema) -> None:
    """Read `multipleOf`, `minimum`, `maximum` and the exclusive bounds."""
    if "multipleOf" in members:
        multiple = members["multipleOf"]
        if not isinstance(multiple, Number):
            raise _wrong_type("number", "multipleOf")
        if multiple.value <= 0:
            raise SchemaError("multipleOf must be strictly greater than 0", "multipleOf")
        schema.multiple_of = multiple.value
    schema.minimum = _bound(members, "minimum")
    schema.exclusive_minimum = _exclusive_bound(members, schema, "exclusiveMinimum", schema.minimum)
    if members.get("exclusiveMinimum") is True:
        schema.minimum = None
    schema.maximum = _bound(members, "maximum")
    schema.exclusive_maximum = _exclusive_bound(members, schema, "exclusiveMaximum", schema.maximum)
    if members.get("exclusiveMaximum") is True:
        schema.maximum = None


def _bound(members: Members, keyword: str) -> int | Fraction | None:
    if keyword not in members:
        return None
    value = members[keyword]
    if not isinstance(value, Number):
        raise SchemaError(f"{keyword} must be of a number", keyword)
    return value.value


def _exclusive_bound(
    members: Members, schema: Schema, keyword: str, inclusive: int | Fraction | None
) -> int | Fraction | None:
    """Read a boolean that changes the inclusive bound (draft 4), or a number (drafts 6 and 7)."""
    if keyword not in members:
        return None
    value = members[keyword]
    if isinstance(value, bool) and schema.draft in {Draft.DRAFT4, Draft.HYBRID}:
        if inclusive is None:
            bound = keyword.removeprefix("exclusive").lower()
            raise SchemaError(f"{keyword} cannot be used without {bound}", keyword)
        return inclusive if value else None
    if isinstance(value, Number) and schema.draft != Draft.DRAFT4:
        return value.value
    expected = {Draft.DRAFT4: "boolean", Draft.HYBRID: "boolean/number"}
    raise _wrong_type(expected.get(schema.draft, "number"), keyword)


def _count(members: Members, keyword: str) -> int | None:
    """Read an integer of at least 0, without point or exponent."""
    if keyword not in members:
        return None
    value = members[keyword]
    number = value.int64 if isinstance(value, Number) else None
    if number is None:
        raise SchemaError(f"{keyword} must be of an integer", keyword)
    if number < 0:
        raise SchemaError(f"{keyword} must be greater than or equal to 0", keyword)
    return number


def _counts(members: Members, least: str, most: str) -> tuple[int | None, int | None]:
    low, high = _count(members, least), _count(members, most)
    if low is not None and high is not None and low > high:
        raise SchemaError(f"{least} cannot be greater than {most}", least)
    return low, high


def _read_text_rules(
    members: Members, schema: Schema, compile_pattern: Callable[[str], Pattern]
) -> None:
    """Read `minLength`, `maxLength`, `pattern` and `format`."""
    schema.min_length, schema.max_length = _counts(members, "minLength", "maxLength")
    if "pattern" in members:
        value = members["pattern"]
        if not isinstance(value, str):
            raise SchemaError("pattern must be of a string", "pattern")
        try:
            schema.pattern = compile_pattern(value)
        except PatternError as error:
            raise SchemaError("pattern must be a valid regex", "pattern") from error
    if "format" in members:
        name = members["format"]
        if not isinstance(name, str):
            raise SchemaError("format must be of type string", "format")
        schema.format = name


def _read_object_rules(members: Members, schema: Schema) -> None:
    """Read `minProperties`, `maxProperties` and `required`."""
    schema.min_properties, schema.max_properties = _counts(
        members, "minProperties", "maxProperties"
    )
    if "required" not in members:
        return
    names = members["required"]
    if not isinstance(names, list):
        raise SchemaError("required must be of an array", "required")
    required: dict[str, None] = {}
    for name in names:
        if not isinstance(name, str):
            raise SchemaError("required items must be string", "required")
        if name in required:
            raise SchemaError("required items must be unique", "required")
        required[name] = None
    schema.required = tuple(required)


def _read_array_rules(members: Members, schema: Schema) -> None:
    """Read `minItems`, `maxItems` and `uniqueItems`."""
    schema.min_items = _count(members, "minItems")
    schema.max_items = _count(members, "maxItems")
    if "uniqueItems" in members:
        unique = members["uniqueItems"]
        if not isinstance(unique, bool):
            raise SchemaError("uniqueItems must be of a boolean", "uniqueItems")
        schema.unique_items = unique


def _read_const(members: Members, schema: Schema) -> None:
    """Read `const`, which draft 4 ignores."""
    if "const" in members and schema.draft >= Draft.DRAFT6:
        schema.const = canonical_text(members["const"])


def _read_enum(members: Members, schema: Schema) -> None:
    """Read `enum`; an empty list allows every value."""
    if "enum" not in members:
        return
    values = members["enum"]
    if not isinstance(values, list):
        raise SchemaError("enum must be of an array", "enum")
    texts: dict[str, None] = {}
    for value in values:
        text = canonical_text(value)
        if text in texts:
            raise SchemaError("enum items must be unique", "enum")
        texts[text] = None
    schema.enum = frozenset(texts)
    schema.enum_text = ", ".join(texts)
