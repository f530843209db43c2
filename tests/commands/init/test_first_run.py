"""The first runs of the chain that init sets up in two empty repositories."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from kalypso_actions.commands.demo.organisation import create_notifier
from kalypso_actions.commands.demo.scenario_runner import InProcess
from kalypso_actions.commands.registry import app_permissions
from kalypso_sandbox import Sandbox
from kalypso_sandbox.azure import Cluster, Configuration
from kalypso_sandbox.store import Permissions
from kalypso_sandbox.workflow_runner.runs import WorkflowRunner
from tests.chain.clock import StoryClock
from tests.chain.driver import Chain
from tests.commands.chain.killing import is_killed
from tests.commands.chain.organisation import NOON, Organisation
from tests.commands.init.repositories import CONTROL_PLANE, GITOPS, Acme
from tests.git_repositories import programs


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[Acme]:
    """A sandbox in which jobs run."""
    clock = StoryClock(NOON)
    with Sandbox(tmp_path / "sandbox", programs(), now=clock, sign_in=True) as sandbox:
        yield Acme(sandbox, clock, tmp_path)


@pytest.fixture
def chain(acme: Acme) -> Chain:
    """Two empty repositories with the credentials of the tasks."""
    acme.create()
    app, key = acme.sandbox.create_app("acme", {"metadata": "read", **app_permissions()})
    notifier, notifier_key = create_notifier(acme.sandbox)
    with acme.sandbox.lock:
        acme.sandbox.repository(CONTROL_PLANE).variables["KALYPSO_APP_ID"] = str(app)
        variables = acme.sandbox.repository(GITOPS).variables
        variables["KALYPSO_NOTIFIER_APP_ID"] = str(notifier)
    clock = acme.clock
    assert isinstance(clock, StoryClock)
    machine = {"PATH": os.environ["PATH"], "HOME": str(acme.folder)}
    token = acme.sandbox.argocd.create_token("hub")
    secrets = {
        "KALYPSO_APP_PRIVATE_KEY": key,
        "KALYPSO_NOTIFIER_PRIVATE_KEY": notifier_key,
        "KALYPSO_ARGOCD_TOKENS": token,
    }
    runs = acme.folder / "runs"
    workflows = WorkflowRunner(acme.sandbox, clock, machine, secrets, runs, InProcess(clock))
    return Chain(Organisation(acme.sandbox, clock, acme.folder), workflows, clock)


def ran(chain: Chain) -> list[str]:
    """Run all workflows; return commands with environments, after a check that none fails."""
    first = len(chain.done)
    chain.run_everything()
    done = chain.done[first:]
    assert [run.exit_code for run in done] == [0] * len(done)
    steps = [f"{run.command} {run.environment}".strip() for run in done]
    return list(dict.fromkeys(steps))  # a dispatch is verified by the same command


@pytest.mark.slow
def test_the_push_to_main_starts_the_chain_and_each_merge_carries_it_on(
    acme: Acme, chain: Chain
) -> None:
    acme.init()
    commit = acme.branches()["main"]
    # The pushes before that of main started nothing.
    assert ran(chain) == ["ci", "cd dev", "schedule dev"]
    chain.merge_pull_request("dev")
    assert ran(chain) == ["notify", "check-promote dev", "cd stage", "schedule stage"]
    chain.merge_pull_request("stage")
    assert ran(chain) == ["notify", "check-promote stage"]
    for environment in ("dev", "stage"):
        chain.expect(environment, commit, ENVIRONMENT_NAME=environment, LOG_LEVEL="info")


def documents_of(text: str) -> dict[str, Any]:
    return {document["kind"]: document for document in yaml.safe_load_all(text)}


def connect_flux(acme: Acme, manifests: dict[str, Any]) -> dict[str, str]:
    """Apply a cluster's file for Flux; return the values that the task leaves open."""
    rights: Permissions = {"metadata": "read", "statuses": "write"}
    app, _ = acme.sandbox.create_app("acme", rights, repositories=[GITOPS], slug="fleet")
    source, sync = manifests["GitRepository"]["spec"], manifests["Kustomization"]["spec"]
    about = manifests["Alert"]["spec"]["eventMetadata"]
    assert sync["wait"] and manifests["Provider"]["spec"]["commitStatusExpr"]
    configuration = {
        "repository": source["url"],
        "branch": source["ref"]["branch"],
        "paths": [sync["path"]],
        "notifications": {"app": app, "cluster_type": about["clusterType"]},
    }
    add_cluster(acme, about["cluster"], configuration)
    return {"<slug of the clusters' App>": "fleet"}


def connect_argocd(acme: Acme, manifests: dict[str, Any]) -> dict[str, str]:
    """Apply an environment's Application; return the values that the task leaves open."""
    application = manifests["Application"]
    source, metadata = application["spec"]["source"], application["metadata"]
    assert source["directory"] == {"recurse": True, "include": "*/reconciler.yaml"}
    add_application(acme, "argocd", source, {key: metadata[key] for key in ("name", "labels")})
    return {"https://<the API server>": acme.sandbox.argocd_url("hub")}


def add_application(
    acme: Acme, cluster: str, source: dict[str, Any], application: dict[str, Any]
) -> None:
    configuration = {
        "repository": source["repoURL"],
        "branch": source["targetRevision"],
        "paths": [source["path"]],
        "application": {"server": "hub", **application},
    }
    add_cluster(acme, cluster, configuration)


def generate_applications(acme: Acme, environment: str, lines: Sequence[str]) -> None:
    """Do what Argo CD does with the ApplicationSets of a folder, on the clusters with the label."""
    text = acme.files(environment, GITOPS)[f"standard/hello-world-{environment}/reconciler.yaml"]
    spec = documents_of(text)["ApplicationSet"]["spec"]
    (label,) = spec["generators"][0]["clusters"]["selector"]["matchLabels"]
    made = spec["template"]
    assert made["spec"]["destination"]["name"] == "{{ .name }}"
    of_target, workload = made["spec"]["sources"]
    assert of_target["path"] == f"standard/hello-world-{environment}"
    assert workload["repoURL"] and workload["path"] and "ref" not in workload
    for line in lines:
        if found := re.fullmatch(rf"argocd cluster set (\S+) --label {label}=true", line):
            name = made["metadata"]["name"].replace("{{ .nameNormalized }}", found[1])
            add_application(acme, found[1], of_target, {"name": name})


def add_cluster(acme: Acme, name: str, configuration: dict[str, Any]) -> None:
    applied = Configuration.model_validate({**configuration, "delay": 20.0, "settle": 30.0})
    acme.sandbox.azure.put(Cluster(name=name, kind="other", configurations=[applied]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "connect"), [("commit-statuses", connect_flux), ("argocd", connect_argocd)]
)
def test_clusters_outside_of_azure_are_connected_by_what_init_writes(
    acme: Acme,
    chain: Chain,
    source: str,
    connect: Callable[[Acme, dict[str, Any]], dict[str, str]],
) -> None:
    clusters = {"dev": ["berlin-1", "1-oslo"], "stage": ["rome"]}
    pairs = [f"{name}={cluster}" for name, of in clusters.items() for cluster in of]
    document = acme.init(cluster_reports=source, clusters=",".join(pairs))
    commit = acme.branches()["main"]
    files = acme.files("main", GITOPS)
    open_values: dict[str, str] = {}
    for environment, names in clusters.items():
        for name in ["standard"] if source == "argocd" else names:
            manifests = documents_of(files[f"clusters/{environment}/{name}.yaml"])
            open_values |= connect(acme, manifests)
    (task,) = (each for each in document.remaining if each.title.startswith("Let the chain see"))
    settings = re.findall(r"^variable (\w+): (.*)$", "\n".join(task.lines), re.MULTILINE)
    variables = acme.sandbox.repository(CONTROL_PLANE).variables
    for name, value in settings:
        words = next((words for words in open_values if words in value), "")
        variables[name] = value.replace(words, open_values[words]) if words else value
    ran(chain)
    for environment in clusters:
        chain.merge_pull_request(environment)
        if source == "argocd":
            generate_applications(acme, environment, task.lines)
        if environment == "dev":
            assert "cd stage" in ran(chain)
    assert ran(chain) == ["notify", "check-promote stage"]
    for environment in clusters:
        assert chain.statuses(environment)[commit] == "Deployed"
    assert acme.init(cluster_reports=source, clusters=",".join(pairs)).written is False


def test_a_change_of_an_environments_branch_is_scheduled(acme: Acme, chain: Chain) -> None:
    acme.init(environments="dev")
    ran(chain)
    acme.sandbox.commit(CONTROL_PLANE, {"notes.md": "nothing of importance"}, branch="dev")
    assert ran(chain) == ["start-schedule", "schedule dev"]


@pytest.mark.slow
def test_the_chain_begins_as_well_after_init_was_killed(acme: Acme, chain: Chain) -> None:
    """init died just before the push of main, so dev names a commit that does not exist."""

    def act() -> object:
        return acme.init(environments="dev")

    assert is_killed(5, act)
    assert "templates/flux.yaml" not in acme.files("main")
    acme.clock.sleep(60)
    act()
    assert chain.has("dev") != acme.branches()["main"]
    assert ran(chain) == ["ci", "cd dev", "schedule dev"]
    assert chain.has("dev") == acme.branches()["main"]
