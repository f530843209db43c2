"""The JSON Schema of every command's output."""

from __future__ import annotations

import inspect
import json
from functools import cache
from pathlib import Path

from kalypso_actions.report import (
    app_documents,
    cd_document,
    check_pages_document,
    check_promote_document,
    ci_document,
    demo_document,
    diff_document,
    doctor_document,
    documents,
    explain_document,
    init_document,
    notify_document,
    poll_document,
    preview_documents,
    report_document,
    schedule_document,
    start_schedule_document,
    status_document,
)
from kalypso_actions.report.documents import Document
from kalypso_placement import command

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


def schema_files() -> dict[str, str]:
    """Return the schemas, by file name."""
    return {
        f"{name.replace('/', '.')}.schema.json": json.dumps(schema_of(document), indent=2) + "\n"
        for name, document in output_documents().items()
    }


def output_documents() -> dict[str, type[Document]]:
    """Return the documents of `--output json`, by the value of `schema`."""
    models = [
        model
        for module in (
            documents,
            demo_document,
            diff_document,
            doctor_document,
            init_document,
            cd_document,
            check_promote_document,
            ci_document,
            notify_document,
            poll_document,
            schedule_document,
            start_schedule_document,
            check_pages_document,
            app_documents,
            explain_document,
            command,
            preview_documents,
            report_document,
            status_document,
        )
        for _, model in inspect.getmembers(module, inspect.isclass)
    ]
    return {
        model.model_fields["schema_name"].default: model
        for model in models
        if issubclass(model, Document) and "schema_name" in model.model_fields
    }


@cache
def schema_of(document: type[Document]) -> dict[str, object]:
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
