"""Whether a push changes anything of an environment's tree."""

from __future__ import annotations

from collections.abc import Mapping

from kalypso_actions.gitops.own_files import in_folder
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE


def touches(
    before: Mapping[str, FileEntry] | None, after: Mapping[str, FileEntry], folder: str
) -> bool:
    """Whether the tree in `folder` differs in what clusters run, or in the commit that it names.

    Whatever lies in a folder may be run. Loose files of the tree and its dot-folders are nobody's
    manifests: workflows, a README.md, and `sources.json`, which alone is no change. `before` is
    None for a new branch.
    """
    known = before or {}
    return any(
        _content(known, path) != _content(after, path) and _counts(segments)
        for path, segments in in_folder(known.keys() | after.keys(), folder)
    )


def _counts(segments: list[str]) -> bool:
    if "/".join(segments) == PROMOTED_COMMIT_FILE:
        return True
    return len(segments) > 1 and not segments[0].startswith(".")


def _content(entries: Mapping[str, FileEntry], path: str) -> tuple[str, str] | None:
    entry = entries.get(path)
    return (entry.mode, entry.object_id) if entry else None
