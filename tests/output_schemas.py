"""The schemas of the commands' JSON output, as docs/reference has them."""

from __future__ import annotations

import json

from jsonschema import Draft202012Validator

from tools.reference.schemas import REFERENCE


def validator(name: str) -> Draft202012Validator:
    path = REFERENCE / f"{name.replace('/', '.')}.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
