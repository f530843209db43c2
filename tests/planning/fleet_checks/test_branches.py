"""Problems about missing documents of an environment's branch, with the file to add."""

from __future__ import annotations

import pytest

from tests.planning.fleet_checks.control_planes import (
    COMMIT,
    REGISTRATION,
    Plane,
    edited,
    environment,
    findings,
    shown,
    sound,
)

GITOPS_REPO = """\
if it was lost, restore it from the history of dev, else add gitops-repo.yaml to the branch dev:
apiVersion: scheduler.kalypso.io/v1alpha1
kind: GitOpsRepo
metadata:
  name: dev
spec:
  repo: https://git.test/gitops
  branch: dev
  path: .
"""
BASE_REPO = """\
if it was lost, restore it from the history of dev, else add base-repo.yaml to the branch dev:
apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata:
  name: main
spec:
  repo: https://git.test/plane
  branch: main
  path: .
  commit: abcdef0123abcdef0123abcdef0123abcdef0123
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
    diagnostics = findings(plane, main_commit=COMMIT)
    assert [(item.code, item.advice) for item in diagnostics.problems] == [(code, advice)]
    assert diagnostics.warnings == []


def test_the_other_name_of_the_base_repo_is_reported_at_its_line() -> None:
    plane = edited(sound(), "dev/base-repo.yaml", "name: main", "name: base")
    (problem,) = findings(plane).problems
    assert problem.message.endswith("has no BaseRepo named 'main', but one named 'base'")
    assert shown([problem]) == [("base-repo-missing", "dev/base-repo.yaml:4")]


@pytest.mark.parametrize("file", ["gitops-repo.yaml", "base-repo.yaml"])
def test_a_missing_document_is_reported_at_the_branch(file: str) -> None:
    (problem,) = findings(without(sound(), "dev", file)).problems
    assert problem.where
    assert (problem.where.path, problem.where.branch) == ("", "dev")


def test_two_gitops_repositories_leave_the_url_open() -> None:
    plane = without(sound(), "dev", "gitops-repo.yaml")
    other = edited(sound(), "stage/gitops-repo.yaml", "git.test/gitops", "git.test/other")
    plane["prod"] = other["stage"]
    plane["main"]["prod.yaml"] = environment("prod")
    (problem,) = findings(plane).problems
    assert "repo: URL OF THE GITOPS REPOSITORY" in problem.advice


@pytest.mark.parametrize("url", ["URL OF THE GITOPS REPOSITORY", "gitops", "https://git.test/a b"])
def test_a_placeholder_is_no_url(url: str) -> None:
    plane = edited(sound(), "dev/gitops-repo.yaml", "https://git.test/gitops", url)
    (problem,) = findings(plane).problems
    assert problem.message == "GitOpsRepo 'dev': spec.repo: this is not the URL of a repository"
    assert shown([problem]) == [("repository-url-invalid", "dev/gitops-repo.yaml:4")]


def test_a_base_repo_without_a_commit_is_a_note() -> None:
    plane = edited(sound(), "dev/base-repo.yaml", f", commit: {COMMIT}", "")
    (note,) = findings(plane).notes
    assert (note.code, note.message) == (
        "base-commit-missing",
        "the BaseRepo of environment 'dev' has no commit: nothing is promoted yet",
    )


def test_a_base_repo_whose_path_leads_to_no_document_is_the_only_problem() -> None:
    diagnostics = findings(edited(sound(), "dev/base-repo.yaml", "path: .", "path: ./mian"))
    assert shown(diagnostics.problems) == [("folder-missing", "dev/base-repo.yaml:5")]
    assert diagnostics.warnings == []


def test_registrations_that_deliver_the_same_workload_are_reported() -> None:
    plane = sound()
    again = REGISTRATION.replace("name: app", "name: again")
    plane["main"]["again.yaml"] = again
    diagnostics = findings(plane)
    assert [(str(item.where), item.code, item.message) for item in diagnostics.problems] == [
        (
            f"main: {one_file}:6",
            "workload-conflict",
            f"registration {one!r}: Workload 'boards' is also delivered by registration {other!r} "
            f"(main: {other_file}:6), which names the same folder",
        )
        for one, one_file, other, other_file in (
            ("again", "again.yaml", "app", "registration.yaml"),
            ("app", "registration.yaml", "again", "again.yaml"),
        )
    ]
    assert "remove one of the registrations" in diagnostics.problems[0].advice
