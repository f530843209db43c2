"""Cut GitHub's descriptions of its API to the facts that the project needs.

python -m tools.github_api.extract            write openapi.json, ghes-3.17.json, schema.graphql
python -m tools.github_api.extract --check    write nothing; exit 1 and list what differs

They are committed in tests/github_api. The descriptions come from npm, at pinned versions:
`tools.github_api.npm_packages`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tools.github_api import graphql_types
from tools.github_api.npm_packages import GRAPHQL_SCHEMA, OPENAPI
from tools.github_api.openapi_schemas import SCHEMAS, Json, operation, referenced, schema
from tools.github_api.used_operations import GRAPHQL_TYPES, OPERATIONS, WEBHOOKS

WIDTH = 100
TARGET = Path(__file__).resolve().parents[2] / "tests" / "github_api"
GITHUB = "generated/api.github.com.json"
SERVER = "generated/ghes-3.17.json"
GRAPHQL = "schema.graphql"

ERRORS = [{"$ref": SCHEMAS + "basic-error"}, {"$ref": SCHEMAS + "validation-error"}]
"""Every operation can answer with these, even if its description does not list them."""


def main() -> int:
    """Write or check the files; return 1 if a committed file is stale."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, list differences")
    check = parser.parse_args().check
    stale = {
        name: text
        for name, text in files().items()
        if not (TARGET / name).exists() or (TARGET / name).read_text(encoding="utf-8") != text
    }
    for name, text in stale.items():
        if check:
            print(f"tests/github_api/{name} is stale: run python -m tools.github_api.extract")
        else:
            (TARGET / name).write_text(text, encoding="utf-8", newline="\n")
    return 1 if check and stale else 0


def files() -> dict[str, str]:
    """Return name -> content of each file."""
    sources = {name: json.loads(text) for name, text in OPENAPI.read(GITHUB, SERVER).items()}
    github = cut(sources[GITHUB], OPERATIONS, WEBHOOKS)
    server = differing(cut(sources[SERVER], OPERATIONS, ()), github)
    graphql = GRAPHQL_SCHEMA.read(GRAPHQL)[GRAPHQL].decode()
    return {
        "openapi.json": as_text(github),
        "ghes-3.17.json": as_text(cut(sources[SERVER], server, ())),
        GRAPHQL: graphql_types.cut(graphql, GRAPHQL_TYPES),
    }


def cut(document: Json, operations: tuple[tuple[str, str], ...], webhooks: tuple[str, ...]) -> Json:
    """Return a closed OpenAPI 3.1 document. Raises KeyError for missing operations."""
    paths: dict[str, dict[str, Json]] = {}
    for method, path in operations:
        facts = operation(document["paths"][path][method.lower()], document)
        paths.setdefault(path, {})[method.lower()] = facts
    hooks = {name: _payload(document["x-webhooks"][name]["post"]) for name in webhooks}
    return {
        "openapi": "3.1.0",
        "info": {"title": document["info"]["title"], "version": document["info"]["version"]},
        "paths": paths,
        "webhooks": hooks,
        "components": {"schemas": referenced([paths, hooks, ERRORS], document)},
    }


def _payload(source: Json) -> Json:
    payload = source["requestBody"]["content"]["application/json"]["schema"]
    content = {"application/json": {"schema": schema(payload)}}
    return {"post": {"requestBody": {"content": content}}}


def differing(first: Json, second: Json) -> tuple[tuple[str, str], ...]:
    """Return the operations that two documents describe differently, except for their schemas."""
    return tuple(
        (method.upper(), path)
        for path, methods in first["paths"].items()
        for method, facts in methods.items()
        if facts != second["paths"][path][method]
    )


def as_text(document: Json) -> str:
    """Return JSON in a fixed order, short values on one line, so that diffs show the changes."""
    return _lines(document, "") + "\n"


def _lines(value: Json, indent: str) -> str:
    line = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(indent) + len(line) <= WIDTH:
        return line
    inner = indent + " "
    if isinstance(value, list):
        items = [_lines(item, inner) for item in value]
    else:
        items = [
            f"{json.dumps(key)}: {_lines(member, inner)}" for key, member in sorted(value.items())
        ]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{last}"


if __name__ == "__main__":
    sys.exit(main())
