"""The commits and values of a proposal, as Markdown."""

from __future__ import annotations

import pytest

from kalypso_actions.model.differences import (
    AssignmentName,
    CommitRange,
    CommitSubject,
    Comparison,
    MaskedComparison,
    SetValue,
    ValueChange,
    Withheld,
)
from kalypso_actions.report.arrivals import arrival_sections

A, B, URL = "a" * 40, "b" * 40, "https://git.test/acme/fleet"


def commits(**given: object) -> CommitRange:
    return CommitRange(**{"repository": URL, "name": "main", "base": A, "head": B, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (commits(total=1), "**1 commit** of `main` (`aaaaaaa` → `bbbbbbb`)"),
        (commits(total=0, behind=2), "**Back by 2 commits** of `main` (`aaaaaaa` → `bbbbbbb`)"),
        (
            commits(total=1, behind=2),
            "**1 commit forward, back by 2 commits** of `main` (`aaaaaaa` → `bbbbbbb`)",
        ),
        (commits(), "**Other commits** of `main`"),
    ],
)
def test_where_a_repository_moved(item: CommitRange, expected: str) -> None:
    assert list(arrival_sections([item], None)) == [expected]


def test_long_subjects_and_values_are_cut() -> None:
    subject = CommitSubject(B, "x" * 100_000, f"{URL}/commit/{B}")
    names = tuple(AssignmentName("dev", "c", f"t{number}") for number in range(9))
    value = ValueChange(("A", "b"), names, None, SetValue(["y" * 100_000], None))
    comparison = Comparison("dev", values=(value,) * 60, withheld=(Withheld(URL, values=3),))
    sections = arrival_sections(
        [commits(total=30, commits=(subject,))], MaskedComparison(comparison)
    )
    text = "\n\n".join(sections)
    assert len(text) < 20_000
    assert "- … and 29 older commits" in text
    assert "`c/t0, c/t1 and 7 more`" in text
    assert "… and 10 more values" in text
    assert "3 configuration values changed in repositories that are less visible" in text


def test_nothing_comes() -> None:
    assert not list(arrival_sections([], MaskedComparison(Comparison("dev"))))
