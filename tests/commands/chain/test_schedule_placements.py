"""`kalypso schedule` with Placements: the record, misconfiguration, and time."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from kalypso_actions.report.chain_documents import ScheduleDocument
from tests.commands.chain import documents, polls, proposals
from tests.commands.chain.organisation import GITOPS, Dispatch, Organisation

RECORD = ".github/tracking/placements.json"
PLACEMENT = """\
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: one}
spec:
  numberOfClusters: 1
  tolerations:
  - {key: edge, operator: Exists, tolerationSeconds: 3600}
"""
TAINTS = "[{key: edge, effect: NoSelect, timeAdded: '2026-03-01T11:30:00Z'}]"


@pytest.fixture
def placed(acme: Organisation) -> Organisation:
    """Schedule dev by a Placement."""
    environment = documents.environment(acme.url(), "dev", next_environment="stage", first=True)
    annotated = environment.replace(
        "  annotations:\n", "  annotations:\n    kalypso.io/scheduler: placement\n"
    )
    acme.commit({".environments/dev.yaml": annotated})
    policy = documents.policy().replace(
        "metadata: {name: everywhere}",
        "metadata: {name: everywhere, annotations: {kalypso.io/placement: one}}",
    )
    large = documents.cluster_type("large").replace(
        "  name: large\n", f'  name: large\n  annotations: {{kalypso.io/taints: "{TAINTS}"}}\n'
    )
    files = {"cluster-types/large.yaml": large, "policy.yaml": policy}
    acme.commit({**files, ".github/kalypso/one.yaml": PLACEMENT}, "dev")
    return acme


def record(acme: Organisation) -> list[tuple[str, list[str]]]:
    body = json.loads(acme.files("dev", GITOPS)[RECORD])
    assert body["schema"] == "kalypso.placements/v1"
    return [(item["policy"], item["clusterTypes"]) for item in body["placements"]]


def test_a_placement_is_followed_recorded_and_looked_at_again(placed: Organisation) -> None:
    document = proposals.run(placed)
    assert document.assignments == 1
    assert document.requeue_time == ""  # the drone is before the large by name
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


def test_a_misconfigured_placement_proposes_nothing(placed: Organisation) -> None:
    placed.merge(proposals.run(placed).pull_requests[0].number)
    wrong = PLACEMENT.replace("operator: Exists", "operator: Exists, value: x")
    placed.commit({".github/kalypso/one.yaml": wrong}, "dev")
    done = proposals.run_schedule(placed)
    assert isinstance(done.document, ScheduleDocument)
    assert [problem.code for problem in done.document.problems] == ["placement-misconfigured"]
    assert done.document.assignments == 1
    assert placed.pulls() == []
    where = done.document.problems[0].where
    assert where is not None
    assert (where.path, where.line) == (".github/kalypso/one.yaml", 1)


def test_an_input_chooses_another_scheduler(placed: Organisation) -> None:
    done = proposals.run_schedule(placed, scheduler="labels")
    codes = [problem.code for problem in done.document.problems]
    assert codes == ["placement-without-scheduler"]
