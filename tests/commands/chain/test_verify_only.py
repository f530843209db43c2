"""`verify-only`: the first job of the templates checks the dispatch against the repositories."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.commands.cd import cd
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.report.chain_document import CdDocument
from kalypso_actions.report.check_promote_document import CheckPromoteDocument
from kalypso_sandbox.store import Permissions
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Organisation
from tests.commands.chain.promotions import check, main_commit, merge

LEVELS: Permissions = {"contents": "read", "statuses": "write"}


def verify_cd(acme: Organisation, commit: str, **inputs: Any) -> CommandResult:
    """Verify cd with a token that may read the control plane and post statuses."""
    token = acme.sandbox.create_token("actions", LEVELS, repositories=[CONTROL_PLANE])
    given = {"environment": "dev", "commit": commit, "verify_only": "true", **inputs}
    acme.forget()
    return acme.run(cd, CdInputs, token=token, **given)


def verify_check(
    acme: Organisation, gitops_commit: str, promoted: str, **inputs: Any
) -> CommandResult:
    """Verify check-promote with a token that may read both repositories and post statuses."""
    token = acme.sandbox.create_token("actions", LEVELS, repositories=[CONTROL_PLANE, GITOPS])
    acme.forget()
    return check(acme, gitops_commit, promoted, token=token, verify_only="true", **inputs)


def test_a_valid_promotion(acme: Organisation) -> None:
    new = main_commit(acme)
    outcome = verify_cd(acme, new, pre_deployment="exit 1", mode="pull-request")
    assert not outcome.failed
    assert outcome.document == CdDocument(environment="dev", commit=new, verify_only=True)
    assert outcome.summary == (
        f"## kalypso cd: {new[:7]} may come to dev\n\n"
        "Nothing was written. The inputs match the repositories."
    )
    assert acme.logged == [f"{new[:7]} may come to dev."]
    assert acme.writes() == []
    assert acme.dispatches() == []


@pytest.mark.parametrize("promoted_from", ["", "ci"])
def test_a_promotion_without_changes_is_valid(acme: Organisation, promoted_from: str) -> None:
    old = acme.head("main") or ""
    new = main_commit(acme)
    acme.commit({"base-repo.yaml": documents.base_repo(acme.url(), new)}, "dev")
    assert not verify_cd(acme, new, promoted_from=promoted_from).failed
    assert not verify_cd(acme, old, promoted_from="ci").failed
    assert not verify_cd(acme, old, allow_rollback="true").failed


def test_promotions_that_are_refused(acme: Organisation) -> None:
    old = acme.head("main") or ""
    new = main_commit(acme)
    acme.commit({"base-repo.yaml": documents.base_repo(acme.url(), new)}, "dev")
    beside = acme.commit({"x": "1"}, "beside")
    cases: dict[str, tuple[str, dict[str, str]]] = {
        "there is no Environment 'prod' on main": (new, {"environment": "prod"}),
        f"the commit {beside} is not on main": (beside, {}),
        f"the commit {'e' * 40} is not on main": ("e" * 40, {"promoted_from": "ci"}),
        f"the commit {old[:7]} is older than {new[:7]}": (old, {}),
    }
    for message, (commit, inputs) in cases.items():
        with pytest.raises(UsageError, match=message) as caught:
            verify_cd(acme, commit, **inputs)
        assert caught.value.exit_code == 2
        assert acme.writes() == []


@pytest.mark.parametrize(
    ("claimed", "latest", "is_promotion"),
    [(True, "", True), (False, "", True), (False, "Promoted", True), (False, "Deployed", False)],
)
def test_a_true_claim_about_a_merge(
    acme: Organisation, claimed: bool, latest: str, is_promotion: bool
) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    if latest:
        acme.status(commit, "dev environment", latest)
    promoted = commit if is_promotion else ""
    claim = commit if claimed else ""
    outcome = verify_check(acme, merged, claim, started_at="2026-03-01T11:00:00+00:00")
    assert not outcome.failed
    assert outcome.document == CheckPromoteDocument(
        environment="dev", promoted_commit=promoted, gitops_commit=merged, verify_only=True
    )
    assert outcome.summary.startswith("## kalypso check-promote: the inputs for `dev` are right\n")
    assert "Nothing was written. The inputs match" in outcome.summary
    assert outcome.document.outputs() == {
        "verdict": "",
        "clusters": "{}",
        "promoted-to": "[]",
        "events": "[]",
        "more-events": "{}",
    }
    assert acme.writes() == []
    assert acme.dispatches() == []
    assert acme.clock() == acme.clock.start.replace(second=1)  # the merge: no time has passed
    assert not [exchange for exchange in acme.sandbox.traffic if exchange.template == "azure"]


CD = "kalypso / cd dev"
CHECK = "kalypso / check-promote dev acme/gitops"


@pytest.mark.parametrize("before", ["Starting, attempt 2: ci", "Given up: ci"])
def test_it_records_that_a_run_of_cd_has_begun(acme: Organisation, before: str) -> None:
    new = main_commit(acme)
    acme.status(new, CD, before)
    verify_cd(acme, new, promoted_from="ci")
    assert acme.records(new) == {CD: ("success", "Received: ci")}


def test_a_start_by_a_person_has_no_record(acme: Organisation) -> None:
    new = main_commit(acme)
    verify_cd(acme, new)
    assert acme.recorded() == []


def test_a_refusal_leaves_the_record(acme: Organisation) -> None:
    """poll repeats the refused start, and then gives it up."""
    beside = acme.commit({"x": "1"}, "beside")
    acme.status(beside, CD, "Starting, attempt 1: ci")
    with pytest.raises(UsageError):
        verify_cd(acme, beside, promoted_from="ci")
    assert acme.recorded() == []


def test_it_records_that_a_run_of_check_promote_has_begun(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    verify_check(acme, merged, commit)
    assert acme.records(commit) == {CHECK: ("success", f"Received: {merged}")}
    acme.forget()
    verify_check(acme, merged, "")
    assert acme.recorded() == []


def test_a_token_that_may_only_read_holds_it_against_the_repositories_all_the_same(
    acme: Organisation,
) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    acme.status(commit, CD, "Starting, attempt 1: ci", "success")
    token = acme.sandbox.create_token(
        "actions", {"contents": "read"}, repositories=[CONTROL_PLANE, GITOPS]
    )
    outcome = acme.run(
        cd, CdInputs, token=token, environment="dev", commit=commit, verify_only="true"
    )
    assert not outcome.failed
    assert not check(acme, merged, commit, token=token, verify_only="true").failed
    commits = [line.partition(": ")[0] for line in acme.logged]
    assert commits.count("The record of the start is not read") == 1
    assert sum(each.endswith(" is not posted") for each in commits) == 1
    assert acme.records(commit) == {CD: ("success", "Starting, attempt 1: ci")}
