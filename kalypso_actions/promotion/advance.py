"""What CD does with a commit that is to reach an environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kalypso_actions.errors import UsageError
from kalypso_actions.model.github import Relation


@dataclass(frozen=True, slots=True)
class Advance:
    """write: base-repo.yaml gets the commit; unchanged: it has it; superseded: it has a newer one.

    `rollback` says that what is written is no descendant of what was there.
    """

    action: Literal["write", "unchanged", "superseded"]
    rollback: bool = False


def about_to_have(
    current: str | None, proposed: str | None, relation: Relation | None
) -> str | None:
    """The commit that an environment has, or is about to have by a pull request that is open.

    `proposed` is the commit of that pull request, `relation` how it stands to the current one.
    What is older than the current one is not about to come, unless a person merges it: what
    arrives meanwhile is held against the newer of the two.
    """
    if proposed is None or (
        current is not None and relation in {"identical", "behind", "diverged"}
    ):
        return current
    return proposed


def advance(
    current: str | None,
    commit: str,
    *,
    relation: Relation | None,
    promoted_from: str,
    allow_rollback: bool,
) -> Advance:
    """Whether `commit` is written over `current`, the one that the environment has.

    `relation` is how the commit stands to the current one; None where there is no current one, or
    main does not have it. `promoted_from` is "" where a person started this. Raises UsageError
    where a person asks for an older commit without saying so.
    """
    if current == commit:
        return Advance("unchanged")
    if current is None or relation is None or relation == "ahead":
        return Advance("write")
    if promoted_from:
        return Advance("superseded")
    if allow_rollback:
        return Advance("write", rollback=True)
    kind = "older than" if relation == "behind" else "not a descendant of"
    raise UsageError(
        f"the commit {commit[:7]} is {kind} {current[:7]}, which the environment has, "
        "or is about to have",
        advice="to go back on purpose, set allow-rollback",
    )


def replaced_by(commit: str, current: str | None, proposed: str | None) -> str | None:
    """Return the commit that has replaced `commit` in the environment, if any.

    `current` is the environment's commit, `proposed` that of the open pull request.
    """
    newest = proposed or current
    return newest if newest != commit else None
