"""The checks of doctor, from facts alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
import yaml

from kalypso_actions.commands.runtime.workflow_templates import workflow_files
from kalypso_actions.doctor_rules import (
    BranchWorkflows,
    Check,
    UsedNames,
    actions_checks,
    app_checks,
    approval_checks,
    credential_checks,
    name_checks,
    push_checks,
    required_check_checks,
    signature_checks,
    used_names,
    workflow_checks,
)
from kalypso_actions.doctor_rules.template_options import uses_only_options
from kalypso_actions.model.github import ActionsSettings, AppInstallation, BranchRules, SettingNames
from kalypso_actions.model.workflow_placeholders import Placeholders

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
      - env: {BOTH: "${{ secrets.KEY }}-${{ Secrets['of_it'] }}"}
"""


def told(checks: Iterable[Check]) -> list[str]:
    return [f"{check.state}: {check.text}" for check in checks]


def test_names_in_a_workflow() -> None:
    used = used_names(WORKFLOW)
    assert used.elsewhere == {"vars.APP_ID", "secrets.KEY"}
    assert used.in_environment == {
        *("vars.APP_ID", "vars.NEXT_ENVIRONMENT"),
        *("secrets.KEY", "secrets.OF_IT"),
    }


@pytest.mark.parametrize(
    "text",
    [
        *("", "a: [", "- 1", "jobs: 1", "jobs: [1]", "jobs: {a: 1}"),
        pytest.param("jobs: " + "[" * 5000 + "]" * 5000, id="deep"),
    ],
)
def test_names_in_what_is_no_workflow(text: str) -> None:
    assert used_names(text) == UsedNames()


NOTHING = SettingNames()
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
            SettingNames(frozenset({"KALYPSO_KEY"}), frozenset()),
            NOTHING,
            ["ok: secrets and variables are set: GITHUB_TOKEN, KALYPSO_KEY"],
        ),
        (
            EVERYWHERE,
            NOTHING,
            SettingNames(frozenset({"KALYPSO_KEY"}), frozenset()),
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
            SettingNames(frozenset(), frozenset({"AZURE_SCOPES"})),
            ["ok: secrets and variables are set: AZURE_SCOPES"],
        ),
        (
            IN_ENVIRONMENT,
            SettingNames(frozenset(), frozenset({"AZURE_SCOPES"})),
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
    used: UsedNames, of_repository: SettingNames, of_dev: SettingNames, expected: list[str]
) -> None:
    assert told(name_checks("r", {"cd.yaml": used}, of_repository, {"dev": of_dev})) == expected


def test_nobody_asks_azure_about_clusters_that_do_not_report() -> None:
    used = {"cd.yaml": IN_ENVIRONMENT}
    environments = {"dev": NOTHING, "edge": NOTHING}
    found = name_checks("r", used, NOTHING, environments, without_azure=["edge"])
    assert told(found) == ["problem: the variable AZURE_SCOPES is not set (for dev in cd.yaml)"]


@pytest.mark.parametrize(
    ("of_environments", "without_azure"), [({}, []), ({"edge": NOTHING}, ["edge"])]
)
def test_what_nobody_has_looked_for_is_not_told_as_set(
    of_environments: dict[str, SettingNames], without_azure: list[str]
) -> None:
    used = {"cd.yaml": IN_ENVIRONMENT}
    found = name_checks("r", used, NOTHING, of_environments, without_azure=without_azure)
    assert told(found) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OURS.format("acme/kalypso@v1"), "ok: workflows on main: 1 file, as in our templates"),
        (OURS.format("mine"), "ok: workflows on main: 1 file, as in our templates"),
        (f"{OURS}      - run: mine\n", f"warning: {PATH} on main differs from our template"),
        ("on: push\n", f"problem: {PATH} on main is somebody else's: it uses none of our actions"),
        ("run: ./utils/create-pr.sh\n", f"problem: {PATH} on main is upstream's"),
        (None, f"problem: {PATH} is missing on main"),
    ],
)
def test_a_workflow_file(text: str | None, expected: str) -> None:
    """It is held against the template with the actions that it uses itself."""
    files = BranchWorkflows("r", "main", {} if text is None else {PATH: text})
    found = workflow_checks(
        files, [PATH], lambda actions, ref: {PATH: OURS.format(f"{actions}@{ref}")}, {}
    )
    assert told(found) == [expected]


MARKS = Placeholders("acme/kalypso", "v1", "acme/fleet")
TEMPLATES = {place: workflow_files(place, MARKS) for place in ("control-plane", "gitops")}
NO_APP = (r"(?m)^ *app-(id|private-key): .*\n", "")
TOKEN = (r"# (token: )", r"\1")
NO_FEDERATION = (r"(?m)^ *(azure-(client|tenant)-id|id-token): .*\n", "")
AZURE = (r"# (azure-credentials: )", r"\1")
NO_PERMISSION = (r"permissions:\n", r"permissions: {}\n")
NO_NEXT = (r"next-environment: \$\{\{ vars.*", "")
NEXT = (r"# (next-environment: )", r"\1")
MODE = (r"# (mode: )", r"\1")
PROPOSES = (r"( *)actions: write", r"\1actions: write\n\1pull-requests: write # proposes")


@pytest.mark.parametrize(
    ("place", "file", "changes", "expected"),
    [
        ("gitops", "check-promote", [NO_APP, TOKEN], True),
        ("gitops", "check-promote", [TOKEN], True),
        ("gitops", "check-promote", [NO_APP], False),
        ("gitops", "check-promote", [(r"secrets\.K", "secrets.MY_K")], False),
        ("gitops", "check-promote", [(r" # zizmor.*", "")], True),
        ("gitops", "check-promote", [(r"$", "env:\n  A: b\n")], False),
        ("control-plane", "ci", [TOKEN], True),
        ("control-plane", "poll", [NO_APP, TOKEN], True),
        ("control-plane", "schedule", [NO_APP, TOKEN], True),
        ("control-plane", "check-promote", [NO_APP, TOKEN], True),
        ("control-plane", "check-promote", [NO_FEDERATION, AZURE, NO_PERMISSION], True),
        ("control-plane", "check-promote", [NO_FEDERATION], False),
        ("control-plane", "check-promote", [NO_NEXT, NEXT], True),
        ("control-plane", "check-promote", [NO_NEXT], False),
        ("control-plane", "cd", [MODE, PROPOSES], True),
        ("control-plane", "cd", [MODE], False),
        ("control-plane", "cd", [PROPOSES], False),
        ("control-plane", "cd", [(r" +verify-only: true\n", "")], False),
    ],
)
def test_what_templates_offer(
    place: str, file: str, changes: list[tuple[str, str]], expected: bool
) -> None:
    template = TEMPLATES[place][f".github/workflows/{file}.yaml"]
    text = template
    for old, new in changes:
        assert re.search(old, text), old
        text = re.sub(old, new, text)
    assert isinstance(yaml.safe_load(text), dict)
    assert uses_only_options(text, template) == expected


def test_a_reference_that_no_template_has() -> None:
    path = ".github/workflows/check-promote.yaml"
    text = TEMPLATES["gitops"][path].replace("@v1", "@_v1")
    found = workflow_checks(
        BranchWorkflows("r", "dev", {path: text}),
        [path],
        lambda actions, ref: workflow_files("gitops", Placeholders(actions, ref, "acme/fleet")),
        {},
    )
    assert told(found) == [f"warning: {path} on dev differs from our template"]


def test_a_workflow_that_is_switched_off() -> None:
    files = BranchWorkflows("r", "main", {PATH: OURS.format("acme/kalypso@v1")})
    found = workflow_checks(
        files,
        [PATH],
        lambda actions, ref: {PATH: OURS.format(f"{actions}@{ref}")},
        {PATH: "disabled_inactivity"},
    )
    assert told(found) == [f"problem: {PATH} is disabled (disabled_inactivity)"]


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
        (push,) = told(push_checks("r", "dev", rules, "cd", is_own=is_own))
        if refusing:
            assert push.startswith(
                f"warning: rules of dev refuse pushes {refusing}; GitHub does not say"
            )
        else:
            assert push == "ok: no rule keeps cd from pushing to dev"
    (merge,) = told(approval_checks("r", "dev", rules))
    assert merge.startswith(merges)


def test_no_ruleset_lets_a_job_s_token_bypass_it() -> None:
    rules = BranchRules(("pull_request", "required_status_checks"))
    (push,) = told(push_checks("r", "dev", rules, "cd", by_job=True))
    assert push.startswith("problem: rules of dev refuse pushes (pull_request, required_status")
    assert told(push_checks("r", "dev", BranchRules(), "cd", by_job=True)) == [
        "ok: no rule keeps cd from pushing to dev"
    ]
    (check,) = told(required_check_checks("r", "dev", rules))
    assert check.startswith("warning: dev requires checks, but workflows of pull requests")
    assert told(required_check_checks("r", "dev", BranchRules(("pull_request",)))) == []


CONTINUES = (
    "environment: >-\n      ${{ inputs.started_at == '' && inputs.environment ||\n"
    "      github.triggering_actor != 'kalypso[bot]' && inputs.environment || '' }}\n"
)


def test_the_documented_environment_of_continued_runs_is_offered() -> None:
    template = "environment: ${{ inputs.environment }}\n"
    assert uses_only_options(CONTINUES, template)
    assert not uses_only_options(CONTINUES.replace("!= 'k", "== 'k"), template)


BY_NAME, BY_ID = "repo:acme/cp", "repo:acme@7/cp@42"


@pytest.mark.parametrize(
    ("count", "text", "prefixes", "expected"),
    [
        (10, "", [BY_NAME, BY_ID], []),
        (
            10,
            CONTINUES,
            [BY_NAME, BY_ID],
            ["ok: continued runs", "warning: 22 federated credentials are needed"],
        ),
        (11, "", [BY_NAME, BY_ID], ["warning: 22 federated credentials are needed for both forms"]),
        (20, "", [BY_ID], []),
        (
            20,
            CONTINUES,
            [BY_ID],
            ["ok: continued runs", "problem: 21 federated credentials"],
        ),
        (21, "", [BY_NAME], ["problem: 21 federated credentials are needed, and Azure accepts 20"]),
        (21, "", [BY_NAME, BY_ID], ["problem: 21 federated credentials are needed"]),
    ],
)
def test_federated_credentials_are_counted(
    count: int, text: str, prefixes: list[str], expected: list[str]
) -> None:
    names = [f"e{number}" for number in range(count)]
    checks = told(credential_checks("acme/cp", "main", names, text, prefixes))
    assert len(checks) == len(expected)
    assert all(line.startswith(begin) for line, begin in zip(checks, expected, strict=True))


def test_the_subject_of_continued_runs_and_the_environments_of_a_second_identity() -> None:
    names = [f"e{number}" for number in range(10)]
    checks = list(credential_checks("acme/cp", "main", names, CONTINUES, [BY_NAME, BY_ID]))
    subjects = [f"{prefix}:ref:refs/heads/main" for prefix in (BY_NAME, BY_ID)]
    assert checks[0].text.endswith(f"with a credential for {' or '.join(subjects)}")
    assert checks[1].advice.endswith("that use it: e9")


def test_required_signatures() -> None:
    (line,) = told(signature_checks("r", "dev", BranchRules(("required_signatures",)), "cd"))
    assert line.startswith("ok: commits on dev must be signed: GitHub makes and signs those of cd")
    assert told(signature_checks("r", "dev", BranchRules(("update",)), "cd")) == []


def test_a_classic_rule_says_nothing() -> None:
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
    found = told(actions_checks("acme/fleet", settings, [used], proposes_by_job=True))
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
    installed = AppInstallation(granted, "https://github.com/settings/installations/1")
    (line,) = told(app_checks("acme", installed, {"contents": "write", "issues": "read"}))
    assert line.startswith(expected)
