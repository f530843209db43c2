"""The commits that an environment has left, and those that bring them again."""

from __future__ import annotations

import pytest

from kalypso_actions.model.ancestry import Ancestry
from kalypso_actions.model.github import Relation
from kalypso_actions.promotion.cd_decision import (
    comes_back,
    commit_on_main,
    has_left,
    left_commits,
    left_since_cuts,
)

# 0 - 1 - 2 ------ 4 - 5, and 2 - s - 4: a merge of the side branch; x is not on main.
MAIN = Ancestry(
    "5", {"0": (), "1": ("0",), "2": ("1",), "3": ("2",), "s": ("2",), "4": ("3", "s"), "5": ("4",)}
)


@pytest.mark.parametrize(
    ("current_commit", "past_commits", "left", "held"),
    [
        pytest.param("2", "210", "", "", id="never back"),
        pytest.param("0", "0210", "12", "012", id="back past two"),
        pytest.param("1", "1210", "2", "012", id="back by one"),
        pytest.param("3", "3120", "", "", id="passed since"),
        pytest.param("2", "2310", "3", "0123s", id="left again"),
        pytest.param("s", "s32", "3", "0123s", id="to a side branch"),
        pytest.param("4", "4s3", "", "", id="merged"),
        pytest.param("x", "x20", "", "", id="not on main"),
        pytest.param("x", "x02", "2", "012", id="not on main after a rollback"),
        pytest.param(None, "02", "2", "012", id="absent after a rollback"),
        pytest.param(None, "", "", "", id="never anything"),
        pytest.param("1", "", "", "", id="inherited"),
        pytest.param("1", "1x", "", "", id="left what main lost"),
    ],
)
def test_left_commits(current_commit: str | None, past_commits: str, left: str, held: str) -> None:
    left_by_main = left_commits(current_commit, list(past_commits), MAIN)
    assert left_by_main == set(left)
    assert {parent for parent in MAIN.parents if comes_back(parent, left_by_main, MAIN)} >= set(
        held
    )
    beyond = {parent for parent in MAIN.parents if all(MAIN.contains(parent, old) for old in left)}
    assert {
        parent for parent in MAIN.parents if not comes_back(parent, left_by_main, MAIN)
    } == beyond - set(left)


@pytest.mark.parametrize(
    ("current_commit", "segments", "left"),
    [
        pytest.param("1", ["121"], "2", id="no other branch"),
        pytest.param("1", ["", "121"], "2", id="another branch was cut just now"),
        pytest.param("1", ["1", "2"], "", id="begins with an older commit"),
        pytest.param("1", ["1", "3", "5"], "", id="cut from a branch that was cut"),
        pytest.param("3", ["3", "121"], "", id="passed since"),
        pytest.param("1", ["1", "121"], "2", id="before the cut"),
        pytest.param("0", ["010", "121"], "12", id="before and after"),
    ],
)
def test_commits_left_before_or_after_a_branch_was_cut(
    current_commit: str, segments: list[str], left: str
) -> None:
    assert left_since_cuts(current_commit, [list(segment) for segment in segments], MAIN) == set(
        left
    )


def test_the_newest_commit_on_main() -> None:
    assert commit_on_main("1", ["2"], MAIN) == "1"
    assert commit_on_main("x", ["x", None, "2", "1"], MAIN) == "2"
    assert commit_on_main(None, [], MAIN) is None


@pytest.mark.parametrize(
    ("current_commit", "relation", "left"),
    [
        ("a", None, False),
        ("a", "identical", False),
        ("b", "ahead", False),
        ("b", "behind", True),
        ("b", "diverged", True),
        ("b", None, True),
        (None, None, True),
    ],
)
def test_when_an_environment_has_left_a_commit(
    current_commit: str | None, relation: Relation | None, left: bool
) -> None:
    assert has_left("a", current_commit, relation) == left


def test_the_first_parent_line() -> None:
    assert list(MAIN.first_parents()) == list("543210")
