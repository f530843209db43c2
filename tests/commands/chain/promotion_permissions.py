"""Scenes in which ci, cd, notify and check-promote use all permissions that they ever need."""

from __future__ import annotations

from typing import Final

from kalypso_actions.commands.cd.command import cd
from kalypso_actions.commands.check_promote.command import check_promote
from kalypso_actions.commands.ci.command import ci
from kalypso_actions.commands.notify import notify
from kalypso_actions.inputs.chain import CdInputs, CheckPromoteInputs, CiInputs, NotifyInputs
from kalypso_sandbox.store import AutoMerge, BranchRule
from tests.commands.chain import documents
from tests.commands.chain.organisation import (
    CONTROL_PLANE,
    GITOPS,
    SHOP,
    Dispatch,
    Job,
    Organisation,
)
from tests.commands.chain.permission_scene import READ, RECORDS, Run, Scene, runs
from tests.commands.chain.polls import propose
from tests.commands.chain.promotions import main_commit, merge
from tests.commands.chain.proposals import promote
from tests.commands.chain.pushes import pushed

DEV = "dev environment"


def _ci(acme: Organisation) -> Run:
    main_commit(acme)
    return runs(acme, ci, CiInputs, job=Job("push"))


def _ci_done(acme: Organisation) -> None:
    commit = acme.head("main") or ""
    assert acme.statuses(commit)["kalypso / ci"] == ("success", "4 assignments in 2 environments")
    inputs = {"promoted_commit_id": commit, "environment": "dev", "promoted_from": "ci"}
    assert acme.dispatches() == [Dispatch("cd.yaml", inputs)]


def _cd(acme: Organisation, **more: str) -> Run:
    given = {"environment": "dev", "promoted_from": "ci", **more}
    return runs(acme, cd, CdInputs, commit=main_commit(acme), **given)


def _cd_done(acme: Organisation) -> None:
    commit = acme.head("main") or ""
    assert acme.files("dev")["base-repo.yaml"] == documents.base_repo(acme.url(), commit)
    assert acme.statuses(commit) == {DEV: ("pending", "Promoted")}
    assert acme.dispatches() == [Dispatch("schedule.yaml", {"environment": "dev"})]


def _cd_proposes(acme: Organisation) -> Run:
    return _cd(acme, mode="pull-request")


def _cd_goes_back(acme: Organisation) -> Run:
    """Prepare a rollback by cd while GitHub's auto-merge waits with a newer commit."""
    older = acme.head("main") or ""
    promote(acme, main_commit(acme))
    number = propose(acme, auto_merge="always")
    with acme.sandbox.lock:
        somebody = acme.sandbox.store.tokens[acme.token]
        gitops = acme.sandbox.repository(GITOPS)
        gitops.rules = [BranchRule(pattern="dev", required_contexts=["tests"])]
        pull = gitops.issues[number].pull_request
        assert pull
        pull.auto_merge = AutoMerge(identity=somebody, method="merge")
    given = {"commit": older, "allow_rollback": "true", "former_identities": "somebody"}
    return runs(acme, cd, CdInputs, environment="dev", **given)


def _cd_went_back(acme: Organisation) -> None:
    (pull,) = acme.pulls()
    assert pull["auto_merge"] is None


def _cd_verifies(acme: Organisation) -> Run:
    """Prepare cd with `verify-only`, after ci recorded the start."""
    run = _cd(acme, verify_only="true")
    acme.status(acme.head("main") or "", "kalypso / cd dev", "Starting, attempt 1: ci")
    return run


def _nothing_done(acme: Organisation) -> None:
    assert acme.statuses(acme.head("main") or "") == {}
    assert acme.dispatches() == acme.pulls(CONTROL_PLANE) == []


def _cd_proposed(acme: Organisation) -> None:
    (pull,) = acme.pulls(CONTROL_PLANE)
    commit = acme.head("main") or ""
    assert pull["title"] == f"Promote {commit[:7]} to dev"
    assert acme.statuses(commit) == {DEV: ("pending", f"Waiting for #{pull['number']}")}


def _notify(acme: Organisation) -> Run:
    """Prepare notify after a merge with the same commit of main, which is not deployed yet."""
    commit = main_commit(acme)
    merge(acme, commit)
    merge(acme, commit, config="2")
    acme.status(commit, DEV, "Failed to deploy", "failure")
    payload = pushed(acme)
    job = Job("push", payload["ref"], payload["after"], GITOPS, payload)
    return runs(acme, notify, NotifyInputs, job=job, control_plane=CONTROL_PLANE)


def _notified(acme: Organisation) -> None:
    inputs = {
        "environment": "dev",
        "promoted_commit_id": acme.head("main") or "",
        "commit_id": acme.head("dev", GITOPS) or "",
        "gitops_repository": GITOPS,
    }
    assert acme.dispatches() == [Dispatch("check-promote.yaml", inputs)]


def _check_promote(acme: Organisation, **more: str) -> Run:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    given = {"environment": "dev", "promoted_commit": commit, "gitops_commit": merged}
    return runs(acme, check_promote, CheckPromoteInputs, timeout="10m", **given, **more)


def _check_promote_verifies(acme: Organisation) -> Run:
    return _check_promote(acme, verify_only="true")


def _check_promoted(acme: Organisation) -> None:
    commit = acme.head("main") or ""
    assert acme.statuses(commit) == {DEV: ("pending", "Deployed")}
    inputs = {"promoted_commit_id": commit, "environment": "stage", "promoted_from": "dev"}
    assert acme.dispatches() == [Dispatch("cd.yaml", inputs)]


PROMOTION_SCENES: Final = (
    Scene(
        "ci",
        "a push to main",
        _ci,
        _ci_done,
        {
            CONTROL_PLANE: {**RECORDS, "actions": "write"},
            GITOPS: READ,
            SHOP: READ,
        },
    ),
    Scene(
        "cd",
        "a commit",
        _cd,
        _cd_done,
        {CONTROL_PLANE: {"contents": "write", "statuses": "write", "actions": "write"}},
    ),
    Scene(
        "cd",
        "a pull request",
        _cd_proposes,
        _cd_proposed,
        {CONTROL_PLANE: {"contents": "write", "statuses": "write", "pull-requests": "write"}},
    ),
    Scene(
        "cd",
        "a rollback",
        _cd_goes_back,
        _cd_went_back,
        {
            CONTROL_PLANE: {"contents": "write", "statuses": "write", "actions": "write"},
            GITOPS: {"contents": "write", "pull-requests": "write"},
        },
    ),
    Scene(
        "cd",
        "verify-only",
        _cd_verifies,
        _nothing_done,
        {CONTROL_PLANE: RECORDS},
        verify_only=True,
    ),
    Scene(
        "notify",
        "a merge",
        _notify,
        _notified,
        {CONTROL_PLANE: {**RECORDS, "actions": "write"}, GITOPS: READ},
    ),
    Scene(
        "check-promote",
        "a promotion",
        _check_promote,
        _check_promoted,
        {
            CONTROL_PLANE: {**RECORDS, "actions": "write"},
            GITOPS: READ,
        },
    ),
    Scene(
        "check-promote",
        "verify-only",
        _check_promote_verifies,
        _nothing_done,
        {CONTROL_PLANE: RECORDS, GITOPS: READ},
        verify_only=True,
    ),
)
