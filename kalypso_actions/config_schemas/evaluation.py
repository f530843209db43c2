"""A compiled schema and a document → violations, as upstream's validator finds and words them.

A keyword that combines schemas reports itself and what is wrong inside: all of `allOf`, and of
`anyOf` and `oneOf` the branch that came closest. How close one came is its score, counted at the
very places where upstream counts it. A wrong type ends the check of a value, `$ref` replaces
everything beside it, and `format` does not hold for any number.
"""

from __future__ import annotations

from collections.abc import Iterable

from kalypso_actions.config_schemas.errors import (
    MAX_NESTING,
    MAX_STEPS,
    MAX_VIOLATIONS_LENGTH,
    SchemaError,
)
from kalypso_actions.config_schemas.json_values import Json, comparable
from kalypso_actions.config_schemas.numbers import Number
from kalypso_actions.config_schemas.outcome import Outcome, Path, field
from kalypso_actions.config_schemas.scalars import number_violations, text_violations
from kalypso_actions.config_schemas.schema import Schema


def violations(schema: Schema, document: Json) -> list[str]:
    """`field: text` for everything that is wrong, in no particular order.

    Raises `SchemaError` where the schema leads in a circle or takes too long.
    """
    outcome = Outcome()
    _Evaluation().apply(schema, document, None, outcome)
    return outcome.violations


def _kind(value: Json) -> str:
    """The type's name for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, Number):
        return "integer" if value.is_integer else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _is_allowed(kind: str, types: tuple[str, ...]) -> bool:
    return not types or kind in types or (kind == "integer" and "number" in types)


def _target(schema: Schema, path: Path) -> Schema:
    """What the schema's `$ref`, if any, finally names."""
    for _ in range(MAX_NESTING):
        if schema.target is None:
            return schema
        schema = schema.target
    raise SchemaError(f"a $ref for {field(path)} leads back to itself: remove it")


class _Evaluation:
    """One document on its way through a schema, with what is left of the bounds."""

    def __init__(self) -> None:
        self._steps = MAX_STEPS
        self._depth = 0
        self._characters = MAX_VIOLATIONS_LENGTH

    def _spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise SchemaError(
                f"the schema takes more than {MAX_STEPS:,} steps to check this configuration: "
                "simplify its combinations of schemas, and $refs that lead in a circle"
            )

    def _fail(self, outcome: Outcome, path: Path, text: str) -> None:
        violation = f"{field(path)}: {text}"
        self._characters -= len(violation)
        if self._characters < 0:
            raise SchemaError(
                f"the violations take more than {MAX_VIOLATIONS_LENGTH:,} characters: "
                "check whether the schema belongs to this configuration"
            )
        outcome.violations.append(violation)
        outcome.score -= 2

    def apply(self, schema: Schema, value: Json, path: Path, outcome: Outcome) -> None:
        """Everything the schema asks of the value."""
        self._spend(1)
        schema = _target(schema, path)
        if schema.verdict is not None:
            if not schema.verdict:
                self._fail(outcome, path, "False always fails validation")
            return
        kind = _kind(value)
        if not _is_allowed(kind, schema.types):
            expected = ",".join(schema.types)
            if len(schema.types) > 1:
                expected = f"[{expected}]"
            self._fail(outcome, path, f"Invalid type. Expected: {expected}, given: {kind}")
            return
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise SchemaError(
                f"at {field(path)} more than {MAX_NESTING} schemas apply inside each other: "
                "a $ref leads back to itself, or the value is nested too deep"
            )
        self._combinations(schema, value, path, outcome)
        self._by_kind(schema, value, path, outcome)
        self._depth -= 1
        outcome.score += 1

    def _by_kind(self, schema: Schema, value: Json, path: Path, outcome: Outcome) -> None:
        """What the schema asks of a value of this kind, and of the parts inside."""
        if isinstance(value, dict):
            self._object(schema, value, path, outcome)
        elif isinstance(value, list):
            self._array(schema, value, path, outcome)
        elif isinstance(value, Number):
            self._report(number_violations(schema, value), path, outcome)
        elif isinstance(value, str):
            self._spend(len(value) >> (2 if schema.format else 4))
            self._report(text_violations(schema, value), path, outcome)
        self._listed(schema, value, path, outcome)
        if isinstance(value, dict) and schema.properties:
            for name, item in value.items():
                part = schema.properties.get(name)
                if part is not None:
                    self.apply(part, item, (path, name), outcome)

    def _report(self, texts: Iterable[str], path: Path, outcome: Outcome) -> None:
        for text in texts:
            self._fail(outcome, path, text)
        outcome.score += 1

    def _alone(self, schema: Schema, value: Json, path: Path) -> Outcome:
        outcome = Outcome()
        self.apply(schema, value, path, outcome)
        return outcome

    def _combinations(self, schema: Schema, value: Json, path: Path, outcome: Outcome) -> None:
        if schema.any_of:
            self._any_of(schema.any_of, value, path, outcome)
        if schema.one_of:
            self._one_of(schema.one_of, value, path, outcome)
        if schema.all_of:
            self._all_of(schema.all_of, value, path, outcome)
        if schema.not_ is not None and self._alone(schema.not_, value, path).valid:
            self._fail(outcome, path, "Must not validate the schema (not)")
        if schema.dependencies and isinstance(value, dict):
            self._dependencies(schema, value, path, outcome)
        if schema.if_ is not None:
            if self._alone(schema.if_, value, path).valid:
                text = 'Must validate "then" as "if" was valid'
                self._branch(schema.then, text, value, path, outcome)
            else:
                text = 'Must validate "else" as "if" was not valid'
                self._branch(schema.else_, text, value, path, outcome)
        outcome.score += 1

    def _any_of(self, schemas: list[Schema], value: Json, path: Path, outcome: Outcome) -> None:
        best: Outcome | None = None
        for schema in schemas:
            found = self._alone(schema, value, path)
            if found.valid:
                return
            if best is None or found.score > best.score:
                best = found
        self._fail(outcome, path, "Must validate at least one schema (anyOf)")
        if best is not None:
            outcome.take(best)

    def _one_of(self, schemas: list[Schema], value: Json, path: Path, outcome: Outcome) -> None:
        count = 0
        best: Outcome | None = None
        for schema in schemas:
            found = self._alone(schema, value, path)
            if found.valid:
                count += 1
            elif count == 0 and (best is None or found.score > best.score):
                best = found
        if count == 1:
            return
        self._fail(outcome, path, "Must validate one and only one schema (oneOf)")
        if count == 0 and best is not None:
            outcome.take(best)

    def _all_of(self, schemas: list[Schema], value: Json, path: Path, outcome: Outcome) -> None:
        all_valid = True
        for schema in schemas:
            found = self._alone(schema, value, path)
            all_valid = all_valid and found.valid
            outcome.take(found)
        if not all_valid:
            self._fail(outcome, path, "Must validate all the schemas (allOf)")

    def _branch(
        self, schema: Schema | None, text: str, value: Json, path: Path, outcome: Outcome
    ) -> None:
        """The `then` or `else` of an `if`; where it holds, its score does not count."""
        if schema is None:
            return
        found = self._alone(schema, value, path)
        if not found.valid:
            self._fail(outcome, path, text)
            outcome.take(found)

    def _dependencies(
        self, schema: Schema, value: dict[str, Json], path: Path, outcome: Outcome
    ) -> None:
        for name in value:
            needed = schema.dependencies.get(name, ())
            if isinstance(needed, Schema):
                self.apply(needed, value, path, outcome)
                continue
            self._spend(1 + len(needed))
            for other in needed:
                if other not in value:
                    self._fail(outcome, path, f"Has a dependency on {other}")

    def _array(self, schema: Schema, value: list[Json], path: Path, outcome: Outcome) -> None:
        if isinstance(schema.items, Schema):
            for index, item in enumerate(value):
                self.apply(schema.items, item, (path, str(index)), outcome)
        elif schema.items:
            self._places(schema, schema.items, value, path, outcome)
        if schema.min_items is not None and len(value) < schema.min_items:
            self._fail(outcome, path, f"Array must have at least {schema.min_items} items")
        if schema.max_items is not None and len(value) > schema.max_items:
            self._fail(outcome, path, f"Array must have at most {schema.max_items} items")
        if schema.unique_items:
            seen: dict[str, int] = {}
            for index, item in enumerate(value):
                text = self._comparable(item)
                if text in seen:
                    places = f"[{seen[text]},{index}]"
                    self._fail(outcome, path, f"array items{places} must be unique")
                seen[text] = index
        if schema.contains is not None:
            self._contains(schema.contains, value, path, outcome)
        outcome.score += 1

    def _places(
        self, schema: Schema, schemas: list[Schema], value: list[Json], path: Path,
        outcome: Outcome,
    ) -> None:  # fmt: skip
        """A schema for each place, and `additionalItems` for the places behind them."""
        for index, (part, item) in enumerate(zip(schemas, value, strict=False)):
            self.apply(part, item, (path, str(index)), outcome)
        if len(value) <= len(schemas):
            return
        if isinstance(schema.additional_items, Schema):
            for index in range(len(schemas), len(value)):
                self.apply(schema.additional_items, value[index], (path, str(index)), outcome)
        elif schema.additional_items is False:
            self._fail(outcome, path, "No additional items allowed on array")

    def _contains(self, schema: Schema, value: list[Json], path: Path, outcome: Outcome) -> None:
        best: Outcome | None = None
        for index, item in enumerate(value):
            found = self._alone(schema, item, (path, str(index)))
            if found.valid:
                return
            if best is None or found.score > best.score:
                best = found
        self._fail(outcome, path, "At least one of the items must match")
        if best is not None:
            outcome.take(best)

    def _object(self, schema: Schema, value: dict[str, Json], path: Path, outcome: Outcome) -> None:
        least, most = schema.min_properties, schema.max_properties
        if least is not None and len(value) < least:
            self._fail(outcome, path, f"Must have at least {least} properties")
        if most is not None and len(value) > most:
            self._fail(outcome, path, f"Must have at most {most} properties")
        self._spend(len(schema.required) + len(value))
        for name in schema.required:
            if name in value:
                outcome.score += 1
            else:
                self._fail(outcome, path, f"{name} is required")
        for name, item in value.items():
            matched = self._matching_patterns(schema, name, item, path, outcome)
            if not matched and name not in schema.properties:
                self._additional_property(schema, name, item, path, outcome)
        if schema.property_names is not None:
            for name in value:
                found = self._alone(schema.property_names, name, path)
                if not found.valid:
                    self._fail(outcome, path, f'Property name of "{name}" does not match')
                    outcome.take(found)
        outcome.score += 1

    def _matching_patterns(
        self, schema: Schema, name: str, item: Json, path: Path, outcome: Outcome
    ) -> bool:
        matched = False
        for pattern, part in schema.pattern_properties:
            self._spend(1 + (len(name) >> 4))
            if pattern.matches(name):
                matched = True
                self.apply(part, item, (path, name), outcome)
        outcome.score += matched
        return matched

    def _additional_property(
        self, schema: Schema, name: str, item: Json, path: Path, outcome: Outcome
    ) -> None:
        if isinstance(schema.additional_properties, Schema):
            self.apply(schema.additional_properties, item, (path, name), outcome)
        elif schema.additional_properties is False:
            self._fail(outcome, path, f"Additional property {name} is not allowed")

    def _comparable(self, value: Json) -> str:
        text = comparable(value)
        self._spend(1 + (len(text) >> 4))
        return text

    def _listed(self, schema: Schema, value: Json, path: Path, outcome: Outcome) -> None:
        """`const` and `enum`, whose texts name the field once more."""
        if schema.const is not None and self._comparable(value) != schema.const:
            self._fail(outcome, path, f"{field(path)} does not match: {schema.const}")
        if schema.enum and self._comparable(value) not in schema.enum:
            text = f"{field(path)} must be one of the following: {schema.enum_text}"
            self._fail(outcome, path, text)
        outcome.score += 1
