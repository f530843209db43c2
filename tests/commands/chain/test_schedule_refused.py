"""Errors that end schedule before it writes, with advice."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from kalypso_actions.commands.shared.environment_branch import gitops_branches
from kalypso_actions.errors import KalypsoError, UsageError
from tests.breaks import breaks, turned
from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, Organisation
from tests.commands.chain.proposals import messages, run, run_schedule


def refused(acme: Organisation, **given: Any) -> KalypsoError:
    acme.forget()
    with pytest.raises(KalypsoError) as raised:
        run(acme, **given)
    assert acme.writes() == []
    return raised.value


def gitops_repo(acme: Organisation, url: str, branch: str = "dev", path: str = ".") -> None:
    acme.commit({"gitops-repo.yaml": documents.gitops_repo(url, branch, path=path)}, "dev")


@pytest.mark.parametrize(
    ("repository", "branch", "message", "advice"),
    [
        (
            GITOPS,
            "new",
            "GitOpsRepo 'main': acme/gitops has no branch 'new'",
            "git switch --orphan",
        ),
        ("acme/empty", "dev", "acme/empty has no branch 'dev'", "git commit --allow-empty"),
        ("acme/nowhere", "dev", "GitOpsRepo 'main': ", ""),
        ("other/gitops", "main", "not among those that may be read", ""),
        ("https://git.example.com/acme/gitops", "dev", "", "on the GitHub server of the control"),
    ],
)
def test_gitops_branches_that_cannot_be_read(
    acme: Organisation, repository: str, branch: str, message: str, advice: str
) -> None:
    acme.sandbox.create_repository("acme/empty")
    acme.sandbox.create_repository("other/gitops", {"a": "b"})
    gitops_repo(acme, acme.url(repository) if "//" not in repository else repository, branch)
    problem = refused(acme).problem
    assert message in problem.message
    assert advice in problem.advice
    assert problem.where is not None
    assert problem.where.path == "gitops-repo.yaml"


def test_an_empty_branch_is_enough(acme: Organisation) -> None:
    """The advice creates such a branch."""
    acme.sandbox.create_repository("acme/empty")
    git = acme.sandbox.git("acme/empty")
    git.commit_files("dev", {}, "Begin", acme.sandbox._person())
    gitops_repo(acme, acme.url("acme/empty"))
    (entry,) = run(acme).pull_requests
    assert (entry.repository, entry.action) == ("acme/empty", "created")


def test_without_a_gitops_repo(acme: Organisation) -> None:
    acme.commit({"gitops-repo.yaml": None}, "dev")
    problem = refused(acme).problem
    assert problem.message == "the environment dev has no GitOpsRepo"
    assert problem.advice.startswith("add one on its branch dev")


KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"


@breaks(
    "a fault hides behind the GitOpsRepo that it hides",
    turned(gitops_branches, "tuple(dict.fromkeys(faults))", "()"),
    case="a syntax error",
)
@pytest.mark.parametrize(
    ("files", "place", "code"),
    [
        pytest.param(
            {"gitops-repo.yaml": "kind: [\n"},
            "gitops-repo.yaml:1",
            "yaml-invalid",
            id="a syntax error",
        ),
        pytest.param(
            {"gitops-repo.yaml": POINTER}, "gitops-repo.yaml", "file-lfs-pointer", id="Git LFS"
        ),
        pytest.param(
            {"gitops-repo.yaml": documents.gitops_repo("x", "dev").replace("repo:", "repp:")},
            "gitops-repo.yaml:4",
            "field-invalid",
            id="a missing field",
        ),
        pytest.param(
            {"gitops-repo.yaml": documents.gitops_repo("x", "dev").replace("GitOps", "Gitops")},
            "gitops-repo.yaml:2",
            "kind-unknown",
            id="an unknown kind",
        ),
        pytest.param(
            {"kustomization.yaml": KUSTOMIZATION, "kustomization.yml": KUSTOMIZATION},
            "kustomization.yaml",
            "kustomization-invalid",
            id="two kustomizations",
        ),
        pytest.param(
            {"kustomization.yaml": f"{KUSTOMIZATION}resources: [absent.yaml]\n"},
            "kustomization.yaml:3",
            "kustomization-resource-missing",
            id="a missing file",
        ),
        pytest.param(
            {"kustomization.yaml": f"{KUSTOMIZATION}resources: [policy.yaml]\nnamePrefix: x-\n"},
            "kustomization.yaml:4",
            "kustomize-missing",
            id="a build without its program",
        ),
    ],
)
def test_the_fault_that_hides_the_gitops_repo_is_the_problem(
    acme: Organisation, files: dict[str, str | None], place: str, code: str
) -> None:
    acme.commit(dict(files), "dev")
    error = refused(acme, variables={"PATH": git_alone(acme)})
    assert [problem.code for problem in error.problems] == [code]
    where = error.problem.where
    assert where is not None
    assert f"{where.path}:{where.line}".removesuffix(":0") == place


def git_alone(acme: Organisation) -> str:
    """Return a PATH without kustomize."""
    programs = acme.folder / "git"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "git")
    return str(programs)


def test_an_environment_that_does_not_exist(acme: Organisation) -> None:
    error = refused(acme, environment="qa")
    assert isinstance(error, UsageError)
    assert error.problem.advice == "write one of those that exist: dev, stage"


def test_an_environment_branch_that_does_not_exist(acme: Organisation) -> None:
    acme.reset("dev", None)
    assert "there is no such branch" in refused(acme).problem.message


def test_a_promoted_commit_that_does_not_exist(acme: Organisation) -> None:
    acme.commit({"base-repo.yaml": documents.base_repo(acme.url(), "a" * 40)}, "dev")
    assert "BaseRepo 'main'" in refused(acme).problem.message


@pytest.mark.parametrize(
    "files",
    [
        {"policy.yaml": "kind: SchedulingPolicy\n"},
        {"again.yaml": documents.cluster_type("large")},
        {"config.yaml": documents.config_map(A="x").replace('"x"', "1")},
    ],
)
def test_faults_of_the_control_plane_refuse(
    acme: Organisation, files: dict[str, str | None]
) -> None:
    acme.commit(files, "dev")
    acme.forget()
    done = run_schedule(acme)
    assert done.failed
    assert len(done.document.problems) == 1
    assert "dev is not proposed" in done.summary
    assert acme.writes() == []


def test_obstacles_of_the_tree_refuse(acme: Organisation) -> None:
    acme.commit({"large": "a file"}, "dev", GITOPS)
    done = run_schedule(acme)
    assert done.failed
    assert "a file stands where a folder is needed" in done.summary
    assert acme.pulls() == []


def test_a_token_that_may_not_write(acme: Organisation) -> None:
    token = acme.sandbox.create_token(
        permissions={"contents": "read", "issues": "write", "pull_requests": "write"}
    )
    assert "contents: write" in refused(acme, token=token).problem.advice


def test_pull_requests_that_a_job_may_not_open(acme: Organisation) -> None:
    """The branch is pushed already; the next run continues when the setting has changed."""
    repository = acme.sandbox.repository(GITOPS)
    repository.actions_may_open_pull_requests = False
    token = acme.sandbox.create_token("actions", owner="acme")
    with pytest.raises(KalypsoError, match="not permitted to create") as raised:
        run(acme, token=token)
    assert "Allow GitHub Actions to create" in raised.value.problem.advice
    repository.actions_may_open_pull_requests = True
    acme.forget()
    assert [pull_request.action for pull_request in run(acme, token=token).pull_requests] == [
        "created"
    ]
    assert f"push {GITOPS}" not in acme.writes()
    assert messages(run(acme, token=token)) == []
