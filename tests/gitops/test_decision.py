from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.gitops import Earlier, Proposed, decide

M0, M1, M2 = "0" * 40, "1" * 40, "2" * 40


def proposed(
    digest: str = "new", tracking: str | None = M1, base: str | None = M0, changed: bool = True
) -> Proposed:
    return Proposed(digest, changed, tracking, base)


def earlier(state: Any, digest: str = "new", tracking: str | None = M1, **more: Any) -> Earlier:
    return Earlier(7, state, digest, tracking, **more)


MERGED = earlier("merged", tracking_before=M0)
REVERTED = earlier("merged", tracking_before=M0, stands=False)


@pytest.mark.parametrize(
    ("now", "open_one", "latest", "action", "may_merge"),
    [
        (proposed(), None, None, "create", True),
        (proposed(changed=False), None, None, "none", True),
        (proposed(changed=False), earlier("open"), None, "withdraw", True),
        (proposed(), earlier("open"), None, "leave", True),
        (proposed(), earlier("open", "old"), None, "update", True),
        (proposed(), earlier("open", tracking=M0), None, "update", True),
        (proposed(), earlier("open", fits=False), None, "update", True),
        # Closed by people, with this content: not again; with another: not by itself.
        (proposed(), None, earlier("closed"), "stop", False),
        (proposed("other"), None, earlier("closed"), "create", False),
        (proposed(tracking=M2), None, earlier("closed"), "create", False),
        (proposed(), None, earlier("closed", withdrawn=True), "create", True),
        (proposed(changed=False), None, earlier("closed"), "none", True),
        # Reverted after the merge: the branch names the commit of before.
        (proposed(base=M0), None, REVERTED, "stop", False),
        (proposed("other", base=M0), None, REVERTED, "create", False),
        (proposed(tracking=M2, base=M0), None, REVERTED, "create", False),
        # Changed by hand: it names the commit of the pull request.
        (proposed(base=M1), None, REVERTED, "stop", False),
        # Somebody else's pull request went over ours.
        (proposed(base=M2), None, REVERTED, "create", True),
        (proposed(base=None), None, REVERTED, "create", True),
        # It stands: what is proposed now is new.
        (proposed("other", base=M1), None, MERGED, "create", True),
        (proposed(tracking=M2, base=M1), None, MERGED, "create", True),
        # An open one beside a rejected one: people may merge it, we do not.
        (proposed("other"), earlier("open", "other"), earlier("closed"), "leave", False),
        (proposed("other"), earlier("open", "old"), earlier("closed"), "update", False),
        # It was rejected, and opened again, perhaps by force: it stays, and people merge it.
        (proposed(), earlier("open"), earlier("closed"), "leave", False),
        (proposed(), earlier("open", fits=False), earlier("closed"), "update", False),
        # What is open is not what is wanted, and what is wanted was rejected.
        (proposed(), earlier("open", "old"), earlier("closed"), "stop", False),
    ],
)
def test_what_becomes_of_it(
    now: Proposed, open_one: Earlier | None, latest: Earlier | None, action: str, may_merge: bool
) -> None:
    decision = decide(now, open_one, latest, force=False)
    assert decision.action == action
    assert action in {"none", "withdraw"} or decision.may_merge == may_merge


@pytest.mark.parametrize("latest", [earlier("closed"), REVERTED])
def test_force_proposes_again_and_still_asks_people(latest: Earlier) -> None:
    decision = decide(proposed(), None, latest, force=True)
    assert (decision.action, decision.may_merge) == ("create", False)


def test_the_reason_names_the_pull_request() -> None:
    closed = decide(proposed(), None, earlier("closed"), force=False)
    assert closed.reason == "#7 with the same content was closed without merging"
    undone = decide(proposed(), None, REVERTED, force=False)
    assert undone.reason == "#7 with the same content was undone after its merge"
