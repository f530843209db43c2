"""The checks of doctor, from facts alone."""

from __future__ import annotations

import re

import pytest
import yaml

from kalypso_actions.commands.shared.workflow_templates import workflow_files
from kalypso_actions.doctor_rules.repositories import app_checks, promotion_checks
from kalypso_actions.doctor_rules.workflows import (
    BranchWorkflows,
    UsedNames,
    credential_checks,
    name_checks,
    used_names,
    uses_only_options,
    workflow_checks,
)
from kalypso_actions.errors import Location
from kalypso_actions.model.github import AppInstallation, SettingNames
from kalypso_actions.model.kinds import (
    FIRST_ENVIRONMENT_ANNOTATION,
    Environment,
    RepositoryPath,
)
from kalypso_actions.model.workflow_files import Placeholders
from kalypso_actions.promotion.environments import chain_gaps, unreached_environments
from tests.breaks import breaks, turned
from tests.doctor_rules.check_lines import lines_of

PIN = "c" * 40
OURS = f"jobs:\n  a:\n    steps:\n      - uses: acme/kalypso/actions/cd@{PIN} # {{}}\n"
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


UNREACHED = "warning: prod.yaml:1: no other Environment names 'prod' as next: commits come to it"


@breaks(
    "doctor leaves out an environment that nothing leads to",
    turned(chain_gaps, "unreached_environments((), environments, following)", "()"),
    case="nothing leads to the last",
)
@breaks(
    "doctor takes the name of a variable for no next environment",
    turned(
        unreached_environments,
        "following or {name: each.next_environments for name, each in environments.items()}",
        "{name: each.next_environments for name, each in environments.items()}",
    ),
    case="a variable",
)
@pytest.mark.parametrize(
    ("following", "branches", "lines"),
    [
        pytest.param(
            {"dev": ("prod",), "prod": ()},
            "dev prod",
            ["ok: dev goes on to prod", "ok: prod is a last environment"],
            id="a variable",
        ),
        pytest.param({"dev": ()}, "dev", ["ok: dev is a last environment"], id="only one"),
        pytest.param(
            {"dev": (), "prod": ()},
            "dev prod",
            ["ok: dev is a last environment", UNREACHED],
            id="nothing leads to the last",
        ),
        pytest.param(
            {"dev": None, "prod": ()},
            "dev prod",
            ["ok: prod is a last environment"],
            id="a secret",
        ),
        pytest.param(
            {"dev": ("prod",), "prod": ()},
            "dev",
            [
                "ok: dev goes on to prod",
                "ok: prod is a last environment",
                "problem: prod.yaml:1: environment 'prod' has no branch 'prod' yet",
            ],
            id="no branch",
        ),
    ],
)
def test_where_environments_promote_to(
    following: dict[str, tuple[str, ...] | None], branches: str, lines: list[str]
) -> None:
    first = {FIRST_ENVIRONMENT_ANNOTATION: "true"}
    environments = {
        name: Environment(
            name,
            RepositoryPath("", name, "."),
            first if name == "dev" else {},
            where := Location("plane", f"{name}.yaml", 1),
            where,
        )
        for name in following
    }
    gaps = chain_gaps(environments, following, branches.split())
    printed = lines_of(promotion_checks("plane", environments, following, gaps))
    assert len(printed) == len(lines)
    assert all(map(str.startswith, printed, lines))


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


def test_names_in_what_aliases_repeat() -> None:
    lists = "".join(f"  a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    text = f"jobs:\n  a0: &a0 ['${{{{ secrets.KEY }}}}']\n{lists}"
    assert used_names(text).elsewhere == {"secrets.KEY"}


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
def test_missing_variables_and_secrets(
    used: UsedNames, of_repository: SettingNames, of_dev: SettingNames, expected: list[str]
) -> None:
    assert lines_of(name_checks("r", {"cd.yaml": used}, of_repository, {"dev": of_dev})) == expected


def test_nobody_asks_azure_about_clusters_that_do_not_report() -> None:
    used = {"cd.yaml": IN_ENVIRONMENT}
    environments = {"dev": NOTHING, "edge": NOTHING}
    checks = name_checks("r", used, NOTHING, environments, not_reporting=["edge"])
    assert lines_of(checks) == [
        "problem: the variable AZURE_SCOPES is not set (for dev in cd.yaml)"
    ]


OF_SOURCES = UsedNames(
    frozenset(
        {
            *("vars.AZURE_SCOPES", "vars.KALYPSO_CLUSTER_REPORTS", "vars.KALYPSO_STATUS_AUTHORS"),
            *("vars.KALYPSO_ARGOCD_SERVERS", "secrets.KALYPSO_ARGOCD_TOKENS"),
        }
    )
)


@pytest.mark.parametrize(
    ("sources", "variables", "expected"),
    [
        ("azure-resource-graph", "AZURE_SCOPES", ["ok"]),
        ("azure-resource-graph", "", ["problem AZURE_SCOPES"]),
        (
            "azure-resource-graph",
            "AZURE_SCOPES KALYPSO_CLUSTER_REPORTS",
            ["ok", "warning KALYPSO_CLUSTER_REPORTS"],
        ),
        ("commit-statuses", "KALYPSO_CLUSTER_REPORTS KALYPSO_STATUS_AUTHORS", ["ok"]),
        (
            "commit-statuses",
            "",
            ["problem KALYPSO_CLUSTER_REPORTS", "problem KALYPSO_STATUS_AUTHORS"],
        ),
        (
            "argocd azure-resource-graph",
            "KALYPSO_CLUSTER_REPORTS AZURE_SCOPES KALYPSO_ARGOCD_SERVERS",
            ["problem KALYPSO_ARGOCD_TOKENS"],
        ),
    ],
)
def test_each_source_of_cluster_reports_needs_its_own_names(
    sources: str, variables: str, expected: list[str]
) -> None:
    of_repository = SettingNames(variables=frozenset(variables.split()))
    checks = name_checks(
        "r",
        {"check-promote.yaml": OF_SOURCES},
        of_repository,
        {"dev": NOTHING},
        sources=sources.split(),
    )
    words = [
        "ok"
        if check.state == "ok"
        else f"{check.state} {next(word for word in check.text.split() if '_' in word)}"
        for check in checks
    ]
    assert words == expected


@pytest.mark.parametrize(
    ("of_environments", "not_reporting"), [({}, []), ({"edge": NOTHING}, ["edge"])]
)
def test_unread_settings_do_not_count_as_set(
    of_environments: dict[str, SettingNames], not_reporting: list[str]
) -> None:
    used = {"cd.yaml": IN_ENVIRONMENT}
    checks = name_checks("r", used, NOTHING, of_environments, not_reporting=not_reporting)
    assert lines_of(checks) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OURS.format(f"acme/kalypso@{PIN}"), "ok: workflows on main: 1 file, as in our templates"),
        (OURS.format("mine"), "ok: workflows on main: 1 file, as in our templates"),
        (f"{OURS}      - run: mine\n", f"warning: {PATH} on main differs from our template"),
        ("on: push\n", f"problem: {PATH} on main is somebody else's: it uses none of our actions"),
        ("run: ./utils/create-pr.sh\n", f"problem: {PATH} on main is upstream's"),
        (None, f"problem: {PATH} is missing on main"),
    ],
)
def test_a_workflow_file(text: str | None, expected: str) -> None:
    """The file is compared with the template that uses the same actions."""
    files = BranchWorkflows("r", "main", {} if text is None else {PATH: text})
    checks = workflow_checks(
        files, [PATH], lambda actions, ref: {PATH: OURS.format(f"{actions}@{ref}")}, {}
    )
    assert lines_of(checks) == [expected]


@breaks(
    "doctor says nothing of a tag that moves",
    turned(
        "kalypso_actions.doctor_rules.workflows._moving_references",
        "not is_commit_id(reference['ref'].partition(' ')[0])",
        "False",
    ),
)
def test_actions_that_are_used_by_a_tag() -> None:
    files = BranchWorkflows("r", "main", {PATH: OURS.replace(PIN, "v1")})
    checks = workflow_checks(files, [PATH], lambda *_: {PATH: files.texts[PATH]}, {})
    told = lines_of(checks)
    assert told[1].startswith("warning: workflows on main use acme/kalypso@v1: whoever can move")


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
    checks = workflow_checks(
        BranchWorkflows("r", "dev", {path: text}),
        [path],
        lambda actions, ref: workflow_files("gitops", Placeholders(actions, ref, "acme/fleet")),
        {},
    )
    assert lines_of(checks) == [f"warning: {path} on dev differs from our template"]


def test_a_workflow_that_is_switched_off() -> None:
    files = BranchWorkflows("r", "main", {PATH: OURS.format(f"acme/kalypso@{PIN}")})
    checks = workflow_checks(
        files,
        [PATH],
        lambda actions, ref: {PATH: OURS.format(f"{actions}@{ref}")},
        {PATH: "disabled_inactivity"},
    )
    assert lines_of(checks) == [f"problem: {PATH} is disabled (disabled_inactivity)"]


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
        (21, "", [BY_NAME], ["problem: 21 federated credentials are needed, but Azure accepts 20"]),
        (21, "", [BY_NAME, BY_ID], ["problem: 21 federated credentials are needed"]),
    ],
)
def test_federated_credentials_are_counted(
    count: int, text: str, prefixes: list[str], expected: list[str]
) -> None:
    names = [f"e{number}" for number in range(count)]
    checks = lines_of(credential_checks("acme/cp", "main", names, text, prefixes))
    assert len(checks) == len(expected)
    assert all(line.startswith(begin) for line, begin in zip(checks, expected, strict=True))


def test_the_credential_of_observe_counts() -> None:
    names = [f"e{number}" for number in range(20)]
    checks = lines_of(credential_checks("acme/cp", "main", names, "", [BY_ID], observes=True))
    assert [line[:30] for line in checks] == [
        "ok: the runs of observe ask no",
        "problem: 21 federated credenti",
    ]


def test_the_subject_of_continued_runs_and_the_environments_of_a_second_identity() -> None:
    names = [f"e{number}" for number in range(10)]
    checks = list(credential_checks("acme/cp", "main", names, CONTINUES, [BY_NAME, BY_ID]))
    subjects = [f"{prefix}:ref:refs/heads/main" for prefix in (BY_NAME, BY_ID)]
    assert checks[0].text.endswith(f"with a credential for {' or '.join(subjects)}")
    assert checks[1].advice.endswith("that use it: e9")


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
    (line,) = lines_of(app_checks("acme", installed, {"contents": "write", "issues": "read"}))
    assert line.startswith(expected)
