"""What doctor says of a set-up in order, and of each fault that is planted in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, ENVIRONMENTS, GITOPS
from kalypso_actions.errors import UsageError
from kalypso_actions.sandbox.world import BranchRule, Permissions
from tests.commands.doctor.world import APP_KEY, Acme, acme, lines

ON_MAIN = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata:
  name: edge
spec:
  controlPlane:
    repo: https://github.com/acme/control-plane
    branch: main
    path: .
"""
WORKFLOWS = ".github/workflows"
NO_REPORTS = "kalypso.io/compliance: none"
REGISTRATION = "registrations/monitoring.yaml"


@pytest.fixture
def healthy(tmp_path: Path) -> Iterator[Acme]:
    with acme(tmp_path) as made:
        yield made


def test_a_set_up_in_order(healthy: Acme) -> None:
    before = [healthy.sandbox.git(name).refs() for name in (CONTROL_PLANE, GITOPS)]
    document = healthy.doctor()
    assert lines(document, "warning", "problem") == []
    assert not document.fails
    told = "\n".join(lines(document))
    for text in (
        f"{CONTROL_PLANE}: dev can be read and rendered: 3 assignments",
        f"{CONTROL_PLANE}: dev goes on to stage",
        f"{CONTROL_PLANE}: stage is a last environment",
        f"{CONTROL_PLANE}: workflows on main: 5 files, as in our templates",
        f"{CONTROL_PLANE}: secrets and variables are set: AZURE_CLIENT_ID, AZURE_SCOPES, "
        "AZURE_TENANT_ID, KALYPSO_APP_ID, KALYPSO_APP_PRIVATE_KEY",
        "acme: the App is installed, with the permissions that it needs",
        f"{GITOPS}: the label promoted is not there yet: schedule makes it",
        f"Azure: {GITOPS}, branch dev is followed by 8 Flux configurations",
    ):
        assert f"ok {text}" in told
    assert [healthy.sandbox.git(name).refs() for name in (CONTROL_PLANE, GITOPS)] == before
    written = [one.method for one in healthy.sandbox.traffic if one.method not in {"GET", "HEAD"}]
    assert set(written) == {"POST"}  # git's own questions, Azure's, and tokens of the App
    assert {one.template for one in healthy.sandbox.traffic if one.method == "POST"} <= {
        "git",
        "azure",
        "/app/installations/{installation_id}/access_tokens",
    }


def delete(repository: str, branch: str) -> Callable[[Acme], None]:
    def act(world: Acme) -> None:
        git = world.sandbox.git(repository)
        with world.sandbox.lock:
            git.update_ref(f"refs/heads/{branch}", None, git.head(branch))

    return act


def commit(repository: str, branch: str, path: str, content: str | None) -> Callable[[Acme], None]:
    def act(world: Acme) -> None:
        world.sandbox.commit(repository, {path: content}, branch=branch)

    return act


def replace(repository: str, branch: str, path: str, old: str, new: str) -> Callable[[Acme], None]:
    def act(world: Acme) -> None:
        text = world.sandbox.git(repository).files(branch)[path].decode()
        assert old in text
        world.sandbox.commit(repository, {path: text.replace(old, new)}, branch=branch)

    return act


def rule(repository: str, **given: object) -> Callable[[Acme], None]:
    def act(world: Acme) -> None:
        world.sandbox.repository(repository).rules.append(BranchRule.model_validate(given))

    return act


def without_secret(world: Acme) -> None:
    world.gitops.secrets.clear()


def without_azure_variable(world: Acme) -> None:
    del world.control_plane.variables["AZURE_SCOPES"]


def everybody_goes_on(world: Acme) -> None:
    world.control_plane.variables["NEXT_ENVIRONMENT"] = "stage"


def goes_nowhere(world: Acme) -> None:
    world.control_plane.environments["dev"].variables["NEXT_ENVIRONMENT"] = "qa"


def without_environment(world: Acme) -> None:
    del world.control_plane.environments["stage"]


def without_permission(world: Acme) -> None:
    app = world.sandbox.world.apps[int(world.app_id)]
    app.permissions = {**app.permissions, "issues": "read"}


def for_the_control_plane_alone(world: Acme) -> None:
    world.sandbox.world.apps[int(world.app_id)].installations["acme"].repositories = [CONTROL_PLANE]


def archived(world: Acme) -> None:
    world.gitops.archived = True


def suspended(world: Acme) -> None:
    world.sandbox.world.apps[int(world.app_id)].installations["acme"].suspended = True


def without_actions(world: Acme) -> None:
    world.gitops.actions_enabled = False


def only_local_actions(world: Acme) -> None:
    world.control_plane.allowed_actions = "local_only"


def upstream_s_pull_request(world: Acme) -> None:
    git = world.sandbox.git(GITOPS)
    with world.sandbox.lock:
        git.update_ref("refs/heads/deployment/dev-1", git.head("dev"), None)
    world.sandbox.commit(GITOPS, {"a.yaml": "a: 1\n"}, branch="deployment/dev-1")
    body = {"title": "old", "head": "deployment/dev-1", "base": "dev"}
    world.ask("POST", f"/repos/{GITOPS}/pulls", body)


def hidden_workload(world: Acme) -> None:
    del world.sandbox.world.repositories["acme/monitoring"]


def nobody_follows(world: Acme) -> None:
    world.azure["azure-scopes"] = "00000000-0000-0000-0000-00000000dead"


Fault = tuple[Callable[[Acme], None], str]

TOGETHER: dict[str, Fault] = {
    "a workflow is missing": (
        commit(CONTROL_PLANE, "main", f"{WORKFLOWS}/cd.yaml", None),
        f"problem {CONTROL_PLANE}: {WORKFLOWS}/cd.yaml is missing on main",
    ),
    "a workflow of an environment's branch is missing": (
        commit(CONTROL_PLANE, "dev", f"{WORKFLOWS}/schedule.yaml", None),
        f"problem {CONTROL_PLANE}: {WORKFLOWS}/schedule.yaml is missing on dev",
    ),
    "a workflow of the GitOps repository is missing": (
        commit(GITOPS, "dev", f"{WORKFLOWS}/check-promote.yaml", None),
        f"problem {GITOPS}: {WORKFLOWS}/check-promote.yaml is missing on dev",
    ),
    "a workflow was changed": (
        replace(CONTROL_PLANE, "main", f"{WORKFLOWS}/poll.yaml", "3-59/10", "7-59/30"),
        f"warning {CONTROL_PLANE}: {WORKFLOWS}/poll.yaml on main differs from our template",
    ),
    "a workflow is somebody else's": (
        commit(CONTROL_PLANE, "main", f"{WORKFLOWS}/ci.yaml", "on: push\njobs: {}\n"),
        f"problem {CONTROL_PLANE}: {WORKFLOWS}/ci.yaml on main is somebody else's",
    ),
    "a workflow of upstream's is left": (
        commit(CONTROL_PLANE, "main", f"{WORKFLOWS}/transform.yaml", "on: push\njobs: {}\n"),
        f"warning {CONTROL_PLANE}: {WORKFLOWS}/transform.yaml on main is a file of upstream's",
    ),
    "a secret is missing": (
        without_secret,
        f"problem {GITOPS}: the secret {APP_KEY} is not set (for {WORKFLOWS}/check-promote.yaml)",
    ),
    "a variable is missing": (
        without_azure_variable,
        f"problem {CONTROL_PLANE}: the variable AZURE_SCOPES is not set "
        f"(for dev in {WORKFLOWS}/check-promote.yaml)",
    ),
    "the last environment goes on": (
        everybody_goes_on,
        f"problem {CONTROL_PLANE}: NEXT_ENVIRONMENT is a variable of the repository",
    ),
    "the next environment is unknown": (
        goes_nowhere,
        f"problem {CONTROL_PLANE}: dev: next-environment: there is no Environment 'qa' on main",
    ),
    "an unprotected environment": (
        without_environment,
        f"warning {CONTROL_PLANE}: there is no GitHub environment stage",
    ),
    "the App may not write issues": (
        without_permission,
        "problem acme: the App lacks issues: write",
    ),
    "a rule refuses cd's pushes": (
        rule(CONTROL_PLANE, pattern="dev", required_reviews=1),
        f"warning {CONTROL_PLANE}: rules of dev refuse pushes",
    ),
    "a rule refuses the App's pushes": (
        rule(GITOPS, pattern="kalypso/*", restrict_pushes=True),
        f"warning {GITOPS}: rules of kalypso/dev refuse pushes",
    ),
    "stale approvals stay": (
        rule(GITOPS, pattern="stage", required_reviews=1),
        f"warning {GITOPS}: an approval for stage stays when the pull request changes",
    ),
    "no workflow runs": (without_actions, f"problem {GITOPS}: GitHub Actions is switched off"),
    "only local actions": (
        only_local_actions,
        f"problem {CONTROL_PLANE}: actions of other owners are not allowed",
    ),
    "a classic rule": (
        rule(GITOPS, pattern="dev", classic=True, required_reviews=1),
        f"warning {GITOPS}: a classic rule protects dev",
    ),
    "a pull request of upstream's": (
        upstream_s_pull_request,
        f"warning {GITOPS}: #1 into dev is open, and was proposed by upstream",
    ),
    "a registered repository is hidden": (
        hidden_workload,
        f"warning {CONTROL_PLANE}: {REGISTRATION}:",
    ),
    "Azure hides the clusters": (nobody_follows, "problem Azure: "),
}
"""What is wrong at the same time in one set-up, and the line that tells of each."""

BRANCHES: dict[str, Fault] = {
    "an environment lies on main": (
        commit(CONTROL_PLANE, "main", ".environments/edge.yaml", ON_MAIN),
        f"problem {CONTROL_PLANE}: .environments/edge.yaml:1: environment 'edge' lies on main",
    ),
    "what that means for its environment": (
        lambda _: None,
        f"problem {CONTROL_PLANE}: dev cannot be read and rendered",
    ),
    "no branch of an environment": (
        delete(CONTROL_PLANE, "stage"),
        f"problem {CONTROL_PLANE}: the environment stage has no branch stage",
    ),
    "a policy is faulty": (
        commit(CONTROL_PLANE, "dev", "policies.yaml", "kind: [\n"),
        f"problem {CONTROL_PLANE}: policies.yaml:1: ",
    ),
}
PLACES: dict[str, Fault] = {
    "an archived repository": (archived, f"problem {GITOPS}: the repository is archived"),
    "no branch in the GitOps repository": (
        delete(GITOPS, "stage"),
        f"problem {GITOPS}: there is no branch stage",
    ),
    "no GitOpsRepo": (
        commit(CONTROL_PLANE, "dev", "gitops-repo.yaml", None),
        f"problem {CONTROL_PLANE}: .environments/dev.yaml:",
    ),
}
APPS: dict[str, Fault] = {
    "the App is suspended": (
        suspended,
        "problem acme: the GitHub App ",
    ),
}
SELECTED: dict[str, Fault] = {
    "the App is not installed for a repository": (
        for_the_control_plane_alone,
        f"problem {GITOPS}: the App is not installed for the repository",
    ),
}
SET_UPS = (TOGETHER, BRANCHES, PLACES, APPS, SELECTED)
FAULTS = [(number, fault) for number, faults in enumerate(SET_UPS) for fault in faults]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], list[str]]:
    """What doctor says of each of the set-ups, which are made once."""

    @cache
    def look(number: int) -> list[str]:
        with acme(tmp_path_factory.mktemp("acme")) as world:
            for plant, _ in SET_UPS[number].values():
                plant(world)
            document = world.doctor()
        assert document.fails
        return lines(document, "warning", "problem")

    return look


@pytest.mark.parametrize(("number", "fault"), FAULTS, ids=[fault for _, fault in FAULTS])
def test_a_fault_is_found(found: Callable[[int], list[str]], number: int, fault: str) -> None:
    expected = SET_UPS[number][fault][1]
    assert [line for line in found(number) if line.startswith(expected)], found(number)


def test_without_the_right_to_see_settings(healthy: Acme) -> None:
    """What cannot be looked at is said, and nothing fails for that."""
    healthy.token = healthy.sandbox.create_token(
        "user", {"contents": "read", "pull_requests": "read"}, owner="acme"
    )
    document = healthy.doctor()
    assert not document.fails
    found = lines(document, "warning")
    for what in ("secrets", "workflows", "environments", "settings of GitHub Actions"):
        assert [line for line in found if f"the {what} cannot be" in line], found


def test_what_a_token_needs_to_see_everything(healthy: Acme) -> None:
    """As the guide lists it."""
    page = (Path(__file__).parents[3] / "docs/guide/troubleshooting.md").read_text()
    (listed,) = re.findall(
        r"fine-grained token needs, in both repositories, to read: ([^.]*)", page
    )
    names = [name.strip().replace(" ", "_") for name in listed.split(",")]
    permissions: Permissions = {
        name.replace("variables", "actions_variables"): "read" for name in names
    }
    healthy.token = healthy.sandbox.create_token("user", permissions, owner="acme")
    assert lines(healthy.doctor(), "warning", "problem") == []


def test_without_app_and_azure(healthy: Acme) -> None:
    healthy.azure.clear()
    document = healthy.doctor(app_id="", app_private_key="")
    assert lines(document, "warning", "problem") == [
        "warning Azure: Azure was not asked about clusters"
    ]


def test_the_app_alone(healthy: Acme) -> None:
    """As in a job: the App sees no settings."""
    document = healthy.doctor(token="")
    assert not document.fails
    assert "warning acme/gitops: the secrets cannot be listed" in "\n".join(lines(document))


def change(world: Acme, repository: str, branch: str, file: str, *changes: tuple[str, str]) -> None:
    path = f"{WORKFLOWS}/{file}.yaml"
    text = world.sandbox.git(repository).files(branch)[path].decode()
    for old, new in changes:
        assert re.search(old, text), (file, old)
        text = re.sub(old, new, text)
    world.sandbox.commit(repository, {path: text}, branch=branch)


def test_tokens_and_secrets_as_the_templates_offer_them(healthy: Acme) -> None:
    """Tokens of the organization, the next environment as a secret, cd by pull requests."""
    by_token = ((r"(?m)^ *app-(id|private-key): .*\n", ""), (r"# (token: )", r"\1"))
    by_secret = ((r"next-environment: \$\{\{ vars.*", ""), (r"# (next-environment: )", r"\1"))
    proposes = ((r"# (mode: )", r"\1"), (r"( *)(actions: write)", r"\1\2\n\1pull-requests: write"))
    for file in ("ci", "poll", "schedule"):
        change(healthy, CONTROL_PLANE, "main", file, *by_token)
    change(healthy, CONTROL_PLANE, "main", "check-promote", *by_token, *by_secret)
    change(healthy, CONTROL_PLANE, "main", "cd", *proposes)
    for branch in ENVIRONMENTS:
        change(healthy, GITOPS, branch, "check-promote", *by_token)
    without_app = {"app_id": "", "app_private_key": ""}
    found = lines(healthy.doctor(**without_app), "problem", "warning")
    assert [line.partition(" (for ")[0] for line in found] == [
        f"problem {CONTROL_PLANE}: the secret GITOPS_REPO_TOKEN is not set",
        f"problem {GITOPS}: the secret CONTROL_PLANE_TOKEN is not set",
    ]
    healthy.control_plane.shared_secrets.append("GITOPS_REPO_TOKEN")
    healthy.gitops.shared_secrets.append("CONTROL_PLANE_TOKEN")
    healthy.control_plane.environments["dev"].secrets.append("NEXT_ENVIRONMENT")
    document = healthy.doctor(**without_app)
    assert lines(document, "problem", "warning") == []
    told = lines(document)
    assert f"ok {CONTROL_PLANE}: dev goes on as its secret NEXT_ENVIRONMENT says" in told
    assert f"ok {CONTROL_PLANE}: stage is a last environment" in told
    assert f"ok {CONTROL_PLANE}: no rule keeps cd from pushing to kalypso/promote/dev" in told
    change(healthy, CONTROL_PLANE, "main", "cd", (r"(?m)^ *pull-requests: write.*\n", ""))
    assert f"problem {CONTROL_PLANE}: {WORKFLOWS}/cd.yaml on main has mode: pull-request" in (
        "\n".join(lines(healthy.doctor(**without_app), "problem"))
    )


def test_nobody_reports_to_azure(healthy: Acme) -> None:
    """Neither its variables nor a look at it are asked for."""
    for branch in ENVIRONMENTS:
        for path, content in healthy.sandbox.git(CONTROL_PLANE).files(branch).items():
            text = content.decode()
            if "kind: ClusterType" in text:
                quiet = text.replace("metadata:\n", f"metadata:\n  annotations: {{{NO_REPORTS}}}\n")
                healthy.sandbox.commit(CONTROL_PLANE, {path: quiet}, branch=branch)
    healthy.azure.clear()
    for name in ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_SCOPES"):
        del healthy.control_plane.variables[name]
    assert lines(healthy.doctor(), "problem", "warning") == []


def test_a_token_that_is_wrong(healthy: Acme) -> None:
    (line,) = lines(healthy.doctor(token="ghp_" + "0" * 36))
    assert line == (
        f"problem {CONTROL_PLANE}: the repository cannot be read: GitHub says: Bad credentials"
    )


def test_an_app_that_is_wrong(healthy: Acme) -> None:
    """Each thing is said once, however often it was asked for."""
    found = lines(healthy.doctor(app_id="999999"), "problem", "warning")
    assert len(found) == len(set(found))
    assert found[0].startswith("problem acme: what the GitHub App 999999 may do")


def test_where_to_change_something(healthy: Acme) -> None:
    """A link to the very page, on the server that is asked."""
    healthy.gitops.secrets.clear()
    del healthy.control_plane.environments["stage"]
    healthy.gitops.rules.append(BranchRule(pattern="dev", required_reviews=1))
    without_permission(healthy)
    server = healthy.sandbox.url
    links = {one.link for one in healthy.doctor().checks if one.state != "ok"}
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
