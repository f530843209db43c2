"""The files of the organisation: a control plane, its environments and an application."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent, indent

WORKFLOWS = {
    "ci.yaml": ((), ()),
    "cd.yaml": (
        ("promoted_commit_id", "environment"),
        ("allow_rollback", "promoted_from", "override"),
    ),
    "schedule.yaml": (("environment",), ("force", "allow_removals")),
    "check-promote.yaml": (
        ("environment", "commit_id"),
        ("promoted_commit_id", "gitops_repository", "started_at"),
    ),
    "poll.yaml": ((), ()),
    "rollback.yaml": (("environment",), ("to", "chain", "reason")),
}
"""Main's workflow files, with their required and optional inputs."""


def workflow(required: Sequence[str] = (), optional: Sequence[str] = ()) -> str:
    """Return a workflow that a dispatch starts, with these inputs."""
    lines = ["on:", "  workflow_dispatch:", "    inputs:"]
    for name in (*required, *optional):
        lines += [f"      {name}:", f"        required: {str(name in required).lower()}"]
    return "\n".join([*lines, "jobs: {}", ""])


def environment(url: str, name: str, *, next_environment: str = "", first: bool = False) -> str:
    """Return an Environment object; its branch has its name. `url` is the control plane's."""
    annotations = {
        "kalypso.io/next-environment": next_environment,
        "kalypso.io/first-environment": '"true"' if first else "",
    }
    lines = [f"    {key}: {value}\n" for key, value in annotations.items() if value]
    return (
        "apiVersion: scheduler.kalypso.io/v1alpha1\n"
        "kind: Environment\n"
        "metadata:\n"
        f"  name: {name}\n"
        + ("  annotations:\n" + "".join(lines) if lines else "")
        + f"spec:\n  controlPlane: {{repo: {url}, branch: {name}, path: .}}\n"
    )


def template(name: str, manifest: str, kind: str = "reconciler") -> str:
    """Return a Template with one manifest."""
    return (
        "apiVersion: scheduler.kalypso.io/v1alpha1\n"
        "kind: Template\n"
        f"metadata: {{name: {name}, annotations: {{kalypso.io/manifests: any}}}}\n"
        "spec:\n"
        f"  type: {kind}\n"
        "  manifests:\n"
        "  - |\n" + indent(dedent(manifest), "    ")
    )


def registration(name: str, url: str, *, workspace: str = "team", path: str = "workload") -> str:
    """Return a WorkloadRegistration of a repository's main branch."""
    return (
        "apiVersion: scheduler.kalypso.io/v1alpha1\n"
        "kind: WorkloadRegistration\n"
        f"metadata: {{name: {name}}}\n"
        f"spec:\n  workload: {{repo: {url}, branch: main, path: {path}}}\n"
        f"  workspace: {workspace}\n"
    )


def workload(name: str, url: str, environments: Sequence[str], target: str = "web") -> str:
    """Return a Workload with one deployment target in each environment."""
    targets = "".join(
        f"  - name: {target}\n"
        f"    environment: {environment}\n"
        f"    manifests: {{repo: {url}, branch: {environment}, path: ./{target}}}\n"
        for environment in environments
    )
    return (
        "apiVersion: scheduler.kalypso.io/v1alpha1\n"
        "kind: Workload\n"
        f"metadata: {{name: {name}}}\n"
        f"spec:\n  deploymentTargets:\n{targets}"
    )


def base_repo(url: str, commit: str) -> str:
    """Return base-repo.yaml as cd writes it; `url` is the control plane's."""
    return (
        "apiVersion: scheduler.kalypso.io/v1alpha1\n"
        "kind: BaseRepo\n"
        "metadata:\n"
        "  name: main\n"
        "spec:\n"
        f"  repo: {url}\n"
        "  branch: main\n"
        "  path: .\n"
        f"  commit: {commit}\n"
    )


def gitops_repo(url: str, branch: str, name: str = "main", path: str = ".") -> str:
    """Return a GitOpsRepo object."""
    return (
        "apiVersion: scheduler.kalypso.io/v1alpha1\n"
        "kind: GitOpsRepo\n"
        f"metadata: {{name: {name}}}\n"
        f"spec: {{repo: {url}, branch: {branch}, path: {path}}}\n"
    )


def cluster_type(name: str, **names: str) -> str:
    """Return a ClusterType with the label `size`; `names` replace the usual Templates."""
    spec = {"reconciler": "flux", "namespaceService": "namespace", "configType": "config", **names}
    lines = "".join(f"  {key}: {value}\n" for key, value in spec.items())
    return (
        "apiVersion: scheduler.kalypso.io/v1alpha1\n"
        "kind: ClusterType\n"
        f"metadata:\n  name: {name}\n  labels: {{size: {name}}}\n"
        f"spec:\n{lines}"
    )


def policy(name: str = "everywhere", **cluster_labels: str) -> str:
    """Return a policy for all deployment targets on the cluster types with these labels."""
    labels = ", ".join(f"{key}: {value}" for key, value in cluster_labels.items())
    return (
        "apiVersion: scheduler.kalypso.io/v1alpha1\n"
        "kind: SchedulingPolicy\n"
        f"metadata: {{name: {name}}}\n"
        "spec:\n"
        "  deploymentTargetSelector: {labelSelector: {}}\n"
        f"  clusterTypeSelector: {{labelSelector: {{matchLabels: {{{labels}}}}}}}\n"
    )


def config_map(name: str = "common", **data: str) -> str:
    """Return platform configuration without selectors."""
    lines = "".join(f'  {key}: "{value}"\n' for key, value in data.items())
    return (
        "apiVersion: v1\n"
        "kind: ConfigMap\n"
        f'metadata:\n  name: {name}\n  labels: {{platform-config: "true"}}\n'
        f"data:\n{lines}"
    )


def config_schema(name: str, *required: str) -> str:
    """Return a ConfigSchema that requires these keys."""
    keys = ", ".join(f'"{key}"' for key in required)
    return (
        "apiVersion: scheduler.kalypso.io/v1alpha1\n"
        "kind: ConfigSchema\n"
        f"metadata: {{name: {name}}}\n"
        f"spec:\n  schema: '{{\"required\": [{keys}]}}'\n"
    )


def main_files(url: str, app_url: str) -> dict[str, str]:
    """Return main of the control plane: dev, then stage, and one registered application."""
    return {
        ".sourceignore": ".github/\n.environments/\n",
        ".environments/dev.yaml": environment(url, "dev", next_environment="stage"),
        ".environments/stage.yaml": environment(url, "stage"),
        "registrations/shop.yaml": registration("shop", app_url),
        "templates/flux.yaml": template(
            "flux",
            """\
            kind: GitRepository
            metadata: {name: {{ .DeploymentTargetName }}}
            spec: {url: {{ .Manifests.repo | quote }}, ref: {branch: {{ .Manifests.branch | default "main" | quote }}}}
            """,
        ),
        "templates/namespace.yaml": template(
            "namespace", "kind: Namespace\nmetadata: {name: {{ .Namespace }}}\n", "namespace"
        ),
        "templates/config.yaml": template(
            "config", "kind: ConfigMap\ndata:\n{{ toYaml .ConfigData | indent 2 }}\n", "config"
        ),
        **{f".github/workflows/{file}": workflow(*inputs) for file, inputs in WORKFLOWS.items()},
    }


def environment_files(
    url: str, gitops_url: str, name: str, *, cluster_types: Sequence[str], commit: str
) -> dict[str, str]:
    """Return an environment branch that names `commit` of main; `url` is the control plane's."""
    return {
        "base-repo.yaml": base_repo(url, commit),
        "gitops-repo.yaml": gitops_repo(gitops_url, name),
        "policy.yaml": policy(),
        "config.yaml": config_map(REGION="west"),
        **{f"cluster-types/{name}.yaml": cluster_type(name) for name in cluster_types},
    }
