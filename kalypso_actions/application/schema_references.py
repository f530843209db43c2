"""References of a chart's values.schema.json that lead out of the file.

helm reads them: files of the machine, and servers on it, which no proxy keeps from it.
"""

from __future__ import annotations

import io
import json
import posixpath
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Final

from kalypso_actions.application.helm import ChartPlace
from kalypso_actions.errors import Problem

SCHEMA_FILE: Final = "values.schema.json"
REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
META_SCHEMAS: Final = ("http://json-schema.org/", "https://json-schema.org/")
MAX_ARCHIVE: Final = 1 << 26
GZIP: Final = 16 + zlib.MAX_WBITS


def foreign_references(chart: ChartPlace) -> Iterator[Problem]:
    """Yield a problem for each reference out of a schema of the chart or a packed dependency."""
    for path, content in sorted(chart.files.items()):
        is_archive = path.endswith(".tgz")
        if not (is_archive or posixpath.basename(path) == SCHEMA_FILE):
            continue
        for schema in _packed(content) if is_archive else [content]:
            for reference in _references(_parsed(schema)):
                line = 0 if is_archive else _line_of(json.dumps(reference), schema)
                yield Problem(
                    f"the schema refers to {reference}, which is not in the file",
                    chart.at(path, line),
                    "copy what it refers to below definitions, and refer to #/definitions/…",
                    "chart-schema-reference",
                )


def _line_of(text: str, schema: bytes) -> int:
    """Return the first line with a text; 0 if it is written in another way."""
    position = schema.decode("utf-8", "replace").find(text)
    return schema.decode("utf-8", "replace").count("\n", 0, position) + 1 if position >= 0 else 0


def _parsed(content: bytes) -> object:
    """Parse a schema; helm reports one that is no JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _references(value: object) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Mapping):
            for key, inner in item.items():
                if isinstance(inner, str) and _is_foreign(key, inner):
                    yield inner
                pending.append(inner)
        elif isinstance(item, list):
            pending += item


def _is_foreign(key: str, text: str) -> bool:
    if key == "$schema":
        return not text.startswith(META_SCHEMAS)
    return key in REFERENCES and not text.startswith("#")


def _packed(archive: bytes) -> list[bytes]:
    """Return the schemas in a packed chart of a usual size; helm reports one that is broken."""
    try:
        content = zlib.decompressobj(GZIP).decompress(archive, MAX_ARCHIVE)
        with tarfile.open(fileobj=io.BytesIO(content)) as members:
            files = [
                members.extractfile(member)
                for member in members
                if member.isfile() and posixpath.basename(member.name) == SCHEMA_FILE
            ]
            return [file.read() for file in files if file]
    except (zlib.error, tarfile.TarError, EOFError):
        return []
