"""What an environment's branch lacks is said with the file to add."""

from __future__ import annotations

import pytest

from tests.fleet_checks.control_planes import Plane, edited, findings, shown, sound

GITOPS_REPO = """\
add gitops-repo.yaml to the branch dev:
apiVersion: scheduler.kalypso.io/v1alpha1
kind: GitOpsRepo
metadata:
  name: dev
spec:
  repo: URL OF THE GITOPS REPOSITORY
  branch: dev
  path: .
"""
BASE_REPO = """\
add base-repo.yaml to the branch dev:
apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata:
  name: main
spec:
  repo: https://git.test/plane
  branch: main
  path: .
"""
ENVIRONMENT = """\
add .environments/prod.yaml to main:
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata:
  name: prod
spec:
  controlPlane:
    repo: https://git.test/plane
    branch: prod
    path: .
"""


def without(plane: Plane, branch: str, file: str) -> Plane:
    files = {name: text for name, text in plane[branch].items() if name != file}
    return {**plane, branch: files}


@pytest.mark.parametrize(
    ("plane", "code", "advice"),
    [
        pytest.param(
            without(sound(), "dev", "gitops-repo.yaml"),
            "gitops-repo-missing",
            GITOPS_REPO,
            id="no GitOpsRepo",
        ),
        pytest.param(
            without(sound(), "dev", "base-repo.yaml"),
            "base-repo-missing",
            BASE_REPO,
            id="no BaseRepo",
        ),
        pytest.param(
            edited(sound(), "dev/base-repo.yaml", "name: main", "name: base"),
            "base-repo-missing",
            "rename it to main",
            id="BaseRepo by another name",
        ),
        pytest.param(
            {**sound(), "prod": sound()["stage"]},
            "environment-undeclared",
            ENVIRONMENT,
            id="no Environment",
        ),
    ],
)
def test_missing_documents(plane: Plane, code: str, advice: str) -> None:
    diagnostics = findings(plane)
    assert [(item.code, item.advice) for item in diagnostics.problems] == [(code, advice)]
    assert diagnostics.warnings == []


def test_the_other_name_of_the_base_repo_is_said_at_its_line() -> None:
    plane = edited(sound(), "dev/base-repo.yaml", "name: main", "name: base")
    (problem,) = findings(plane).problems
    assert problem.message.endswith("has no BaseRepo named 'main', but one named 'base'")
    assert shown([problem]) == [("base-repo-missing", "dev/base-repo.yaml:4")]


@pytest.mark.parametrize("file", ["gitops-repo.yaml", "base-repo.yaml"])
def test_what_is_missing_is_said_at_the_environment(file: str) -> None:
    (problem,) = findings(without(sound(), "dev", file)).problems
    assert shown([problem])[0][1] == "main/dev.yaml:1"
