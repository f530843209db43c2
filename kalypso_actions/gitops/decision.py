"""What becomes of a proposed tree: a pull request, another state of one, or none.

People have the last word: what they have closed or reverted is not proposed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Action = Literal["none", "withdraw", "create", "update", "leave", "stop"]


@dataclass(frozen=True, slots=True)
class Proposed:
    """What this run proposes for one GitOps branch.

    `has_changes`: it differs from the branch (`sources.json` aside). `tracking` is the promoted
    commit that it names, `base_tracking` the one that the branch names now.
    """

    digest: str
    has_changes: bool
    tracking: str | None
    base_tracking: str | None


@dataclass(frozen=True, slots=True)
class Earlier:
    """A pull request of ours for the same branch.

    Of a merged one: `tracking_before` is what the branch named just before, and `stands` says that
    the branch still has what was merged. Of an open one: `fits` says that nothing of what it
    changes has changed on the branch since.
    """

    number: int
    state: Literal["open", "merged", "closed"]
    digest: str | None
    tracking: str | None
    withdrawn: bool = False
    tracking_before: str | None = None
    stands: bool = True
    fits: bool = True


@dataclass(frozen=True, slots=True)
class Decision:
    """What is done, why, and whether it may be merged without a person.

    none      nothing differs, nothing is open
    withdraw  nothing differs any more: our open pull request is closed
    create    a new pull request
    update    our open pull request gets the new tree
    leave     our open pull request says exactly this
    stop      people have rejected exactly this; one that is open says something else: it is closed
    """

    action: Action
    reason: str = ""
    may_merge: bool = True


def decide(
    proposed: Proposed, open_one: Earlier | None, latest: Earlier | None, *, force: bool
) -> Decision:
    """What becomes of the proposal.

    `open_one` is our open pull request, `latest` the latest of ours that is closed or merged, our
    own withdrawals left out.
    """
    if not proposed.has_changes:
        if open_one:
            return Decision("withdraw", "the branch has all of this already")
        return Decision("none", "the branch has all of this already")
    rejected = latest is not None and _rejected(proposed, latest)
    may_merge = not rejected
    is_open = open_one is not None and _same(proposed, open_one)
    # What is open in spite of a rejection, somebody has opened or forced again.
    if rejected and latest and _same(proposed, latest) and not (force or is_open):
        what = "closed without merging" if latest.state == "closed" else "undone after its merge"
        return Decision("stop", f"#{latest.number} with the same content was {what}", False)
    if open_one is None:
        return Decision("create", may_merge=may_merge)
    if is_open and open_one.fits:
        return Decision("leave", "nothing has changed since", may_merge)
    return Decision("update", may_merge=may_merge)


def _same(proposed: Proposed, earlier: Earlier) -> bool:
    return (earlier.digest, earlier.tracking) == (proposed.digest, proposed.tracking)


def _rejected(proposed: Proposed, latest: Earlier) -> bool:
    """Whether people have taken back our latest pull request, whatever is proposed now.

    Where what was merged is no longer there, the branch names a commit: that of the pull request or
    the one before it, if somebody reverted it or changed files by hand; any other, if somebody
    else's pull request went over it, which is no verdict.
    """
    if latest.withdrawn:
        return False
    if latest.state == "closed":
        return True
    by_hand = proposed.base_tracking in {latest.tracking, latest.tracking_before}
    return not latest.stands and by_hand
