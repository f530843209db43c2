"""The tracking files of an application's GitOps tree, and our record of what made it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kalypso_actions.model.application import (
    CONFIG_COMMIT_FILE,
    IMAGE_NAME_FILE,
    IMAGE_TAG_FILE,
    VERSION_FILE,
    Compatibility,
)
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from kalypso_actions.model.object_ids import blob_id

SCHEMA: Final = "kalypso.app-sources/v1"


class RecordedRevision(BaseModel):
    """A repository; `commit` and `tree` are null for a plain folder."""

    model_config = ConfigDict(frozen=True)

    repository: str
    commit: str | None
    tree: str | None


class Record(BaseModel):
    """The content of `application.json`: sources, options, and the ids of generated files."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    schema_name: str = Field(SCHEMA, alias="schema")
    version: str
    environment: str
    generator: str
    programs: Mapping[str, str]
    options: Mapping[str, str]
    source: RecordedRevision
    configs: RecordedRevision
    files: Mapping[str, str]

    def content(self) -> bytes:
        """Return the bytes of the file: sorted keys, two-space indent, final newline."""
        body = self.model_dump(by_alias=True, mode="json")
        text = json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        return text.encode("utf-8", "backslashreplace")


def read_recorded_files(content: bytes | None) -> Mapping[str, str] | None:
    """Return the blob ids of the files of an earlier run; None without a record."""
    if content is None:
        return None
    try:
        body = json.loads(content)
        if not isinstance(body, dict) or body.get("schema") != SCHEMA:
            return None
        return _RecordedFiles.model_validate(body).files
    except (ValueError, RecursionError, ValidationError):
        return None


def recorded_paths(content: bytes) -> frozenset[str]:
    """Return the paths of the files that a run has written; empty without a valid record."""
    return frozenset(read_recorded_files(content) or ())


class _RecordedFiles(BaseModel):
    files: Mapping[str, str]


def recorded_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the blob ids of generated files."""
    return {path: blob_id(content) for path, content in files.items()}


def tracking_files(variables: Mapping[str, str], compatibility: Compatibility) -> dict[str, bytes]:
    """Return upstream's tracking files: one line each, for the variables that have a value."""
    is_old = compatibility == "2023"
    names = {
        PROMOTED_COMMIT_FILE: "SRC_COMMIT",
        CONFIG_COMMIT_FILE: "CONFIG_REVISION",
        VERSION_FILE: "VERSION",
        **({IMAGE_NAME_FILE: "IMAGE_NAME"} if is_old else {IMAGE_TAG_FILE: "IMAGE_TAG"}),
    }
    return {
        path: f"{variables[name]}\n".encode() for path, name in names.items() if name in variables
    }


def tracked_variables(
    contents: Mapping[str, bytes], compatibility: Compatibility
) -> dict[str, str]:
    """Return version and image that a GitOps tree tracks, which a change of configs keeps."""
    names = {VERSION_FILE: "VERSION", IMAGE_TAG_FILE: "IMAGE_TAG"}
    if compatibility == "2023":
        names[IMAGE_NAME_FILE] = "IMAGE_NAME"
    texts = {
        name: contents[path].decode("utf-8", "replace").strip()
        for path, name in names.items()
        if path in contents
    }
    return {name: text for name, text in texts.items() if text}
