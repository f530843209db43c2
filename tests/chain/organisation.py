"""Acme, with the workflow files of the sample organisation: what the stories happen to.

acme/control-plane   main: Environments, Templates, the registration `shop`, the configuration
                     RELEASE; for each environment a branch with the configuration REGION
acme/gitops          a branch for each environment; `acme/edge` is a second such repository where
                     the story has one
acme/shop            a registered application, one deployment target in each environment
clusters             one for each environment and cluster type, `dev-drone`, `dev-large`, …
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kalypso_actions.commands.demo.organisation import OF_APP, OWNER, SAMPLES
from kalypso_actions.sandbox import Sandbox
from kalypso_actions.sandbox.azure import Cluster, Configuration
from kalypso_actions.sandbox.azure.clusters import SUBSCRIPTION
from tests.commands.chain import documents
from tests.commands.chain.world import CLUSTER_TYPES, CONTROL_PLANE, GITOPS, SHOP

EDGE: Final = "acme/edge"
AZURE_CLIENT: Final = "55555555-5555-4555-8555-555555555555"
WORKFLOWS: Final = ".github/workflows"


@dataclass(frozen=True)
class Layout:
    """What differs between the organisations of the stories.

    `environments` are names with what is next (several with a comma between); `inputs` are those of
    the actions in the workflow files that are not the sample's; `gitops` the GitOps repositories of
    each environment.
    """

    environments: Mapping[str, str] = field(default_factory=lambda: {"dev": "stage", "stage": ""})
    inputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    gitops: Sequence[str] = (GITOPS,)
    cluster_types: Sequence[str] = CLUSTER_TYPES


def found(sandbox: Sandbox, layout: Layout) -> dict[str, str]:
    """Make Acme in an empty sandbox; the secrets of its workflows.

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
        files[f"{WORKFLOWS}/schedule.yaml"] = _schedule_of_branch(name)
        sandbox.commit(CONTROL_PLANE, files, branch=name)
    for repository in layout.gitops:
        _found_gitops(sandbox, repository, layout)
    app, key = sandbox.create_app(OWNER, OF_APP)
    variables = {
        "KALYPSO_APP_ID": str(app),
        "AZURE_CLIENT_ID": AZURE_CLIENT,
        "AZURE_TENANT_ID": sandbox.azure.tenant,
        "AZURE_SCOPES": SUBSCRIPTION,
    }
    with sandbox.lock:
        for repository in (CONTROL_PLANE, *layout.gitops):
            sandbox.repository(repository).variables.update(variables)
        sandbox.world.save()
    return {"KALYPSO_APP_PRIVATE_KEY": key}


def may_sign_in(sandbox: Sandbox) -> None:
    """Jobs on main of the control plane may ask Azure; the sandbox forgets that when it ends."""
    sandbox.azure.register(f"repo:{CONTROL_PLANE}:ref:refs/heads/main", client_id=AZURE_CLIENT)


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
    folder = SAMPLES / "control-plane" / "main" / WORKFLOWS
    for file in sorted(folder.iterdir()):
        files[f"{WORKFLOWS}/{file.name}"] = _with_inputs(file, layout.inputs.get(file.stem, {}))
    return files


def _with_inputs(file: Path, inputs: Mapping[str, str]) -> str:
    """A workflow file whose action is given these inputs as well."""
    text = file.read_text(encoding="utf-8")
    more = "".join(f"          {name}: {value}\n" for name, value in inputs.items())
    if inputs.get("mode") == "pull-request":
        text = text.replace(
            "\n  contents: write\n", "\n  contents: write\n  pull-requests: write\n"
        )
    assert text.count(" with:\n") == 1
    return text.replace(" with:\n", f" with:\n{more}")


def _schedule_of_branch(name: str) -> str:
    file = SAMPLES / "control-plane" / "dev" / WORKFLOWS / "schedule.yaml"
    return file.read_text(encoding="utf-8").replace("dev", name)


def _found_gitops(sandbox: Sandbox, repository: str, layout: Layout) -> None:
    file = SAMPLES / "gitops" / "main" / WORKFLOWS / "check-promote.yaml"
    text = file.read_text(encoding="utf-8")
    branches = ", ".join(layout.environments)
    text = text.replace("branches: [dev, stage]", f"branches: [{branches}]")
    sandbox.create_repository(repository, {"README.md": "What clusters follow.\n"})
    short = "" if repository == GITOPS else f"{repository.rpartition('/')[2]}-"
    for name in layout.environments:
        sandbox.commit(repository, {f"{WORKFLOWS}/check-promote.yaml": text}, branch=name)
        for cluster_type in layout.cluster_types:
            follows = Configuration(repository=repository, branch=name, paths=[f"./{cluster_type}"])
            cluster = Cluster(name=f"{short}{name}-{cluster_type}", configurations=[follows])
            sandbox.azure.put(cluster)
