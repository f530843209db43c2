"""`kalypso schedule` and promotions: label, tracking file, automatic merges, check-promote."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_sandbox.store import BranchRule
from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, Dispatch, Organisation
from tests.commands.chain.proposals import (
    OWN,
    SOURCES,
    TRACKING,
    actions,
    change_main,
    configure,
    edit_gitops,
    labels,
    messages,
    promote,
    run,
    run_schedule,
    settle,
)

DEV = "dev environment"
DISPATCH = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches"


def check(acme: Organisation, commit: str, promoted: str | None) -> Dispatch:
    inputs = {"environment": "dev", "commit_id": commit, "gitops_repository": GITOPS}
    return Dispatch(
        "check-promote.yaml", inputs | ({"promoted_commit_id": promoted} if promoted else {})
    )


def test_a_promotion_that_changes_no_manifest_is_proposed(acme: Organisation) -> None:
    settle(acme)
    old, new = acme.head("main") or "", change_main(acme)
    promote(acme, new)
    document = run(acme)
    assert (actions(document), document.promoted) == ([(2, "created")], True)
    assert document.changes.modified == (TRACKING,)
    (pull,) = acme.pulls()
    assert labels(pull) == {"kalypso", "promoted"}
    sentence = f"[{new[:7]}]({acme.url()}/commit/{new}) of main, after [{old[:7]}]"
    assert sentence in pull["body"]
    assert "No manifest changes." in pull["body"]
    acme.merge(2)
    assert acme.files("dev", GITOPS)[TRACKING] == new
    assert actions(run(acme)) == []


def test_a_promotion_joins_an_open_configuration_change_and_may_leave_it(
    acme: Organisation,
) -> None:
    """The label depends on the tracking files of both branches."""
    settle(acme)
    old = acme.head("main") or ""
    configure(acme, REGION="north")
    run(acme)
    promote(acme, change_main(acme))
    document = run(acme)
    assert (actions(document), document.promoted) == ([(2, "updated")], True)
    assert labels(acme.pulls()[0]) == {"kalypso", "promoted"}
    promote(acme, old)
    document = run(acme)
    assert (actions(document), document.promoted) == ([(2, "updated")], False)
    assert labels(acme.pulls()[0]) == {"kalypso"}


def test_without_a_commit_nothing_is_tracked(acme: Organisation) -> None:
    text = documents.base_repo(acme.url(), "").replace("  commit: \n", "")
    acme.commit({"base-repo.yaml": text}, "dev")
    document = run(acme)
    assert document.promoted is False
    assert TRACKING not in acme.files(OWN, GITOPS)
    assert "names no commit of main" in acme.pulls()[0]["body"]
    acme.merge(1)
    assert actions(run(acme)) == []


def test_a_branch_that_was_cut_from_another_environments_is_promoted(acme: Organisation) -> None:
    """The branch's tracking file may name the commit already: only `sources.json` differs."""
    settle(acme, "stage")
    acme.reset("dev", acme.head("stage", GITOPS), GITOPS)
    document = run(acme)
    assert (actions(document), document.promoted) == ([(2, "created")], True)
    assert TRACKING not in (*document.changes.added, *document.changes.modified)
    assert labels(acme.pulls()[0]) == {"kalypso", "promoted"}
    acme.merge(2)
    document = run(acme)
    assert (actions(document), document.promoted) == ([], False)


def test_sources_of_another_environment_are_a_change_by_themselves(acme: Organisation) -> None:
    settle(acme)
    sources = acme.files("dev", GITOPS)[SOURCES]
    edit_gitops(acme, {SOURCES: sources.replace('"environment": "dev"', '"environment": "old"')})
    document = run(acme)
    assert (actions(document), document.changed, document.promoted) == (
        [(2, "created")],
        True,
        True,
    )
    assert (document.changes.added, document.changes.modified) == ((), ())
    assert actions(run(acme)) == [(2, "unchanged")]
    acme.merge(2)
    assert acme.files("dev", GITOPS)[SOURCES] == sources
    assert actions(run(acme)) == []


@pytest.mark.parametrize(
    ("auto_merge", "change", "merged"),
    [
        ("tracking-only", "promotion", True),
        ("tracking-only", "configuration", False),
        ("always", "configuration", True),
    ],
)
def test_proposals_that_are_merged_at_once(
    acme: Organisation, auto_merge: str, change: str, merged: bool
) -> None:
    settle(acme)
    commit = None
    if change == "promotion":
        commit = change_main(acme)
        promote(acme, commit)
    else:
        configure(acme, REGION="north")
    document = run(acme, auto_merge=auto_merge)
    assert actions(document) == [(2, "merged" if merged else "created")]
    started = [check(acme, acme.head("dev", GITOPS) or "", commit)] if merged else []
    assert acme.dispatches() == started
    assert len(acme.pulls()) == (0 if merged else 1)
    if merged:
        assert actions(run(acme, auto_merge=auto_merge)) == []


def test_a_fix_merged_at_once_carries_the_promotion_on(acme: Organisation) -> None:
    settle(acme)
    main = acme.head("main") or ""
    acme.status(main, DEV, "Failed to deploy: large", "failure")
    configure(acme, REGION="north")
    done = run_schedule(acme, auto_merge="always")
    assert acme.dispatches() == [check(acme, acme.head("dev", GITOPS) or "", main)]
    assert "check-promote waits for the clusters now." in done.summary


def test_one_that_was_left_open_is_merged_when_it_may_be(acme: Organisation) -> None:
    rule = BranchRule(pattern="dev", required_contexts=["test"])
    acme.sandbox.repository(GITOPS).rules.append(rule)
    document = run(acme, auto_merge="always")
    assert actions(document) == [(1, "created")]
    assert messages(document) == [
        '#1 is not merged automatically: Required status check "test" is expected.'
    ]
    assert acme.dispatches() == []
    body = {"context": "test", "state": "success"}
    acme.ask("POST", f"{GITOPS}/statuses/{acme.head(OWN, GITOPS)}", body)
    assert actions(run(acme, auto_merge="always")) == [(1, "merged")]
    assert len(acme.dispatches()) == 1


@pytest.mark.parametrize(
    ("description", "starts"),
    [("Promoted", True), ("Deployed", False)],
)
def test_a_lost_start_of_check_promote_is_repeated(
    acme: Organisation, description: str, starts: bool
) -> None:
    merge = settle(acme)
    main = acme.head("main") or ""
    if description:
        acme.status(main, DEV, description)
    acme.status(main, "stage environment", "Promoted")
    done = run_schedule(acme)
    assert acme.dispatches() == ([check(acme, merge, main)] if starts else [])
    assert ("check-promote waits" in done.summary) == starts


def test_while_something_is_proposed_nothing_is_started(acme: Organisation) -> None:
    settle(acme)
    acme.status(acme.head("main") or "", DEV, "Promoted")
    configure(acme, REGION="north")
    run(acme)
    assert acme.dispatches() == []


def test_a_refused_start_is_a_problem_beside_the_result(acme: Organisation) -> None:
    settle(acme)
    acme.commit({".github/workflows/check-promote.yaml": documents.workflow(("other",))})
    configure(acme, REGION="north")
    done = run_schedule(acme, auto_merge="always")
    assert done.failed
    document: Any = done.document
    assert actions(document) == [(2, "merged")]
    (message,) = messages(document, problems=True)
    assert "check-promote.yaml cannot be started" in message
