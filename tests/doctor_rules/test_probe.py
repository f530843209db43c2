"""The advice of the probe for refusals of GitHub, and which of them are problems."""

from __future__ import annotations

from typing import Final

import pytest

from kalypso_actions.doctor_rules.check import ACTIONS_PAGE, GENERAL_PAGE, RULES_PAGE, State
from kalypso_actions.doctor_rules.probe import (
    BYPASS,
    CONTROL_PLANE,
    GITOPS,
    Action,
    Attempt,
    Place,
    probe_checks,
)
from kalypso_actions.errors import Problem

ALLOW: Final = "allow a method of merging pull requests"
OF_CLIENT: Final = "the advice of the client"


@pytest.mark.parametrize(
    ("reason", "advice", "page"),
    [
        ("Repository rule violations found Cannot delete this branch", BYPASS, RULES_PAGE),
        ("GH013: Repository rule violations found for refs/heads/x", BYPASS, RULES_PAGE),
        ("protected branch hook declined", BYPASS, RULES_PAGE),
        ("You're not authorized to push to this branch.", BYPASS, RULES_PAGE),
        ("Merge commits are not allowed on this repository.", ALLOW, GENERAL_PAGE),
        ("Resource not accessible by integration", OF_CLIENT, ""),
        (
            "GitHub Actions is not permitted to create or approve pull requests.",
            OF_CLIENT,
            ACTIONS_PAGE,
        ),
        (
            "Commits must have verified signatures.",
            "run cd and schedule as a GitHub App, with commit-by: auto or api: GitHub signs no "
            "commit of a personal token",
            RULES_PAGE,
        ),
    ],
)
def test_advice(reason: str, advice: str, page: str) -> None:
    attempt = Attempt("open", Problem(f"it failed: {reason}", advice=OF_CLIENT))
    check = next(check for check in probe_checks(GITOPS, "a/b", [attempt]) if check.advice)
    assert (check.advice, check.page) == (advice, page)


@pytest.mark.parametrize(
    ("place", "action", "state"),
    [
        (CONTROL_PLANE, "push", "problem"),
        (CONTROL_PLANE, "status", "problem"),
        (CONTROL_PLANE, "open", "warning"),
        (CONTROL_PLANE, "merge", "ok"),
        (GITOPS, "push", "problem"),
        (GITOPS, "status", "ok"),
        (GITOPS, "open", "problem"),
        (GITOPS, "merge", "warning"),
        (GITOPS, "clean up", "warning"),
    ],
)
def test_a_refusal_is_as_bad_as_the_chain_needs_the_action(
    place: Place, action: Action, state: State
) -> None:
    checks = list(probe_checks(place, "a/b", [Attempt(action, Problem("refused"))]))
    assert [check.state for check in checks if check.text.startswith("refused")] == [state]


def test_actions_that_depend_on_a_refused_one() -> None:
    accepted = [Attempt("push"), Attempt("status")]
    *_, last = probe_checks(GITOPS, "a/b", [*accepted, Attempt("open", Problem("refused"))])
    assert last.text == "the probe could not try to add a label, comment or merge"
