"""What a commit breaks, and what was broken before."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import Location, Problem
from kalypso_actions.promotion.regressions import (
    Look,
    by_environment,
    regressions,
    without,
)

OLD = Problem("old", Location("https://github.com/acme/fleet", "a.yaml", 3))
NEW = Problem("new", Location("https://github.com/acme/fleet", "a.yaml", 3))
MOVED = Problem("old", Location("https://GitHub.com/acme/fleet.git", "a.yaml", 7))


@pytest.mark.parametrize(
    ("after", "before", "problems", "warnings"),
    [
        (Look(), Look(failures={"large/a": OLD}), [], []),
        (Look(failures={"large/a": NEW}), Look(), [NEW], []),
        (Look(failures={"large/a": NEW}), None, [NEW], []),
        # It fails for another reason now, but it did fail.
        (Look(failures={"large/a": NEW}), Look(failures={"large/a": OLD}), [], [NEW]),
        (Look(failures={"large/b": NEW}), Look(failures={"large/a": OLD}), [NEW], []),
        (Look(faults=(OLD, NEW)), Look(faults=(OLD,)), [NEW], [OLD]),
        (Look(faults=(MOVED,)), Look(faults=(OLD,)), [], [MOVED]),
        (Look(faults=(OLD,)), None, [OLD], []),
        (Look(unusable={"shop": (NEW,)}), Look(usable={"shop"}), [NEW], []),
        (Look(unusable={"shop": (NEW,)}), Look(unusable={"shop": (OLD,)}), [], [NEW]),
        (Look(unusable={"shop": (NEW,)}), Look(), [], [NEW]),
        (Look(unusable={"shop": (NEW,)}), None, [], [NEW]),
    ],
)
def test_what_is_new_is_a_problem_and_what_stood_a_warning(
    after: Look, before: Look | None, problems: list[Problem], warnings: list[Problem]
) -> None:
    found = regressions(after, before, sources_block=False)
    assert (list(found.problems), list(found.warnings)) == (problems, warnings)


@pytest.mark.parametrize(
    ("before", "is_problem"),
    [
        (None, True),
        (Look(), True),
        (Look(usable={"shop"}), True),
        (Look(unusable={"shop": (OLD,)}), False),
    ],
)
def test_where_sources_block_a_new_one_has_to_be_usable(
    before: Look | None, is_problem: bool
) -> None:
    found = regressions(Look(unusable={"shop": (NEW,)}), before, sources_block=True)
    assert bool(found.problems) == is_problem


def test_what_is_told_already_is_not_told_again() -> None:
    assert list(without([MOVED, NEW], [OLD])) == [NEW]


def test_what_several_environments_have_is_told_once() -> None:
    told = list(by_environment({"dev": [OLD, NEW, OLD], "stage": [NEW]}))
    assert [problem.message for problem in told] == ["dev: old", "dev, stage: new"]
    assert told[1].where == NEW.where
