"""The tracking files of an application's GitOps tree, and our record of its sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.application import (
    CONFIG_COMMIT_FILE,
    IMAGE_NAME_FILE,
    IMAGE_TAG_FILE,
    VARIABLE_VALUE,
    VARIABLE_VALUE_RULE,
    VERSION_FILE,
    Compatibility,
)
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from kalypso_actions.model.object_ids import blob_id

SCHEMA: Final = "kalypso.app-sources/v1"
MAX_SHOWN: Final = 80


class RecordedRevision(BaseModel):
    """A repository; `commit` and `tree` are null for a plain folder."""

    model_config = ConfigDict(frozen=True)

    repository: str
    commit: str | None
    tree: str | None


class Record(BaseModel):
    """The content of `application.json`: sources, options, and the ids of generated files.

    `dependencies` are the digests of the archives that were fetched for the chart, by path.
    """

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    schema_name: str = Field(SCHEMA, alias="schema")
    version: str
    environment: str
    generator: str
    programs: Mapping[str, str]
    dependencies: Mapping[str, str] = {}
    options: Mapping[str, str]
    source: RecordedRevision
    configs: RecordedRevision
    targets: tuple[str, ...] = ()
    files: Mapping[str, str]

    def content(self) -> bytes:
        """Return the bytes of the file: sorted keys, two-space indent, final newline."""
        body = self.model_dump(by_alias=True, mode="json")
        text = json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        return text.encode("utf-8", "backslashreplace")


def read_record(content: bytes | None) -> RecordedFiles | None:
    """Return the targets and files of an earlier run; None if there is no record."""
    if content is None:
        return None
    try:
        body = json.loads(content)
        if not isinstance(body, dict) or body.get("schema") != SCHEMA:
            return None
        return RecordedFiles.model_validate(body)
    except (ValueError, RecursionError, ValidationError):
        return None


def recorded_paths(content: bytes) -> frozenset[str]:
    """Return the paths of the files that a run has written; empty without a valid record."""
    record = read_record(content)
    return frozenset(record.files if record else ())


class RecordedFiles(BaseModel):
    """The targets, and the blob ids of the files, of an earlier run."""

    targets: tuple[str, ...] = ()
    files: Mapping[str, str]


def recorded_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the blob ids of generated files."""
    return {path: blob_id(content) for path, content in files.items()}


def tracking_files(variables: Mapping[str, str], compatibility: Compatibility) -> dict[str, bytes]:
    """Return upstream's tracking files: one line each, for the variables that have a value."""
    return {
        path: f"{variables[name]}\n".encode()
        for path, name in tracking_names(compatibility).items()
        if name in variables
    }


def tracking_names(compatibility: Compatibility) -> dict[str, str]:
    """Return the variable that each tracking file holds, by path."""
    image = {IMAGE_TAG_FILE: "IMAGE_TAG"}
    return {
        PROMOTED_COMMIT_FILE: "SRC_COMMIT",
        CONFIG_COMMIT_FILE: "CONFIG_REVISION",
        VERSION_FILE: "VERSION",
        **({IMAGE_NAME_FILE: "IMAGE_NAME"} if compatibility == "2023" else image),
    }


def tracked_variables(
    contents: Mapping[str, bytes], repository: str, compatibility: Compatibility
) -> dict[str, str]:
    """Return the variables that the tracking files of a GitOps tree hold.

    Raises KalypsoError for texts that could break the YAML into which they are written.
    """
    variables: dict[str, str] = {}
    for path, name in tracking_names(compatibility).items():
        text = contents.get(path, b"").decode("utf-8", "replace").strip()
        if not VARIABLE_VALUE.fullmatch(text):
            raise KalypsoError(
                f"the tracked ${name} {text[:MAX_SHOWN]!r} {VARIABLE_VALUE_RULE}",
                Location(repository, path),
                "correct the file",
            )
        variables |= {name: text} if text else {}
    return variables
