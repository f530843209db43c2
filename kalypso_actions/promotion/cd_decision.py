"""The decision of cd: write a commit to an environment's branch, leave it, or refuse it.

Only a person's own dispatch brings back a commit that people have rolled back; later commits of
main may arrive.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from kalypso_actions.errors import UsageError
from kalypso_actions.model.github import Relation
from kalypso_actions.model.history import Ancestry


@dataclass(frozen=True, slots=True)
class Advance:
    """The decision about a promoted commit.

    write       write it to base-repo.yaml; as a `rollback` if it does not descend from the old one
    unchanged   base-repo.yaml names it already
    superseded  the environment has a newer one
    """

    action: Literal["write", "unchanged", "superseded"]
    rollback: bool = False


def is_proposed(
    own_head: str,
    promoted_commit: str | None,
    current: str | None,
    ended_heads: Collection[str],
) -> bool:
    """Whether our branch proposes `promoted_commit`, although no pull request is open.

    A run pushes the branch before it opens the pull request. In between, only the branch's head
    shows the proposal, and another run must neither overwrite nor ignore it. The head of a closed
    or merged pull request (`ended_heads`) and the environment's own commit (`current`) propose
    nothing.
    """
    return own_head not in ended_heads and promoted_commit not in {None, current}


def expected_commit(
    current: str | None, proposed: str | None, relation: Relation | None
) -> str | None:
    """Return the commit that an environment has, or will have after the merge of a pull request.

    `proposed` is the commit that our branch proposes, `relation` its relation to the current one.
    Only a person merges an older commit than the current one, so it is not expected.
    """
    if proposed is None or (
        current is not None and relation in {"identical", "behind", "diverged"}
    ):
        return current
    return proposed


def advance(
    current: str | None,
    promoted_commit: str,
    *,
    relation: Relation | None,
    promoted_from: str,
    allow_rollback: bool,
) -> Advance:
    """Decide whether CD writes `promoted_commit` over `current`, the environment's commit.

    `relation` is the relation of the promoted commit to the current one; None if there is no
    current commit, or main does not have it. `promoted_from` is "" if a person started CD. Raise
    UsageError if a person asks for an older commit without allowing a rollback.
    """
    if current == promoted_commit:
        return Advance("unchanged")
    if current is None or relation is None or relation == "ahead":
        return Advance("write")
    if promoted_from:
        return Advance("superseded")
    if allow_rollback:
        return Advance("write", rollback=True)
    kind = "older than" if relation == "behind" else "not a descendant of"
    raise UsageError(
        f"the commit {promoted_commit[:7]} is {kind} {current[:7]}, which the environment has, "
        "or will have after the merge of an open pull request",
        advice="to go back on purpose, set allow-rollback",
    )


def replaced_by(commit: str, current: str | None, proposed: str | None) -> str | None:
    """Return the commit that has replaced `commit` in the environment, if any.

    `current` is the environment's commit, `proposed` the one that our branch proposes.
    """
    newest = proposed or current
    return newest if newest != commit else None


def takes_back(relation: Relation) -> bool:
    """Whether a new commit takes back the commit that it replaces, because it does not contain it.

    `relation` is the relation of the new commit to the replaced one.
    """
    return relation in {"behind", "diverged"}


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
