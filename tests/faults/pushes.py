"""All writes by git: read a branch, make a commit on it, and push."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from tests.faults.trials import AUTHOR, Trial
from tests.faults.write import Write

PUSH: Final = ("POST", "*/git-receive-pack")
DATE: Final = datetime(2026, 3, 1, tzinfo=UTC)


def _push(branch: str) -> Callable[[Trial], object]:
    """Add our file to a branch unless it is there."""

    def act(trial: Trial) -> object:
        with trial.remotes() as opened:
            before = opened.heads(trial.url, [branch]).get(branch)
            if before and "ours.txt" in opened.fetch(trial.url, commit=before).entries():
                return "unchanged"
            commit = opened.commit(
                trial.url,
                parent=before,
                changes={"ours.txt": b"1"},
                message="Ours",
                author=AUTHOR,
                date=DATE,
            )
            return opened.push(trial.url, commit, branch=branch, expected=before)

    return act


def _rewrite(trial: Trial) -> object:
    """Set a branch to a commit that is not a descendant, as for a renewed proposal."""
    with trial.remotes() as opened:
        before = opened.heads(trial.url, ["proposal"])["proposal"]
        commit = opened.commit(
            trial.url,
            parent=trial.head(),
            changes={"ours.txt": b"2"},
            message="Renewed",
            author=AUTHOR,
            date=DATE,
        )
        return opened.push(trial.url, commit, branch="proposal", expected=before)


def _proposal(trial: Trial) -> None:
    trial.commit("proposal")


PUSHES: Final = (
    Write("new branch", PUSH, lambda _: None, _push("new")),
    Write("commit on top", PUSH, lambda _: None, _push("main")),
    Write("branch renewed", PUSH, _proposal, _rewrite),
)
