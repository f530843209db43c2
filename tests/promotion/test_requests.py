"""The request to check a promotion, checked against the repositories."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import Location
from kalypso_actions.model.github import CommitStatus, Relation
from kalypso_actions.promotion import statuses
from kalypso_actions.promotion.requests import (
    Merge,
    PromotionRequest,
    branch_problem,
    environment_problem,
    main_problem,
    meaning_of_state,
)
from tests.breaks import breaks, returning, turned

M, G, OTHER = "a" * 40, "b" * 40, "c" * 40
PROMOTION, CONFIGURATION = PromotionRequest("dev", M, G), PromotionRequest("dev", None, G)
HERE = Location("https://github.com/acme/gitops")


@breaks(
    "a commit beside the GitOps branch is believed",
    turned(branch_problem, "head not in ON_BRANCH", "head is None"),
)
@breaks(
    "a dispatch is believed",
    turned(
        branch_problem,
        "requested == promoted_commit",
        "promoted_commit",
    ),
)
@pytest.mark.parametrize(
    ("request_", "head", "promoted_commit", "message"),
    [
        (PROMOTION, "identical", M, ""),
        (PROMOTION, "ahead", M, ""),
        (CONFIGURATION, "ahead", None, ""),
        (CONFIGURATION, "ahead", M, ""),
        *(
            (request, head, M, "the commit bbbbbbb does not lie on the branch 'dev'")
            for request in (PROMOTION, CONFIGURATION)
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
def test_problems_with_a_branch(
    request_: PromotionRequest, head: Relation | None, promoted_commit: str | None, message: str
) -> None:
    problem = branch_problem(request_, "dev", head, promoted_commit, HERE)
    assert (problem.message if problem else "") == message
    assert problem is None or (problem.where == HERE and problem.advice)


@breaks(
    "a claim needs no sources.json",
    returning("kalypso_actions.promotion.requests._sources_problem", None),
)
@pytest.mark.parametrize(
    ("request_", "promoted_commit", "is_refuted"),
    [(PROMOTION, M, True), (PROMOTION, OTHER, True), (CONFIGURATION, M, False)],
)
def test_sources_that_name_another_commit(
    request_: PromotionRequest, promoted_commit: str, is_refuted: bool
) -> None:
    path = "tree/.github/tracking/sources.json"
    problem = branch_problem(request_, "dev", "ahead", promoted_commit, HERE, contradiction=path)
    assert (problem is not None) == is_refuted
    if problem and promoted_commit == M:
        assert problem.where == Location(HERE.repository, path)
        assert problem.advice == "run schedule for dev, and merge its pull request"


@breaks(
    "a claim needs no base-repo.yaml",
    turned(environment_problem, "ever_named", "True"),
)
def test_problems_with_the_environments_branch() -> None:
    where = Location("https://github.com/acme/fleet", "base-repo.yaml")
    problem = environment_problem(PROMOTION, ever_named=False, branch="dev", where=where)
    assert problem
    assert (
        problem.message == "the BaseRepo 'main' on the branch 'dev' never named the commit aaaaaaa"
    )
    assert problem.where == where
    assert "promote it to dev" in problem.advice
    assert environment_problem(PROMOTION, ever_named=True, branch="dev", where=where) is None
    assert environment_problem(CONFIGURATION, ever_named=False, branch="dev", where=where) is None


@breaks(
    "a commit beside main is promoted",
    turned(main_problem, "main in ON_BRANCH", "main"),
)
@pytest.mark.parametrize(
    ("main", "holds"),
    [("identical", True), ("ahead", True), ("behind", False), ("diverged", False), (None, False)],
)
def test_problems_with_main(main: Relation | None, holds: bool) -> None:
    problem = main_problem(PROMOTION, main, HERE)
    assert (problem is None) == holds
    assert problem is None or problem.message == "the promoted commit aaaaaaa does not lie on main"
    assert main_problem(CONFIGURATION, main, HERE) is None


PROMOTES = Merge("promotion", M)
DEPLOYED = CommitStatus("dev environment", "success", "Deployed")


@breaks(
    "a deployed commit is promoted again",
    turned(meaning_of_state, "tracked is None or is_deployed(latest)", "tracked is None"),
)
@breaks(
    "a commit that the environment left is promoted",
    turned(meaning_of_state, "is_open(latest) and not has_ended(latest)", "is_open(latest)"),
)
@breaks(
    "a commit of which nothing is known is promoted",
    turned(meaning_of_state, "is_open(latest) and not has_ended(latest)", "not has_ended(latest)"),
)
@breaks(
    "a promotion without a status is a configuration change",
    turned(meaning_of_state, "tracked == environment_commit", "False"),
)
@pytest.mark.parametrize(
    ("tracked", "environment_commit", "latest", "merge"),
    [
        (None, M, None, Merge("configuration")),
        (M, M, None, PROMOTES),
        (M, M, statuses.promoted("dev"), PROMOTES),
        (M, M, statuses.deploying("dev"), PROMOTES),
        (M, M, statuses.failed("dev", "x"), PROMOTES),
        (M, M, statuses.superseded("dev", OTHER), PROMOTES),
        (M, M, DEPLOYED, Merge("configuration")),
        (M, OTHER, statuses.promoted("dev"), PROMOTES),
        (M, OTHER, statuses.failed("dev", "x"), PROMOTES),
        (M, OTHER, statuses.superseded("dev", OTHER), Merge("revert", M)),
        (M, OTHER, statuses.rolled_back("dev", OTHER), Merge("revert", M)),
        (M, OTHER, DEPLOYED, Merge("configuration")),
        (M, OTHER, None, Merge("revert", M)),
        (M, None, None, Merge("revert", M)),
    ],
)
def test_what_a_merge_is_by_the_state(
    tracked: str | None, environment_commit: str | None, latest: CommitStatus | None, merge: Merge
) -> None:
    found = meaning_of_state(tracked, environment_commit=environment_commit, latest=latest)
    assert found == merge
