from __future__ import annotations

import pytest

from kalypso_actions.gitops import OpenProposal, Proposed, Verdict, decide

M0, M1 = "0" * 40, "1" * 40

REJECTED = Verdict("#7 was closed", (7,), "held")
AGAIN = Verdict("", (7,), "held")


def proposed(changed: bool = True) -> Proposed:
    return Proposed("new", changed, M1, M0)


def is_open(digest: str = "new", tracking: str | None = M1, fits: bool = True) -> OpenProposal:
    return OpenProposal(9, digest, tracking, fits)


@pytest.mark.parametrize(
    ("now", "open_one", "verdict", "action"),
    [
        (proposed(), None, Verdict(), "create"),
        (proposed(changed=False), None, Verdict(), "none"),
        (proposed(changed=False), is_open(), Verdict(), "withdraw"),
        (proposed(changed=False), None, REJECTED, "none"),
        (proposed(), is_open(), Verdict(), "leave"),
        (proposed(), is_open("old"), Verdict(), "update"),
        (proposed(), is_open(tracking=M0), Verdict(), "update"),
        (proposed(), is_open(fits=False), Verdict(), "update"),
        (proposed(), None, REJECTED, "stop"),
        (proposed(), None, AGAIN, "create"),
        (proposed(), is_open("old"), AGAIN, "update"),
        # It was rejected, and opened again, perhaps by force: it stays, and people merge it.
        (proposed(), is_open(), REJECTED, "leave"),
        (proposed(), is_open(fits=False), REJECTED, "update"),
        # What is open is not what is wanted, and what is wanted was rejected.
        (proposed(), is_open("old"), REJECTED, "stop"),
    ],
)
def test_what_becomes_of_it(
    now: Proposed, open_one: OpenProposal | None, verdict: Verdict, action: str
) -> None:
    decision = decide(now, open_one, verdict, force=False)
    assert decision.action == action
    if action in {"create", "update", "leave"}:
        assert (decision.again, decision.hold) == (verdict.again, verdict.hold)


def test_force_proposes_again_and_still_asks_people() -> None:
    decision = decide(proposed(), None, REJECTED, force=True)
    assert (decision.action, decision.again, decision.hold) == ("create", (7,), "held")


def test_the_reason_is_told() -> None:
    assert decide(proposed(), None, REJECTED, force=False).reason == "#7 was closed"
