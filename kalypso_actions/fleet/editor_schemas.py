"""JSON Schemas of the kinds: editors use them to complete and check a control plane.

A schema refuses unknown fields; `validate` only warns about them. Only `validate` checks rules that
a schema cannot express, such as references between documents.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from kalypso_actions.fleet.parsing import KINDS, KindParser

DIALECT: Final = "http://json-schema.org/draft-07/schema#"
"""The dialect that yaml-language-server supports best."""

ANY_KIND: Final = "kalypso.schema.json"
"""The file of the schema for any document; documents of other kinds pass."""


def editor_schemas(other_kinds: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the text of each file: one for each kind, and one for files that mix kinds.

    `other_kinds` are the complete schemas of further kinds, without definitions.
    """
    kinds = {kind: _schema_of(kind, parser) for kind, parser in KINDS.items()}
    others = {kind: {**schema, "definitions": {}} for kind, schema in other_kinds.items()}
    kinds |= {kind: schema for kind, schema in others.items() if kind not in kinds}
    schemas = {f"{kind.lower()}.schema.json": schema for kind, schema in kinds.items()}
    return {
        name: json.dumps({"$schema": DIALECT, **schema}, indent=2) + "\n"
        for name, schema in {**schemas, ANY_KIND: _any_of(kinds)}.items()
    }


def _schema_of(kind: str, parser: KindParser) -> dict[str, Any]:
    schema = parser.resource.model_json_schema(
        by_alias=True, ref_template=f"#/definitions/{kind}.{{model}}"
    )
    definitions = schema.pop("$defs")
    for part in (schema, *definitions.values()):
        part["additionalProperties"] = False
        for value in (part, *part["properties"].values()):
            value.pop("title", None)
            if value.get("default", "") in (None, ""):
                value.pop("default", None)  # an editor would insert it
    schema["title"] = kind
    schema["properties"]["kind"] = {"const": kind}
    schema["properties"]["apiVersion"] = {"enum": [parser.api_version]}
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
