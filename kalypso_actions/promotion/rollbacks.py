"""The commits that people have rolled back, and the starts that would bring them back.

Only a person's own dispatch brings such a commit back; a later commit of main may come.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kalypso_actions.model.ancestry import Ancestry
from kalypso_actions.model.github import Relation


def commit_on_main(current: str | None, named: Sequence[str | None], main: Ancestry) -> str | None:
    """Return the newest commit of main that an environment has named; None if there is none.

    `current` is the commit that it names now, `named` those that it has named, newest first.
    """
    return next((commit for commit in (current, *named) if commit in main), None)


def left_commits(
    current: str | None, named: Sequence[str | None], main: Ancestry
) -> frozenset[str]:
    """Return the commits of main that an environment has left: its present commit lacks them.

    `named` are the commits that the environment has named, newest first. Commits that are not on
    main do not count.
    """
    present = commit_on_main(current, named, main)
    if present is None:
        return frozenset()
    return frozenset(
        commit
        for commit in named
        if commit and commit in main and not main.contains(present, commit)
    )


def left_since_cuts(
    current: str | None, segments: Sequence[Sequence[str | None]], main: Ancestry
) -> frozenset[str]:
    """Return the commits of main that an environment, or the origin of its branch, has left.

    `segments` are the commits that its branch has named, newest first, each until the branch was
    cut from another environment's. A new environment may begin with an older commit: that is no
    rollback. Commits that the present one contains do not count.
    """
    named = [commit for segment in segments for commit in segment]
    within = (left_commits(None, segment, main) for segment in segments)
    return left_commits(current, named, main).intersection(frozenset().union(*within))


def comes_back(promoted_commit: str, left: Collection[str], main: Ancestry) -> bool:
    """Return whether a commit of main would bring back commits that an environment has left.

    A proper descendant of all `left` commits does not.
    """
    return any(
        promoted_commit == commit or not main.contains(promoted_commit, commit) for commit in left
    )


def has_left(promoted_commit: str, named: str | None, relation: Relation | None) -> bool:
    """Return whether an environment names neither a promoted commit nor a descendant of it.

    `relation` is the relation of the `named` commit to the promoted one.
    """
    return named != promoted_commit and (named is None or relation != "ahead")


@dataclass(frozen=True, slots=True)
class Rollback:
    """A refusal of cd to write a commit, and the commit that people went back to ("" for none)."""

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
