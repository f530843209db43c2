"""A proposal held against what people took out."""

from __future__ import annotations

import pytest

from kalypso_actions.gitops import ClosedProposal, Past, Rejection, Verdict, rejected
from kalypso_actions.model.history import FileVersion

M1 = "1" * 40
NEW, OTHER = FileVersion("100644", "a" * 40), FileVersion("100644", "b" * 40)
WANTED: dict[str, FileVersion | None] = {"large/app/namespace.yaml": NEW, "large/gone": None}
KEY = ("v1:new", M1)
PART: dict[str, FileVersion | None] = {"large/gone": None}
UNDONE = {content: Rejection(3, "undone", "merge") for content in WANTED.items()}


def past(
    taken_out: dict[tuple[str, FileVersion | None], Rejection] | None = None, brought: int = 0
) -> Past:
    return Past(taken_out or {}, dict.fromkeys(WANTED.items(), brought), 1, is_as_merged=True)


def closed(
    changes: dict[str, FileVersion | None] | None = None, number: int = 4, digest: str = "v1:old"
) -> ClosedProposal:
    return ClosedProposal(
        number, f"head{number}", digest, M1, WANTED if changes is None else changes
    )


UNDONE_TEXT = "#3 with the same content was undone after its merge"
CLOSED_TEXT = "#4 with the same content was closed without merging"


@pytest.mark.parametrize(
    ("before", "pulls", "reason", "again"),
    [
        (past(), [], "", ()),
        (past(UNDONE), [], UNDONE_TEXT, (3,)),
        (past(), [closed()], CLOSED_TEXT, (4,)),
        (past(UNDONE), [closed()], CLOSED_TEXT, (4,)),
        (past(), [closed(), closed(number=5)], CLOSED_TEXT.replace("4", "5"), (5,)),
        (past(UNDONE), [closed(PART)], f"{CLOSED_TEXT}; {UNDONE_TEXT}", (3, 4)),
        # A part of it, or the same file with another content.
        (past(), [closed(PART)], "", (4,)),
        (past(), [closed({"large/app/namespace.yaml": OTHER})], "", ()),
        # A later merge of ours has brought it; an earlier one has not.
        (past(brought=5), [closed()], "", ()),
        (past(brought=2), [closed()], CLOSED_TEXT, (4,)),
        # The same tree as a whole, though the branch has changed since.
        (past(), [closed(PART, digest="v1:new")], CLOSED_TEXT, (4,)),
        (past(brought=5), [closed(PART, digest="v1:new")], "", ()),
    ],
)
def test_what_people_said(
    before: Past, pulls: list[ClosedProposal], reason: str, again: tuple[int, ...]
) -> None:
    verdict = rejected(WANTED, KEY, before, pulls).verdict((), closed=False, is_as_merged=True)
    hold = f"it contains again what people took out: {', '.join(f'#{one}' for one in again)}"
    assert verdict == Verdict(reason, again, hold if again else "")


def test_what_was_asked_for_since_is_proposed_and_named() -> None:
    found = rejected(WANTED, KEY, past(UNDONE), [])
    assert found.commits == {"merge"}
    verdict = found.verdict({"merge"}, closed=False, is_as_merged=True)
    assert (verdict.rejected, verdict.again) == ("", (3,))


def test_several_pull_requests_were_undone() -> None:
    taken = {
        content: Rejection(number, "undone", "merge")
        for number, content in zip((3, 2), WANTED.items(), strict=True)
    }
    verdict = rejected(WANTED, KEY, past(taken), []).verdict((), closed=False, is_as_merged=True)
    assert verdict.rejected == "#2, #3 with the same content were undone after its merge"


def test_a_tree_that_changes_no_file_is_known_by_its_digest() -> None:
    """A branch that was cut from another environment's: `sources.json` alone tells."""
    same = closed({}, digest="v1:new")
    verdict = rejected({}, KEY, past(), [same]).verdict((), closed=True, is_as_merged=True)
    assert verdict.rejected == CLOSED_TEXT
    assert not rejected({}, KEY, past(), [closed({})]).is_all


@pytest.mark.parametrize(
    ("is_closed", "is_as_merged", "hold"),
    [
        (False, True, ""),
        (True, True, "people have rejected the one before it"),
        (False, False, "the branch holds something else than our last merge left there"),
    ],
)
def test_what_is_not_merged_automatically(is_closed: bool, is_as_merged: bool, hold: str) -> None:
    found = rejected(WANTED, KEY, past(), [])
    assert found.verdict((), closed=is_closed, is_as_merged=is_as_merged).hold == hold
