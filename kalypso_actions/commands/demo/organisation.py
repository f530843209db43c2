"""The sample organisation Acme: its repositories, a GitHub App, and clusters.

Its files are in `kalypso_actions/samples`: a folder for each repository with one for each branch,
and in `changes` the later changes of people. The workflows are the public templates
without those of previews and the report, because the story is the promotion chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import kalypso_actions
from kalypso_actions.commands.sandbox import CLUSTERS as CLUSTERS_LOGIN
from kalypso_actions.commands.sandbox import HUB
from kalypso_actions.commands.shared.workflow_templates import Place, workflow_files
from kalypso_actions.inputs.local import DemoClusterReports
from kalypso_actions.model.workflow_files import Placeholders
from kalypso_sandbox import Sandbox
from kalypso_sandbox.azure import Cluster, Configuration, Failure
from kalypso_sandbox.azure.clusters import SUBSCRIPTION
from kalypso_sandbox.store import Permissions

SAMPLES: Final = Path(kalypso_actions.__file__).parent / "samples"
CHANGES: Final = "changes"
APPLICATION: Final = "application"
"""The folder of the repositories of an application's chain, which is a story of its own."""

OWNER: Final = "acme"
CONTROL_PLANE: Final = f"{OWNER}/control-plane"
GITOPS: Final = f"{OWNER}/gitops"
MONITORING: Final = f"{OWNER}/monitoring"
ENVIRONMENTS: Final = ("dev", "perf", "stage")

SERVER: Final = "https://github.com/"
"""The placeholder for the sandbox's URL in the files."""

MARKS: Final = Placeholders("kalypso-actions/kalypso-actions", "v0", CONTROL_PLANE)
"""The values for the placeholders of the workflow templates."""

OF_APP: Final[Permissions] = {
    "actions": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "write",
}
"""The App's permissions; it writes no workflow files, so `workflows` is missing."""

OF_NOTIFIER: Final[Permissions] = {"actions": "write", "metadata": "read"}
"""The notifier's permissions in the control plane."""

OF_CLUSTERS: Final[Permissions] = {"metadata": "read", "statuses": "write"}
"""The permissions of the App by which clusters post commit statuses."""

CLUSTERS: Final[Mapping[str, Mapping[str, int]]] = {
    "dev": {"drone": 3, "command-center": 1, "large": 2, "small": 2},
    "perf": {"large": 1},
    "stage": {"drone": 4, "command-center": 2, "large": 2},
}
"""The number of clusters of each type."""

LEFT_OUT: Final = ("preview", "report")
"""Parts of the names of workflows that the story of the demo does not need."""

BY_ARC: Final = frozenset({"drone", "command-center"})
"""The types of clusters that Azure Arc connects; the others are AKS clusters."""

OLD_DRONE: Final = "dev-drone-2"
TOO_MUCH: Final = Failure(
    reason="HealthCheckFailed",
    message="Deployment/hello-world ran out of memory",
    path="drone/*/platform-config.yaml",
    text='CACHE_MEGABYTES: "512"',
)
"""The failure of the old drone."""


def create_organisation(
    sandbox: Sandbox,
    cluster_reports: DemoClusterReports = "azure-resource-graph",
    clusters: Mapping[str, Mapping[str, int]] = CLUSTERS,
    left_out: Sequence[str] = LEFT_OUT,
) -> dict[str, str]:
    """Create the organisation in an empty sandbox, and return the secrets of its workflows.

    It has the environments of `clusters`, and the workflows without those `left_out`. With Azure as
    the source of cluster reports, jobs in an environment of the control plane may sign in there;
    else Azure knows none of the clusters, and the cluster types list them.
    """
    for folder in sorted(SAMPLES.iterdir()):
        if folder.name not in {CHANGES, APPLICATION}:
            _create_repository(sandbox, folder, [*clusters], left_out)
    _cut_branches(sandbox, [*clusters])
    app, key = sandbox.create_app(OWNER, OF_APP)
    variables, secrets = _connect_clusters(sandbox, cluster_reports, clusters)
    notifier, notifier_key = create_notifier(sandbox)
    with sandbox.lock:
        sandbox.repository(CONTROL_PLANE).variables.update(
            {"KALYPSO_APP_ID": str(app), **variables}
        )
        sandbox.repository(GITOPS).variables["KALYPSO_NOTIFIER_APP_ID"] = str(notifier)
    return {
        "KALYPSO_APP_PRIVATE_KEY": key,
        "KALYPSO_NOTIFIER_PRIVATE_KEY": notifier_key,
        **secrets,
    }


def cluster_options(sandbox: Sandbox) -> tuple[str, ...]:
    """Return the options by which `kalypso clusters` asks where the clusters report."""
    variables = sandbox.repository(CONTROL_PLANE).variables
    names = {
        "--cluster-reports": "KALYPSO_CLUSTER_REPORTS",
        "--status-authors": "KALYPSO_STATUS_AUTHORS",
        "--argocd-servers": "KALYPSO_ARGOCD_SERVERS",
        "--azure-scopes": "AZURE_SCOPES",
    }
    given = [(name, variables[key]) for name, key in names.items() if key in variables]
    return ("--control-plane", CONTROL_PLANE, *(word for pair in given for word in pair))


def create_notifier(sandbox: Sandbox) -> tuple[int, str]:
    """Create the App that starts the control plane's workflows; return its id and private key."""
    slug = f"{OWNER}-notifier"
    return sandbox.create_app(OWNER, OF_NOTIFIER, repositories=[CONTROL_PLANE], slug=slug)


def _connect_clusters(
    sandbox: Sandbox,
    cluster_reports: DemoClusterReports,
    clusters: Mapping[str, Mapping[str, int]],
) -> tuple[dict[str, str], dict[str, str]]:
    """Create the clusters; return the variables and secrets by which check-promote sees them."""
    reporting: dict[str, Any] = {}
    variables: dict[str, str] = {"KALYPSO_CLUSTER_REPORTS": cluster_reports}
    secrets: dict[str, str] = {}
    match cluster_reports:
        case "azure-resource-graph":
            subjects = (f"repo:{CONTROL_PLANE}:environment:{name}" for name in clusters)
            variables = {
                "AZURE_CLIENT_ID": sandbox.azure.register(*subjects).client_id,
                "AZURE_TENANT_ID": sandbox.azure.tenant,
                "AZURE_SCOPES": SUBSCRIPTION,
            }
        case "commit-statuses":
            slug = CLUSTERS_LOGIN.removesuffix("[bot]")
            app, _ = sandbox.create_app(OWNER, OF_CLUSTERS, repositories=[GITOPS], slug=slug)
            reporting = {"notifications": {"app": app, "lag": 2}}
            variables["KALYPSO_STATUS_AUTHORS"] = CLUSTERS_LOGIN
        case "argocd":
            reporting = {"application": {"server": HUB}}
            secrets = {"KALYPSO_ARGOCD_TOKENS": sandbox.argocd.create_token(HUB)}
            variables["KALYPSO_ARGOCD_SERVERS"] = sandbox.argocd_url(HUB)
    for environment, counts in clusters.items():
        for cluster_type, count in counts.items():
            for number in range(1, count + 1):
                sandbox.azure.put(_cluster(environment, cluster_type, number, reporting))
        if reporting:
            _list_clusters(sandbox, environment, counts)
    return variables, secrets


def change(name: str, sandbox: Sandbox) -> dict[str, str]:
    """Return the files of a change, by path."""
    return files_of(SAMPLES / CHANGES / name, sandbox)


def cd_by_app() -> dict[str, str]:
    """Return cd's workflow file that uses the App, by path: `requires` of a policy needs it."""
    files = _workflows("control-plane", LEFT_OUT).items()
    return {path: text.replace("# app-", "app-") for path, text in files if "/cd." in path}


def _create_repository(
    sandbox: Sandbox, folder: Path, environments: Sequence[str], left_out: Sequence[str]
) -> None:
    name = f"{OWNER}/{folder.name}"
    workflows = {}
    if name == CONTROL_PLANE:
        workflows = _workflows("control-plane", left_out)
    elif name == GITOPS:
        workflows = _workflows("gitops", left_out)
    sandbox.create_repository(name, {**files_of(folder / "main", sandbox), **workflows})
    for branch in sorted(folder.iterdir()):
        if branch.name in environments:
            files = files_of(branch, sandbox)
            if name == CONTROL_PLANE:
                files |= _workflows("control-plane-environment", left_out)
            message = f"The environment {branch.name}"
            sandbox.commit(name, files, branch=branch.name, message=message)


def _cut_branches(sandbox: Sandbox, environments: Sequence[str]) -> None:
    """Create the GitOps branches from main, and add the workflow."""
    git = sandbox.git(GITOPS)
    for environment in environments:
        with sandbox.lock:
            git.update_ref(f"refs/heads/{environment}", git.head("main"), None)
        files = _workflows("gitops", LEFT_OUT)
        sandbox.commit(GITOPS, files, branch=environment, message=f"The environment {environment}")


def _list_clusters(sandbox: Sandbox, environment: str, counts: Mapping[str, int]) -> None:
    """Annotate each cluster type of an environment with the names of its clusters."""
    files = files_of(SAMPLES / "control-plane" / environment / "cluster-types", sandbox)
    for cluster_type, count in counts.items():
        names = (_name(environment, cluster_type, number) for number in range(1, count + 1))
        name = f"  name: {cluster_type}\n"
        annotated = f"{name}  annotations:\n    kalypso.io/clusters: {', '.join(names)}\n"
        files = {path: text.replace(name, annotated) for path, text in files.items()}
    listed = {f"cluster-types/{path}": text for path, text in files.items()}
    sandbox.commit(CONTROL_PLANE, listed, branch=environment, message="List the clusters")


def _workflows(place: Place, left_out: Sequence[str]) -> dict[str, str]:
    files = workflow_files(place, MARKS)
    return {path: text for path, text in files.items() if not any(map(path.__contains__, left_out))}


def files_of(folder: Path, sandbox: Sandbox) -> dict[str, str]:
    """Return the files of a folder by path, with the sandbox's URL as that of GitHub."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8").replace(
            SERVER, f"{sandbox.url}/"
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _name(environment: str, cluster_type: str, number: int) -> str:
    return f"{environment}-{cluster_type}-{number}"


def _cluster(
    environment: str, cluster_type: str, number: int, reporting: Mapping[str, Any]
) -> Cluster:
    """Return a cluster that follows the folder of its type; those far away are slow.

    `reporting` says how it reports, as in a `Configuration`; without it, Azure connects it.
    """
    name = _name(environment, cluster_type, number)
    slow = cluster_type in BY_ARC
    notifications = reporting.get("notifications")
    follows = Configuration(
        repository=GITOPS,
        branch=environment,
        paths=[f"./{cluster_type}"],
        delay=(25 if slow else 5) + 10 * number,
        reconcile_delay=20,
        settle=20,
        releases=True,
        nested=True,
        behaviour="fail" if name == OLD_DRONE else "follow",
        failure=TOO_MUCH,
        notifications=notifications and {**notifications, "cluster_type": cluster_type},
        application=reporting.get("application"),
    )
    if reporting:
        return Cluster(name=name, kind="other", configurations=[follows])
    return Cluster(
        name=name,
        kind="arc" if slow else "aks",
        resource_group=environment,
        configurations=[follows],
    )
