"""Whether somebody edited the sources of a proposed tree since it was made.

If so, Kalypso may propose rejected content again: see `rejections`. The revisions in the tree's
`sources.json` decide. The digests of `inputs_record` do not, because they do not show an edit and
its revert: a person who sets a value again requests its result again.
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
    """Whether the path of a registration or BaseRepo has other content than in `previous`.

    `now` has the revisions of this run by part: see `Plan.sources`. It has none for a registration
    that cannot be read.
    """
    for part, revision in now:
        kind, _, name = part.partition(":")
        sources = previous.registrations if kind == "registration" else previous.base_repos
        before = sources.get(name)
        if name and (before is None or before.tree != revision.tree):
            return True
    return False


def environment_changed(line: Iterable[HistoryCommit], commit: str, folder: str) -> bool:
    """Whether a commit of an environment's branch changes a document after `commit`.

    `line` are the commits of the branch, newest first; `folder` holds the environment's documents.
    If `commit` is no longer on the branch, the documents count as changed.
    """
    folder = "" if folder == "." else folder
    for newer in line:
        if newer.id == commit:
            return False
        if any(_is_read(segments) for _, segments in in_folder(newer.changes, folder)):
            return True
    return True


def _is_read(segments: list[str]) -> bool:
    """Whether Flux reads a file: neither a README nor a workflow file."""
    *folders, name = segments
    if any(folder.startswith(".") for folder in folders):
        return False
    return name == IGNORE_FILE or (name.endswith(DOCUMENTS) and not name.startswith("."))
