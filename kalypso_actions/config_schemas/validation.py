"""A configuration and its schemas → every violation, as upstream finds and words them.

A keyword that combines schemas reports itself and the violations inside: all of `allOf`, and the
nearest branch of `anyOf` and `oneOf`, which is the one with the highest score. Scores change
exactly where upstream's do. A wrong type hides all other violations of a value, `$ref` replaces
every keyword next to it, and no number has a `format`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from kalypso_actions.config_schemas.compiler import TYPES, compile_schema
from kalypso_actions.config_schemas.errors import (
    MAX_NESTING,
    MAX_STEPS,
    MAX_VIOLATIONS_LENGTH,
    SchemaError,
    UnsupportedValueError,
)
from kalypso_actions.config_schemas.formats import CHECKS
from kalypso_actions.config_schemas.json_values import (
    Json,
    Number,
    big_float_text,
    canonical_text,
    position_of,
    to_document,
)
from kalypso_actions.config_schemas.schema import Schema
from kalypso_actions.model.nearest import nearest


def validate(
    config: Mapping[str, object],
    schemas: Sequence[str],
    spend: Callable[[int], None] = lambda _: None,
) -> str:
    """Validate a merged configuration against schemas; return upstream's message, "" if valid.

    Each violation is a line `- <field>: <text>`, without the field for the whole document. Sort the
    lines of a schema bytewise (upstream's order is random); keep the order of the schemas. The
    error of a broken schema replaces its lines. `spend` gets the steps of each schema.
    """
    if not schemas:
        return ""
    try:
        document = to_document(config)
    except UnsupportedValueError as error:
        messages = [str(error)] * len(schemas)
    else:
        budget = EvaluationBudget()
        messages = []
        for schema in schemas:
            before = budget.steps
            messages += filter(None, (_message(document, schema, budget),))
            spend(before - budget.steps)
    return "Config data validation failed: \n " + "\n".join(messages) if messages else ""


@dataclass(frozen=True, slots=True)
class BrokenSchema:
    """The error of a broken schema in upstream's words, its position in the text, and advice."""

    message: str
    position: int
    advice: str


def schema_fault(text: str) -> BrokenSchema | None:
    """Return the fault of a text that is not a schema; None if it is one."""
    schema = compile_schema(text)
    if not schema.error:
        return None
    position, advice = position_of(text, schema.path), ""
    given = _NO_TYPE.search(schema.error)
    if given:
        near = nearest(given[1], TYPES)
        hint = f"did you mean {near}?" if near else f"write one of {', '.join(TYPES)}"
        advice = f"JSON Schema has no type {given[1]!r}: {hint}"
    elif schema.path:
        advice = f"correct {'.'.join(map(str, schema.path))} of the schema"
        advice += _form_of(str(schema.path[-1]), text[position:])
    elif _NO_JSON.match(schema.error):
        advice = "the schema is not JSON" if text.strip() else "write a JSON Schema: it is empty"
    return BrokenSchema(schema.error, position, advice)


_PERL_ONLY: Final = re.compile(r"\(\?(?:[=!]|<[=!]|>)|\\\\[1-9]|[*+?}]\+")
"""Lookahead, lookbehind, atomic groups, back-references and possessive quantifiers."""


def _form_of(keyword: str, text: str) -> str:
    """Return how to write a keyword that is often written in another form."""
    if keyword == "pattern" and _PERL_ONLY.search(text.partition("\n")[0]):
        return (
            ": it is checked by RE2, as upstream does, which has no lookahead, lookbehind or "
            'back-reference; write what must not match as "not": {"pattern": "…"}'
        )
    if keyword == "required":
        return ': write a list of names beside "properties", such as "required": ["REGION"]'
    return ""


_NO_TYPE: Final = re.compile(r"primitive type that is NOT VALID -- given: /(.*?)/ Expected")
_NO_JSON: Final = re.compile(r"invalid character |unexpected EOF|EOF")


def _message(document: dict[str, Json], text: str, budget: EvaluationBudget) -> str:
    schema = compile_schema(text)
    if schema.root is None:
        return _without_root(schema.error)
    result = Result()
    try:
        _Evaluation(budget).apply(schema.root, document, None, result)
    except SchemaError as error:
        return _without_root(str(error))
    return "".join(sorted(_without_root(f"- {line}\n") for line in result.violations))


def _without_root(message: str) -> str:
    return message.replace(" (root):", "")


SCORE_OF_TEXT = 4
"""One point each for combinations, the keywords of texts, `const` and `enum`, and the schema."""


def _type_name(value: Json) -> str:
    if isinstance(value, str):
        return "string"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, Number):
        return "integer" if value.is_integer else "number"
    return "array" if isinstance(value, list) else "object"


def _is_allowed(type_name: str, types: tuple[str, ...]) -> bool:
    return not types or type_name in types or (type_name == "integer" and "number" in types)


def _target(schema: Schema, path: Path) -> Schema:
    """Follow `$ref` to its end."""
    for _ in range(MAX_NESTING):
        if schema.target is None:
            return schema
        schema = schema.target
    raise SchemaError(f"a $ref for {field_name(path)} leads back to itself: remove it")


class _Evaluation:
    """The evaluation of one document: counts steps, depth and characters against the limits."""

    def __init__(self, budget: EvaluationBudget) -> None:
        self._budget = budget
        self._spend = budget.spend
        self._depth = 0

    def _fail(self, result: Result, path: Path, text: str) -> None:
        violation = f"{field_name(path)}: {text}"
        self._budget.characters -= len(violation)
        if self._budget.characters < 0:
            raise SchemaError(
                f"the violations take more than {MAX_VIOLATIONS_LENGTH:,} characters: "
                "check whether the schema belongs to this configuration"
            )
        result.violations.append(violation)
        result.score -= 2

    def apply(self, schema: Schema, value: Json, path: Path, result: Result) -> None:
        """Check the value against the schema; add the violations to the result."""
        self._spend(1)
        if schema.target is not None:
            schema = _target(schema, path)
        if schema.always is not None:
            if not schema.always:
                self._fail(result, path, "False always fails validation")
            return
        type_name = _type_name(value)
        if not _is_allowed(type_name, schema.types):
            expected = ",".join(schema.types)
            if len(schema.types) > 1:
                expected = f"[{expected}]"
            self._fail(result, path, f"Invalid type. Expected: {expected}, given: {type_name}")
            return
        if schema.takes_texts and type_name == "string" and self._depth < MAX_NESTING:
            self._spend(len(str(value)) >> 4)  # most values: the same steps and score as below
            result.score += SCORE_OF_TEXT
            return
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise SchemaError(
                f"at {field_name(path)} more than {MAX_NESTING} schemas apply inside each other: "
                "a $ref leads back to itself, or the value is nested too deep"
            )
        self._combinations(schema, value, path, result)
        self._value(schema, value, path, result)
        self._depth -= 1
        result.score += 1

    def _separately(self, schema: Schema, value: Json, path: Path) -> Result:
        result = Result()
        self.apply(schema, value, path, result)
        return result

    def _value(self, schema: Schema, value: Json, path: Path, result: Result) -> None:
        """Check the keywords for the value's type, then `const`, `enum` and `properties`."""
        if isinstance(value, dict):
            self._object(schema, value, path, result)
        elif isinstance(value, list):
            self._array(schema, value, path, result)
        elif isinstance(value, Number):
            self._scalar(number_violations(schema, value), path, result)
        elif isinstance(value, str):
            self._spend(len(value) >> (2 if schema.format else 4))
            if schema.pattern is not None:
                self._spend(schema.pattern.steps(value))
            self._scalar(text_violations(schema, value), path, result)
        self._const_and_enum(schema, value, path, result)
        if isinstance(value, dict) and schema.properties:
            self._properties(schema.properties, value, path, result)

    def _properties(
        self, schemas: Mapping[str, Schema], value: dict[str, Json], path: Path, result: Result
    ) -> None:
        texts = steps = 0
        may_nest = self._depth < MAX_NESTING
        for name, item in value.items():
            schema = schemas.get(name)
            if schema is None:
                continue
            if schema.takes_texts and type(item) is str and may_nest:
                texts += 1  # most values: the same steps and score as in `apply`
                steps += 1 + (len(item) >> 4)
            else:
                self.apply(schema, item, (path, name), result)
        self._spend(steps)
        result.score += SCORE_OF_TEXT * texts

    def _scalar(self, texts: Iterable[str], path: Path, result: Result) -> None:
        for text in texts:
            self._fail(result, path, text)
        result.score += 1

    def _const_and_enum(self, schema: Schema, value: Json, path: Path, result: Result) -> None:
        if schema.const is not None and self._canonical_text(value) != schema.const:
            self._fail(result, path, f"{field_name(path)} does not match: {schema.const}")
        if schema.enum and self._canonical_text(value) not in schema.enum:
            text = f"{field_name(path)} must be one of the following: {schema.enum_text}"
            self._fail(result, path, text)
        result.score += 1

    def _canonical_text(self, value: Json) -> str:
        self._spend(writing_steps(value))
        return canonical_text(value)

    def _combinations(self, schema: Schema, value: Json, path: Path, result: Result) -> None:
        if schema.any_of:
            self._any_of(schema.any_of, value, path, result)
        if schema.one_of:
            self._one_of(schema.one_of, value, path, result)
        if schema.all_of:
            self._all_of(schema.all_of, value, path, result)
        if schema.not_ is not None and self._separately(schema.not_, value, path).valid:
            self._fail(result, path, "Must not validate the schema (not)")
        if schema.dependencies and isinstance(value, dict):
            self._dependencies(schema, value, path, result)
        if schema.if_ is not None:
            self._then_or_else(schema, schema.if_, value, path, result)
        result.score += 1

    def _any_of(self, schemas: list[Schema], value: Json, path: Path, result: Result) -> None:
        branches = []
        for schema in schemas:
            branch = self._separately(schema, value, path)
            if branch.valid:
                return
            branches.append(branch)
        self._fail(result, path, "Must validate at least one schema (anyOf)")
        result.add_nearest(branches)

    def _one_of(self, schemas: list[Schema], value: Json, path: Path, result: Result) -> None:
        branches = [self._separately(schema, value, path) for schema in schemas]
        valid = sum(branch.valid for branch in branches)
        if valid == 1:
            return
        self._fail(result, path, "Must validate one and only one schema (oneOf)")
        if valid == 0:
            result.add_nearest(branches)

    def _all_of(self, schemas: list[Schema], value: Json, path: Path, result: Result) -> None:
        branches = [self._separately(schema, value, path) for schema in schemas]
        for branch in branches:
            result.add(branch)
        if not all(branch.valid for branch in branches):
            self._fail(result, path, "Must validate all the schemas (allOf)")

    def _then_or_else(
        self, schema: Schema, condition: Schema, value: Json, path: Path, result: Result
    ) -> None:
        """Check the `then` or `else` of an `if`; a valid branch adds no score."""
        if self._separately(condition, value, path).valid:
            branch_schema, text = schema.then, 'Must validate "then" as "if" was valid'
        else:
            branch_schema, text = schema.else_, 'Must validate "else" as "if" was not valid'
        if branch_schema is None:
            return
        branch = self._separately(branch_schema, value, path)
        if not branch.valid:
            self._fail(result, path, text)
            result.add(branch)

    def _dependencies(
        self, schema: Schema, value: dict[str, Json], path: Path, result: Result
    ) -> None:
        for name in value:
            dependency = schema.dependencies.get(name, ())
            if isinstance(dependency, Schema):
                self.apply(dependency, value, path, result)
                continue
            self._spend(1 + len(dependency))
            for required in dependency:
                if required not in value:
                    self._fail(result, path, f"Has a dependency on {required}")

    def _array(self, schema: Schema, value: list[Json], path: Path, result: Result) -> None:
        self._items(schema, value, path, result)
        if schema.min_items is not None and len(value) < schema.min_items:
            self._fail(result, path, f"Array must have at least {schema.min_items} items")
        if schema.max_items is not None and len(value) > schema.max_items:
            self._fail(result, path, f"Array must have at most {schema.max_items} items")
        if schema.unique_items:
            last_index: dict[str, int] = {}
            for index, item in enumerate(value):
                text = self._canonical_text(item)
                if text in last_index:
                    pair = f"[{last_index[text]},{index}]"
                    self._fail(result, path, f"array items{pair} must be unique")
                last_index[text] = index
        if schema.contains is not None:
            self._contains(schema.contains, value, path, result)
        result.score += 1

    def _items(self, schema: Schema, value: list[Json], path: Path, result: Result) -> None:
        """Check `items`, and `additionalItems` after a list of schemas."""
        if not schema.items:
            return
        schemas = schema.items if isinstance(schema.items, list) else [schema.items] * len(value)
        for index, (item_schema, item) in enumerate(zip(schemas, value, strict=False)):
            self.apply(item_schema, item, (path, str(index)), result)
        if len(value) <= len(schemas):
            return
        if isinstance(schema.additional_items, Schema):
            for index in range(len(schemas), len(value)):
                self.apply(schema.additional_items, value[index], (path, str(index)), result)
        elif schema.additional_items is False:
            self._fail(result, path, "No additional items allowed on array")

    def _contains(self, schema: Schema, value: list[Json], path: Path, result: Result) -> None:
        branches = []
        for index, item in enumerate(value):
            branch = self._separately(schema, item, (path, str(index)))
            if branch.valid:
                return
            branches.append(branch)
        self._fail(result, path, "At least one of the items must match")
        result.add_nearest(branches)

    def _object(self, schema: Schema, value: dict[str, Json], path: Path, result: Result) -> None:
        least, most = schema.min_properties, schema.max_properties
        if least is not None and len(value) < least:
            self._fail(result, path, f"Must have at least {least} properties")
        if most is not None and len(value) > most:
            self._fail(result, path, f"Must have at most {most} properties")
        self._spend(len(schema.required) + len(value))
        for name in schema.required:
            if name in value:
                result.score += 1
            else:
                self._fail(result, path, f"{name} is required")
        has_others = schema.pattern_properties or schema.additional_properties not in {None, True}
        for name, item in value.items() if has_others else ():
            matched = schema.pattern_properties and self._pattern_properties(
                schema, name, item, path, result
            )
            if not matched and name not in schema.properties:
                self._additional_property(schema, name, item, path, result)
        if schema.property_names is not None:
            for name in value:
                name_result = self._separately(schema.property_names, name, path)
                if not name_result.valid:
                    self._fail(result, path, f'Property name of "{name}" does not match')
                    result.add(name_result)
        result.score += 1

    def _pattern_properties(
        self, schema: Schema, name: str, item: Json, path: Path, result: Result
    ) -> bool:
        """Return whether any pattern matches the name."""
        matched = False
        for pattern, item_schema in schema.pattern_properties:
            self._spend(pattern.steps(name))
            if pattern.matches(name):
                matched = True
                self.apply(item_schema, item, (path, name), result)
        result.score += matched
        return matched

    def _additional_property(
        self, schema: Schema, name: str, item: Json, path: Path, result: Result
    ) -> None:
        if isinstance(schema.additional_properties, Schema):
            self.apply(schema.additional_properties, item, (path, name), result)
        elif schema.additional_properties is False:
            self._fail(result, path, f"Additional property {name} is not allowed")


def number_violations(schema: Schema, number: Number) -> Iterator[str]:
    """Check bounds, multiples, and `format`, which no number matches."""
    value = number.value
    if schema.multiple_of is not None and value % schema.multiple_of != 0:
        yield f"Must be a multiple of {big_float_text(schema.multiple_of)}"
    if schema.maximum is not None and value > schema.maximum:
        yield f"Must be less than or equal to {big_float_text(schema.maximum)}"
    if schema.exclusive_maximum is not None and value >= schema.exclusive_maximum:
        yield f"Must be less than {big_float_text(schema.exclusive_maximum)}"
    if schema.minimum is not None and value < schema.minimum:
        yield f"Must be greater than or equal to {big_float_text(schema.minimum)}"
    if schema.exclusive_minimum is not None and value <= schema.exclusive_minimum:
        yield f"Must be greater than {big_float_text(schema.exclusive_minimum)}"
    if schema.format in CHECKS:
        yield f"Does not match format '{schema.format}'"


def text_violations(schema: Schema, text: str) -> Iterator[str]:
    """Check the length in characters, `pattern` and `format`."""
    if schema.min_length is not None and len(text) < schema.min_length:
        yield f"String length must be greater than or equal to {schema.min_length}"
    if schema.max_length is not None and len(text) > schema.max_length:
        yield f"String length must be less than or equal to {schema.max_length}"
    if schema.pattern is not None and not schema.pattern.matches(text):
        yield f"Does not match pattern '{schema.pattern.text}'"
    if schema.format in CHECKS and not CHECKS[schema.format](text):
        yield f"Does not match format '{schema.format}'"


Path: TypeAlias = "tuple[Path, str] | None"
"""The keys that lead to a value, the last one first; None for the whole document."""


class Result:
    """Violations as `field: text`, and a score that compares the branches of an `anyOf`."""

    __slots__ = ("score", "violations")

    def __init__(self) -> None:
        self.score = 0
        self.violations: list[str] = []

    @property
    def valid(self) -> bool:
        """Whether there is no violation."""
        return not self.violations

    def add(self, part: Result) -> None:
        """Add the violations and the score of a part."""
        self.violations += part.violations
        self.score += part.score

    def add_nearest(self, branches: Sequence[Result]) -> None:
        """Add the branch with the highest score; of several, add the first."""
        if branches:
            self.add(max(branches, key=lambda branch: branch.score))


def field_name(path: Path) -> str:
    """Return `a.b.0`, or `(root)`."""
    keys = []
    while path is not None:
        path, key = path
        keys.append(key)
    return ".".join(reversed(keys)) if keys else "(root)"


@dataclass(slots=True)
class EvaluationBudget:
    """The steps and characters that are left for all schemas of one configuration."""

    steps: int = MAX_STEPS
    characters: int = MAX_VIOLATIONS_LENGTH

    def spend(self, steps: int) -> None:
        """Count steps before an evaluation takes them. Raises SchemaError."""
        self.steps -= steps
        if self.steps < 0:
            raise SchemaError(
                f"the schemas take more than {MAX_STEPS:,} steps to check this configuration: "
                "simplify their combinations of schemas, their patterns, and $refs that lead in a "
                "circle"
            )


def writing_steps(value: Json) -> int:
    """Return how many steps it takes to write a value as JSON."""
    if isinstance(value, str):
        return 1 + (len(value) >> 3)
    if isinstance(value, list):
        return 1 + sum(map(writing_steps, value))
    if isinstance(value, dict):
        return 1 + sum(1 + (len(key) >> 3) + writing_steps(item) for key, item in value.items())
    return 1
