"""poll repeats lost starts of check-promote, and starts schedule for proposals."""

from __future__ import annotations

import pytest

from kalypso_actions.promotion import start_records
from kalypso_actions.promotion.start_records import StartRecord
from kalypso_actions.report.poll_document import PollDocument
from kalypso_actions.report.pull_request import Mark
from tests.commands.chain.lost_starts import lose
from tests.commands.chain.organisation import GITOPS, Dispatch, Organisation
from tests.commands.chain.polls import (
    LONG,
    at_rest,
    document,
    post,
    propose,
    run,
    start_run,
    started,
    with_run_names,
)

CHECK = "kalypso / check-promote dev acme/gitops"
G = "c" * 40


# check-promote


def test_a_lost_check_is_started_again(acme: Organisation) -> None:
    at_rest(acme)
    commit = acme.head("main") or ""
    lose(acme, commit, CHECK, G)
    assert started(run(acme)) == [("check-promote.yaml", "dev", 2)]
    given = {
        "environment": "dev",
        "promoted_commit_id": commit,
        "commit_id": G,
        "gitops_repository": GITOPS,
    }
    assert acme.dispatches() == [Dispatch("check-promote.yaml", given)]
    assert acme.records(commit)[CHECK] == ("pending", f"Starting, attempt 2: {G}")


@pytest.mark.parametrize("kind", ["received", "given up", "not needed"])
def test_a_check_that_was_begun_is_not_repeated(
    acme: Organisation, kind: start_records.Kind
) -> None:
    at_rest(acme)
    post(acme, acme.head("main") or "", StartRecord(kind, G).status(CHECK))
    acme.clock.sleep(LONG)
    assert document(run(acme)) == PollDocument()


@pytest.mark.parametrize("subject", ["ci", "main", "c" * 39, f"{G} x"])
def test_a_check_without_a_commit_is_not_repeated(acme: Organisation, subject: str) -> None:
    at_rest(acme)
    lose(acme, acme.head("main") or "", CHECK, subject)
    assert document(run(acme)) == PollDocument()


def test_a_check_that_waits_for_an_approval_is_not_doubled(acme: Organisation) -> None:
    with_run_names(acme)
    at_rest(acme)
    commit = acme.head("main") or ""
    given = {"environment": "dev", "commit_id": G, "promoted_commit_id": commit}
    start_run(acme, "check-promote.yaml", "waiting", gitops_repository=GITOPS, **given)
    lose(acme, commit, CHECK, G)
    assert started(run(acme)) == []


def test_a_lost_check_of_what_is_deployed_is_settled(acme: Organisation) -> None:
    at_rest(acme)
    commit = acme.head("main") or ""
    lose(acme, commit, CHECK, G)
    acme.status(commit, "dev environment", "Deployed")
    assert started(run(acme)) == []
    assert acme.records(commit)[CHECK] == ("success", f"Not needed: {G}")


# Our pull request


def test_no_check_is_started_while_our_pull_request_is_open(acme: Organisation) -> None:
    number = propose(acme)
    at_rest(acme)
    commit = acme.head("main") or ""
    lose(acme, commit, CHECK, G)
    assert document(run(acme)) == PollDocument()
    acme.close(number)
    at_rest(acme)
    assert started(run(acme)) == [("check-promote.yaml", "dev", 2)]


def test_a_pull_request_that_waits_for_people(acme: Organisation) -> None:
    propose(acme)
    at_rest(acme)
    acme.clock.sleep(86_400)
    assert document(run(acme)) == PollDocument()


def test_a_pull_request_that_is_to_be_merged(acme: Organisation) -> None:
    number = propose(acme, auto_merge="always")
    at_rest(acme)
    result = run(acme)
    assert started(result) == [("schedule.yaml", "dev", 1)]
    (start,) = document(result).started
    assert start.reason == f"acme/gitops#{number} is ready for a merge"


def test_a_pull_request_whose_merge_was_refused_at_this_base(acme: Organisation) -> None:
    propose(acme, auto_merge="always", tried=(acme.head("dev", GITOPS), "clean"))
    at_rest(acme)
    assert document(run(acme)) == PollDocument()


@pytest.mark.parametrize("is_tried", [True, False])
def test_a_pull_request_that_conflicts(acme: Organisation, is_tried: bool) -> None:
    acme.commit({"large/README.md": "Old.\n"}, "dev", GITOPS)
    number = propose(acme)
    base = acme.commit({"large/README.md": "Other.\n"}, "dev", GITOPS)
    if is_tried:
        head = acme.head("kalypso/dev", GITOPS) or ""
        body = str(Mark("dev", head, tried=(base, "dirty")))
        acme.ask("PATCH", f"{GITOPS}/pulls/{number}", {"body": body})
    assert acme.ask("GET", f"{GITOPS}/pulls/{number}")["mergeable"] is False
    at_rest(acme)
    result = run(acme)
    reasons = [start.reason for start in document(result).started]
    assert reasons == ([] if is_tried else [f"acme/gitops#{number} conflicts with its branch"])
