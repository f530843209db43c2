"""The checks of doctor on a correct set-up, and on one with each fault."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, GITOPS
from kalypso_actions.errors import UsageError
from kalypso_actions.model.cluster_reports import ClusterReport, ReportedPath
from kalypso_sandbox.store import BranchRule, Permissions
from tests.breaks import breaks, returning, turned
from tests.commands.chain.fake_cluster_reports import FakeClusterReports
from tests.commands.doctor.organisation import APP_KEY, Acme, acme, lines
from tests.commands.doctor.planted_faults import SET_UPS, WORKFLOWS, rule, without_permission

API = ("/repos/", "/orgs/", "/app/")
BRANCHES = ("dev", "stage")
"""The environments' branches."""
NO_REPORTS = "kalypso.io/compliance: none"


@pytest.fixture
def healthy(tmp_path: Path) -> Iterator[Acme]:
    with acme(tmp_path) as made:
        yield made


def test_a_correct_set_up(healthy: Acme) -> None:
    before = [healthy.sandbox.git(name).refs() for name in (CONTROL_PLANE, GITOPS)]
    document = healthy.doctor()
    assert lines(document, "warning", "problem") == []
    assert not document.fails
    printed = "\n".join(lines(document))
    for text in (
        f"{CONTROL_PLANE}: dev can be read and rendered: 3 assignments",
        f"{CONTROL_PLANE}: dev goes on to stage",
        f"{CONTROL_PLANE}: stage is a last environment",
        f"{CONTROL_PLANE}: workflows on main: 9 files, as in our templates",
        f"{CONTROL_PLANE}: secrets and variables are set: AZURE_CLIENT_ID, AZURE_SCOPES, "
        "AZURE_TENANT_ID, KALYPSO_APP_ID, KALYPSO_APP_PRIVATE_KEY",
        "acme: the App is installed with all permissions that it needs",
        f"{GITOPS}: the label promoted does not exist yet: schedule creates it",
        f"Azure: {GITOPS}, branch dev is followed by 8 configurations of clusters",
    ):
        assert f"ok {text}" in printed
    assert [healthy.sandbox.git(name).refs() for name in (CONTROL_PLANE, GITOPS)] == before
    written = [
        exchange.method
        for exchange in healthy.sandbox.traffic
        if exchange.method not in {"GET", "HEAD"}
    ]
    assert set(written) == {"POST"}  # these only read: git, GraphQL, Azure, and tokens of the App
    assert {
        exchange.template for exchange in healthy.sandbox.traffic if exchange.method == "POST"
    } <= {
        "git",
        "/graphql",
        "azure",
        "/app/installations/{installation_id}/access_tokens",
    }


FAULTS = [(number, fault) for number, faults in enumerate(SET_UPS) for fault in faults]


@pytest.fixture(scope="module")
def problems_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], list[str]]:
    """Return doctor's lines on a set-up; each set-up is created once."""

    @cache
    def look(number: int) -> list[str]:
        with acme(tmp_path_factory.mktemp("acme")) as organisation:
            for plant, _ in SET_UPS[number].values():
                plant(organisation)
            document = organisation.doctor()
        assert document.fails
        return lines(document, "warning", "problem")

    return look


@pytest.mark.parametrize(("number", "fault"), FAULTS, ids=[fault for _, fault in FAULTS])
def test_a_fault_is_found(problems_of: Callable[[int], list[str]], number: int, fault: str) -> None:
    expected = SET_UPS[number][fault][1]
    assert [line for line in problems_of(number) if line.startswith(expected)], problems_of(number)


def test_without_the_right_to_see_settings(healthy: Acme) -> None:
    """Unreadable settings are warnings, not problems."""
    healthy.token = healthy.sandbox.create_token(
        "user", {"contents": "read", "pull_requests": "read"}, owner="acme"
    )
    document = healthy.doctor()
    assert not document.fails
    printed = lines(document, "warning")
    for what in ("secrets", "workflows", "environments", "settings of GitHub Actions"):
        assert [line for line in printed if f"the {what} cannot be" in line], printed


def test_what_a_token_needs_to_see_everything(healthy: Acme) -> None:
    """The permissions are those of the guide."""
    page = (Path(__file__).parents[3] / "docs/guide/troubleshooting.md").read_text()
    (listed,) = re.findall(
        r"fine-grained token needs read access in both repositories to ([^.]*)", page
    )
    names = [" ".join(name.split()).replace(" ", "_") for name in re.split(r",| and ", listed)]
    permissions: Permissions = {
        name.replace("variables", "actions_variables"): "read" for name in names
    }
    healthy.token = healthy.sandbox.create_token("user", permissions, owner="acme")
    assert lines(healthy.doctor(), "warning", "problem") == []


def test_without_app_and_azure(healthy: Acme) -> None:
    healthy.azure.clear()
    document = healthy.doctor(app_id="", app_private_key="")
    assert lines(document, "warning", "problem") == [
        "warning Azure: not asked about clusters: Azure"
    ]


def test_another_source_of_cluster_reports(healthy: Acme) -> None:
    healthy.azure.clear()
    report = ClusterReport("clusters/drone-1", "fleet", (ReportedPath("drone"),), "", "Compliant")
    reports = FakeClusterReports(lambda _, branch: [report] if branch == "dev" else [])
    fake_lines = [line for line in lines(healthy.doctor(reports)) if " Fake: " in line]
    assert (
        fake_lines[0] == f"ok Fake: {GITOPS}, branch dev is followed by 1 configuration of clusters"
    )
    assert {line.partition(":")[0] for line in fake_lines[1:]} == {"warning Fake"}
    assert reports.is_closed


def test_the_app_alone(healthy: Acme) -> None:
    """As in a job, the App cannot read settings."""
    document = healthy.doctor(token="")
    assert not document.fails
    assert "warning acme/gitops: the secrets cannot be listed" in "\n".join(lines(document))


def change(
    organisation: Acme, repository: str, branch: str, file: str, *changes: tuple[str, str]
) -> None:
    path = f"{WORKFLOWS}/{file}.yaml"
    text = organisation.sandbox.git(repository).files(branch)[path].decode()
    for old, new in changes:
        assert re.search(old, text), (file, old)
        text = re.sub(old, new, text)
    organisation.sandbox.commit(repository, {path: text}, branch=branch)


SECOND = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: GitOpsRepo
metadata:
  name: second
spec:
  repo: {url}/acme/gitops
  branch: stage
  path: second
"""


def test_the_branches_of_several_gitops_repos_in_one_repository(healthy: Acme) -> None:
    """Each GitOpsRepo has a branch of its own to propose from."""
    second = SECOND.format(url=healthy.sandbox.url)
    healthy.sandbox.commit(CONTROL_PLANE, {"second.yaml": second}, branch="dev")
    rule(GITOPS, pattern="kalypso/dev.second", restrict_pushes=True)(healthy)
    printed = [
        line for line in lines(healthy.doctor()) if f"{GITOPS}: " in line and "kalypso/" in line
    ]
    assert printed == [
        f"ok {GITOPS}: no rule keeps schedule from pushing to kalypso/dev.dev",
        f"warning {GITOPS}: rules of kalypso/dev.second refuse pushes (deletion, "
        "non_fast_forward, update); GitHub does not say whether they apply to schedule",
        f"ok {GITOPS}: no rule keeps schedule from pushing to kalypso/stage",
    ]


BY_TOKEN = ((r"(?m)^ *app-(id|private-key): .*\n", ""), (r"# (token: )", r"\1"))


def test_a_secret_that_a_file_uses_in_one_branch_alone(healthy: Acme) -> None:
    """The files on different branches have the same path."""
    change(healthy, CONTROL_PLANE, "main", "schedule", *BY_TOKEN)
    change(healthy, GITOPS, "dev", "check-promote", *BY_TOKEN)
    assert lines(healthy.doctor(), "problem") == [
        f"problem {CONTROL_PLANE}: the secret GITOPS_REPO_TOKEN is not set "
        f"(for {WORKFLOWS}/schedule.yaml)",
        f"problem {GITOPS}: the secret CONTROL_PLANE_TOKEN is not set "
        f"(for {WORKFLOWS}/check-promote.yaml)",
    ]


def test_secrets_are_checked_if_the_environments_are_hidden(healthy: Acme) -> None:
    permissions: Permissions = {"contents": "read", "secrets": "read", "actions_variables": "read"}
    healthy.token = healthy.sandbox.create_token("user", permissions, owner="acme")
    healthy.control_plane.secrets.clear()
    printed = lines(healthy.doctor(), "problem")
    assert [line.partition(" (for ")[0] for line in printed] == [
        f"problem {CONTROL_PLANE}: the secret {APP_KEY} is not set"
    ]


def test_no_request_is_sent_twice(healthy: Acme) -> None:
    """The control plane is the exception: the token and the App both read it."""
    healthy.doctor()
    questions = [
        exchange for exchange in healthy.sandbox.traffic if exchange.template.startswith(API)
    ]
    asked = Counter(question.path for question in questions if question.method == "GET")
    assert [path for path, count in asked.items() if count > 1] == [f"/repos/{CONTROL_PLANE}"]


def test_another_default_branch_than_main(healthy: Acme) -> None:
    git = healthy.sandbox.git(CONTROL_PLANE)
    with healthy.sandbox.lock:
        git.update_ref("refs/heads/trunk", git.head("main"), None)
        healthy.control_plane.default_branch = "trunk"
    printed = lines(healthy.doctor(), "problem", "warning")
    text = "the default branch is trunk, but the chain uses main"
    assert f"warning {CONTROL_PLANE}: {text}" in printed


def test_tokens_and_secrets_as_the_templates_offer_them(healthy: Acme) -> None:
    """Tokens of the organization, the next environment as a secret, cd by pull requests."""
    by_secret = ((r"next-environment: \$\{\{ vars.*", ""), (r"# (next-environment: )", r"\1"))
    proposes = ((r"# (mode: )", r"\1"), (r"( *)(actions: write)", r"\1\2\n\1pull-requests: write"))
    for file in ("ci", "poll", "schedule"):
        change(healthy, CONTROL_PLANE, "main", file, *BY_TOKEN)
    own_token = (r"app-private-key: .*", "token: ${{ secrets.GITOPS_REPO_TOKEN }}")
    no_app = (r"(?m)^ *app-id: .*\n", "")
    change(healthy, CONTROL_PLANE, "main", "check-promote", own_token, no_app, *by_secret)
    change(healthy, CONTROL_PLANE, "main", "cd", *proposes)
    copied = f"{WORKFLOWS}/start-schedule.yaml"
    assert lines(healthy.doctor(), "warning") == [
        f"warning {CONTROL_PLANE}: {copied} on {branch} is not the same on main: GitHub may refuse "
        "new branches with it, as the App has no permission for workflows"
        for branch in BRANCHES
    ]
    text = healthy.sandbox.git(CONTROL_PLANE).files("dev")[copied]
    healthy.sandbox.commit(CONTROL_PLANE, {copied: text}, branch="main")
    for branch in ("main", *BRANCHES):
        change(healthy, GITOPS, branch, "check-promote", *BY_TOKEN)
    without_app: dict[str, Any] = {"app_id": "", "app_private_key": ""}
    printed = lines(healthy.doctor(**without_app), "problem", "warning")
    assert [line.partition(" (for ")[0] for line in printed] == [
        f"problem {CONTROL_PLANE}: the secret GITOPS_REPO_TOKEN is not set",
        f"problem {GITOPS}: the secret CONTROL_PLANE_TOKEN is not set",
    ]
    healthy.control_plane.shared_secrets.append("GITOPS_REPO_TOKEN")
    healthy.gitops.shared_secrets.append("CONTROL_PLANE_TOKEN")
    healthy.control_plane.environments["dev"].secrets.append("NEXT_ENVIRONMENT")
    document = healthy.doctor(**without_app)
    (token,) = lines(document, "problem", "warning")
    assert token.startswith(f"warning {GITOPS}: the secret CONTROL_PLANE_TOKEN is here")
    printed = lines(document)
    assert f"ok {CONTROL_PLANE}: the secret NEXT_ENVIRONMENT of dev names its next one" in printed
    assert f"ok {CONTROL_PLANE}: stage is a last environment" in printed
    assert f"ok {CONTROL_PLANE}: no rule keeps cd from pushing to kalypso/promote/dev" in printed
    change(healthy, CONTROL_PLANE, "main", "cd", (r"(?m)^ *pull-requests: write.*\n", ""))
    assert f"problem {CONTROL_PLANE}: {WORKFLOWS}/cd.yaml on main has mode: pull-request" in (
        "\n".join(lines(healthy.doctor(**without_app), "problem"))
    )


def test_a_rule_that_the_job_s_token_cannot_bypass(healthy: Acme) -> None:
    rule(CONTROL_PLANE, pattern="dev", required_reviews=1)(healthy)
    (line,) = lines(healthy.doctor(), "problem")
    assert line.startswith(f"problem {CONTROL_PLANE}: rules of dev refuse pushes (pull_request)")
    by_app = (r"# (app-(?:id|private-key): )", r"\1")
    change(healthy, CONTROL_PLANE, "main", "cd", by_app)
    assert lines(healthy.doctor(), "problem") == []


def test_the_former_name_of_a_workflow(healthy: Acme) -> None:
    """The workflow of an environment's branch had the name of another one on main."""
    path, former = (f"{WORKFLOWS}/{name}.yaml" for name in ("start-schedule", "schedule"))
    text = healthy.sandbox.git(CONTROL_PLANE).files("dev")[path]
    healthy.sandbox.commit(CONTROL_PLANE, {path: None, former: text}, branch="dev")
    assert lines(healthy.doctor(), "problem", "warning") == []


def test_nobody_reports_to_azure(healthy: Acme) -> None:
    """doctor requires no variables for Azure, and does not query it."""
    for branch in BRANCHES:
        for path, content in healthy.sandbox.git(CONTROL_PLANE).files(branch).items():
            text = content.decode()
            if "kind: ClusterType" in text:
                quiet = text.replace("metadata:\n", f"metadata:\n  annotations: {{{NO_REPORTS}}}\n")
                healthy.sandbox.commit(CONTROL_PLANE, {path: quiet}, branch=branch)
    healthy.azure.clear()
    for name in ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_SCOPES"):
        del healthy.control_plane.variables[name]
    document = healthy.doctor()
    assert lines(document, "problem", "warning") == []
    names = f"KALYPSO_APP_ID, {APP_KEY}"
    assert f"ok {CONTROL_PLANE}: secrets and variables are set: {names}" in lines(document)


POLICY = """\
apiVersion: kalypso.io/v1alpha1
kind: PromotionPolicy
metadata: {name: stage}
spec:
  requires: {checks: [{name: smoke, from: acme-ci}]}
  freezes: [{reason: year, from: 2020-01-01T00:00:00Z, to: 2020-01-02T00:00:00Z, allow: [hotfix]}]
"""


@breaks(
    "doctor asks no job of cd for what a policy needs",
    returning("kalypso_actions.doctor_rules.repositories.policy_checks", ()),
)
@breaks(
    "doctor asks the App for nothing that a policy needs",
    turned("kalypso_actions.commands.doctor.repositories.check_credentials", "policy.checks", "()"),
)
def test_what_a_policy_may_read(healthy: Acme) -> None:
    commit = healthy.sandbox.commit
    commit(CONTROL_PLANE, {".github/kalypso/promotion.yaml": POLICY}, branch="stage")
    path = f"{WORKFLOWS}/cd.yaml"
    (app,) = lines(healthy.doctor(), "problem")
    assert app == "problem acme: the App lacks checks: read"
    git = healthy.sandbox.git(CONTROL_PLANE)
    text = git.files(git.head("main") or "")[path].decode()
    text = re.sub(r" +(checks|pull-requests): read .*\n", "", text, count=2)
    commit(CONTROL_PLANE, {path: text}, branch="main")
    checks, labels = lines(healthy.doctor(), "problem")[1:]
    asks = "which the policy of stage asks for: nothing enters"
    assert checks == (
        f"problem {CONTROL_PLANE}: the job verify of {path} on main lacks `checks: read`, {asks}"
    )
    assert labels == checks.replace("checks: read", "pull-requests: read")


def test_the_key_of_the_app_in_the_gitops_repository(healthy: Acme) -> None:
    healthy.gitops.secrets += [APP_KEY, "CONTROL_PLANE_TOKEN"]
    document = healthy.doctor(probe=True)
    key, token = lines(document, "problem", "warning")
    probed = [f"{each.state} {each.place}: {each.text}" for each in document.probe]
    assert probed[-2:] == [key, token]
    assert f"gh secret delete {APP_KEY} --repo {GITOPS}" in document.probe[-2].advice
    assert key.startswith(f"warning {GITOPS}: the secret {APP_KEY} is here: everybody who may push")
    assert token.startswith(f"warning {GITOPS}: the secret CONTROL_PLANE_TOKEN is here")


def test_a_token_that_is_wrong(healthy: Acme) -> None:
    (line,) = lines(healthy.doctor(token="ghp_" + "0" * 36))
    assert line == (
        f"problem {CONTROL_PLANE}: the repository cannot be read: GitHub says: Bad credentials"
    )


def test_an_app_that_is_wrong(healthy: Acme) -> None:
    """Each problem appears once, even if several checks meet it."""
    printed = lines(healthy.doctor(app_id="999999"), "problem", "warning")
    assert len(printed) == len(set(printed))
    assert printed[0].startswith("problem acme: the permissions of the GitHub App 999999")


def test_where_to_change_something(healthy: Acme) -> None:
    """Links lead to the exact page of the server."""
    healthy.gitops.secrets.clear()
    del healthy.control_plane.environments["stage"]
    healthy.gitops.rules.append(BranchRule(pattern="dev", required_reviews=1))
    without_permission(healthy)
    server = healthy.sandbox.url
    links = {check.link for check in healthy.doctor().checks if check.state != "ok"}
    assert {link for link in links if "/organizations/" not in link} == {
        f"{server}/{GITOPS}/settings/secrets/actions",
        f"{server}/{GITOPS}/settings/rules",
        f"{server}/{CONTROL_PLANE}/settings/environments/new",
    }
    (of_app,) = (link for link in links if "/organizations/" in link)
    assert of_app.startswith(f"{server}/organizations/acme/settings/installations/")


def test_nothing_can_be_read(healthy: Acme) -> None:
    document = healthy.doctor(control_plane="acme/nothing", app_id="", app_private_key="")
    (line,) = lines(document)
    assert line.startswith("problem acme/nothing: ")
    with pytest.raises(UsageError, match="app-private-key is missing"):
        healthy.doctor(app_private_key="")
