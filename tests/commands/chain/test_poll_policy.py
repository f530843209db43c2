"""`kalypso poll`: commits that an environment's policy keeps out."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.poll import Repairs
from tests.breaks import breaks, returning, turned
from tests.commands.chain.cd_runs import DEV, change_main, document
from tests.commands.chain.cd_runs import run as promote
from tests.commands.chain.organisation import CONTROL_PLANE, Dispatch, Organisation
from tests.commands.chain.polls import at_rest, run, started

HEAD = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: dev}\n"
HELD = "holds: [{reason: incident 42, by: alice}]"
CD = "kalypso / cd dev"
STARTED = [("cd.yaml", "dev", 1)]


def policy(acme: Organisation, spec: str) -> None:
    acme.commit({".github/kalypso/promotion.yaml": f"{HEAD}spec: {{{spec}}}\n"}, "dev")


def held(acme: Organisation, count: int = 1, spec: str = HELD) -> list[str]:
    """Let commits wait for dev as ci starts them; return them, the oldest first."""
    policy(acme, spec)
    commits = []
    for number in range(count):
        commits.append(change_main(acme, f"{spec} {number}"))
        result = promote(acme, commits[-1], promoted_from="ci", verify_only="true")
        assert document(result).waiting_for
    return commits


def polled(acme: Organisation) -> list[str]:
    """Run poll; return the commits for which it starts cd."""
    at_rest(acme)
    acme.sandbox.repository(CONTROL_PLANE).runs.clear()
    run(acme, environments="dev")
    return [
        each.inputs["promoted_commit_id"]
        for each in acme.dispatches()
        if each.workflow == "cd.yaml"
    ]


@breaks("what waits waits for ever", returning(Repairs._start_waiting, None), case="ended")
@breaks(
    "poll starts what the policy keeps out",
    turned(Repairs._start_waiting, "verdict.is_fulfilled", "True"),
    case="hold",
)
@pytest.mark.parametrize(
    ("spec", "is_started"),
    [(HELD, False), ("holds: []", True), ("hold: []", False)],
    ids=["hold", "ended", "invalid"],
)
def test_cd_starts_when_the_policy_lets_a_commit_in(
    acme: Organisation, spec: str, *, is_started: bool
) -> None:
    (commit,) = held(acme)
    policy(acme, spec)
    assert polled(acme) == ([commit] if is_started else [])
    if is_started:
        origin = {"promoted_commit_id": commit, "environment": "dev", "promoted_from": "ci"}
        assert Dispatch("cd.yaml", origin) in acme.dispatches()
        assert acme.records(commit)[CD][1] == "Starting, attempt 1: ci"
        assert polled(acme) == []  # the run is expected


@breaks(
    "poll knows no origin of what a person started",
    returning(Repairs._origin, ""),
    case="here",
)
@pytest.mark.parametrize("is_in_dev", [True, False], ids=["here", "nowhere"])
def test_cd_starts_for_what_a_person_started_behind_the_first(
    acme: Organisation, *, is_in_dev: bool
) -> None:
    spec = f"{HEAD.replace('dev', 'stage')}spec: {{{HELD}}}\n"
    acme.commit({".github/kalypso/promotion.yaml": spec}, "stage")
    commit = change_main(acme)
    if is_in_dev:
        promote(acme, commit)
    assert document(promote(acme, commit, environment="stage", verify_only="true")).waiting_for
    acme.commit({".github/kalypso/promotion.yaml": None}, "stage")
    at_rest(acme)
    acme.sandbox.repository(CONTROL_PLANE).runs.clear()
    run(acme, environments="stage")
    inputs = {"promoted_commit_id": commit, "environment": "stage", "promoted_from": "dev"}
    assert (Dispatch("cd.yaml", inputs) in acme.dispatches()) == is_in_dev


def test_cd_starts_although_people_deleted_the_policy(acme: Organisation) -> None:
    (commit,) = held(acme)
    acme.commit({".github/kalypso/promotion.yaml": None}, "dev")
    assert polled(acme) == [commit]


@breaks(
    "an older commit enters although a newer one may",
    turned(
        Repairs._start_waiting,
        "list(self._waiting(branch, main, writes))",
        "list(self._waiting(branch, main, writes))[::-1]",
    ),
    case="newest",
)
@pytest.mark.parametrize(("queue", "which"), [("newest", 2), ("oldest", 0)])
def test_the_queue_decides_which_commit_enters(acme: Organisation, queue: str, which: int) -> None:
    commits = held(acme, 3, f"{HELD}, queue: {queue}")
    policy(acme, f"queue: {queue}")
    assert polled(acme) == [commits[which]]


def test_the_newest_that_fulfils_everything_enters(acme: Organisation) -> None:
    first, second, third = held(acme, 3, "requires: {checks: [{name: smoke, from: acme-ci}]}")
    token = acme.sandbox.create_token("user", None, login="acme-ci[bot]", owner="acme")
    for commit in (first, second):
        body = {"context": "smoke", "state": "success"}
        acme.ask("POST", f"{CONTROL_PLANE}/statuses/{commit}", body, token=token)
    assert polled(acme) == [second]
    assert third


@breaks(
    "poll looks no further than a hundred commits",
    turned("kalypso_actions.commands.shared.policy_entry.statuses_between", "range(0, len(ids), PAGE)", "range(0, min(len(ids), PAGE), PAGE)"),
)  # fmt: skip
def test_a_commit_waits_behind_a_hundred_others(acme: Organisation) -> None:
    (commit,) = held(acme, 1, "requires: {checks: [{name: smoke, from: acme-ci}]}")
    for number in range(101):
        change_main(acme, f"later {number}")
    token = acme.sandbox.create_token("user", None, login="acme-ci[bot]", owner="acme")
    body = {"context": "smoke", "state": "success"}
    acme.ask("POST", f"{CONTROL_PLANE}/statuses/{commit}", body, token=token)
    assert polled(acme) == [commit]


def test_a_lost_start_is_repeated(acme: Organisation) -> None:
    (commit,) = held(acme)
    policy(acme, "holds: []")
    assert polled(acme) == [commit]
    acme.clock.sleep(700)
    at_rest(acme)
    acme.sandbox.repository(CONTROL_PLANE).runs.clear()
    assert started(run(acme, environments="dev")) == [("cd.yaml", "dev", 2)]


@breaks(
    "poll leaves the status of a proposal as it is",
    returning(Repairs._post_policy, None),
)
def test_an_open_pull_request_shows_what_holds(acme: Organisation) -> None:
    policy(acme, "holds: []")
    commit = change_main(acme)
    promote(acme, commit, promoted_from="ci", mode="pull-request")
    head = acme.head("kalypso/promote/dev") or ""
    for spec, state in ((HELD, "failure"), ("holds: []", "success")):
        policy(acme, spec)
        polled(acme)
        assert acme.statuses(head)["kalypso / policy"][0] == state
    assert acme.statuses(commit)[DEV][1].startswith("Waiting for #")
