"""The keywords without inner schemas: bounds, lengths, counts, patterns, lists of values.

Each function copies the values of its keywords into the schema; it raises `SchemaError` with
upstream's text if a value has a wrong type.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from kalypso_actions.config_schemas.errors import SchemaError
from kalypso_actions.config_schemas.json_values import Json, canonical_text
from kalypso_actions.config_schemas.numbers import Number
from kalypso_actions.config_schemas.patterns import Pattern, PatternError
from kalypso_actions.config_schemas.schema import Draft, Schema

TYPES = ("array", "boolean", "integer", "number", "null", "object", "string")

Members = dict[str, Json]


def wrong_type(expected: str, keyword: str) -> SchemaError:
    """Return the error for a value of another type; upstream shows the keyword as given."""
    return SchemaError(f"Invalid type. Expected: {expected}, given: {keyword}")


def read_texts(members: Members, *keywords: str) -> None:
    """Check that the values of the keywords are texts."""
    for keyword in keywords:
        if keyword in members and not isinstance(members[keyword], str):
            raise wrong_type("string", keyword)


def read_types(members: Members, schema: Schema) -> None:
    """Read `type`: one name or a list of names."""
    if "type" not in members:
        return
    value = members["type"]
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list):
        raise wrong_type("string/array of strings", "type")
    for name in names:
        if not isinstance(name, str):
            raise wrong_type("string/array of strings", "type")
        if name not in TYPES:
            raise SchemaError(
                f"has a primitive type that is NOT VALID -- given: /{name}/ "
                f"Expected valid values are:[{' '.join(TYPES)}]"
            )
        if name in schema.types:
            raise SchemaError(f"{name} type is duplicated")
        schema.types += (name,)


def read_number_bounds(members: Members, schema: Schema) -> None:
    """Read `multipleOf`, `minimum`, `maximum` and the exclusive bounds."""
    if "multipleOf" in members:
        multiple = members["multipleOf"]
        if not isinstance(multiple, Number):
            raise wrong_type("number", "multipleOf")
        if multiple.value <= 0:
            raise SchemaError("multipleOf must be strictly greater than 0")
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
        raise SchemaError(f"{keyword} must be of a number")
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
            raise SchemaError(f"{keyword} cannot be used without {bound}")
        return inclusive if value else None
    if isinstance(value, Number) and schema.draft != Draft.DRAFT4:
        return value.value
    expected = {Draft.DRAFT4: "boolean", Draft.HYBRID: "boolean/number"}
    raise wrong_type(expected.get(schema.draft, "number"), keyword)


def _count(members: Members, keyword: str) -> int | None:
    """Read an integer of at least 0, without point or exponent."""
    if keyword not in members:
        return None
    value = members[keyword]
    number = value.int64 if isinstance(value, Number) else None
    if number is None:
        raise SchemaError(f"{keyword} must be of an integer")
    if number < 0:
        raise SchemaError(f"{keyword} must be greater than or equal to 0")
    return number


def _counts(members: Members, least: str, most: str) -> tuple[int | None, int | None]:
    low, high = _count(members, least), _count(members, most)
    if low is not None and high is not None and low > high:
        raise SchemaError(f"{least} cannot be greater than {most}")
    return low, high


def read_text_rules(
    members: Members, schema: Schema, compile_pattern: Callable[[str], Pattern]
) -> None:
    """Read `minLength`, `maxLength`, `pattern` and `format`."""
    schema.min_length, schema.max_length = _counts(members, "minLength", "maxLength")
    if "pattern" in members:
        value = members["pattern"]
        if not isinstance(value, str):
            raise SchemaError("pattern must be of a string")
        try:
            schema.pattern = compile_pattern(value)
        except PatternError as error:
            raise SchemaError("pattern must be a valid regex") from error
    if "format" in members:
        name = members["format"]
        if not isinstance(name, str):
            raise SchemaError("format must be of type string")
        schema.format = name


def read_object_rules(members: Members, schema: Schema) -> None:
    """Read `minProperties`, `maxProperties` and `required`."""
    schema.min_properties, schema.max_properties = _counts(
        members, "minProperties", "maxProperties"
    )
    if "required" not in members:
        return
    names = members["required"]
    if not isinstance(names, list):
        raise SchemaError("required must be of an array")
    required: dict[str, None] = {}
    for name in names:
        if not isinstance(name, str):
            raise SchemaError("required items must be string")
        if name in required:
            raise SchemaError("required items must be unique")
        required[name] = None
    schema.required = tuple(required)


def read_array_rules(members: Members, schema: Schema) -> None:
    """Read `minItems`, `maxItems` and `uniqueItems`."""
    schema.min_items = _count(members, "minItems")
    schema.max_items = _count(members, "maxItems")
    if "uniqueItems" in members:
        unique = members["uniqueItems"]
        if not isinstance(unique, bool):
            raise SchemaError("uniqueItems must be of a boolean")
        schema.unique_items = unique


def read_const(members: Members, schema: Schema) -> None:
    """Read `const`, which draft 4 ignores."""
    if "const" in members and schema.draft >= Draft.DRAFT6:
        schema.const = canonical_text(members["const"])


def read_enum(members: Members, schema: Schema) -> None:
    """Read `enum`; an empty list allows every value."""
    if "enum" not in members:
        return
    values = members["enum"]
    if not isinstance(values, list):
        raise SchemaError("enum must be of an array")
    texts: dict[str, None] = {}
    for value in values:
        text = canonical_text(value)
        if text in texts:
            raise SchemaError("enum items must be unique")
        texts[text] = None
    schema.enum = frozenset(texts)
    schema.enum_text = ", ".join(texts)
