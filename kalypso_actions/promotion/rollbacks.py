"""The commits that people have rolled back, and the starts that would bring them back.

Only a person's own dispatch brings such a commit back; later commits of main may arrive.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kalypso_actions.model.ancestry import Ancestry
from kalypso_actions.model.github import Relation


def commit_on_main(
    current_commit: str | None, past_commits: Sequence[str | None], main: Ancestry
) -> str | None:
    """Return the newest commit of main that an environment has named; None if there is none.

    `current_commit` is the commit that it names now, `past_commits` are all commits that it has
    named, newest first.
    """
    return next((commit for commit in (current_commit, *past_commits) if commit in main), None)


def left_commits(
    current_commit: str | None, past_commits: Sequence[str | None], main: Ancestry
) -> frozenset[str]:
    """Return the past commits of an environment that its present commit does not contain.

    `past_commits` are the commits that the environment has named, newest first. Commits that are
    not on main do not count.
    """
    present = commit_on_main(current_commit, past_commits, main)
    if present is None:
        return frozenset()
    return frozenset(
        commit
        for commit in past_commits
        if commit and commit in main and not main.contains(present, commit)
    )


def left_since_cuts(
    current_commit: str | None, segments: Sequence[Sequence[str | None]], main: Ancestry
) -> frozenset[str]:
    """Return the commits of main that an environment, or the origin of its branch, has left.

    `segments` are the commits that its branch has named, newest first. A new segment begins where
    the branch was cut from another environment's branch: a new environment may begin with an older
    commit, which is no rollback. Commits that the present commit contains do not count.
    """
    past_commits = [commit for segment in segments for commit in segment]
    within = (left_commits(None, segment, main) for segment in segments)
    left = left_commits(current_commit, past_commits, main)
    return left.intersection(frozenset().union(*within))


def comes_back(promoted_commit: str, left: Collection[str], main: Ancestry) -> bool:
    """Return whether a commit of main would bring back commits that an environment has left.

    A proper descendant of all `left` commits does not.
    """
    return any(
        promoted_commit == commit or not main.contains(promoted_commit, commit) for commit in left
    )


def has_left(promoted_commit: str, current_commit: str | None, relation: Relation | None) -> bool:
    """Return whether an environment names neither a promoted commit nor a descendant of it.

    `current_commit` is the commit that the environment names now, `relation` the relation of this
    commit to the promoted one.
    """
    return current_commit != promoted_commit and (current_commit is None or relation != "ahead")


@dataclass(frozen=True, slots=True)
class Rollback:
    """A refusal of cd to write a commit, and the commit that people went back to ("" for none)."""

    reason: str
    back_to: str


def rollback_of(environment: str, promoted_commit: str, back_to: str) -> Rollback:
    """Return the rollback by which an environment left a commit: from this or a later commit."""
    reason = f"{environment} was rolled back to {back_to[:7]}; start cd by hand, without "
    return Rollback(f"{reason}promoted-from, to bring {promoted_commit[:7]} back", back_to)


def rollback_of_origin(origin: str, current_commit: str | None) -> Rollback:
    """Return the rollback for a commit from an environment that has left this commit."""
    current = current_commit[:7] if current_commit else "no commit"
    reason = f"base-repo.yaml of {origin}, which it comes from, names {current}"
    return Rollback(reason, current_commit or "")


def unknown_origin(origin: str) -> Rollback:
    """Return the rollback for an environment that no longer exists."""
    return Rollback(f"there is no Environment {origin!r} that it comes from", "")
