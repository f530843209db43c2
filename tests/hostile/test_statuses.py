"""Statuses with the contexts of the chain, posted by somebody else with `statuses: write`."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.commands.notify import notify
from kalypso_actions.inputs.chain import NotifyInputs
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion import start_records, statuses
from kalypso_actions.promotion.start_records import StartRecord
from tests.breaks import breaks, turned
from tests.commands.chain.cd_runs import change_main
from tests.commands.chain.cd_runs import run as run_cd
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Job, Organisation
from tests.commands.chain.polls import LONG, at_rest, started
from tests.commands.chain.polls import post as post_as_poll
from tests.commands.chain.polls import run as poll
from tests.commands.chain.promotions import check, main_commit, merge, sign_in, verdict
from tests.commands.chain.proposals import run_schedule, settle

DEV = "dev environment"
CHECK = f"kalypso / check-promote dev {GITOPS}"
FORGED = [
    statuses.deployed("dev"),
    statuses.superseded("dev", "f" * 40),
    statuses.rolled_back("dev", "f" * 40),
]


def forge(acme: Organisation, commit: str, status: CommitStatus) -> None:
    """Post a status as another account of the organization."""
    kind: Any = "user"
    token = acme.sandbox.create_token(kind, None, login="mallory", owner="acme")
    body = {"context": status.context, "description": status.description, "state": status.state}
    acme.ask("POST", f"{CONTROL_PLANE}/statuses/{commit}", body, token=token)


def notified(acme: Organisation, **inputs: Any) -> list[str]:
    """Run notify on the latest push; return the promoted commits of the started checks."""
    with acme.sandbox.lock:
        pushes = [event for event in acme.sandbox.store.events if event.name == "push"]
        payload = next(push.payload for push in reversed(pushes) if push.repository == GITOPS)
    run_notify(acme, payload, **inputs)
    return [start.inputs.get("promoted_commit_id", "") for start in acme.dispatches()]


def run_notify(acme: Organisation, payload: Any, **inputs: Any) -> None:
    job = Job("push", payload["ref"], payload["after"], GITOPS, payload)
    acme.run(notify, NotifyInputs, job=job, control_plane=CONTROL_PLANE, **inputs)


@pytest.mark.parametrize("forged", FORGED, ids=lambda status: status.description.split()[0])
def test_a_lost_check_is_repeated_whatever_others_post(
    acme: Organisation, forged: CommitStatus
) -> None:
    at_rest(acme)
    commit = acme.head("main") or ""
    post_as_poll(acme, commit, start_records.starting("c" * 40).status(CHECK))
    forge(acme, commit, forged)
    acme.clock.sleep(LONG)
    assert started(poll(acme)) == [("check-promote.yaml", "dev", 2)]


@breaks(
    "statuses of everybody count as the chain's",
    turned(statuses.posted_by_chain, "counts(status.author)", "True"),
)
@pytest.mark.parametrize("description", ["Deploying", "Promoted", "Failed to deploy: x"])
def test_a_status_of_others_promotes_no_configuration_change(
    acme: Organisation, description: str
) -> None:
    commit = main_commit(acme)
    merge(acme, commit)
    merge(acme, commit, config="2")
    forge(acme, commit, CommitStatus(DEV, "pending", description))
    assert notified(acme) == [""]
    assert [line for line in acme.logged if "mallory" in line] == [
        f"mallory posted the status 'dev environment' of {commit[:7]}, which does not count"
        " (if the account is Kalypso's, name it in former-identities)"
    ]
    acme.status(commit, DEV, description)
    assert notified(acme) == ["", commit]


def test_a_failure_is_shown_whatever_others_post(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(acme, monkeypatch)
    acme.cluster("dev", "drone", behaviour="fail")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    forge(acme, commit, statuses.deployed("dev"))
    assert verdict(check(acme, merged, commit)) == "failed"
    state, description = acme.statuses(commit)[DEV]
    assert state == "failure"
    assert description.startswith("Failed to deploy")


def test_another_account_of_the_chain_is_named(acme: Organisation) -> None:
    commit = main_commit(acme)
    merge(acme, commit)
    merge(acme, commit, config="2")
    forge(acme, commit, CommitStatus(DEV, "pending", "Promoted"))
    assert notified(acme, former_identities="mallory") == [commit]


@pytest.mark.parametrize("kind", ["received", "given up"])
def test_a_forged_record_withholds_no_check(acme: Organisation, kind: start_records.Kind) -> None:
    merged = settle(acme)
    commit = acme.head("main") or ""
    acme.status(commit, DEV, "Promoted")
    forge(acme, commit, StartRecord(kind, merged).status(CHECK))
    run_schedule(acme)
    assert [start.workflow for start in acme.dispatches()] == ["check-promote.yaml"]


def test_a_forged_status_starts_no_check(acme: Organisation) -> None:
    settle(acme)
    forge(acme, acme.head("main") or "", CommitStatus(DEV, "pending", "Promoted"))
    run_schedule(acme)
    assert acme.dispatches() == []


@breaks(
    "an equal status of anybody replaces ours",
    turned(
        "kalypso_actions.clients.github.statuses.post",
        "is_equal and github.identity(repository).is_of_chain(current.author)",
        "is_equal",
    ),
)
def test_an_equal_status_of_others_does_not_replace_ours(acme: Organisation) -> None:
    commit = change_main(acme)
    forge(acme, commit, statuses.promoted("dev"))
    run_cd(acme, commit, promoted_from="ci")
    assert authors(acme, commit)[0] != "mallory"
    run_cd(acme, commit, promoted_from="ci")
    assert authors(acme, commit).count("mallory") == 1


@pytest.mark.parametrize("action", ["unchanged", "replaced"])
def test_cd_believes_no_status_of_others(acme: Organisation, action: str) -> None:
    first = change_main(acme)
    run_cd(acme, first, promoted_from="ci")
    forge(acme, first, statuses.deployed("dev"))
    run_cd(acme, first if action == "unchanged" else change_main(acme), promoted_from="ci")
    assert authors(acme, first)[0] != "mallory"


@pytest.mark.parametrize("action", ["unchanged", "replaced"])
def test_cd_with_a_jobs_token_leaves_what_the_app_deployed(acme: Organisation, action: str) -> None:
    job = acme.sandbox.create_token("actions", owner="acme")
    first = change_main(acme)
    run_cd(acme, first, promoted_from="ci", token=job)
    deployed = {"context": DEV, "state": "success", "description": "Deployed"}
    app = acme.sandbox.create_token("user", None, login="kalypso[bot]", owner="acme")
    acme.ask("POST", f"{CONTROL_PLANE}/statuses/{first}", deployed, token=app)
    next_commit = first if action == "unchanged" else change_main(acme)
    run_cd(acme, next_commit, promoted_from="ci", token=job)
    assert acme.statuses(first)[DEV][1] == "Deployed"


def authors(acme: Organisation, commit: str) -> list[str]:
    """Return who posted the commit's statuses for dev, newest first."""
    posted = acme.ask("GET", f"{CONTROL_PLANE}/commits/{commit}/statuses")
    return [status["creator"]["login"] for status in posted if status["context"] == DEV]
