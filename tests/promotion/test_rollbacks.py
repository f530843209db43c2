"""Which commits people left, and the one to which a rollback goes back."""

from __future__ import annotations

import itertools

import pytest

from kalypso_actions.model.history import Ancestry
from kalypso_actions.promotion.rollbacks import rollback_candidates, rolled_back_from
from tests.breaks import breaks, turned

LINE = "abcdefgh"
"""Main, from the oldest commit to the newest; `x` branched off at `b` and was merged as `d`."""

MAIN = Ancestry(
    "h",
    {"a": (), "x": ("b",)}
    | {
        after: (before, *(["x"] if after == "d" else []))
        for before, after in itertools.pairwise(LINE)
    },
)


def named(text: str) -> list[list[str | None]]:
    """Return segments, newest first, from a story: `-` names nothing, `|` cuts the branch."""
    segments = [[None if commit == "-" else commit for commit in part] for part in text.split("|")]
    return [segment[::-1] for segment in segments[::-1]]


@breaks(
    "a rollback leaves its first commit only",
    turned(rolled_back_from, "commits[place + 1 :]", "commits[place + 1 : place + 2]"),
    case="passed over",
)
@breaks(
    "a rollback goes forward to what people left",
    turned(rollback_candidates, "{*named[:1], *rolled_back_from(segments, main)}", "{*named[:1]}"),
    case="rolled back",
)
@breaks(
    "the first commit of a cut branch is a rollback",
    turned(rolled_back_from, "segments", "[[each for part in segments for each in part]]"),
    case="older than the origin",
)
@breaks(
    "a rollback goes back to the present commit",
    turned(rollback_candidates, "named[:1]", "named[:0]"),
)
@pytest.mark.parametrize(
    ("story", "left", "candidates"),
    [
        pytest.param("", "", "", id="nothing"),
        pytest.param("a", "", "", id="the first commit"),
        pytest.param("abc", "", "ba", id="forward only"),
        pytest.param("acac", "c", "a", id="rolled back, then brought back by a person"),
        pytest.param("aca", "c", "", id="a rollback does not go forward again"),
        pytest.param("abca", "bc", "", id="passed over on the way back"),
        pytest.param("abcbd", "c", "ba", id="rolled back before"),
        pytest.param("abcbcd", "c", "ba", id="rolled back, brought back, and passed"),
        pytest.param("abcdba", "bcd", "", id="two rollbacks"),
        pytest.param("bxc", "x", "b", id="beside each other"),
        pytest.param("ab-", "", "ba", id="taken away"),
        pytest.param("abc-a", "bc", "", id="taken away, then an older one"),
        pytest.param("abcz", "", "cba", id="a commit that main does not have"),
        pytest.param("azb", "", "a", id="such a commit in between"),
        pytest.param("ad|b", "", "da", id="the branch was cut, older than the origin"),
        pytest.param("ad|bcb", "c", "da", id="the branch was cut, rolled back, older"),
    ],
)
def test_what_people_left(story: str, left: str, candidates: str) -> None:
    segments = named(story)
    assert rolled_back_from(segments, MAIN) == set(left)
    assert list(rollback_candidates(segments, MAIN)) == list(candidates)


def test_a_long_history_of_a_long_main() -> None:
    """Five years of promotions, twenty a day, of a main with a merge each: two seconds."""
    number = 36_500
    main = Ancestry(
        str(number), {str(n): (str(n - 1), f"side {n}") if n else () for n in range(number + 1)}
    )
    line: list[str | None] = [str(n) for n in range(number, -1, -1)]
    assert next(rollback_candidates([line], main)) == str(number - 1)
