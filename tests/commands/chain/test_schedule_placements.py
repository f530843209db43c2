"""`kalypso schedule` with Placements: the record, misconfiguration, and time."""

from __future__ import annotations

import json
from datetime import timedelta

from kalypso_actions.report.schedule_document import ScheduleDocument
from tests.commands.chain import documents, placements, polls, proposals
from tests.commands.chain.organisation import GITOPS, Dispatch, Organisation

RECORD = ".github/tracking/placements.json"


def record(acme: Organisation) -> list[tuple[str, list[str]]]:
    body = json.loads(acme.files("dev", GITOPS)[RECORD])
    assert body["schema"] == "kalypso.placements/v1"
    return [(item["policy"], item["clusterTypes"]) for item in body["placements"]]


def test_a_placement_is_followed_recorded_and_evaluated_again(placed: Organisation) -> None:
    document = proposals.run(placed)
    assert document.assignments == 1
    assert document.requeue_time == ""  # `drone` precedes `large`
    placed.merge(document.pull_requests[0].number)
    assert record(placed) == [("everywhere", ["drone"])]
    sources = json.loads(placed.files("dev", GITOPS)[proposals.SOURCES])
    assert sources["options"]["now"] == "2026-03-01T12:00:00Z"
    assert proposals.actions(proposals.run(placed)) == []

    placed.commit({"cluster-types/drone.yaml": None}, "dev")
    document = proposals.run(placed)
    assert document.requeue_time == "2026-03-01T12:30:00Z"
    head = placed.head("dev") or ""
    state, text = placed.records(head)["kalypso / schedule dev"]
    assert state == "success"
    assert text.endswith(", again at 2026-03-01T12:30:00Z")
    polls.run(placed, environments="dev")
    assert placed.dispatches() == []
    placed.clock.sleep(timedelta(minutes=31).total_seconds())
    polls.run(placed, environments="dev")
    assert placed.dispatches() == [Dispatch("schedule.yaml", {"environment": "dev"})]
    polls.run(placed, environments="dev")
    assert len(placed.dispatches()) == 1  # the started run may still wait

    again = proposals.run(placed, now="2026-03-01T12:29:59Z")  # a replay decides as at that time
    assert (again.assignments, again.requeue_time) == (1, "2026-03-01T12:30:00Z")
    document = proposals.run(placed)
    assert (document.assignments, document.requeue_time) == (0, "")
    polls.run(placed, environments="dev")
    assert len(placed.dispatches()) == 1  # only once: the next run starts nothing


def test_a_misconfigured_placement_proposes_nothing(placed: Organisation) -> None:
    placed.merge(proposals.run(placed).pull_requests[0].number)
    wrong = placements.PLACEMENT.replace("operator: Exists", "operator: Exists, value: x")
    placed.commit({".github/kalypso/one.yaml": wrong}, "dev")
    done = proposals.run_schedule(placed)
    assert isinstance(done.document, ScheduleDocument)
    assert [problem.code for problem in done.document.problems] == ["placement-misconfigured"]
    assert done.document.assignments == 1
    assert placed.pulls() == []
    where = done.document.problems[0].where
    assert where is not None
    assert (where.path, where.line) == (".github/kalypso/one.yaml", 1)


def test_the_record_goes_with_the_scheduler(placed: Organisation) -> None:
    placed.merge(proposals.run(placed).pull_requests[0].number)
    assert RECORD in placed.files("dev", GITOPS)
    placed.commit({"policy.yaml": documents.policy()}, "dev")
    placed.merge(proposals.run(placed, scheduler="labels").pull_requests[0].number)
    assert RECORD not in placed.files("dev", GITOPS)
