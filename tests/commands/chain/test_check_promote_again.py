"""`kalypso check-promote` killed anywhere, run again, run by several at once: the end is the same."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.commands.chain.founding import organisation
from tests.commands.chain.killing import is_killed
from tests.commands.chain.organisation import Organisation
from tests.commands.chain.promotions import check, main_commit, merge, sign_in, verdict

DEV = "dev environment"


@pytest.fixture(autouse=True)
def azure(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    sign_in(acme, monkeypatch)


@pytest.mark.parametrize("writes", range(3))
def test_a_killed_failing_run_is_repeated(acme: Organisation, writes: int) -> None:
    acme.cluster("dev", "drone", behaviour="fail")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    assert is_killed(writes, lambda: check(acme, merged, commit))
    assert verdict(check(acme, merged, commit)) == "failed"
    assert acme.statuses(commit)[DEV][0] == "failure"
    assert acme.dispatches() == []


def test_several_runs_at_once(acme: Organisation) -> None:
    acme.cluster("dev", "drone", delay=60)
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(check, acme, merged, commit) for _ in range(4)]
        assert {verdict(run.result()) for run in runs} == {"compliant"}
    assert acme.statuses(commit) == {DEV: ("pending", "Deployed")}
    assert len(set(map(str, acme.dispatches()))) == 1


def test_an_old_run_and_a_new_one_at_once(acme: Organisation) -> None:
    """Both runs end as if one had run after the other."""
    old = main_commit(acme)
    first = merge(acme, old)
    new = main_commit(acme, "another")
    last = merge(acme, new)
    with ThreadPoolExecutor(2) as pool:
        stale = pool.submit(check, acme, first, old)
        fresh = pool.submit(check, acme, last, new)
        assert (verdict(stale.result()), verdict(fresh.result())) == ("superseded", "compliant")
    assert acme.statuses(old) == {DEV: ("pending", f"Superseded by {new[:7]}")}
    assert acme.statuses(new) == {DEV: ("pending", "Deployed")}
    assert [dispatch.inputs["promoted_commit_id"] for dispatch in acme.dispatches()] == [new]


def test_on_an_enterprise_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder := tmp_path / "enterprise").mkdir()
    with organisation(folder, flavour="ghes") as acme:
        sign_in(acme, monkeypatch)
        commit = main_commit(acme)
        assert verdict(check(acme, merge(acme, commit), commit)) == "compliant"
        assert acme.statuses(commit) == {DEV: ("pending", "Deployed")}
        (start,) = acme.dispatches()
        assert start.inputs["environment"] == "stage"
