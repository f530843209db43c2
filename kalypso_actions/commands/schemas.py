"""`kalypso schemas`: write the JSON Schemas of the kinds, for editors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kalypso_actions.errors import UsageError
from kalypso_actions.fleet import editor_schemas
from kalypso_actions.report.documents import SchemasDocument
from kalypso_actions.scheduling.registry import installed_schedulers


def editor_files() -> dict[str, str]:
    """Return the text of each file that `kalypso schemas` writes, by name."""
    kinds: dict[str, Mapping[str, Any]] = {}
    for scheduler in installed_schedulers():
        kinds |= scheduler.json_schemas()
    return editor_schemas(kinds)


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
