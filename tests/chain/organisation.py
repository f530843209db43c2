"""Acme with the workflow templates, in which the stories happen.

acme/control-plane   main: Environments, Templates, the registration `shop`, the configuration
                     RELEASE; for each environment a branch with the configuration REGION
acme/gitops          a branch for each environment; some stories have a second repository,
                     `acme/edge`
acme/shop            a registered application, one deployment target in each environment
clusters             one for each environment and cluster type, `dev-drone`, `dev-large`, …
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kalypso_actions.commands.demo.organisation import MARKS, OF_APP, OWNER, create_notifier
from kalypso_actions.commands.shared.workflow_templates import workflow_files
from kalypso_sandbox import Sandbox
from kalypso_sandbox.azure import Cluster, Configuration
from kalypso_sandbox.azure.clusters import SUBSCRIPTION
from kalypso_sandbox.store import Environment
from tests.commands.chain import documents
from tests.commands.chain.organisation import CLUSTER_TYPES, CONTROL_PLANE, GITOPS, SHOP

LINGER: Final = 30 * 3600.0
EDGE: Final = "acme/edge"
AZURE_CLIENT: Final = "55555555-5555-4555-8555-555555555555"
WORKFLOWS: Final = ".github/workflows"


@dataclass(frozen=True)
class Layout:
    """The differences between the organisations of the stories.

    `environments` maps names to the next ones (separated by commas); `variables` does the same for
    NEXT_ENVIRONMENT of their GitHub environments; `inputs` are further inputs of the actions in the
    workflow files; `gitops` are the GitOps repositories of each environment; `by_app` are workflow
    files in which the commented lines for the App count; then no push to an environment's branch
    starts a workflow, and poll finds it.
    """

    environments: Mapping[str, str] = field(default_factory=lambda: {"dev": "stage", "stage": ""})
    inputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    gitops: Sequence[str] = (GITOPS,)
    cluster_types: Sequence[str] = CLUSTER_TYPES
    variables: Mapping[str, str] = field(default_factory=dict)
    by_app: Sequence[str] = ()

    def after(self, name: str) -> list[str]:
        """Return the environments that come next."""
        after = self.variables.get(name) or self.environments[name]
        return after.split(",") if after else []

    def before(self, name: str) -> list[str]:
        """Return the environments that name this one as next."""
        return [environment for environment in self.environments if name in self.after(environment)]


def found(sandbox: Sandbox, layout: Layout) -> dict[str, str]:
    """Make Acme in an empty sandbox; return the secrets of its workflows.

    Every environment has main's first commit, and nothing has been scheduled.
    """
    url = f"{sandbox.url}/{CONTROL_PLANE}"
    names = tuple(layout.environments)
    workload = documents.workload("shop", f"{sandbox.url}/acme/shop-manifests", names)
    sandbox.create_repository(SHOP, {"workload/shop.yaml": workload})
    sandbox.create_repository(CONTROL_PLANE, _main_files(sandbox, layout))
    commit = sandbox.git(CONTROL_PLANE).head("main") or ""
    for name in names:
        files = documents.environment_files(
            url,
            f"{sandbox.url}/{GITOPS}",
            name,
            cluster_types=layout.cluster_types,
            commit=commit,
        )
        for repository in layout.gitops[1:]:
            short = repository.rpartition("/")[2]
            text = documents.gitops_repo(f"{sandbox.url}/{repository}", name, short)
            files[f"gitops-{short}.yaml"] = text
        if not layout.by_app:
            files |= workflow_files("control-plane-environment", MARKS)
        sandbox.commit(CONTROL_PLANE, files, branch=name)
    for repository in layout.gitops:
        _found_gitops(sandbox, repository, layout)
    app, key = sandbox.create_app(OWNER, OF_APP)
    notifier, notifier_key = create_notifier(sandbox)
    variables = {
        "KALYPSO_APP_ID": str(app),
        "AZURE_CLIENT_ID": AZURE_CLIENT,
        "AZURE_TENANT_ID": sandbox.azure.tenant,
        "AZURE_SCOPES": SUBSCRIPTION,
    }
    with sandbox.lock:
        sandbox.repository(CONTROL_PLANE).variables.update(variables)
        for repository in layout.gitops:
            sandbox.repository(repository).variables["KALYPSO_NOTIFIER_APP_ID"] = str(notifier)
        known = sandbox.repository(CONTROL_PLANE).environments
        for name, after in layout.variables.items():
            of_environment = {"NEXT_ENVIRONMENT": after}
            known[name] = Environment(
                id=sandbox.store.new_id(),
                name=name,
                created_at=sandbox.store.now,
                variables=of_environment,
            )
        sandbox.store.save()
    return {"KALYPSO_APP_PRIVATE_KEY": key, "KALYPSO_NOTIFIER_PRIVATE_KEY": notifier_key}


def may_sign_in(sandbox: Sandbox, layout: Layout) -> None:
    """Let jobs in an environment sign in to Azure, which shows deleted clusters for hours.

    The sandbox stores neither of these settings.
    """
    sandbox.azure.settings.linger = LINGER
    subjects = (f"repo:{CONTROL_PLANE}:environment:{name}" for name in layout.environments)
    sandbox.azure.register(*subjects, client_id=AZURE_CLIENT)


def _main_files(sandbox: Sandbox, layout: Layout) -> dict[str, str]:
    url = f"{sandbox.url}/{CONTROL_PLANE}"
    files = {
        path: text
        for path, text in documents.main_files(url, f"{sandbox.url}/{SHOP}").items()
        if not path.startswith((".environments/", WORKFLOWS))
    }
    for name, after in layout.environments.items():
        text = documents.environment(url, name, next_environment=after)
        files[f".environments/{name}.yaml"] = text
    files["release.yaml"] = documents.config_map("base", RELEASE="zero")
    if layout.inputs.get("cd", {}).get("mode") == "pull-request":
        files |= workflow_files("control-plane-environment", MARKS)
    for path, text in workflow_files("control-plane", MARKS).items():
        stem = Path(path).stem
        with_app = text.replace("# app-", "app-") if stem in layout.by_app else text
        files[path] = _with_inputs(with_app, layout.inputs.get(stem, {}))
    return files


def _with_inputs(text: str, inputs: Mapping[str, str]) -> str:
    """Return a workflow file with more inputs for the action of its last job."""
    more = "".join(f"          {name}: {value}\n" for name, value in inputs.items())
    if inputs.get("mode") == "pull-request":
        first, second = text.rsplit("      pull-requests: read ", 1)
        text = f"{first}      pull-requests: write {second}"
    before, given, after = text.rpartition("        with:\n")
    assert given
    return f"{before}{given}{more}{after}"


def _found_gitops(sandbox: Sandbox, repository: str, layout: Layout) -> None:
    files = {"README.md": "What clusters follow.\n", **workflow_files("gitops", MARKS)}
    sandbox.create_repository(repository, files)
    short = "" if repository == GITOPS else f"{repository.rpartition('/')[2]}-"
    for name in layout.environments:
        sandbox.commit(repository, workflow_files("gitops", MARKS), branch=name)
        for cluster_type in layout.cluster_types:
            follows = Configuration(
                repository=repository,
                branch=name,
                paths=[f"./{cluster_type}"],
                reconcile_delay=10,
                releases=True,
                nested=True,
                null_entries=True,
            )
            cluster = Cluster(name=f"{short}{name}-{cluster_type}", configurations=[follows])
            sandbox.azure.put(cluster)
