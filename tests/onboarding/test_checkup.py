"""What a set-up lacks, told from facts."""

from __future__ import annotations

import pytest

from kalypso_actions.model.github import ActionsSettings, BranchRules, Names
from kalypso_actions.onboarding.checkup import (
    Check,
    Files,
    UsedNames,
    actions_checks,
    app_checks,
    approval_checks,
    name_checks,
    push_checks,
    used_names,
    workflow_checks,
)

OURS = "jobs:\n  a:\n    steps:\n      - uses: acme/kalypso/actions/cd@v1 # {}\n"
PATH = ".github/workflows/cd.yaml"
WORKFLOW = """\
on: workflow_dispatch
env:
  NOT_OF_A_JOB: ${{ secrets.OTHER }}
jobs:
  verify:
    steps:
      - with:
          id: ${{ vars.app_id }}
          key: ${{ secrets.KEY }}
          # old: ${{ secrets.COMMENTED }}
          token: ${{ secrets.TOKEN || github.token }}
  check:
    environment: ${{ inputs.environment }}
    steps:
      - with: {id: "${{ vars.app_id }}", next: "${{ vars.NEXT_ENVIRONMENT }}", words: vars.NO}
      - env: {BOTH: "${{ secrets.KEY }}-${{ secrets.OF_IT }}"}
"""


def told(checks: object) -> list[str]:
    return [f"{one.state}: {one.text}" for one in checks if isinstance(one, Check)]  # type: ignore[attr-defined]


def test_names_in_a_workflow() -> None:
    used = used_names(WORKFLOW)
    assert used.elsewhere == {"vars.APP_ID", "secrets.KEY"}
    assert used.in_environment == {
        *("vars.APP_ID", "vars.NEXT_ENVIRONMENT"),
        *("secrets.KEY", "secrets.OF_IT"),
    }


@pytest.mark.parametrize("text", ["", "a: [", "- 1", "jobs: 1", "jobs: [1]", "jobs: {a: 1}"])
def test_names_in_what_is_no_workflow(text: str) -> None:
    assert used_names(text) == UsedNames(frozenset(), frozenset())


NOTHING = Names(frozenset(), frozenset())
EVERYWHERE = UsedNames(frozenset(), frozenset({"secrets.KALYPSO_KEY", "secrets.GITHUB_TOKEN"}))
IN_ENVIRONMENT = UsedNames(frozenset({"vars.AZURE_SCOPES", "vars.NEXT_ENVIRONMENT"}), frozenset())


@pytest.mark.parametrize(
    ("used", "of_repository", "of_dev", "expected"),
    [
        (
            EVERYWHERE,
            NOTHING,
            NOTHING,
            ["problem: the secret KALYPSO_KEY is not set (for cd.yaml)"],
        ),
        (
            EVERYWHERE,
            Names(frozenset({"KALYPSO_KEY"}), frozenset()),
            NOTHING,
            ["ok: secrets and variables are set: GITHUB_TOKEN, KALYPSO_KEY"],
        ),
        (
            EVERYWHERE,
            NOTHING,
            Names(frozenset({"KALYPSO_KEY"}), frozenset()),
            ["problem: the secret KALYPSO_KEY is not set (for cd.yaml)"],
        ),
        (
            IN_ENVIRONMENT,
            NOTHING,
            NOTHING,
            ["problem: the variable AZURE_SCOPES is not set (for dev in cd.yaml)"],
        ),
        (
            IN_ENVIRONMENT,
            NOTHING,
            Names(frozenset(), frozenset({"AZURE_SCOPES"})),
            ["ok: secrets and variables are set: AZURE_SCOPES"],
        ),
        (
            IN_ENVIRONMENT,
            Names(frozenset(), frozenset({"AZURE_SCOPES"})),
            NOTHING,
            ["ok: secrets and variables are set: AZURE_SCOPES"],
        ),
        (
            UsedNames(frozenset(), frozenset({"secrets.MINE"})),
            NOTHING,
            NOTHING,
            ["warning: the secret MINE is not set (for cd.yaml)"],
        ),
    ],
)
def test_what_is_not_set(
    used: UsedNames, of_repository: Names, of_dev: Names, expected: list[str]
) -> None:
    assert told(name_checks("r", {"cd.yaml": used}, of_repository, {"dev": of_dev})) == expected


def test_nobody_asks_azure_about_clusters_that_do_not_report() -> None:
    used = {"cd.yaml": IN_ENVIRONMENT}
    environments = {"dev": NOTHING, "edge": NOTHING}
    found = name_checks("r", used, NOTHING, environments, without_azure=["edge"])
    assert told(found) == ["problem: the variable AZURE_SCOPES is not set (for dev in cd.yaml)"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OURS.format("acme/kalypso@v1"), "ok: workflows on main: 1 file, as in our templates"),
        (OURS.format("mine"), f"warning: {PATH} on main differs from our template"),
        ("on: push\n", f"problem: {PATH} on main is somebody else's: it uses none of our actions"),
        ("run: ./utils/create-pr.sh\n", f"problem: {PATH} on main is upstream's"),
        (None, f"problem: {PATH} is missing on main"),
    ],
)
def test_a_workflow_file(text: str | None, expected: str) -> None:
    """It is held against the template with the actions that it uses itself."""
    files = Files("r", "main", {} if text is None else {PATH: text})
    found = workflow_checks(
        files, [PATH], lambda actions, ref: {PATH: OURS.format(f"{actions}@{ref}")}, {}
    )
    assert told(found) == [expected]


def test_a_workflow_that_is_switched_off() -> None:
    files = Files("r", "main", {PATH: OURS.format("acme/kalypso@v1")})
    found = workflow_checks(
        files,
        [PATH],
        lambda actions, ref: {PATH: OURS.format(f"{actions}@{ref}")},
        {PATH: "disabled_inactivity"},
    )
    assert told(found) == [f"problem: {PATH} is switched off (disabled_inactivity)"]


@pytest.mark.parametrize(
    ("refuses", "approvals", "dismisses", "pushes", "merges"),
    [
        (False, 0, False, "ok: no rule keeps cd from", "ok: merges to dev need no approval"),
        (True, 1, False, "warning: rules of dev refuse", "warning: an approval for dev stays"),
        (True, 2, True, "warning: rules of dev refuse", "ok: merges to dev need an approval of"),
    ],
)
def test_rules_of_a_branch(
    refuses: bool,
    approvals: int,
    dismisses: bool,
    pushes: str,
    merges: str,
) -> None:
    rules = BranchRules(refuses, approvals, dismisses, ())
    (push,) = told(push_checks("r", "dev", rules, "cd", ""))
    (merge,) = told(approval_checks("r", "dev", rules))
    assert push.startswith(pushes)
    assert merge.startswith(merges)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (ActionsSettings(True, "all", True), ["ok: GitHub Actions runs"]),
        (ActionsSettings(False, "all", True), ["problem: GitHub Actions is switched off"]),
        (ActionsSettings(True, "local_only", True), ["problem: actions of other owners"]),
        (ActionsSettings(True, "selected", True), ["warning: only selected actions"]),
        (
            ActionsSettings(True, "all", False),
            ["ok: GitHub Actions runs", "problem: jobs may not open pull requests"],
        ),
    ],
)
def test_settings_of_actions(settings: ActionsSettings, expected: list[str]) -> None:
    found = told(actions_checks("r", settings, proposes_by_job=True))
    assert [line[: len(start)] for line, start in zip(found, expected, strict=True)] == expected


@pytest.mark.parametrize(
    ("granted", "expected"),
    [
        ({"contents": "write", "issues": "write"}, "ok: the App is installed"),
        ({"contents": "read", "issues": "write"}, "problem: the App lacks contents: write"),
        ({}, "problem: the App lacks contents: write, issues: read"),
    ],
)
def test_permissions_of_the_app(granted: dict[str, str], expected: str) -> None:
    (line,) = told(app_checks("acme", granted, {"contents": "write", "issues": "read"}))
    assert line.startswith(expected)
