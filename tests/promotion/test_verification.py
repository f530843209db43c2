"""What check-promote was told, held against what the repositories say."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import Location
from kalypso_actions.model.github import Relation
from kalypso_actions.promotion.verification import (
    Claim,
    refuted_by_base,
    refuted_by_branch,
    refuted_by_main,
)

M, G, OTHER = "a" * 40, "b" * 40, "c" * 40
PROMOTION, CONFIGURATION = Claim("dev", M, G), Claim("dev", None, G)
HERE = Location("https://github.com/acme/gitops")


@pytest.mark.parametrize(
    ("claim", "head", "tracked", "message"),
    [
        (PROMOTION, "identical", M, ""),
        (PROMOTION, "ahead", M, ""),
        (CONFIGURATION, "ahead", None, ""),
        (CONFIGURATION, "ahead", M, ""),
        *(
            (claim, head, M, "the commit bbbbbbb does not lie on the branch 'dev'")
            for claim in (PROMOTION, CONFIGURATION)
            for head in ("behind", "diverged", None)
        ),
        (
            PROMOTION,
            "ahead",
            OTHER,
            "the tracking file of the commit bbbbbbb names ccccccc, not aaaaaaa",
        ),
        (
            PROMOTION,
            "identical",
            None,
            "the tracking file of the commit bbbbbbb names no commit, not aaaaaaa",
        ),
    ],
)
def test_what_a_branch_says(
    claim: Claim, head: Relation | None, tracked: str | None, message: str
) -> None:
    problem = refuted_by_branch(claim, "dev", head, tracked, HERE)
    assert (problem.message if problem else "") == message
    assert problem is None or (problem.where == HERE and problem.advice)


@pytest.mark.parametrize(
    ("claim", "tracked", "is_refuted"),
    [(PROMOTION, M, True), (PROMOTION, OTHER, True), (CONFIGURATION, M, False)],
)
def test_sources_that_name_another_commit(claim: Claim, tracked: str, is_refuted: bool) -> None:
    path = "tree/.github/tracking/sources.json"
    problem = refuted_by_branch(claim, "dev", "ahead", tracked, HERE, contradiction=path)
    assert (problem is not None) == is_refuted
    if problem and tracked == M:
        assert problem.where == Location(HERE.repository, path)
        assert problem.advice == "run schedule for dev, and merge its pull request"


def test_what_the_environments_branch_says() -> None:
    where = Location("https://github.com/acme/fleet", "base-repo.yaml")
    problem = refuted_by_base(PROMOTION, named=False, branch="dev", where=where)
    assert problem
    assert (
        problem.message == "the BaseRepo 'main' on the branch 'dev' never named the commit aaaaaaa"
    )
    assert problem.where == where
    assert "promote it to dev" in problem.advice
    assert refuted_by_base(PROMOTION, named=True, branch="dev", where=where) is None
    assert refuted_by_base(CONFIGURATION, named=False, branch="dev", where=where) is None


@pytest.mark.parametrize(
    ("main", "holds"),
    [("identical", True), ("ahead", True), ("behind", False), ("diverged", False), (None, False)],
)
def test_what_main_says(main: Relation | None, holds: bool) -> None:
    problem = refuted_by_main(PROMOTION, main, HERE)
    assert (problem is None) == holds
    assert problem is None or problem.message == "the promoted commit aaaaaaa does not lie on main"
    assert refuted_by_main(CONFIGURATION, main, HERE) is None
