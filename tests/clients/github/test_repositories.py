"""Settings of a repository, read from the embedded GitHub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import responses

from kalypso_actions.clients.github import (
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
    branches,
    repositories,
    workflows,
)
from kalypso_actions.clients.process import Programs
from kalypso_actions.model.github import ActionsSettings, BranchRules, WorkflowState
from kalypso_sandbox import Sandbox
from kalypso_sandbox.store import BranchRule, Environment, Permissions, Repository
from tests.clients.github.connections import REPOSITORY_URL, connect
from tests.git_repositories import ENVIRONMENT

FLEET = "acme/fleet"
WORKFLOW = "on: workflow_dispatch\njobs: {}\n"
REVIEWERS = {"type": "required_reviewers", "reviewers": []}
ALWAYS = ("deletion", "non_fast_forward")


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    with Sandbox(tmp_path, Programs(ENVIRONMENT)) as made:
        made.create_repository(FLEET, {".github/workflows/cd.yaml": WORKFLOW})
        yield made


@pytest.fixture
def repository(sandbox: Sandbox) -> Repository:
    return sandbox.repository(FLEET)


def connect_here(sandbox: Sandbox, permissions: Permissions | None = None) -> GitHub:
    environment = sandbox.environment()
    token = sandbox.create_token("user", permissions, owner="acme", repositories=[FLEET])
    server = GitHubServer.of_environment(environment)
    return GitHub(server, TokenAuth(token), environment, sleep=lambda _: None)


def test_own_names_and_the_organization_s(sandbox: Sandbox, repository: Repository) -> None:
    repository.secrets += [f"SECRET_{number:03}" for number in range(101)]
    repository.shared_secrets += ["SECRET_000", "SHARED_KEY"]
    repository.variables["KALYPSO_APP_ID"] = "1"
    repository.shared_variables |= {f"SHARED_{number:02}": "" for number in range(31)}
    names = repositories.settings(connect_here(sandbox), FLEET)
    assert (len(names.secrets), len(names.variables)) == (102, 32)
    assert {"SECRET_100", "SHARED_KEY"} < names.secrets
    assert {"KALYPSO_APP_ID", "SHARED_30"} < names.variables


def test_an_environment_s_names(sandbox: Sandbox, repository: Repository) -> None:
    repository.secrets.append("OF_ALL")
    repository.environments["dev/1"] = Environment(
        id=9,
        name="dev/1",
        created_at=sandbox.store.now,
        variables={"NEXT_ENVIRONMENT": "qa"},
        secrets=["KEY"],
    )
    github = connect_here(sandbox)
    names = repositories.settings_of_environment(github, FLEET, "dev/1")
    assert names[:2] == (frozenset({"KEY"}), frozenset({"NEXT_ENVIRONMENT"}))
    with pytest.raises(GitHubError, match="the secrets of the environment qa cannot be listed"):
        repositories.settings_of_environment(github, FLEET, "qa")


@pytest.mark.parametrize(
    ("permissions", "what", "missing"),
    [
        ({"actions_variables": "read"}, "secrets", "secrets: read"),
        ({"secrets": "read"}, "variables", "actions-variables: read"),
    ],
)
def test_names_need_permissions(
    sandbox: Sandbox, permissions: Permissions, what: str, missing: str
) -> None:
    with pytest.raises(GitHubError, match=f"the {what} cannot be listed") as refused:
        repositories.settings(connect_here(sandbox, permissions), FLEET)
    assert missing in refused.value.problem.advice


def test_settings_of_actions(sandbox: Sandbox, repository: Repository) -> None:
    github = connect_here(sandbox)
    usual = ActionsSettings(enabled=True, allowed="all", jobs_may_open_pull_requests=True)
    assert repositories.settings_of_actions(github, FLEET) == usual
    repository.allowed_actions = "local_only"
    repository.actions_may_open_pull_requests = False
    narrow = ActionsSettings(enabled=True, allowed="local_only", jobs_may_open_pull_requests=False)
    assert repositories.settings_of_actions(github, FLEET) == narrow
    repository.actions_enabled = False
    assert not repositories.settings_of_actions(github, FLEET).enabled


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (None, BranchRules()),
        (BranchRule(pattern="*", allow_force_push=True), BranchRules(("deletion",))),
        (BranchRule(pattern="*", restrict_pushes=True), BranchRules((*ALWAYS, "update"))),
        (
            BranchRule(pattern="*", required_contexts=["Lint"]),
            BranchRules((*ALWAYS, "required_status_checks")),
        ),
        (
            BranchRule(pattern="*", required_reviews=2),
            BranchRules((*ALWAYS, "pull_request"), required_approvals=2),
        ),
        (
            BranchRule(pattern="*", required_reviews=1, dismiss_stale_reviews=True),
            BranchRules((*ALWAYS, "pull_request"), 1, dismisses_stale_approvals=True),
        ),
        (BranchRule(pattern="release/*", restrict_pushes=True), BranchRules()),
        (BranchRule(pattern="*", classic=True, required_reviews=1), BranchRules(is_classic=True)),
    ],
)
def test_rules_of_a_branch(
    sandbox: Sandbox,
    repository: Repository,
    rule: BranchRule | None,
    expected: BranchRules,
) -> None:
    repository.rules += [rule] if rule else []
    assert branches.rules(connect_here(sandbox), FLEET, "main") == expected


def test_rules_of_a_branch_whose_name_has_a_slash(sandbox: Sandbox, repository: Repository) -> None:
    repository.rules.append(BranchRule(pattern="release/*", restrict_pushes=True))
    assert branches.rules(connect_here(sandbox), FLEET, "release/1").types[-1] == "update"


def test_workflow_files_with_their_states(sandbox: Sandbox) -> None:
    result = workflows.states(connect_here(sandbox), FLEET)
    assert result == (WorkflowState(".github/workflows/cd.yaml", "active"),)


Read = Callable[[GitHub], str | None]

VARIABLES: list[tuple[Read, str]] = [
    (
        lambda github: repositories.variable(github, "acme/fleet", "dev", "NEXT_ENVIRONMENT"),
        "/environments/dev/variables/NEXT_ENVIRONMENT",
    ),
    (
        lambda github: repositories.variable(github, "acme/fleet", "eu/west 1", "X"),
        "/environments/eu%2Fwest%201/variables/X",
    ),
]


def test_names_of_all_pages() -> None:
    url = f"{REPOSITORY_URL}/environments"
    with responses.RequestsMock() as server:
        server.get(
            f"{url}?per_page=100",
            json={"total_count": 2, "environments": [{"name": "dev"}]},
            headers={"Link": f'<{url}?per_page=100&page=2>; rel="next"'},
        )
        server.get(
            f"{url}?page=2&per_page=100",
            json={
                "total_count": 2,
                "environments": [
                    {
                        "name": "qa",
                        "deployment_branch_policy": {"protected_branches": True},
                        "protection_rules": [{"type": "branch_policy"}, REVIEWERS],
                    }
                ],
            },
        )
        assert repositories.environments(connect(), "acme/fleet") == {
            "dev": (True, False),
            "qa": (False, True),
        }


@pytest.mark.parametrize(("read", "path"), VARIABLES)
def test_a_variable(read: Read, path: str) -> None:
    with responses.RequestsMock() as server:
        server.get(REPOSITORY_URL + path, json={"name": "X", "value": "qa"})
        assert read(connect()) == "qa"
        assert server.calls[0].request.path_url == "/repos/acme/fleet" + path


@pytest.mark.parametrize(("read", "path"), VARIABLES)
def test_a_variable_that_is_not_set(read: Read, path: str) -> None:
    with responses.RequestsMock() as server:
        server.get(REPOSITORY_URL + path, status=404, json={"message": "Not Found"})
        server.get(REPOSITORY_URL, json={"id": 1})
        assert read(connect()) is None


@pytest.mark.parametrize(("read", "path"), VARIABLES)
def test_an_unreadable_variable_is_not_unset(read: Read, path: str) -> None:
    with responses.RequestsMock() as server:
        server.get(REPOSITORY_URL + path, status=403, json={"message": "No"})
        with pytest.raises(GitHubError, match="cannot be read"):
            read(connect())
