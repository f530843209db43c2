"""What check-promote and poll record of what they see: one push, after everything else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.observe import observe
from kalypso_actions.commands.shared.record import FolderRecord, read_record, record_log
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.chain import ObserveInputs
from kalypso_actions.observations.record import ObservationRecord, PromotionLine
from tests.commands.chain import polls
from tests.commands.chain.killing import is_killed
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Organisation
from tests.commands.chain.promotions import check, document, main_commit, merge, verdict
from tests.observations.replay import Replay

pytestmark = pytest.mark.usefixtures("azure")

BRANCH = "kalypso-observability"
HERE: dict[str, Any] = {"record": CONTROL_PLANE}


def branch(acme: Organisation) -> FolderRecord:
    folder = Path(acme.sandbox.git(CONTROL_PLANE).git_dir)
    return FolderRecord.open(folder, Programs(dict(os.environ)), create=False)


def record(acme: Organisation) -> ObservationRecord:
    return read_record(branch(acme))[1]


def commits(acme: Organisation) -> int:
    of_record = branch(acme)
    head = of_record.head()
    return len(list(record_log(of_record, head).commits)) if head else 0


def promotion(acme: Organisation, commit: str, environment: str = "dev") -> PromotionLine:
    lines = record(acme).promotions[environment]
    return next(line for line in lines if line.commit == commit)


def not_recorded(outcome: CommandResult) -> list[str]:
    """Return why nothing was recorded."""
    messages = [each.message for each in document(outcome).warnings]
    return [each for each in messages if each.startswith("nothing is recorded: ")]


def test_a_rollout_has_a_commit_for_each_look_with_changes(acme: Organisation) -> None:
    acme.cluster("dev", "drone", delay=40, settle=30)
    commit = main_commit(acme)
    outcome = check(acme, merge(acme, commit), commit, poll_interval="15s", **HERE)
    assert verdict(outcome) == "compliant"
    replayed = Replay()
    for _, steps in record_log(branch(acme), branch(acme).head()).commits:
        replayed.add(steps)
    periods = [
        (each.line.cluster.rpartition("/")[2], each.line.status, bool(each.line.content))
        for each in replayed.real()
    ]
    assert sorted(periods) == [
        ("dev-drone", "in_progress", False),
        ("dev-drone", "in_progress", True),
        ("dev-drone", "success", True),
        ("dev-large", "success", True),
    ]
    assert commits(acme) == 3
    pushes = [line for line in acme.logged if BRANCH in line]
    assert len(pushes) <= 1
    line = promotion(acme, commit)
    assert (line.state, line.subject) == ("deployed", "Change")
    assert line.deployed_at is not None
    assert line.committed_at is not None
    assert line.started_at is not None
    assert [each.kind for each in document(outcome).events] == []


def test_the_record_comes_last_and_its_failure_is_a_warning(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    acme.sandbox.repository(CONTROL_PLANE).private = False
    outcome = check(acme, merged, commit, **HERE)
    assert (outcome.failed, verdict(outcome)) == (False, "compliant")
    assert ["is public" in each for each in not_recorded(outcome)] == [True]
    assert commits(acme) == 0
    outcome = check(acme, merged, commit, record_public="true", **HERE)
    assert not_recorded(outcome) == []
    assert commits(acme) == 1


def test_without_the_input_nothing_is_recorded(acme: Organisation) -> None:
    commit = main_commit(acme)
    check(acme, merge(acme, commit), commit)
    polls.run(acme)
    assert commits(acme) == 0


@pytest.mark.parametrize("stops", [{"dry_run": "true"}, {"verify_only": "true"}])
def test_a_run_that_writes_nothing_records_nothing(
    acme: Organisation, stops: dict[str, Any]
) -> None:
    commit = main_commit(acme)
    check(acme, merge(acme, commit), commit, **HERE, **stops)
    polls.run(acme, **HERE, dry_run="true")
    assert commits(acme) == 0


def test_events_are_told_by_who_records_them(acme: Organisation) -> None:
    first = main_commit(acme)
    check(acme, merge(acme, first), first, **HERE)
    acme.cluster("dev", "drone", behaviour="fail", failure={"message": "out of memory"})
    second = main_commit(acme, "another change")
    outcome = check(acme, merge(acme, second, config="2"), second, **HERE)
    assert verdict(outcome) == "failed"
    (event,) = [each for each in document(outcome).events if each.kind == "began-failing"]
    assert (event.environment, event.cluster_name, event.target) == ("dev", "dev-drone", "drone")
    assert "out of memory" in event.reason
    assert event.link == f"{acme.url(GITOPS)}/commit/{event.commit}"
    assert promotion(acme, second).failed_at is not None
    acme.cluster("dev", "drone", behaviour="follow")
    third = main_commit(acme, "a correction")
    outcome = check(acme, merge(acme, third, config="3"), third, **HERE)
    kinds = [each.kind for each in document(outcome).events]
    assert "recovered" in kinds
    assert kinds[-1] == "deployed"


def test_the_events_reach_a_webhook_without_its_url_in_any_text(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Mapping[str, Any]] = []
    url = "https://hooks.example.com/SECRET"

    def note(to: str, message: Mapping[str, Any], _: object) -> None:
        assert to == url
        sent.append(message)

    monkeypatch.setattr("kalypso_actions.commands.shared.looks.recorder.send", note)
    first = main_commit(acme)
    check(acme, merge(acme, first), first, webhook=url, **HERE)
    assert sent == []  # nothing has happened before the first look
    acme.cluster("dev", "drone", behaviour="fail", failure={"message": "<!channel>\n@all `x`"})
    second = main_commit(acme, "another change")
    outcome = check(acme, merge(acme, second, config="2"), second, webhook=url, **HERE)
    (message,) = sent
    assert (message["schema"], message["controlPlane"]) == ("kalypso.events/v1", CONTROL_PLANE)
    assert "began-failing" in {each["kind"] for each in message["events"]}
    assert "<" not in message["text"]
    assert "@all" not in message["text"]
    assert "SECRET" not in outcome.document.to_json() + "".join(acme.logged)


def test_azure_is_asked_once_for_all_branches(acme: Organisation) -> None:
    merge(acme, main_commit(acme))
    acme.clock.sleep(600)
    acme.sandbox.traffic.clear()
    acme.run(observe, ObserveInputs, **HERE)
    lines = [line for table in record(acme).real.values() for line in table if not line.target]
    lines = [line for line in lines if "/dev-" in line.cluster]
    assert {(line.status, line.relation) for line in lines} == {("success", "current")}
    asked = [exchange for exchange in acme.sandbox.traffic if "ResourceGraph" in exchange.path]
    assert len(asked) == 2  # the configurations, and the lost connections


def test_killed_before_each_write_the_next_run_records_all(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    writes = 0
    while is_killed(writes, lambda: check(acme, merged, commit, **HERE)):
        assert commits(acme) == 0  # the record is the last write
        writes += 1
    assert writes > 3
    assert commits(acme) == 1
    assert promotion(acme, commit).state == "deployed"


def test_poll_records_the_states_of_commits(acme: Organisation) -> None:
    commit = main_commit(acme)
    merge(acme, commit)
    acme.status(commit, "dev environment", "Deploying")
    polls.run(acme, **HERE)
    assert promotion(acme, commit).state == "deploying"
    assert record(acme).observed == ()
    before = commits(acme)
    polls.run(acme, **HERE)
    assert commits(acme) == before
    acme.clock.sleep(60)
    acme.status(commit, "dev environment", "Deployed")
    result = polls.run(acme, **HERE)
    assert [each.kind for each in polls.document(result).events] == ["deployed"]
    assert polls.document(polls.run(acme, **HERE)).events == ()


def test_a_record_that_does_not_parse_stops_nothing(acme: Organisation) -> None:
    acme.commit({"observed.tsv": "nonsense\n"}, BRANCH)
    commit = main_commit(acme)
    outcome = check(acme, merge(acme, commit), commit, **HERE)
    assert verdict(outcome) == "compliant"
    assert len(not_recorded(outcome)) == 1


def test_a_person_with_a_failing_server_still_has_a_verdict(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise KalypsoError("git does not answer")

    monkeypatch.setattr("kalypso_actions.commands.shared.looks.recorder.read_record", fail)
    commit = main_commit(acme)
    outcome = check(acme, merge(acme, commit), commit, **HERE)
    assert (outcome.failed, verdict(outcome)) == (False, "compliant")
    assert not_recorded(outcome) == ["nothing is recorded: git does not answer"]
