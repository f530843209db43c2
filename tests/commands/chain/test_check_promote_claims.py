"""`kalypso check-promote` trusts none of its inputs: a dispatch may claim anything."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_sandbox.store import Permissions
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Organisation
from tests.commands.chain.promotions import (
    check,
    main_commit,
    merge,
    name_in_base,
    sign_in,
    tree,
    verdict,
)


@pytest.fixture(autouse=True)
def azure(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    sign_in(acme, monkeypatch)


def refused(
    acme: Organisation, gitops_commit: str, promoted: str | None = None, **inputs: Any
) -> str:
    """Return the error of a run that refuses its inputs; check that it has written nothing."""
    acme.forget()
    with pytest.raises(UsageError) as caught:
        check(acme, gitops_commit, promoted, **inputs)
    assert caught.value.exit_code == 2
    assert caught.value.problem.advice
    assert acme.writes() == []
    return str(caught.value)


def test_an_environment_that_does_not_exist(acme: Organisation) -> None:
    commit = main_commit(acme)
    message = refused(acme, merge(acme, commit), commit, environment="prod")
    assert "there is no Environment 'prod' on main" in message


def test_a_gitops_commit_of_another_branch(acme: Organisation) -> None:
    commit = main_commit(acme)
    elsewhere = merge(acme, commit, "stage")
    merge(acme, commit)
    for claimed in (elsewhere, "f" * 40, commit):
        message = refused(acme, claimed, commit)
        assert f"the commit {claimed[:7]} does not lie on the branch 'dev'" in message
        assert acme.url(GITOPS) in message
        assert "does not lie on the branch 'dev'" in refused(acme, claimed)


def test_a_commit_of_an_open_pull_request(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    git = acme.sandbox.git(GITOPS)
    assert git.update_ref("refs/heads/proposal", merged, None)
    proposed = acme.commit({"large/x": "1"}, "proposal", GITOPS)
    assert "does not lie on the branch" in refused(acme, proposed, commit)


def test_another_promoted_commit_than_the_merged_one(acme: Organisation) -> None:
    old = acme.head("main") or ""
    commit = main_commit(acme)
    merged = merge(acme, commit)
    message = refused(acme, merged, old)
    assert f"the tracking file of the commit {merged[:7]} names {commit[:7]}, not" in message
    untracked = merge(acme, None, "stage")
    message = refused(acme, untracked, commit, environment="stage")
    assert "names no commit" in message


def test_a_commit_that_is_not_on_main(acme: Organisation) -> None:
    beside = acme.commit({"x": "1"}, "beside")
    message = refused(acme, merge(acme, beside), beside)
    assert f"the promoted commit {beside[:7]} does not lie on main" in message
    unknown = "e" * 40
    assert "does not lie on main" in refused(acme, merge(acme, unknown), unknown)


def test_a_repository_of_another_environment(acme: Organisation) -> None:
    commit = main_commit(acme)
    message = refused(acme, merge(acme, commit), commit, gitops_repository="acme/shop")
    assert "acme/shop is no GitOps repository of the environment" in message
    assert "it has acme/gitops" in message


def test_several_repositories_need_a_name(acme: Organisation) -> None:
    second = documents.gitops_repo(acme.url("acme/second"), "dev", "second")
    acme.commit({"second.yaml": second}, "dev")
    commit = main_commit(acme)
    message = refused(acme, merge(acme, commit), commit)
    assert "gitops-repository is needed" in message
    assert "give one of acme/gitops, acme/second" in message


@pytest.mark.parametrize("moment", ["yesterday", "2026-03-01", "2026-03-01T12:00:00"])
def test_a_beginning_that_is_no_time(acme: Organisation, moment: str) -> None:
    commit = main_commit(acme)
    message = refused(acme, merge(acme, commit), commit, started_at=moment)
    assert f"started-at: '{moment}' is not a time with an offset" in message


def test_a_next_environment_that_does_not_exist(acme: Organisation) -> None:
    commit = main_commit(acme)
    message = refused(acme, merge(acme, commit), commit, next_environment="prod")
    assert "next-environment: there is no Environment 'prod'" in message


def test_azure_inputs_that_do_not_suffice(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    assert "azure-tenant-id" in refused(acme, merged, commit, azure_client_id="0" * 8)
    assert "is not a scope" in refused(acme, merged, commit, azure_scopes="a b")


def test_a_branch_cut_from_that_of_another_environment(acme: Organisation) -> None:
    """The tracking file of the branch names the commit of the other environment."""
    commit = main_commit(acme)
    merged = merge(acme, commit, environment="stage")
    assert "names no commit" in refused(acme, merged, commit)
    assert verdict(check(acme, merged)) == "compliant"
    assert acme.statuses(commit) == {}


def test_an_environment_branch_with_a_broken_file(acme: Organisation) -> None:
    """The broken file may hold a GitOpsRepo, whose clusters would be overlooked."""
    commit = main_commit(acme)
    merged = merge(acme, commit)
    acme.commit({"second.yaml": "kind: [GitOpsRepo"}, "dev")
    acme.forget()
    with pytest.raises(KalypsoError) as caught:
        check(acme, merged, commit)
    assert caught.value.problem.where is not None
    assert caught.value.problem.where.path == "second.yaml"
    assert acme.writes() == []


def test_an_environment_without_a_gitops_repo(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    acme.commit({"gitops-repo.yaml": None}, "dev")
    with pytest.raises(KalypsoError, match="the environment dev has no GitOpsRepo"):
        check(acme, merged, commit)


def test_a_gitops_repository_that_may_not_be_read(acme: Organisation) -> None:
    acme.sandbox.create_repository("others/gitops", {"README.md": ""})
    commit = main_commit(acme)
    name_in_base(acme, commit)
    merged = acme.commit(tree(commit), "main", "others/gitops")
    repo = documents.gitops_repo(acme.url("others/gitops"), "main")
    acme.commit({"gitops-repo.yaml": repo}, "dev")
    token = acme.sandbox.create_token()
    with pytest.raises(KalypsoError, match="not among those that may be read"):
        check(acme, merged, commit, token=token)
    acme.cluster("dev", "drone", repository="others/gitops", branch="main")
    acme.cluster("dev", "large", repository="others/gitops", branch="main")
    outcome = check(acme, merged, commit, token=token, allowed_repositories="*/gitops")
    assert verdict(outcome) == "compliant"


def test_the_permissions_of_the_template_suffice(acme: Organisation) -> None:
    """The workflow template gives the job's token these permissions."""
    permissions: Permissions = {"actions": "write", "contents": "read", "statuses": "write"}
    token = acme.sandbox.create_token("actions", permissions, repositories=[CONTROL_PLANE, GITOPS])
    commit = main_commit(acme)
    outcome = check(acme, merge(acme, commit), commit, token=token)
    assert verdict(outcome) == "compliant"
