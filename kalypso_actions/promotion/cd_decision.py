"""The decision of cd: write a commit to an environment's branch, leave it, or refuse it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from kalypso_actions.errors import UsageError
from kalypso_actions.model.github import Relation


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
