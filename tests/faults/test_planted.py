"""The matrix detects bugs that are planted into the clients."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kalypso_actions.clients.git import PushConflictError, shallow_clone
from kalypso_actions.clients.git.connection import Connection, push
from kalypso_actions.clients.github import GitHub, comments, errors, idempotent_writes, issues
from kalypso_actions.clients.github.transport import ClientRetry
from tests.faults.disturbances import DISTURBANCES, Extent
from tests.faults.matrix import cell, undisturbed
from tests.faults.table import BY_NAME
from tests.faults.trials import ground

Plant = Callable[[pytest.MonkeyPatch], None]
Head = str | None


def blind_repetition(patch: pytest.MonkeyPatch) -> None:
    """Repeat every request until a response comes, as a careless client does."""
    patch.setattr(ClientRetry, "may_repeat", lambda *_: True)


def no_look(patch: pytest.MonkeyPatch) -> None:
    """Do not look up a write with a lost response."""
    patch.setattr(idempotent_writes, "write_verified", lambda _github, _find, write: write())


def no_look_before_repeating(patch: pytest.MonkeyPatch) -> None:
    """Repeat a write with a lost response without a look-up."""
    write_verified = idempotent_writes.write_verified

    def without_a_look(github: GitHub, _find: object, write: Callable[[], object]) -> object:
        return write_verified(github, lambda: None, write)

    patch.setattr(idempotent_writes, "write_verified", without_a_look)


def doubled_comments_stay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(comments, "_delete", lambda *_: None)


def doubled_issues_stay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(issues, "_newest", lambda *_: ())


def limits_are_failures(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(errors, "is_limited", lambda *_: False)


def pushed_by_force(patch: pytest.MonkeyPatch) -> None:
    """Repeat a refused push by force, whatever the head of the branch is."""

    def careless(
        connection: Connection, folder: Path, branch: str, commit: str, head: Head
    ) -> bool:
        try:
            return push(connection, folder, branch, commit, head)
        except PushConflictError as conflict:
            return push(connection, folder, branch, commit, conflict.head)

    patch.setattr(shallow_clone, "push", careless)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plant", "write", "fault", "extent"),
    [
        (blind_repetition, "statuses.post", "lost", "once"),
        (blind_repetition, "comments.ensure create", "half", "once"),
        (blind_repetition, "issues.ensure create", "502 acted", "once"),
        (blind_repetition, "workflows.dispatch", "lost", "each time"),
        (no_look, "merge", "lost", "once"),
        (no_look, "branches.create", "half", "once"),
        (no_look_before_repeating, "statuses.post", "502 acted", "once"),
        (no_look_before_repeating, "labels.add", "lost", "once"),
        (doubled_comments_stay, "comments.ensure create", "doubled", "once"),
        (doubled_comments_stay, "pulls.close: comment", "doubled", "from then on"),
        (doubled_issues_stay, "issues.ensure create", "doubled", "once"),
        (limits_are_failures, "pulls.ensure update", "429", "once"),
        (limits_are_failures, "workflows.dispatch", "403", "once"),
        (pushed_by_force, "commit on top", "raced", "once"),
        (pushed_by_force, "branch renewed", "raced", "once"),
    ],
)
def test_a_planted_bug_is_seen(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    plant: Plant,
    write: str,
    fault: str,
    extent: Extent,
) -> None:
    disturbance = next(candidate for candidate in DISTURBANCES if candidate.name == fault)
    with ground(tmp_path) as prepared:
        course = undisturbed(prepared, BY_NAME[write])
        assert cell(prepared, BY_NAME[write], course, disturbance, extent).faults == ()
        plant(monkeypatch)
        assert cell(prepared, BY_NAME[write], course, disturbance, extent).faults
