"""Faults of a set-up, and the line in which doctor reports each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, GITOPS
from kalypso_sandbox.store import BranchRule
from tests.commands.doctor.organisation import NOTIFIER_KEY, Acme

ON_MAIN: Final = """\
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
WORKFLOWS: Final = ".github/workflows"
REGISTRATION: Final = "registrations/monitoring.yaml"


def delete(repository: str, branch: str) -> Callable[[Acme], None]:
    def act(organisation: Acme) -> None:
        git = organisation.sandbox.git(repository)
        with organisation.sandbox.lock:
            git.update_ref(f"refs/heads/{branch}", None, git.head(branch))

    return act


def commit(repository: str, branch: str, path: str, content: str | None) -> Callable[[Acme], None]:
    def act(organisation: Acme) -> None:
        organisation.sandbox.commit(repository, {path: content}, branch=branch)

    return act


def replace(repository: str, branch: str, path: str, old: str, new: str) -> Callable[[Acme], None]:
    def act(organisation: Acme) -> None:
        text = organisation.sandbox.git(repository).files(branch)[path].decode()
        assert old in text
        organisation.sandbox.commit(repository, {path: text.replace(old, new)}, branch=branch)

    return act


def rule(repository: str, **given: object) -> Callable[[Acme], None]:
    def act(organisation: Acme) -> None:
        organisation.sandbox.repository(repository).rules.append(BranchRule.model_validate(given))

    return act


def without_secret(organisation: Acme) -> None:
    organisation.gitops.secrets.clear()


def without_azure_variable(organisation: Acme) -> None:
    del organisation.control_plane.variables["AZURE_SCOPES"]


def everybody_goes_on(organisation: Acme) -> None:
    organisation.control_plane.variables["NEXT_ENVIRONMENT"] = "stage"


def goes_nowhere(organisation: Acme) -> None:
    organisation.control_plane.environments["dev"].variables["NEXT_ENVIRONMENT"] = "qa"


def without_environment(organisation: Acme) -> None:
    del organisation.control_plane.environments["stage"]


def without_permission(organisation: Acme) -> None:
    app = organisation.sandbox.store.apps[int(organisation.app_id)]
    app.permissions = {**app.permissions, "issues": "read"}


def for_the_control_plane_alone(organisation: Acme) -> None:
    organisation.sandbox.store.apps[int(organisation.app_id)].installations["acme"].repositories = [
        CONTROL_PLANE
    ]


def archived(organisation: Acme) -> None:
    organisation.gitops.archived = True


def suspended(organisation: Acme) -> None:
    organisation.sandbox.store.apps[int(organisation.app_id)].installations["acme"].suspended = True


def without_actions(organisation: Acme) -> None:
    organisation.gitops.actions_enabled = False


def only_local_actions(organisation: Acme) -> None:
    organisation.control_plane.allowed_actions = "local_only"


def upstream_s_pull_request(organisation: Acme) -> None:
    git = organisation.sandbox.git(GITOPS)
    with organisation.sandbox.lock:
        git.update_ref("refs/heads/deployment/dev-1", git.head("dev"), None)
    organisation.sandbox.commit(GITOPS, {"a.yaml": "a: 1\n"}, branch="deployment/dev-1")
    body = {"title": "old", "head": "deployment/dev-1", "base": "dev"}
    organisation.ask("POST", f"/repos/{GITOPS}/pulls", body)


def hidden_workload(organisation: Acme) -> None:
    del organisation.sandbox.store.repositories["acme/monitoring"]


def nobody_follows(organisation: Acme) -> None:
    organisation.azure["azure-scopes"] = "00000000-0000-0000-0000-00000000dead"


Fault = tuple[Callable[[Acme], None], str]
"""The function that plants a fault, and the start of doctor's line."""

TOGETHER: dict[str, Fault] = {
    "a workflow is missing": (
        commit(CONTROL_PLANE, "main", f"{WORKFLOWS}/cd.yaml", None),
        f"problem {CONTROL_PLANE}: {WORKFLOWS}/cd.yaml is missing on main",
    ),
    "a workflow of an environment's branch is missing": (
        commit(CONTROL_PLANE, "dev", f"{WORKFLOWS}/start-schedule.yaml", None),
        f"problem {CONTROL_PLANE}: {WORKFLOWS}/start-schedule.yaml is missing on dev",
    ),
    "a workflow of the GitOps repository is missing": (
        commit(GITOPS, "dev", f"{WORKFLOWS}/check-promote.yaml", None),
        f"problem {GITOPS}: {WORKFLOWS}/check-promote.yaml is missing on dev",
    ),
    "main of the GitOps repository lacks the workflow": (
        commit(GITOPS, "main", f"{WORKFLOWS}/check-promote.yaml", None),
        f"warning {GITOPS}: {WORKFLOWS}/check-promote.yaml on stage is not the same on main",
    ),
    "a workflow was changed": (
        replace(CONTROL_PLANE, "main", f"{WORKFLOWS}/poll.yaml", "7,37", "9,39"),
        f"warning {CONTROL_PLANE}: {WORKFLOWS}/poll.yaml on main differs from our template",
    ),
    "a workflow is somebody else's": (
        commit(CONTROL_PLANE, "main", f"{WORKFLOWS}/ci.yaml", "on: push\njobs: {}\n"),
        f"problem {CONTROL_PLANE}: {WORKFLOWS}/ci.yaml on main is somebody else's",
    ),
    "a workflow of upstream's is left": (
        commit(CONTROL_PLANE, "main", f"{WORKFLOWS}/transform.yaml", "on: push\njobs: {}\n"),
        f"warning {CONTROL_PLANE}: {WORKFLOWS}/transform.yaml on main is a workflow file of "
        "upstream that is no longer used",
    ),
    "a secret is missing": (
        without_secret,
        f"problem {GITOPS}: the secret {NOTIFIER_KEY} is not set (for {WORKFLOWS}/check-promote.yaml)",
    ),
    "a variable is missing": (
        without_azure_variable,
        f"problem {CONTROL_PLANE}: the variable AZURE_SCOPES is not set "
        f"(for dev, stage in {WORKFLOWS}/check-promote.yaml)",
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
        f"warning {GITOPS}: approvals for stage outlive new commits",
    ),
    "no workflow runs": (without_actions, f"problem {GITOPS}: GitHub Actions is disabled"),
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
        f"warning {GITOPS}: #1 into dev, a pull request of upstream",
    ),
    "a registered repository is hidden": (
        hidden_workload,
        f"warning {CONTROL_PLANE}: {REGISTRATION}:",
    ),
    "Azure hides the clusters": (nobody_follows, "problem Azure: "),
}

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
        f"problem {CONTROL_PLANE}: .environments/stage.yaml:2: environment 'stage' has no branch 'stage' yet",
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
SET_UPS: Final = (TOGETHER, BRANCHES, PLACES, APPS, SELECTED)
"""The faults of each set-up, by name."""
