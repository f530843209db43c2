"""What people have rolled an environment back from, and what a start of the chain may bring.

A commit that an environment has left comes back by a person's own dispatch alone, or inside a
commit of main that goes beyond it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kalypso_actions.model.github import Relation
from kalypso_actions.model.history import Ancestry


def standing_commit(current: str | None, named: Sequence[str | None], main: Ancestry) -> str | None:
    """The commit of main that an environment stands at.

    That is the `current` one. If main does not have it, it is the newest one of main among the
    commits that the environment has `named`, newest first; None if there is none.
    """
    return next((one for one in (current, *named) if one in main), None)


def left_commits(
    current: str | None, named: Sequence[str | None], main: Ancestry
) -> frozenset[str]:
    """The commits of main that an environment has left: its standing commit lacks them.

    `named` are the commits that the environment has named, newest first. Commits that are not on
    main do not count.
    """
    standing = standing_commit(current, named, main)
    if standing is None:
        return frozenset()
    return frozenset(
        one for one in named if one and one in main and not main.contains(standing, one)
    )


def comes_back(commit: str, left: Collection[str], main: Ancestry) -> bool:
    """Whether a commit of main brings back what an environment has left.

    It does not if it properly descends from all `left` commits.
    """
    return any(commit == one or not main.contains(commit, one) for one in left)


def has_left(promoted_commit: str, named: str | None, relation: Relation | None) -> bool:
    """Whether an environment names neither a promoted commit nor a descendant of it.

    `relation` is how the commit that it has `named` last stands to the promoted one.
    """
    return named != promoted_commit and (named is None or relation != "ahead")


@dataclass(frozen=True, slots=True)
class Rollback:
    """Why cd does not write a commit, and the commit that people went back to ("" for none)."""

    reason: str
    back_to: str


def rollback_of(environment: str, promoted_commit: str, back_to: str) -> Rollback:
    """Return the rollback of an environment from a commit, or past it."""
    reason = f"{environment} was rolled back to {back_to[:7]}; start cd by hand, without "
    return Rollback(f"{reason}promoted-from, to bring {promoted_commit[:7]} back", back_to)


def rollback_of_origin(origin: str, named: str | None) -> Rollback:
    """Return the rollback of the environment from which a commit comes; it has `named` another."""
    named_text = named[:7] if named else "no commit"
    reason = f"base-repo.yaml of {origin}, which it comes from, names {named_text}"
    return Rollback(reason, named or "")


def unknown_origin(origin: str) -> Rollback:
    """Return the rollback for an environment that no longer exists."""
    return Rollback(f"there is no Environment {origin!r} that it comes from", "")
