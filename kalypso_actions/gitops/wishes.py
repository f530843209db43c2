"""Whether people have asked for something since a tree was made: its inputs have changed.

A change that was taken back is a change: a setting that is set again is wanted again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kalypso_actions.gitops.own_files import in_folder
from kalypso_actions.gitops.provenance import PreviousSources
from kalypso_actions.model.documents import Revision
from kalypso_actions.model.history import HistoryCommit

DOCUMENTS: Final = (".yaml", ".yml")
IGNORE_FILE: Final = ".sourceignore"


def sources_changed(previous: PreviousSources, now: Iterable[tuple[str, Revision]]) -> bool:
    """Whether a registered path, or that of a BaseRepo, has another content than in `previous`.

    `now` are the revisions of this run, each with its part: see `Plan.sources`. Where a
    registration cannot be read, nothing is known of it.
    """
    for part, revision in now:
        kind, _, name = part.partition(":")
        known = previous.registrations if kind == "registration" else previous.base_repos
        was = known.get(name)
        if name and (was is None or was.tree != revision.tree):
            return True
    return False


def environment_changed(line: Iterable[HistoryCommit], commit: str, folder: str) -> bool:
    """Whether a document of an environment was written since a commit of its branch.

    `line` is the branch, newest first; `folder` holds the environment's documents. A commit that
    is no longer on the branch says that it changed.
    """
    folder = "" if folder == "." else folder
    for one in line:
        if one.id == commit:
            return False
        if any(_is_read(segments) for _, segments in in_folder(one.changes, folder)):
            return True
    return True


def _is_read(segments: list[str]) -> bool:
    """Whether Flux reads a file: neither a README nor a workflow file."""
    *folders, name = segments
    if any(one.startswith(".") for one in folders):
        return False
    return name == IGNORE_FILE or (name.endswith(DOCUMENTS) and not name.startswith("."))
