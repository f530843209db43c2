"""New faults of a commit, and old ones."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import Location, Problem
from kalypso_actions.promotion.regressions import (
    EnvironmentFaults,
    by_environment,
    regressions,
    without,
)
from tests.breaks import breaks, turned

OLD = Problem("old", Location("https://github.com/acme/fleet", "a.yaml", 3))
NEW = Problem("new", Location("https://github.com/acme/fleet", "a.yaml", 3))
MOVED = Problem("old", Location("https://GitHub.com/acme/fleet.git", "a.yaml", 7))

OTHER_FILE = Problem("old", Location("https://github.com/acme/fleet", "b.yaml", 3))
NOWHERE = Problem("old")


@breaks(
    "a new fault of an environment is an old one",
    turned(
        regressions,
        "_key(problem) not in old",
        "_key(problem) in old",
    ),
)
@pytest.mark.parametrize(
    ("after", "before", "problems", "warnings"),
    [
        (EnvironmentFaults(), EnvironmentFaults(failures={"large/a": OLD}), [], []),
        (EnvironmentFaults(failures={"large/a": NEW}), EnvironmentFaults(), [NEW], []),
        (EnvironmentFaults(failures={"large/a": NEW}), None, [NEW], []),
        # It failed before, for another reason.
        (
            EnvironmentFaults(failures={"large/a": NEW}),
            EnvironmentFaults(failures={"large/a": OLD}),
            [],
            [NEW],
        ),
        (
            EnvironmentFaults(failures={"large/b": NEW}),
            EnvironmentFaults(failures={"large/a": OLD}),
            [NEW],
            [],
        ),
        (EnvironmentFaults(faults=(OLD, NEW)), EnvironmentFaults(faults=(OLD,)), [NEW], [OLD]),
        (EnvironmentFaults(faults=(MOVED,)), EnvironmentFaults(faults=(OLD,)), [], [MOVED]),
        (EnvironmentFaults(faults=(OLD,)), None, [OLD], []),
        (
            EnvironmentFaults(unusable={"shop": (NEW,)}),
            EnvironmentFaults(usable={"shop"}),
            [NEW],
            [],
        ),
        (
            EnvironmentFaults(unusable={"shop": (NEW,)}),
            EnvironmentFaults(unusable={"shop": (OLD,)}),
            [],
            [NEW],
        ),
        (
            EnvironmentFaults(unusable={"shop": (NEW,), "blog": (OLD,)}),
            EnvironmentFaults(unusable={"shop": (NEW,)}),
            [OLD],
            [NEW],
        ),
        # Two faults with one text are two faults if they stand in different files.
        (
            EnvironmentFaults(faults=(OTHER_FILE,)),
            EnvironmentFaults(faults=(OLD,)),
            [OTHER_FILE],
            [],
        ),
        (EnvironmentFaults(faults=(NOWHERE,)), EnvironmentFaults(faults=(OLD,)), [NOWHERE], []),
        # The commit registers it.
        (EnvironmentFaults(unusable={"shop": (NEW,)}), EnvironmentFaults(), [NEW], []),
        (EnvironmentFaults(unusable={"shop": (NEW,)}), None, [NEW], []),
    ],
)
def test_new_faults_are_problems_and_old_ones_warnings(
    after: EnvironmentFaults,
    before: EnvironmentFaults | None,
    problems: list[Problem],
    warnings: list[Problem],
) -> None:
    new_problems = regressions(after, before)
    assert (list(new_problems.problems), list(new_problems.warnings)) == (problems, warnings)


def test_the_registrations_of_a_later_commit_are_known() -> None:
    promoted = EnvironmentFaults(unusable={"shop": (OLD,)}, usable={"blog"})
    later = EnvironmentFaults(unusable={"blog": (OLD,), "lost": (OLD,)}, usable={"shop", "new"})
    both = promoted.with_registrations(later)
    assert both.unusable == {"shop": (OLD,), "lost": (OLD,)}
    assert both.usable == {"blog", "new"}


def test_reported_problems_are_left_out() -> None:
    assert list(without([MOVED, NEW], [OLD])) == [NEW]


def test_a_problem_of_several_environments_is_reported_once() -> None:
    problems = list(by_environment({"dev": [OLD, NEW, OLD], "stage": [NEW]}))
    assert [problem.message for problem in problems] == ["dev: old", "dev, stage: new"]
    assert problems[1].where == NEW.where
