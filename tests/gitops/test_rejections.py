"""The restrictions that earlier rejections put on a proposal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kalypso_actions.gitops.merge_history import MergeHistory, Rejection
from kalypso_actions.gitops.rejections import (
    ClosedProposal,
    Restrictions,
    closed_by_people,
    rejected_content,
)
from kalypso_actions.model.github import IssueEvent
from kalypso_actions.model.history import FileVersion
from tests.breaks import breaks, turned

M1 = "1" * 40
NEW, OTHER = FileVersion("100644", "a" * 40), FileVersion("100644", "b" * 40)
WANTED: dict[str, FileVersion | None] = {"large/app/namespace.yaml": NEW, "large/gone": None}
KEY = ("v1:new", M1)
PART: dict[str, FileVersion | None] = {"large/gone": None}
UNDONE = {content: Rejection(3, "undone", "merge") for content in WANTED.items()}


def history(
    removed: dict[tuple[str, FileVersion | None], Rejection] | None = None, merged: int = 0
) -> MergeHistory:
    return MergeHistory(removed or {}, dict.fromkeys(WANTED.items(), merged), 1, is_as_merged=True)


def closed(
    changes: dict[str, FileVersion | None] | None = None, number: int = 4, digest: str = "v1:old"
) -> ClosedProposal:
    return ClosedProposal(
        number, f"head{number}", digest, M1, WANTED if changes is None else changes
    )


UNDONE_TEXT = "#3 with the same content was undone after its merge"
CLOSED_TEXT = "#4 with the same content was closed without merging"


@breaks(
    "what was closed is proposed again",
    turned(
        "kalypso_actions.gitops.rejections.rejected_content",
        "sorted(closed, key=lambda pull: pull.number)",
        "[]",
    ),
)
@pytest.mark.parametrize(
    ("merges", "pulls", "reason", "again"),
    [
        (history(), [], "", ()),
        (history(UNDONE), [], UNDONE_TEXT, (3,)),
        (history(), [closed()], CLOSED_TEXT, (4,)),
        (history(UNDONE), [closed()], CLOSED_TEXT, (4,)),
        (history(), [closed(), closed(number=5)], CLOSED_TEXT.replace("4", "5"), (5,)),
        (history(UNDONE), [closed(PART)], f"{CLOSED_TEXT}; {UNDONE_TEXT}", (3, 4)),
        # A part of the proposal, or the same file with another content.
        (history(), [closed(PART)], "", (4,)),
        (history(), [closed({"large/app/namespace.yaml": OTHER})], "", ()),
        # A later merge of ours brought the content; an earlier one does not count.
        (history(merged=5), [closed()], "", ()),
        (history(merged=2), [closed()], CLOSED_TEXT, (4,)),
        # The same tree, though the branch has changed since.
        (history(), [closed(PART, digest="v1:new")], CLOSED_TEXT, (4,)),
        (history(merged=5), [closed(PART, digest="v1:new")], "", ()),
    ],
)
def test_restrictions(
    merges: MergeHistory, pulls: list[ClosedProposal], reason: str, again: tuple[int, ...]
) -> None:
    rejected = rejected_content(WANTED, KEY, merges, pulls)
    restrictions = rejected.restrictions((), closed=False, is_as_merged=True)
    hold = f"it proposes again what people removed: {', '.join(f'#{number}' for number in again)}"
    assert restrictions == Restrictions(reason, again, hold if again else "")


@breaks(
    "a changed setting is no wish",
    turned(
        "kalypso_actions.gitops.rejections.RejectedContent.restrictions",
        "self.is_all and not self.commits & set(changed)",
        "self.is_all",
    ),
)
def test_rejected_content_with_changed_inputs_is_proposed_again() -> None:
    rejected = rejected_content(WANTED, KEY, history(UNDONE), [])
    assert rejected.commits == {"merge"}
    restrictions = rejected.restrictions({"merge"}, closed=False, is_as_merged=True)
    assert (restrictions.rejected, restrictions.again) == ("", (3,))


def test_several_pull_requests_were_undone() -> None:
    removed = {
        content: Rejection(number, "undone", "merge")
        for number, content in zip((3, 2), WANTED.items(), strict=True)
    }
    rejected = rejected_content(WANTED, KEY, history(removed), [])
    restrictions = rejected.restrictions((), closed=False, is_as_merged=True)
    assert restrictions.rejected == "#2, #3 with the same content were undone after its merge"


def test_a_tree_that_changes_no_file_is_known_by_its_digest() -> None:
    """A branch that was cut from another environment's branch: only `sources.json` differs."""
    same = closed({}, digest="v1:new")
    rejected = rejected_content({}, KEY, history(), [same])
    restrictions = rejected.restrictions((), closed=True, is_as_merged=True)
    assert restrictions.rejected == CLOSED_TEXT
    assert not rejected_content({}, KEY, history(), [closed({})]).is_all


@breaks(
    "what people changed by hand is merged over",
    turned(
        "kalypso_actions.gitops.rejections.RejectedContent.restrictions", "is_as_merged", "True"
    ),
)
@breaks(
    "content that people took out is merged without them",
    turned("kalypso_actions.gitops.rejections.RejectedContent.restrictions", "closed", "False"),
)
@pytest.mark.parametrize(
    ("is_closed", "is_as_merged", "hold"),
    [
        (False, True, ""),
        (True, True, "people have rejected the one before it"),
        (False, False, "the branch holds something else than our last merge left there"),
    ],
)
def test_which_proposals_are_not_merged_automatically(
    is_closed: bool, is_as_merged: bool, hold: str
) -> None:
    rejected = rejected_content(WANTED, KEY, history(), [])
    restrictions = rejected.restrictions((), closed=is_closed, is_as_merged=is_as_merged)
    assert restrictions.hold == hold


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def event(name: str, second: float = 0, actor: str = "ada", by_bot: bool = False) -> IssueEvent:
    return IssueEvent(name, actor, by_bot, NOON + timedelta(seconds=second))


CLOSED, DELETED = event("closed"), event("head_ref_deleted")


@breaks(
    "a bot closes for people",
    turned("kalypso_actions.gitops.rejections.closed_by_people", "closing.by_bot", "False"),
)
@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([event("labeled"), CLOSED], True),
        ([event("closed", by_bot=True)], False),
        # A bot closed the pull request first and a person last, or the reverse.
        ([event("closed", by_bot=True), event("reopened"), event("closed", 60)], True),
        ([CLOSED, event("reopened", 30), event("closed", 60, by_bot=True)], False),
        # The deletion of the branch closes the pull request; GitHub reports both in either order.
        ([DELETED, event("closed", 5)], False),
        ([CLOSED, DELETED], False),
        ([CLOSED, event("head_ref_deleted", 2)], False),
        # Closed, and the branch deleted later, or by somebody else.
        ([CLOSED, event("head_ref_deleted", 3)], True),
        ([CLOSED, event("head_ref_deleted", 1, "cleaner")], True),
        # Deleted once, restored, and closed.
        ([DELETED, event("head_ref_restored", 60), event("closed", 90)], True),
        ([], True),
    ],
)
def test_whether_people_closed_a_pull_request(events: list[IssueEvent], expected: bool) -> None:
    assert closed_by_people(events) == expected
