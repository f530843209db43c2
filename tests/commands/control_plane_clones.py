"""Clones of a small control plane."""

from __future__ import annotations

from pathlib import Path

from tests.git_repositories import commit_branch, git

API = "apiVersion: scheduler.kalypso.io/v1alpha1"
URL = "https://git.test/acme/control-plane"


def environment(name: str) -> str:
    place = f"{{repo: {URL}, branch: {name}, path: .}}"
    return (
        f"{API}\nkind: Environment\nmetadata: {{name: {name}}}\nspec: {{controlPlane: {place}}}\n"
    )


def template(name: str, of_type: str = "reconciler") -> str:
    spec = f'{{type: {of_type}, manifests: ["kind: {name}"]}}'
    metadata = f"{{name: {name}, annotations: {{kalypso.io/manifests: any}}}}"
    return f"{API}\nkind: Template\nmetadata: {metadata}\nspec: {spec}\n---\n"


MAIN = {
    ".environments/dev.yaml": environment("dev"),
    ".environments/stage.yaml": environment("stage"),
    "templates.yaml": template("reconciler") + template("namespace", "namespace"),
}

FLEET = f"""\
{API}
kind: ClusterType
metadata: {{name: store, labels: {{size: small}}}}
spec: {{reconciler: reconciler, namespaceService: namespace}}
---
{API}
kind: DeploymentTarget
metadata: {{name: till, labels: {{workload: till, workspace: shop}}}}
spec: {{environment: dev, manifests: {{repo: r, branch: b, path: p}}}}
---
{API}
kind: SchedulingPolicy
metadata: {{name: all}}
spec:
  deploymentTargetSelector: {{labelSelector: {{matchLabels: {{workload: till}}}}}}
  clusterTypeSelector: {{labelSelector: {{matchLabels: {{size: small}}}}}}
---
{API}
kind: GitOpsRepo
metadata: {{name: {{}}}}
spec: {{repo: https://git.test/acme/gitops, branch: dev, path: .}}
""".replace("{}}", "dev}")


def branch(commit: str, name: str = "dev") -> dict[str, str]:
    spec = f"{{repo: {URL}, branch: main, path: ., commit: {commit}}}"
    base = f"{API}\nkind: BaseRepo\nmetadata: {{name: main}}\nspec: {spec}\n"
    return {"base-repo.yaml": base, "fleet.yaml": FLEET.replace("dev", name)}


def make_clone(tmp_path: Path) -> Path:
    """Make a clone whose origin is `URL`, with dev checked out; main is two commits ahead of dev."""
    origin = tmp_path / "origin"
    promoted = commit_branch(origin, MAIN)
    commit_branch(origin, MAIN | {"more.yaml": template("more")})
    commit_branch(origin, MAIN | {"more.yaml": template("more"), "README.md": "Hello"})
    git(origin, "tag", "v2")
    commit_branch(origin, branch(promoted), "dev")
    commit_branch(origin, branch(promoted, "stage"), "stage")
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", "dev", str(origin), str(folder))
    git(folder, "remote", "set-url", "origin", URL)
    return folder
