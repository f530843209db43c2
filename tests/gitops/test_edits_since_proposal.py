"""Whether the sources of a proposed tree were edited since it was made."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kalypso_actions.gitops.provenance import PreviousSources
from kalypso_actions.gitops.rejections import environment_changed, sources_changed
from kalypso_actions.model.documents import Revision
from kalypso_actions.model.history import FileVersion, FileVersions, HistoryCommit
from tests.breaks import breaks, replaced

A, B = FileVersion("100644", "a" * 40), FileVersion("100644", "b" * 40)


def commit(name: str, *paths: str) -> HistoryCommit:
    changes = {path: FileVersions(A, B) for path in paths}
    return HistoryCommit(name, (), datetime(2026, 3, 1, tzinfo=UTC), "", changes)


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("base-repo.yaml", ".", True),
        ("config/region.yml", "", True),
        ("fleet/dev/config.yaml", "fleet/dev", True),
        ("fleet/stage/config.yaml", "fleet/dev", False),
        (".sourceignore", ".", True),
        ("README.md", ".", False),
        (".github/workflows/start-schedule.yaml", ".", False),
        (".pre-commit-config.yaml", ".", False),
    ],
)
def test_which_files_an_environment_reads(path: str, folder: str, expected: bool) -> None:
    line = [commit("new", path), commit("then", "config.yaml")]
    assert environment_changed(line, "then", folder) == expected


def test_a_change_and_its_revert_are_a_change() -> None:
    line = [commit("back", "config.yaml"), commit("there", "config.yaml"), commit("then")]
    assert environment_changed(line, "then", ".")
    assert not environment_changed(line, "back", ".")


@breaks(
    "a commit that is gone counts as no change",
    replaced(
        "kalypso_actions.gitops.rejections.environment_changed",
        lambda real, line, commit, folder: (
            any(c.id == commit for c in line) and real(line, commit, folder)
        ),
    ),
)
def test_a_commit_that_is_gone_counts_as_a_change() -> None:
    assert environment_changed([commit("other", "README.md")], "then", ".")


def revision(tree: str | None, commit: str = "1" * 40) -> Revision:
    return Revision("https://git.test/app", "main", commit, ".", tree)


BEFORE = revision("t1")


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (
            [("environment", revision("other")), ("registration:app", revision("t1", "2" * 40))],
            False,
        ),
        ([("registration:app", revision("t2"))], True),
        ([("registration:new", revision("t1"))], True),
        ([("base:main", revision("t1"))], False),
        ([("base:main", revision("t2"))], True),
        # A registration that cannot be read.
        ([], False),
    ],
)
def test_changed_registrations(now: list[tuple[str, Revision]], expected: bool) -> None:
    previous = PreviousSources(
        environment="dev", base_repos={"main": BEFORE}, registrations={"app": BEFORE}
    )
    assert sources_changed(previous, now) == expected
