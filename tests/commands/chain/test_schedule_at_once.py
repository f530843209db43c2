"""Schedule by several jobs at once, killed at any write, and over a bad network."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.commands.shared import carry_out
from kalypso_actions.commands.shared.labels import LABELS
from kalypso_actions.commands.shared.reading.snapshot import plan_registrations
from kalypso_actions.model.writes import ClosePullRequest, OpenPullRequest, Write
from kalypso_sandbox import Fault
from tests.commands.chain import documents
from tests.commands.chain.killing import is_killed
from tests.commands.chain.organisation import GITOPS, SHOP, Organisation
from tests.commands.chain.proposals import (
    OWN,
    actions,
    change_main,
    configure,
    labels,
    promote,
    run,
    run_schedule,
    settle,
)

READING = "kalypso_actions.commands.schedule.reading"
SLOW = pytest.mark.slow
"""The matrix of faults tries these writes alone."""
REPO = "/repos/{owner}/{repo}"


def state(acme: Organisation) -> dict[str, Any]:
    """Return the state of the GitOps repository, without ids and dates of commits."""
    pulls = acme.pulls(state="all")
    for pull in pulls:
        if pull["state"] == "open":
            assert pull["head"]["sha"] == acme.head(OWN, GITOPS)
            assert f"commit={acme.head(OWN, GITOPS)} " in pull["body"].splitlines()[0]
    return {
        "tree": acme.files(OWN, GITOPS),
        "dev": acme.files("dev", GITOPS),
        "pulls": [
            (
                pull["title"],
                re.sub("commit=[0-9a-f]+", "", pull["body"]),
                pull["state"],
                pull["merged_at"] is not None,
                labels(pull),
                [len(acme.comments(pull["number"]))],
            )
            for pull in pulls
        ],
        "issues": [
            (issue["title"], issue["body"], issue["state"], len(acme.comments(issue["number"])))
            for issue in acme.issues(state="all")
        ],
        "started": {dispatch.workflow for dispatch in acme.dispatches()},
    }


def first(acme: Organisation) -> None:
    """Prepare nothing, so that the run opens the first proposal."""


def update(acme: Organisation) -> None:
    run(acme)
    configure(acme, REGION="north")


def promotion(acme: Organisation) -> None:
    settle(acme)
    configure(acme, REGION="north")
    run(acme)
    promote(acme, change_main(acme))


def withdrawal(acme: Organisation) -> None:
    settle(acme)
    configure(acme, REGION="north")
    run(acme)
    configure(acme, REGION="west")


def failure(acme: Organisation) -> None:
    settle(acme)
    broken = documents.cluster_type("large", reconciler="nowhere")
    acme.commit({"cluster-types/large.yaml": broken}, "dev")
    acme.commit({"workload/more.yaml": documents.cluster_type("mine")}, repository=SHOP)


def recovery(acme: Organisation) -> None:
    failure(acme)
    run_schedule(acme)
    acme.commit({"cluster-types/large.yaml": documents.cluster_type("large")}, "dev")
    acme.commit({"workload/more.yaml": None}, repository=SHOP)


SITUATIONS = [first, update, promotion, withdrawal, failure, recovery]


@pytest.mark.parametrize(
    "situation",
    [first, *(pytest.param(situation, marks=pytest.mark.slow) for situation in SITUATIONS[1:])],
)
def test_ten_at_once(acme: Organisation, situation: Any) -> None:
    situation(acme)
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda _: run_schedule(acme), range(10)))
    together = state(acme)
    acme.forget()
    run_schedule(acme)
    assert acme.writes() == []
    assert len(acme.pulls()) == (1 if situation in {first, update, promotion} else 0)
    open_issues = [title for title, _, is_open, _ in together["issues"] if is_open == "open"]
    assert len(open_issues) == len(set(open_issues)) == (2 if situation is failure else 0)


@pytest.mark.slow
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_killed_anywhere_and_run_again(
    acme: Organisation, situation: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each run gets one write further than the run before."""
    situation(acme)
    writes = 0
    while is_killed(writes and 1, lambda: run_schedule(acme)):
        writes += 1
        assert writes < 20
    once = state(acme)
    acme.forget()
    run_schedule(acme)
    assert acme.writes() == []
    assert state(acme) == once
    assert writes > 0


def test_the_slower_run_reads_everything_again(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a run reads, the environment changes and another run proposes the change."""
    run(acme)
    configure(acme, REGION="old")
    push, is_first = carry_out.push, True

    def overtaken(*arguments: Any) -> str:
        nonlocal is_first
        if is_first:
            is_first = False
            configure(acme, REGION="new")
            run(acme)
        return push(*arguments)

    monkeypatch.setattr(carry_out, "push", overtaken)
    assert actions(run(acme)) == [(1, "unchanged")]
    assert "REGION: new" in acme.files(OWN, GITOPS)["large/shop-web/platform-config.yaml"]
    assert "everything is read again" in "".join(acme.logged)


@pytest.mark.parametrize("kind", [OpenPullRequest, ClosePullRequest])
def test_other_writes_of_a_slower_run_do_not_last(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch, kind: type[Write]
) -> None:
    """The slower run describes or closes a pull request that another run has updated."""
    settle(acme)
    configure(acme, REGION="old")
    run(acme)
    configure(acme, REGION="mine" if kind is OpenPullRequest else "west")
    write, is_first = carry_out.HOW[kind], True

    def overtaken(*arguments: Any) -> Any:
        nonlocal is_first
        if is_first:
            is_first = False
            configure(acme, REGION="new")
            run(acme)
        return write(*arguments)

    monkeypatch.setitem(cast("dict[Any, Any]", carry_out.HOW), kind, overtaken)
    run(acme)
    (pull,) = acme.pulls()
    assert f"commit={acme.head(OWN, GITOPS)} " in pull["body"]
    assert "REGION: new" in acme.files(OWN, GITOPS)["large/shop-web/platform-config.yaml"]


def test_the_environment_changes_while_it_is_read(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, is_first = plan_registrations, True

    def changed(*arguments: Any, **options: Any) -> Any:
        nonlocal is_first
        if is_first:
            is_first = False
            configure(acme, REGION="new")
        return plan(*arguments, **options)

    monkeypatch.setattr(f"{READING}.plan_registrations", changed)
    acme.forget()
    assert actions(run(acme)) == [(1, "created")]
    assert "REGION: new" in acme.files(OWN, GITOPS)["large/shop-web/platform-config.yaml"]
    assert acme.writes().count(f"push {GITOPS}") == 1


def test_a_race_that_never_ends(acme: Organisation) -> None:
    with (
        acme.sandbox.faults.on(Fault("POST", "git", "raced", count=0)),
        pytest.raises(PushConflictError, match="another push has changed the branch"),
    ):
        run(acme)


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", "git", "lost"),
        pytest.param("POST", "git", "dropped", marks=SLOW),
        pytest.param("POST", f"{REPO}/labels", "doubled", marks=SLOW),
        pytest.param("POST", f"{REPO}/pulls", "lost", marks=SLOW),
        pytest.param("POST", f"{REPO}/pulls", "doubled", marks=SLOW),
        pytest.param("POST", f"{REPO}/issues/{{issue_number}}/labels", "truncated", marks=SLOW),
        pytest.param("PATCH", f"{REPO}/pulls/{{pull_number}}", "lost", marks=SLOW),
        pytest.param("POST", f"{REPO}/issues/{{issue_number}}/comments", "doubled", marks=SLOW),
    ],
)
def test_over_a_bad_network(acme: Organisation, method: str, path: str, kind: Any) -> None:
    """A proposal, its update and its withdrawal happen once each."""
    fault = Fault(method, path, kind)
    with acme.sandbox.faults.on(fault):
        assert actions(run(acme)) == [(1, "created")]
    configure(acme, REGION="north")
    with acme.sandbox.faults.on(fault):
        assert actions(run(acme)) == [(1, "updated")]
    acme.merge(1)
    configure(acme, REGION="south")
    run(acme)
    configure(acme, REGION="north")
    with acme.sandbox.faults.on(fault):
        assert actions(run(acme)) == [(2, "withdrawn")]
    last_state = state(acme)
    assert [pull[2:5] for pull in last_state["pulls"]] == [
        ("closed", True, {"kalypso", "promoted"}),
        ("closed", False, {"kalypso", "withdrawn"}),
    ]
    assert [pull[5] for pull in last_state["pulls"]] == [[0], [1]]


def test_labels_come_with_the_pull_request_or_later(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(acme)
    acme.ask("PATCH", f"{GITOPS}/issues/1", {"labels": ["bug"]})
    assert actions(run(acme)) == [(1, "updated")]
    assert labels(acme.pulls()[0]) == {"bug", "kalypso", "promoted"}
    assert LABELS.keys() >= labels(acme.pulls()[0]) - {"bug"}
