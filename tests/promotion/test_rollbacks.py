"""Which commits people left, and the one to which a rollback goes back."""

from __future__ import annotations

import itertools

import pytest

from kalypso_actions.model.history import Ancestry
from kalypso_actions.promotion.rollbacks import (
    RollbackDecision,
    RollbackFacts,
    decide_rollback,
    decide_rollback_behind,
    rollback_candidates,
    rolled_back_from,
)
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


def decided(decision: RollbackDecision) -> str:
    """Return `write b`, the left commit too, or the reason."""
    if decision.action == "refused":
        return f"refused: {decision.reason}"
    return f"{decision.action} {decision.target or '-'} from {decision.left or '-'}"


NONE = (
    "refused: there is no commit to which prod can go back: it had none before that was Deployed "
    "there, and that nobody rolled back from"
)


@breaks(
    "a hold says without a rollback that an environment has gone back",
    turned(
        RollbackFacts.is_rolled_back,
        "is_back and bool(self.present) and self.present in self.held_at",
        "bool(self.held_at)",
    ),
    case="held where it is",
)
@breaks(
    "people go back to what was never deployed",
    turned(decide_rollback, "to not in facts.deployed", "False"),
    case="never deployed",
)
@breaks(
    "a rollback goes forward",
    turned(decide_rollback, "not main.contains(present, target)", "False"),
    case="newer",
)
@pytest.mark.parametrize(
    ("story", "deployed", "held", "to", "decision"),
    [
        pytest.param("abc", "abc", "", "", "write b from c", id="the last good one"),
        pytest.param("abc", "ac", "", "", "write a from c", id="never deployed in between"),
        pytest.param("abc", "c", "", "", NONE, id="nothing was deployed"),
        pytest.param("a", "a", "", "", NONE, id="one commit"),
        pytest.param("", "", "", "", NONE, id="no commit"),
        pytest.param("abcb", "abc", "b", "", "unchanged b from c", id="gone back, and held"),
        pytest.param("abcb", "abc", "", "", "write a from b", id="gone back, and released"),
        pytest.param("abcb", "abc", "b", "a", "write a from b", id="further back"),
        pytest.param("abc", "abc", "c", "", "write b from c", id="held where it is"),
        pytest.param("abc", "abc", "", "c", "present c from c", id="the present one"),
        pytest.param("abcb", "abc", "b", "b", "unchanged b from c", id="gone back there, and held"),
        pytest.param(
            "abcb", "abc", "", "b", "present b from b", id="gone back there, and released"
        ),
        pytest.param("abc", "abc", "", "a", "write a from c", id="an older one"),
        pytest.param("abcbd", "abcd", "", "c", "write c from d", id="people left it, and want it"),
        pytest.param(
            "abc", "abc", "", "e", "refused: e is not older than c, which prod has", id="newer"
        ),
        pytest.param(
            "abc", "ac", "", "b", "refused: b was never Deployed in prod", id="never deployed"
        ),
        pytest.param("ab-", "ab", "", "", "write b from -", id="taken away"),
    ],
)
def test_where_an_environment_goes_back(
    story: str, deployed: str, held: str, to: str, decision: str
) -> None:
    segments = named(story)
    good = next((each for each in rollback_candidates(segments, MAIN) if each in deployed), "")
    facts = RollbackFacts("prod", segments, MAIN, good, deployed, held)
    assert decided(decide_rollback(facts, to)) == decision


@breaks(
    "an environment behind goes back to a commit that contains the left one",
    turned(rollback_candidates, "without and main.contains(commit, without)", "False"),
    case="a descendant",
)
@breaks(
    "an environment behind goes back although it does not have the commit",
    turned(decide_rollback_behind, "not facts.main.contains(facts.present, left)", "False"),
    case="it never had it",
)
@pytest.mark.parametrize(
    ("story", "deployed", "held", "decision"),
    [
        pytest.param("abd", "abd", "", "write b from d", id="the same target"),
        pytest.param("ad", "ad", "", "write a from d", id="its own last good one"),
        pytest.param("abd", "ad", "", "write a from d", id="the target was not deployed there"),
        pytest.param("bcde", "bcde", "", "write b from e", id="the target, far back"),
        pytest.param("acde", "acde", "", "write c from e", id="a descendant"),
        pytest.param("de", "de", "", NONE, id="all contain it"),
        pytest.param("abc", "abc", "", "nothing - from c", id="it never had it"),
        pytest.param("abda", "abd", "a", "unchanged a from d", id="gone back before"),
        pytest.param("", "", "", "nothing - from -", id="no commit"),
    ],
)
def test_where_an_environment_behind_goes_back(
    story: str, deployed: str, held: str, decision: str
) -> None:
    """The one before it goes back from d to b."""
    segments = named(story)
    candidates = rollback_candidates(segments, MAIN, without="d")
    good = next((each for each in candidates if each in deployed), "")
    facts = RollbackFacts("prod", segments, MAIN, good, deployed, held)
    assert decided(decide_rollback_behind(facts, "d", "b")) == decision


def test_a_long_history_of_a_long_main() -> None:
    """Five years of promotions, twenty a day, of a main with a merge each: two seconds."""
    number = 36_500
    main = Ancestry(
        str(number), {str(n): (str(n - 1), f"side {n}") if n else () for n in range(number + 1)}
    )
    line: list[str | None] = [str(n) for n in range(number, -1, -1)]
    assert next(rollback_candidates([line], main)) == str(number - 1)
