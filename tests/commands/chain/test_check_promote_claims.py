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
    tree,
    verdict,
)

pytestmark = pytest.mark.usefixtures("azure")


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


def test_claims_that_the_repositories_contradict(acme: Organisation) -> None:
    old = acme.head("main") or ""
    commit = main_commit(acme)
    untracked = merge(acme, None, "stage")
    elsewhere = merge(acme, commit, "stage")
    merged = merge(acme, commit)
    assert acme.sandbox.git(GITOPS).update_ref("refs/heads/proposal", merged, None)
    proposed = acme.commit({"large/x": "1"}, "proposal", GITOPS)
    lie = "the commit {} does not lie on the branch 'dev'"
    stage = {"environment": "stage"}
    cases: list[tuple[str, str | None, dict[str, str], str]] = [
        (merged, commit, {"environment": "prod"}, "there is no Environment 'prod' on main"),
        *((claim, commit, {}, lie.format(claim[:7])) for claim in (elsewhere, "f" * 40, commit)),
        (elsewhere, None, {}, lie.format(elsewhere[:7])),
        (proposed, commit, {}, lie.format(proposed[:7])),
        (merged, old, {}, f"the tracking file of the commit {merged[:7]} names {commit[:7]}, not"),
        (untracked, commit, stage, "names no commit"),
        (merged, commit, {"gitops_repository": "acme/shop"}, "acme/shop is no GitOps repository"),
        (merged, commit, {"next_environment": "prod"}, "next-environment: there is no Environment"),
        *(
            (merged, commit, {"started_at": time}, f"started-at: '{time}' is not a time with an")
            for time in ("yesterday", "2026-03-01", "2026-03-01T12:00:00")
        ),
    ]
    for claimed, promoted, inputs, message in cases:
        assert message in refused(acme, claimed, promoted, **inputs)


def test_a_commit_that_is_not_on_main(acme: Organisation) -> None:
    for beside in (acme.commit({"x": "1"}, "beside"), "e" * 40):
        message = f"the promoted commit {beside[:7]} does not lie on main"
        assert message in refused(acme, merge(acme, beside), beside)


def test_several_repositories_need_a_name(acme: Organisation) -> None:
    second = documents.gitops_repo(acme.url("acme/second"), "dev", "second")
    acme.commit({"second.yaml": second}, "dev")
    commit = main_commit(acme)
    message = refused(acme, merge(acme, commit), commit)
    assert "gitops-repository is needed" in message
    assert "give one of acme/gitops, acme/second" in message


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
