"""The meaning of a push to a GitOps branch for the promotion.

The tracking file before and after the push decides; labels and searches do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion.statuses import is_open


@dataclass(frozen=True, slots=True)
class Merge:
    """The meaning of a merge, and the commit of main that it promotes ("" for none).

    promotion       the tracking file names another commit
    continuation    it names the same commit, which is not deployed yet: a correction goes on
    configuration   something else changed
    revert          the tracking file went back, but not by CD: nothing is promoted
    """

    kind: Literal["promotion", "continuation", "configuration", "revert"]
    promoted_commit: str = ""


def meaning_of_push(
    before: str | None,
    after: str | None,
    *,
    goes_back: bool,
    environment_commit: str | None,
    latest: CommitStatus | None,
) -> Merge:
    """Return the meaning of a change of the tracking file.

    `before` and `after` are the promoted commits that the file names, None without a file.
    `goes_back`: `after` is an ancestor of `before`. `environment_commit` is the promoted commit
    that base-repo.yaml names; CD writes a rollback there first. `latest` is the status of `after`
    for the environment.
    """
    if after is None:
        return Merge("configuration" if before is None else "revert")
    if before == after:
        return Merge("continuation", after) if is_open(latest) else Merge("configuration")
    if goes_back and environment_commit != after:
        return Merge("revert")
    return Merge("promotion", after)


def most_important(meanings: Iterable[Merge]) -> Merge | None:
    """Return the meaning that counts if a push changes several trees of an environment."""
    order = ("promotion", "continuation", "revert", "configuration")
    return min(meanings, key=lambda merge: order.index(merge.kind), default=None)
