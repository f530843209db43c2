"""The last changes of assignments in the history of a GitOps branch."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kalypso_actions.model.history import FileChange, HistoryCommit
from kalypso_actions.planning.fleet_report import last_changes
from kalypso_actions.planning.fleet_report.history import MOST_CHANGES


def commit(name: str, *paths: str) -> HistoryCommit:
    changes = dict.fromkeys(paths, FileChange(None, None))
    return HistoryCommit(name, (), datetime(2026, 3, 1, tzinfo=UTC), name, changes)


@pytest.mark.parametrize("folder", ["", "clusters/dev"])
def test_the_commits_that_changed_a_folder(folder: str) -> None:
    prefix = f"{folder}/" if folder else ""
    commits = [
        commit("c3", f"{prefix}east/web/namespace.yaml", "README.md", "east/web"),
        commit("c2", f"{prefix}east/webs/namespace.yaml", "other/east/web/a.yaml"),
        commit("c1", f"{prefix}east/web/a.yaml", f"{prefix}west/web/a.yaml"),
    ]
    found = last_changes(commits, folder, ["east/web", "west/web", "north/web"])
    names = {name: [each.id for each in changes] for name, changes in found.items()}
    assert names == {"east/web": ["c3", "c1"], "west/web": ["c1"]}


def test_no_more_commits_are_read_than_needed() -> None:
    commits = iter([commit(str(n), "east/web/a.yaml") for n in range(MOST_CHANGES + 3)])
    found = last_changes(commits, "", ["east/web"])
    assert [each.id for each in found["east/web"]] == [str(n) for n in range(MOST_CHANGES)]
    assert next(commits).id == str(MOST_CHANGES)
