"""A configuration and its schemas → upstream's message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kalypso_actions.config_schemas.budget import EvaluationBudget
from kalypso_actions.config_schemas.coercion import coerce_numbers
from kalypso_actions.config_schemas.compiler import compile_schema
from kalypso_actions.config_schemas.errors import SchemaError, UnsupportedValueError
from kalypso_actions.config_schemas.evaluation import violations
from kalypso_actions.config_schemas.json_values import Json
from kalypso_actions.config_schemas.serialization import to_document


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
        document = to_document(coerce_numbers(config))
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


def schema_error(text: str) -> str | None:
    """Return upstream's error if the text is not a schema; None if it is one."""
    return compile_schema(text).error or None


def _message(document: dict[str, Json], text: str, budget: EvaluationBudget) -> str:
    schema = compile_schema(text)
    if schema.root is None:
        return _without_root(schema.error)
    try:
        lines = [_without_root(f"- {line}\n") for line in violations(schema.root, document, budget)]
    except SchemaError as error:
        return _without_root(str(error))
    return "".join(sorted(lines))


def _without_root(message: str) -> str:
    return message.replace(" (root):", "")
