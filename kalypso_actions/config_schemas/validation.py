"""A configuration and its schemas → upstream's message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kalypso_actions.config_schemas.coercion import coerced
from kalypso_actions.config_schemas.compiler import compile_schema
from kalypso_actions.config_schemas.errors import SchemaError, UnsupportedValueError
from kalypso_actions.config_schemas.evaluation import violations
from kalypso_actions.config_schemas.json_values import Json
from kalypso_actions.config_schemas.serialization import as_json


def check(config: Mapping[str, object], schemas: Sequence[str]) -> str:
    """Upstream's message about a merged configuration and all schemas for it, "" when they hold.

    Each violation is a line `- <field>: <text>`, the field left out for the whole document. The
    lines of a schema are sorted bytewise (upstream's order is random), the schemas stay in order.
    A broken schema's error stands in place of its lines.
    """
    if not schemas:
        return ""
    try:
        document = as_json(coerced(config))
    except UnsupportedValueError as error:
        found = [str(error)] * len(schemas)
    else:
        found = [text for schema in schemas if (text := _message(document, schema))]
    return "Config data validation failed: \n " + "\n".join(found) if found else ""


def problems_of(text: str) -> str | None:
    """Why a schema can never be used, in upstream's words; None for a good one."""
    return compile_schema(text).problem or None


def _message(document: dict[str, Json], text: str) -> str:
    schema = compile_schema(text)
    if schema.root is None:
        return _without_root(schema.problem)
    try:
        found = violations(schema.root, document)
    except SchemaError as error:
        return _without_root(str(error))
    return "".join(sorted(_without_root(f"- {violation}\n") for violation in found))


def _without_root(message: str) -> str:
    return message.replace(" (root):", "")
