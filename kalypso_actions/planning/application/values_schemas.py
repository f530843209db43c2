"""The values.schema.json of a chart, before helm reads it.

helm follows references that leave the file: to files of the machine, and to servers on it without
any proxy. If a file is not JSON, helm does not say where.
"""

from __future__ import annotations

import io
import json
import posixpath
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from kalypso_actions.errors import Problem
from kalypso_actions.planning.application.helm import SCHEMA_FILE, ChartPlace, line_of

REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
META_SCHEMAS: Final = ("http://json-schema.org/", "https://json-schema.org/")
MAX_ARCHIVE: Final = 1 << 26
GZIP: Final = 16 + zlib.MAX_WBITS


def check_schemas(chart: ChartPlace) -> Iterator[Problem]:
    """Yield a problem for each schema of the chart that is not JSON, or refers to other files.

    This includes the schemas in packed dependencies.
    """
    for path, content in sorted(chart.files.items()):
        if posixpath.basename(path) == SCHEMA_FILE:
            yield from _faults(content, chart, path)
        elif path.endswith(".tgz"):
            for schema in _packed(content):
                faults = _faults(schema, chart, path)
                yield from (replace(problem, where=chart.at(path)) for problem in faults)


def _faults(content: bytes, chart: ChartPlace, path: str) -> Iterator[Problem]:
    try:
        schema = json.loads(content)
    except json.JSONDecodeError as error:
        message = f"this is not JSON: {error.msg}"
        where, advice = chart.at(path, error.lineno), "correct it: https://json-schema.org"
        yield Problem(message, where, advice, "chart-schema-invalid")
    except (ValueError, RecursionError):
        return  # helm reports it
    else:
        for reference in _references(schema):
            yield Problem(
                f"the schema refers to {reference}, which is not in the file",
                chart.at(path, line_of(json.dumps(reference).encode(), content)),
                "copy what it refers to below definitions, and refer to #/definitions/…",
                "chart-schema-reference",
            )


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
    """Return the schemas in a packed chart of a usual size; helm reports a broken archive."""
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
