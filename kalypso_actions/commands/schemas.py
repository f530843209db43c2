"""`kalypso schemas`: write the JSON Schemas of the kinds, for editors.

Editors use them to complete and check a control plane. A schema refuses unknown fields; `validate`
only warns about them. Only `validate` checks rules that a schema cannot express, such as references
between documents.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from kalypso_actions.errors import UsageError
from kalypso_actions.fleet.parsing import KINDS
from kalypso_actions.fleet.schemas import Resource
from kalypso_actions.report.documents import SchemasDocument
from kalypso_actions.scheduling.registry import installed_schedulers

DIALECT: Final = "http://json-schema.org/draft-07/schema#"
"""The dialect that yaml-language-server supports best."""

ANY_KIND: Final = "kalypso.schema.json"
"""The file of the schema for any document; documents of other kinds pass."""


def schemas(out: Path) -> SchemasDocument:
    """Write a file for each kind and one for all; replace those of an earlier version.

    Raises UsageError for a folder that cannot be written.
    """
    files = editor_files()
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (out / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        message = f"--out {out} cannot be written: {error.strerror}"
        raise UsageError(message, advice="choose another folder") from error
    return SchemasDocument(dir=str(out), files=tuple(files))


def editor_files() -> dict[str, str]:
    """Return the text of each file: one for each kind, and one for files that mix kinds."""
    kinds: dict[str, dict[str, Any]] = {}
    for scheduler in installed_schedulers():
        for kind, schema in scheduler.json_schemas().items():
            kinds[kind] = {**schema, "definitions": {}}
    own = {kind: _schema_of(kind, model) for kind, model in KINDS.items()}
    kinds = own | {kind: schema for kind, schema in kinds.items() if kind not in own}
    schemas = {f"{kind.lower()}.schema.json": schema for kind, schema in kinds.items()}
    return {
        name: json.dumps({"$schema": DIALECT, **schema}, indent=2) + "\n"
        for name, schema in {**schemas, ANY_KIND: _any_of(kinds)}.items()
    }


def _schema_of(kind: str, model: type[Resource]) -> dict[str, Any]:
    schema = model.model_json_schema(by_alias=True, ref_template=f"#/definitions/{kind}.{{model}}")
    definitions = schema.pop("$defs")
    for part in (schema, *definitions.values()):
        part["additionalProperties"] = False
        for value in (part, *part["properties"].values()):
            value.pop("title", None)
            if value.get("default", "") in (None, ""):
                value.pop("default", None)  # an editor would insert it
    schema["title"] = kind
    schema["properties"]["kind"] = {"const": kind}
    schema["properties"]["apiVersion"] = {"enum": [model.API_VERSION]}
    schema["definitions"] = {f"{kind}.{name}": part for name, part in definitions.items()}
    return schema


def _any_of(kinds: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return a schema that checks documents of these kinds and accepts other kinds."""
    definitions: dict[str, Any] = {}
    for kind, schema in kinds.items():
        own = {key: value for key, value in schema.items() if key != "definitions"}
        definitions |= {kind: own, **schema["definitions"]}
    versions = sorted(
        {
            version
            for schema in kinds.values()
            for version in schema["properties"]["apiVersion"]["enum"]
        }
    )
    return {
        "title": "A document of Kalypso",
        "type": ["object", "null"],
        "properties": {
            "apiVersion": {"anyOf": [{"enum": versions}, {"type": "string"}]},
            "kind": {"anyOf": [{"enum": list(kinds)}, {"type": "string"}]},
        },
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
                "then": {"$ref": f"#/definitions/{kind}"},
            }
            for kind in kinds
        ],
        "definitions": definitions,
    }
