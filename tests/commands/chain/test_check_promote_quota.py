"""How much of GitHub's rate limit `kalypso check-promote` needs while it waits."""

from __future__ import annotations

from datetime import timedelta

import requests

from tests.commands.chain.fake_cluster_reports import FakeClusterReports
from tests.commands.chain.organisation import Organisation
from tests.commands.chain.promotions import check, main_commit, merge, verdict

COMPARE = "/repos/{owner}/{repo}/compare/{basehead}"
NOTHING = FakeClusterReports(lambda _url, _branch: [])


def used(acme: Organisation) -> int:
    """Return the requests of this hour, as GitHub counts them."""
    headers = {"authorization": f"Bearer {acme.token}"}
    answer = requests.get(f"{acme.sandbox.api_url}/rate_limit", headers=headers, timeout=60)
    resources = answer.json()["resources"]
    return int(resources["core"]["used"]) + int(resources["graphql"]["used"])


def wait(acme: Organisation, promoted: str, merged: str, times: str, poll_interval: str) -> None:
    """Wait for clusters that never report."""
    began = acme.clock()
    outcome = check(
        acme,
        merged,
        promoted,
        reports=NOTHING,
        timeout=times,
        grace_period=times,
        poll_interval=poll_interval,
    )
    waited = f"{(acme.clock() - began) // timedelta(minutes=1)}m"
    assert (verdict(outcome), waited) == ("timed-out", times)


def test_waiting_needs_nothing_of_the_rate_limit(acme: Organisation) -> None:
    """Twenty runs share the 5,000 requests an hour of an App's installation."""
    merged = merge(acme, commit := main_commit(acme))
    before = used(acme)
    wait(acme, commit, merged, "59m", "1m")
    assert used(acme) - before <= 20


def test_waiting_reads_the_branches_once_a_minute(acme_with_permissions: Organisation) -> None:
    """git reads the heads of two repositories once a minute, at any interval between looks."""
    acme = acme_with_permissions
    merged = merge(acme, commit := main_commit(acme))
    acme.forget()
    wait(acme, commit, merged, "5m", "15s")
    heads = [
        exchange
        for exchange in acme.sandbox.traffic.of("GET", "git")
        if "info/refs" in exchange.path
    ]
    assert len(heads) <= 2 * 6 + 10


def test_comparisons_leave_out_the_files(acme: Organisation) -> None:
    """GitHub computes them for the first page, and fails for large trees."""
    commit = main_commit(acme)
    merged = merge(acme, commit)
    merge(acme, commit, config="2")
    acme.forget()
    check(acme, merged, commit, reports=NOTHING, timeout="1s")
    comparisons = acme.sandbox.traffic.of("GET", COMPARE)
    assert comparisons
    assert all(exchange.response_body.get("files") == [] for exchange in comparisons)
