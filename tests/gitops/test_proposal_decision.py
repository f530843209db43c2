from __future__ import annotations

import pytest

from kalypso_actions.gitops.proposal_decision import (
    OpenProposal,
    ProposalDecision,
    ProposedTree,
    decide,
    ends_auto_merge,
    why_schedule,
)
from kalypso_actions.gitops.rejections import Restrictions
from tests.breaks import breaks, turned

M0, M1 = "0" * 40, "1" * 40

REJECTED = Restrictions("#7 was closed", (7,), "held")
AGAIN = Restrictions("", (7,), "held")


def proposed(changed: bool = True) -> ProposedTree:
    return ProposedTree("new", changed, M1, M0)


def is_open(digest: str = "new", commit: str | None = M1, fits: bool = True) -> OpenProposal:
    return OpenProposal(digest, commit, fits)


@breaks(
    "an open proposal of an older commit is left",
    turned(
        "kalypso_actions.gitops.proposal_decision.decide",
        "(open_proposal.digest, open_proposal.promoted_commit) == (proposal.digest, proposal.promoted_commit)",
        "open_proposal.digest == proposal.digest",
    ),
)
@breaks(
    "a proposal that no longer fits is left open",
    turned(
        "kalypso_actions.gitops.proposal_decision.decide",
        "is_open and open_proposal.fits",
        "is_open",
    ),
)
@pytest.mark.parametrize(
    ("proposal", "open_proposal", "restrictions", "action"),
    [
        (proposed(), None, Restrictions(), "create"),
        (proposed(changed=False), None, Restrictions(), "none"),
        (proposed(changed=False), is_open(), Restrictions(), "withdraw"),
        (proposed(changed=False), None, REJECTED, "none"),
        (proposed(), is_open(), Restrictions(), "leave"),
        (proposed(), is_open("old"), Restrictions(), "update"),
        (proposed(), is_open(commit=M0), Restrictions(), "update"),
        (proposed(), is_open(fits=False), Restrictions(), "update"),
        (proposed(), None, REJECTED, "stop"),
        (proposed(), None, AGAIN, "create"),
        (proposed(), is_open("old"), AGAIN, "update"),
        # A rejected proposal that somebody reopened or forced stays open.
        (proposed(), is_open(), REJECTED, "leave"),
        (proposed(), is_open(fits=False), REJECTED, "update"),
        # Another tree is open, and people rejected the present one.
        (proposed(), is_open("old"), REJECTED, "stop"),
    ],
)
def test_decision(
    proposal: ProposedTree,
    open_proposal: OpenProposal | None,
    restrictions: Restrictions,
    action: str,
) -> None:
    decision = decide(proposal, open_proposal, restrictions, force=False)
    assert decision.action == action
    if action in {"create", "update", "leave"}:
        assert (decision.again, decision.hold) == (restrictions.again, restrictions.hold)


@breaks(
    "force repairs nothing",
    turned("kalypso_actions.gitops.proposal_decision.decide", "force or is_open", "is_open"),
)
def test_force_proposes_again_but_does_not_merge() -> None:
    decision = decide(proposed(), None, REJECTED, force=True)
    assert (decision.action, decision.again, decision.hold) == ("create", (7,), "held")


def test_the_reason_of_a_rejection() -> None:
    assert decide(proposed(), None, REJECTED, force=False).reason == "#7 was closed"


BASE, EARLIER = "a" * 40, "b" * 40
CONFLICTS = "conflicts with its branch"
TO_MERGE = "is ready for a merge"
NOW = "can be merged now"


@breaks(
    "a refused merge is not tried again",
    turned(
        "kalypso_actions.gitops.proposal_decision.why_schedule",
        "is_ready and not was_ready",
        "was_ready",
    ),
)
@breaks(
    "a pull request that GitHub still thinks about conflicts",
    turned(
        "kalypso_actions.gitops.proposal_decision.why_schedule",
        "mergeable is False",
        "not mergeable",
    ),
)
@pytest.mark.parametrize(
    ("mergeable", "merge_state", "auto_merge", "tried", "why"),
    [
        pytest.param(True, "clean", False, None, "", id="people merge it"),
        pytest.param(True, "clean", False, (EARLIER, "blocked"), "", id="people merge it now"),
        pytest.param(None, "unknown", False, None, "", id="GitHub does not know yet"),
        pytest.param(False, "dirty", False, None, CONFLICTS, id="conflicts"),
        pytest.param(False, "dirty", True, None, CONFLICTS, id="conflicts, to be merged"),
        pytest.param(
            False, "dirty", True, (EARLIER, "dirty"), CONFLICTS, id="conflicts, another base"
        ),
        pytest.param(False, "dirty", True, (BASE, "dirty"), "", id="conflicts, tried"),
        pytest.param(False, "dirty", False, (BASE, ""), "", id="conflicts, tried by nobody"),
        pytest.param(True, "clean", True, None, TO_MERGE, id="never tried"),
        pytest.param(None, "unknown", True, None, TO_MERGE, id="never tried, unknown"),
        pytest.param(True, "blocked", True, None, TO_MERGE, id="never tried, blocked"),
        pytest.param(True, "blocked", True, (EARLIER, "blocked"), TO_MERGE, id="another base"),
        pytest.param(True, "blocked", True, (BASE, "blocked"), "", id="blocked as before"),
        pytest.param(None, "unknown", True, (BASE, "blocked"), "", id="unknown after blocked"),
        pytest.param(True, "behind", True, (BASE, "blocked"), "", id="behind after blocked"),
        pytest.param(True, "clean", True, (BASE, "blocked"), NOW, id="clean after blocked"),
        pytest.param(True, "unstable", True, (BASE, ""), NOW, id="unstable after no state"),
        pytest.param(True, "has_hooks", True, (BASE, "unknown"), NOW, id="hooks after unknown"),
        pytest.param(True, "clean", True, (BASE, "clean"), "", id="refused though clean"),
        pytest.param(True, "clean", True, (BASE, "unstable"), "", id="refused though unstable"),
        pytest.param(True, "clean", False, (BASE, "blocked"), "", id="no longer asked for"),
    ],
)
def test_why_schedule_is_started(
    mergeable: bool | None,
    merge_state: str,
    auto_merge: bool,
    tried: tuple[str, str] | None,
    why: str,
) -> None:
    reason = why_schedule(
        base_head=BASE,
        mergeable=mergeable,
        merge_state=merge_state,
        auto_merge=auto_merge,
        tried=tried,
    )
    assert reason == why


@breaks(
    "GitHub merges what schedule may not merge",
    turned(
        "kalypso_actions.gitops.proposal_decision.ends_auto_merge",
        "is_own and not (decision is not None and merges)",
        "False",
    ),
)
@breaks(
    "GitHub merges new content that nobody allowed it to merge",
    turned(
        "kalypso_actions.gitops.proposal_decision.ends_auto_merge",
        "decision is not None and decision.action != 'leave'",
        "False",
    ),
)
@pytest.mark.parametrize(
    ("decision", "merges", "is_own", "ends"),
    [
        pytest.param(ProposalDecision("leave"), True, True, False, id="the same content"),
        pytest.param(
            ProposalDecision("leave"), False, True, True, id="held, or no longer asked for"
        ),
        pytest.param(ProposalDecision("leave"), False, False, False, id="people want this content"),
        pytest.param(ProposalDecision("update"), True, True, True, id="new content"),
        pytest.param(ProposalDecision("update"), True, False, True, id="people know other content"),
        pytest.param(ProposalDecision("withdraw"), False, False, True, id="withdrawn"),
        pytest.param(ProposalDecision("stop"), False, True, True, id="rejected"),
        pytest.param(None, False, True, True, id="blocked"),
        pytest.param(None, False, False, False, id="blocked, enabled by people"),
    ],
)
def test_the_end_of_auto_merge(
    decision: ProposalDecision | None, merges: bool, is_own: bool, ends: bool
) -> None:
    assert ends_auto_merge(decision, merges=merges, is_own=is_own) == ends
