"""The JSON Schema of every command's output."""

from __future__ import annotations

import inspect
import json
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from kalypso_actions import report
from kalypso_actions.commands.hub.api import create_app
from kalypso_actions.report.documents import OutputDocument
from kalypso_placement import command

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


def schema_files() -> dict[str, str]:
    """Return the schemas, by file name."""
    return {
        f"{name.replace('/', '.')}.schema.json": json.dumps(schema_of(document), indent=2) + "\n"
        for name, document in output_documents().items()
    }


def output_documents() -> dict[str, type[OutputDocument]]:
    """Return the documents of `--output json`, by the value of `schema`."""
    names = [f"{report.__name__}.{module.name}" for module in iter_modules(report.__path__)]
    models = [
        model
        for module in (*map(import_module, names), command)
        for _, model in inspect.getmembers(module, inspect.isclass)
    ]
    return {
        model.model_fields["schema_name"].default: model
        for model in models
        if issubclass(model, OutputDocument) and "schema_name" in model.model_fields
    }


@cache
def schema_of(document: type[OutputDocument]) -> dict[str, object]:
    """Return the JSON Schema of a document: all fields are required, and no others allowed."""
    name = document.model_fields["schema_name"].default
    schema = document.model_json_schema(by_alias=True, mode="serialization")
    for part in (schema, *schema.get("$defs", {}).values()):
        part["required"] = sorted(part["properties"])
        part["additionalProperties"] = False
    schema["properties"]["schema"] = {"const": name}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": name,
    }


class _Nothing:
    """A source that is never asked."""

    def ask(self, question: Any) -> Any:
        raise NotImplementedError


def openapi_text() -> str:
    """Return the OpenAPI document of `kalypso hub serve`."""
    document = create_app(_Nothing(), lambda: datetime.now(UTC)).openapi()
    document["info"]["version"] = "v1"
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
