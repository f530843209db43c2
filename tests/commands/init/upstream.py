"""A small control plane and GitOps repository, as users of upstream Kalypso have them."""

from __future__ import annotations

from typing import Final

from tests.commands.init.repositories import CONTROL_PLANE, GITOPS, WORKFLOWS, Acme

CI: Final = """\
name: ci
on:
  push:
    branches: [main]
permissions: write-all
jobs:
  ci:
    runs-on: ubuntu-latest
    steps:
      - run: gh workflow run cd.yaml -f environment=dev -f promoted_commit_id=$GITHUB_SHA
"""

CD: Final = """\
name: cd
on:
  workflow_dispatch:
    inputs:
      promoted_commit_id: {required: true}
      environment: {required: true}
jobs:
  promote:
    runs-on: ubuntu-latest
    steps:
      - run: .github/workflows/utils/save-promoted-commit.sh
"""

CHECK: Final = """\
name: checkpromote
on:
  push:
    branches: ["*", "!main"]
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - run: gh pr list --search $COMMIT_ID --state merged --label promoted
"""

POLICY: Final = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: all}
spec:
  deploymentTargetSelector: {labelSelector: {}}
  clusterTypeSelector: {labelSelector: {}}
"""

TEMPLATE: Final = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: arc-flux}
spec: {type: reconciler, manifests: ["kind: x"]}
"""


def environment(url: str, name: str) -> str:
    return f"""\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata: {{name: {name}}}
spec:
  controlPlane: {{repo: "{url}/{CONTROL_PLANE}", branch: {name}, path: .}}
"""


def gitops_repo(url: str, name: str, repository: str = GITOPS) -> str:
    return f"""\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: GitOpsRepo
metadata: {{name: {name}}}
spec: {{repo: "{url}/{repository}", branch: {name}, path: .}}
"""


def base_repo(url: str) -> str:
    return f"""\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata: {{name: main}}
spec: {{repo: "{url}/{CONTROL_PLANE}", branch: main, path: ., commit: {"5" * 40}}}
"""


def found(acme: Acme) -> None:
    """Create main with dev and stage, but only the branch dev, in both repositories."""
    acme.create(
        {
            ".environments/dev.yaml": environment(acme.url, "dev"),
            ".environments/stage.yaml": environment(acme.url, "stage"),
            ".sourceignore": ".github/\n.environments/\n",
            "templates/flux.yaml": TEMPLATE,
            f"{WORKFLOWS}/ci.yaml": CI,
            f"{WORKFLOWS}/cd.yaml": CD,
            f"{WORKFLOWS}/check-promote.yml": CHECK,
            f"{WORKFLOWS}/lint.yaml": "name: lint\non: push\njobs: {}\n",
            f"{WORKFLOWS}/utils/update-status.sh": "#!/bin/sh\n",
        },
        {"README.md": "What clusters follow.\n"},
    )
    acme.sandbox.commit(
        CONTROL_PLANE,
        {
            "base-repo.yaml": base_repo(acme.url),
            "gitops-repo.yaml": gitops_repo(acme.url, "dev"),
            "policy.yaml": POLICY,
        },
        branch="dev",
    )
    files = {f"{WORKFLOWS}/check-promote.yaml": CHECK, "small/README.md": "x"}
    acme.sandbox.commit(GITOPS, files, branch="dev")
