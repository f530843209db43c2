"""Rules of branches and settings of GitHub Actions, as doctor judges them."""

from __future__ import annotations

import pytest

from kalypso_actions.doctor_rules.repositories import (
    actions_checks,
    approval_checks,
    push_checks,
    required_check_checks,
    signature_checks,
)
from kalypso_actions.model.github import ActionsSettings, BranchRules
from tests.doctor_rules.check_lines import lines_of


@pytest.mark.parametrize(
    ("rules", "pushes", "own", "merges"),
    [
        (BranchRules(), "", "", "ok: merges to dev need no approval"),
        (
            BranchRules(("deletion", "non_fast_forward")),
            "",
            "(deletion, non_fast_forward)",
            "ok: merges to dev need no approval",
        ),
        (
            BranchRules(("pull_request",), 1),
            "(pull_request)",
            "(pull_request)",
            "warning: approvals for dev outlive",
        ),
        (
            BranchRules(("creation", "pull_request", "required_signatures"), 2, True),
            "(pull_request)",
            "(creation, pull_request)",
            "ok: merges to dev need an approval of the latest commit",
        ),
    ],
)
def test_rules_of_a_branch(rules: BranchRules, pushes: str, own: str, merges: str) -> None:
    for refusing, is_own in ((pushes, False), (own, True)):
        (push,) = lines_of(push_checks("r", "dev", rules, "cd", is_own=is_own))
        if refusing:
            assert push.startswith(
                f"warning: rules of dev refuse pushes {refusing}; GitHub does not say"
            )
        else:
            assert push == "ok: no rule keeps cd from pushing to dev"
    (merge,) = lines_of(approval_checks("r", "dev", rules))
    assert merge.startswith(merges)


def test_no_ruleset_lets_a_job_s_token_bypass_it() -> None:
    rules = BranchRules(("pull_request", "required_status_checks"))
    (push,) = lines_of(push_checks("r", "dev", rules, "cd", by_job=True))
    assert push.startswith("problem: rules of dev refuse pushes (pull_request, required_status")
    assert lines_of(push_checks("r", "dev", BranchRules(), "cd", by_job=True)) == [
        "ok: no rule keeps cd from pushing to dev"
    ]
    (check,) = lines_of(required_check_checks("r", "dev", rules))
    assert check.startswith("warning: dev requires checks, but workflows of pull requests")
    assert lines_of(required_check_checks("r", "dev", BranchRules(("pull_request",)))) == []


def test_required_signatures() -> None:
    (line,) = lines_of(signature_checks("r", "dev", BranchRules(("required_signatures",)), "cd"))
    assert line.startswith("ok: commits on dev must be signed: GitHub makes and signs those of cd")
    assert lines_of(signature_checks("r", "dev", BranchRules(("update",)), "cd")) == []


def test_a_classic_rule_gives_no_verdict() -> None:
    rules = BranchRules(is_classic=True)
    for checks in (push_checks("r", "dev", rules, "cd"), approval_checks("r", "dev", rules)):
        (line,) = checks
        assert line.text == "a classic rule protects dev; its content is not checked"
        assert (line.state, line.page) == ("warning", "settings/branches")


@pytest.mark.parametrize(
    ("settings", "used", "expected"),
    [
        (ActionsSettings(True, "all", True), "x/kalypso", ["ok: GitHub Actions is enabled"]),
        (ActionsSettings(False, "all", True), "x/k", ["problem: GitHub Actions is disabled"]),
        (
            ActionsSettings(True, "local_only", True),
            "x/kalypso",
            ["problem: actions of other owners are not allowed: x/kalypso"],
        ),
        (
            ActionsSettings(True, "local_only", True),
            "Acme/kalypso",
            ["ok: GitHub Actions is enabled"],
        ),
        (ActionsSettings(True, "selected", True), "x/k", ["warning: only selected actions"]),
        (ActionsSettings(True, "selected", True), "acme/k", ["ok: GitHub Actions is enabled"]),
        (
            ActionsSettings(True, "all", False),
            "x/k",
            ["ok: GitHub Actions is enabled", "problem: jobs may not open pull requests"],
        ),
    ],
)
def test_settings_of_actions(settings: ActionsSettings, used: str, expected: list[str]) -> None:
    messages = lines_of(actions_checks("acme/fleet", settings, [used], proposes_by_job=True))
    assert [line[: len(start)] for line, start in zip(messages, expected, strict=True)] == expected
