"""The story of an application: its chain from a source commit to every ring, and to its clusters.

Acme's platform runs hello-world already. Its team exchanges the pipeline for Kalypso's workflows:

hello-world             the source, with a chart, and the order dev, dev-green, dev-red, stage
hello-world-configs     a branch for each environment, with the values of its targets
hello-world-manifests   the GitOps repository, with the same branches, which the clusters follow
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kalypso_actions.commands.demo.organisation import (
    APPLICATION,
    GITOPS,
    MARKS,
    OF_APP,
    OF_NOTIFIER,
    OWNER,
    SAMPLES,
    files_of,
)
from kalypso_actions.commands.demo.scenario_runner import ChainPlaces, ScenarioRunner
from kalypso_actions.commands.init import STARTER
from kalypso_actions.commands.shared.workflow_templates import workflow_files
from kalypso_actions.model.application import (
    CONFIGS_VARIABLE,
    GITOPS_VARIABLE,
    SOURCE_VARIABLE,
)
from kalypso_sandbox import Sandbox
from kalypso_sandbox.azure.clusters import SUBSCRIPTION
from kalypso_sandbox.store import Environment

SOURCE: Final = f"{OWNER}/hello-world"
CONFIGS: Final = f"{OWNER}/hello-world-configs"
MANIFESTS: Final = f"{OWNER}/hello-world-manifests"
RINGS: Final = ("dev-green", "dev-red")
ENVIRONMENTS: Final = ("dev", *RINGS, "stage")
PLACES: Final = ChainPlaces(SOURCE, MANIFESTS, ENVIRONMENTS)

SMOKE_TEST: Final = "smoke-test/"
VALUES: Final = f"{SMOKE_TEST}values.yaml"


def create_application(sandbox: Sandbox) -> dict[str, str]:
    """Give the team of hello-world its chain, and return the secrets of its workflows.

    Its App reaches its three repositories alone, and its notifier only the source. The
    platform's GitOps repository is public, because the team reads there what clusters apply.
    """
    for folder in sorted((SAMPLES / APPLICATION).iterdir()):
        repository = f"{OWNER}/{folder.name}"
        if repository == CONFIGS:
            sandbox.create_repository(CONFIGS, files_of(folder / "main", sandbox))
        for branch in sorted(folder.iterdir()):
            sandbox.commit(repository, files_of(branch, sandbox), branch=branch.name)
    starter = files_of(STARTER / APPLICATION / "source", sandbox)
    chart = {path: text for path, text in starter.items() if path.startswith("helm/")}
    sandbox.commit(SOURCE, {**chart, **workflow_files("application-source", MARKS)})
    _cut_rings(sandbox)
    for name in ("main", *ENVIRONMENTS):
        message = "Tell the source"
        notify = workflow_files("application-gitops", MARKS)
        sandbox.commit(MANIFESTS, notify, branch=name, message=message)
        notify = workflow_files("application-configs", MARKS)
        sandbox.commit(CONFIGS, notify, branch=name, message=message)
    repositories = [SOURCE, CONFIGS, MANIFESTS]
    app, key = sandbox.create_app(OWNER, OF_APP, repositories=repositories, slug="hello-world")
    notifier, notifier_key = sandbox.create_app(
        OWNER, OF_NOTIFIER, repositories=[SOURCE], slug="hello-world-notifier"
    )
    subjects = (f"repo:{SOURCE}:environment:{name}" for name in ENVIRONMENTS)
    identity = sandbox.azure.register(*subjects).client_id
    with sandbox.lock:
        sandbox.repository(GITOPS).private = False
        source = sandbox.repository(SOURCE)
        source.variables |= {
            "KALYPSO_APP_ID": str(app),
            GITOPS_VARIABLE: MANIFESTS,
            CONFIGS_VARIABLE: CONFIGS,
            "AZURE_CLIENT_ID": identity,
            "AZURE_TENANT_ID": sandbox.azure.tenant,
            "AZURE_SCOPES": SUBSCRIPTION,
        }
        for name in ENVIRONMENTS:
            source.environments[name] = Environment(
                id=sandbox.store.new_id(),
                name=name,
                created_at=sandbox.store.now,
                variables={"PLATFORM_GITOPS": f"{GITOPS}@{name.partition('-')[0]}"},
            )
        for repository in (CONFIGS, MANIFESTS):
            sandbox.repository(repository).variables |= {
                SOURCE_VARIABLE: SOURCE,
                "KALYPSO_NOTIFIER_APP_ID": str(notifier),
            }
    return {"KALYPSO_APP_PRIVATE_KEY": key, "KALYPSO_NOTIFIER_PRIVATE_KEY": notifier_key}


def _cut_rings(sandbox: Sandbox) -> None:
    """Create the rings' branches with the manifests that dev has for their target."""
    git = sandbox.git(MANIFESTS)
    files = {
        path: content for path, content in git.files("dev").items() if path.startswith(SMOKE_TEST)
    }
    for ring in RINGS:
        with sandbox.lock:
            git.update_ref(f"refs/heads/{ring}", git.head("main"), None)
        sandbox.commit(MANIFESTS, files, branch=ring, message=f"The ring {ring}")


def release(runner: ScenarioRunner) -> None:
    """A commit of the source is released, and a ring is configured on its way."""
    commit = push_release(runner, "Say hello to rings")
    for environment in ("dev", "dev-green"):
        promotion(runner, environment)
    runner.job("app-deploy", "dev-red", ends="proposed")
    push_configuration(runner, "dev-red", 2)
    runner.job("app-deploy", "dev-red", ends="proposed")
    merged(runner, "dev-red")
    promotion(runner, "stage")
    deployed = ("success", "Deployed 0.0.1-1: ")
    runner.statuses(commit, dict.fromkeys(ENVIRONMENTS, deployed))


def configuration(runner: ScenarioRunner) -> None:
    """The configuration of one ring changes."""
    commit = push_configuration(runner, "dev-green", 4)
    promotion(runner, "dev-green")
    runner.statuses(commit, {"dev-green": ("success", "Configured: ")}, CONFIGS)


def revert(runner: ScenarioRunner) -> None:
    """A release is taken back."""
    git = runner.sandbox.git(MANIFESTS)
    before = git.files("dev")
    commit = push_release(runner, "Greet louder")
    promotion(runner, "dev")
    runner.job("app-deploy", "dev-green", ends="proposed")
    pull = runner.people.close(MANIFESTS, "dev-green")
    runner.person(f"close {MANIFESTS}#{pull.number}", environment="dev-green", links=[pull.url])
    files: dict[str, str | None] = {path: None for path in git.files("dev") if path not in before}
    files |= {path: content.decode() for path, content in before.items()}
    line = "the tree before the merge"
    runner.push("dev", files, 'Revert "deployment 0.0.1-2"', line, MANIFESTS)
    runner.job("app-notify", ends="started")
    runner.job("app-check", "dev", ends="compliant")
    runner.statuses(
        commit,
        {"dev": ("pending", "Rolled back to "), "dev-green": ("pending", "Promoted 0.0.1-2")},
    )


def push_release(runner: ScenarioRunner, message: str) -> str:
    """Let people push to the source, and release the commit; return it."""
    files = {"src/greeting.txt": f"{message}\n"}
    commit = runner.push("main", files, message, "src/greeting.txt")
    runner.job("app-ci", ends="released")
    return commit


def push_configuration(runner: ScenarioRunner, environment: str, replicas: int) -> str:
    """Let people change the configuration of a ring; return the commit of the configs."""
    line = f"{VALUES}: replicas: {replicas}"
    files = {VALUES: f"replicas: {replicas}\n"}
    commit = runner.push(environment, files, "More replicas", line, CONFIGS)
    runner.job("app-notify", ends="started")
    return commit


def promotion(runner: ScenarioRunner, environment: str) -> None:
    """Propose what an environment should have, and let the clusters apply it."""
    runner.job("app-deploy", environment, ends="proposed")
    merged(runner, environment)


def merged(runner: ScenarioRunner, environment: str) -> None:
    """Merge the proposal, and wait for the clusters."""
    runner.merge_proposal(environment)
    runner.job("app-notify", ends="started")
    runner.job("app-check", environment, ends="compliant")


ACTS: Final[tuple[Callable[[ScenarioRunner], None], ...]] = (release, revert, configuration)
"""The acts of the application; the first line of a docstring is the title."""
