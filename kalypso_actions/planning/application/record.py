"""The tracking files of an application's GitOps tree, and our record of its sources."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.application import (
    CONFIG_COMMIT_FILE,
    DESCRIPTOR_FILE,
    IMAGE_NAME_FILE,
    IMAGE_TAG_FILE,
    KUSTOMIZATION,
    KUSTOMIZATION_FILE,
    MANIFESTS_FILE,
    RECORD_FILE,
    VARIABLE_VALUE,
    VARIABLE_VALUE_RULE,
    VERSION_FILE,
    ApplicationChanges,
    Compatibility,
    Target,
)
from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE, TRACKING_FOLDER
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.paths import bytewise
from kalypso_actions.planning.application.levels import folders_above

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


MAX_NAMED: Final = 100
"""The number of removed targets that a problem names."""


def compute_changes(
    files: Mapping[str, bytes], entries: Mapping[str, FileEntry], record: bytes | None
) -> ApplicationChanges:
    """Compare the files of a run with the existing tree and the record in it.

    The run deletes only generated files: those of the record or, in a tree that upstream wrote,
    those with upstream's names in a folder with a gen_manifests.yaml.
    """
    recorded = read_record(record)
    own = _upstreams_files(entries) if recorded is None else recorded.files
    present = [path for path in own if path in entries]
    targets = (recorded.targets if recorded else ()) or _folders_with_manifests(present)
    folders = {folder for path in present for folder in folders_above(path)}
    deleted = [
        path for path in present if path not in files and not path.startswith(f"{TRACKING_FOLDER}/")
    ]
    same = {
        path
        for path, content in files.items()
        if path in entries
        and (entries[path].mode, entries[path].object_id) == (FILE_MODE, blob_id(content))
    }
    return ApplicationChanges(
        files=files,
        added=_listed(files.keys() - entries.keys()),
        modified=_listed(path for path in files if path in entries and path not in same),
        deleted=_listed(deleted),
        unchanged=_listed(same),
        kept=_listed(entries.keys() - files.keys() - set(deleted)),
        edited=_listed(_edited(own, entries, same)),
        targets=tuple(folder for folder in targets if folder in folders),
    )


def removal(
    changes: ApplicationChanges, targets: Sequence[Target], percent: int, repository: str
) -> Problem | None:
    """Return the problem of a run that removes most targets of the tree; None for other runs.

    More than `percent` of the targets are too many, but one of several may always go, unless the
    limit is 0: an application with two targets that drops one is usual. A target that has become a
    group is not gone; `new_groups` reports it.
    """
    made = {target.folder for target in targets}
    made |= {parent for folder in made for parent in folders_above(folder)}
    gone = [folder for folder in changes.targets if folder not in made]
    count = len(changes.targets)
    limit = max(count * percent // 100, min(percent, 1))
    if not gone or len(gone) <= min(limit, count - 1):
        return None
    names = ", ".join(gone[:MAX_NAMED])
    names += f" and {len(gone) - MAX_NAMED} more" if len(gone) > MAX_NAMED else ""
    return Problem(
        f"{len(gone)} of {count} targets of the GitOps tree are gone from the configs, so their "
        f"manifests would be deleted: {names}",
        Location(repository),
        "check the configs; allow it with allow-removals, or raise max-removal-percent",
        "mass-removal",
    )


def edit_warnings(changes: ApplicationChanges, repository: str) -> Iterator[Problem]:
    """Warn of manual edits that the run overwrites or deletes."""
    for path in changes.edited:
        fate = "deletes" if path in changes.deleted else "overwrites"
        yield Problem(
            f"somebody has edited this generated file; the run {fate} it",
            Location(repository, path),
            "change the chart or the configs instead",
            "gitops-file-edited",
        )


def _folders_with_manifests(paths: Iterable[str]) -> list[str]:
    """Return the folders of a tree that have generated manifests, sorted."""
    folders = (posixpath.split(path) for path in paths)
    return sorted(folder for folder, name in folders if name == MANIFESTS_FILE and folder)


def _upstreams_files(entries: Mapping[str, FileEntry]) -> dict[str, str]:
    """Map each file that has one of upstream's names to the blob id of upstream's content.

    If upstream's content is unknown, map the file to the id of its present content.
    """
    own: dict[str, str] = {}
    for folder in _folders_with_manifests(entries):
        own[f"{folder}/{MANIFESTS_FILE}"] = ""
        own[f"{folder}/{KUSTOMIZATION_FILE}"] = blob_id(KUSTOMIZATION)
        own[f"{folder}/{DESCRIPTOR_FILE}"] = ""
    return {
        path: known or entries[path].object_id for path, known in own.items() if path in entries
    }


def _edited(
    own: Mapping[str, str], entries: Mapping[str, FileEntry], same: Iterable[str]
) -> Iterator[str]:
    unchanged = set(same)
    for path, object_id in own.items():
        entry = entries.get(path)
        if entry is not None and entry.object_id != object_id and path not in unchanged:
            yield path


def _listed(paths: Iterable[str]) -> tuple[str, ...]:
    own = (path for path in paths if path != RECORD_FILE)
    return tuple(bytewise(own))
