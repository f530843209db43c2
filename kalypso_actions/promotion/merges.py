"""What a push to a GitOps branch means for the promotion.

Told from the tracking file before and after, never from labels or a search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion.statuses import is_open


@dataclass(frozen=True, slots=True)
class Merge:
    """What was merged, and the commit of main that is promoted by it ("" for none).

    promotion       the tracking file names another commit
    continuation    it names the same one, which is not deployed yet: a fix goes on by itself
    configuration   something else changed
    revert          the tracking file went back without CD's doing: never carried on
    """

    kind: Literal["promotion", "continuation", "configuration", "revert"]
    commit: str = ""


def meaning_of_push(
    before: str | None,
    after: str | None,
    *,
    goes_back: bool,
    base_commit: str | None,
    latest: CommitStatus | None,
) -> Merge:
    """What the change of the tracking file from `before` to `after` says.

    Both are the commits that it names, None where there is no file. `goes_back`: `after` is an
    ancestor of `before`. `base_commit` is what base-repo.yaml names: a rollback by CD has been
    written there. `latest` is the status of `after` for the environment.
    """
    if after is None:
        return Merge("configuration" if before is None else "revert")
    if before == after:
        return Merge("continuation", after) if is_open(latest) else Merge("configuration")
    if goes_back and base_commit != after:
        return Merge("revert")
    return Merge("promotion", after)


def most_important(meanings: Iterable[Merge]) -> Merge | None:
    """Return the meaning that counts if a push changes several trees of an environment."""
    order = ("promotion", "continuation", "revert", "configuration")
    return min(meanings, key=lambda merge: order.index(merge.kind), default=None)
