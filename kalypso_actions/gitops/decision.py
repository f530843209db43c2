"""What becomes of a proposed tree: a pull request, another state of one, or none.

People have the last word: what they have closed or reverted is not proposed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kalypso_actions.gitops.rejections import Verdict

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
class OpenProposal:
    """Our open pull request; it fits where nothing that it changes has changed on the branch."""

    number: int
    digest: str | None
    tracking: str | None
    fits: bool = True


@dataclass(frozen=True, slots=True)
class Decision:
    """What is done, and why. For `again` and `hold` see `Verdict`.

    none      nothing differs, nothing is open
    withdraw  nothing differs any more: our open pull request is closed
    create    a new pull request
    update    our open pull request gets the new tree
    leave     our open pull request says exactly this
    stop      people have rejected exactly this; one that is open says something else: it is closed
    """

    action: Action
    reason: str = ""
    again: tuple[int, ...] = ()
    hold: str = ""


def decide(
    proposed: Proposed, open_one: OpenProposal | None, verdict: Verdict, *, force: bool
) -> Decision:
    """What becomes of the proposal. `open_one` is our open pull request."""
    if not proposed.has_changes:
        if open_one:
            return Decision("withdraw", "the branch has all of this already")
        return Decision("none", "the branch has all of this already")
    is_open = open_one is not None and (
        (open_one.digest, open_one.tracking) == (proposed.digest, proposed.tracking)
    )
    # What is open in spite of a rejection, somebody has opened or forced again.
    if verdict.rejected and not (force or is_open):
        return Decision("stop", verdict.rejected, verdict.again, verdict.hold)
    if open_one is None:
        return Decision("create", "", verdict.again, verdict.hold)
    if is_open and open_one.fits:
        return Decision("leave", "nothing has changed since", verdict.again, verdict.hold)
    return Decision("update", "", verdict.again, verdict.hold)
