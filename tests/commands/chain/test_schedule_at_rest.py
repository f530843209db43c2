"""A scheduled run of schedule ends at once if nothing has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from kalypso_actions.commands import schedule as command
from kalypso_actions.promotion.start_records import schedule_context
from kalypso_actions.report.schedule_document import ScheduleDocument
from tests.commands.chain import documents, polls
from tests.commands.chain.organisation import CONTROL_PLANE, SHOP, Job, Organisation
from tests.commands.chain.proposals import (
    configure,
    edit_gitops,
    run,
    run_schedule,
    settle,
)

CLOCK = Job(event="schedule")
CONTEXT = schedule_context("dev")
TEA = "acme/tea"


def rests(acme: Organisation, **given: Any) -> bool:
    """Run schedule as GitHub's clock does; return whether it ended at once."""
    acme.logged.clear()
    run(acme, **{"job": CLOCK, **given})
    return any("nothing has moved since" in line for line in acme.logged)


def at_noon(acme: Organisation) -> None:
    """Merge the proposal of schedule, and run it again, so that nothing is left to do."""
    settle(acme)
    run(acme)


def test_nothing_has_moved(acme: Organisation) -> None:
    at_noon(acme)
    before = run(acme)
    acme.forget()
    assert rests(acme)
    answer = run(acme, job=CLOCK)
    assert answer == ScheduleDocument(environment="dev", assignments=before.assignments)
    assert acme.writes() == acme.recorded() == []


def test_no_registered_repository_is_fetched(acme_over_http: Organisation) -> None:
    """One query reads the heads of up to a hundred registered folders."""
    acme = acme_over_http
    text = documents.workload("tea", "https://x", ("dev",))
    acme.sandbox.create_repository(TEA, {"workload/tea.yaml": text})
    acme.commit({"registrations/tea.yaml": documents.registration("tea", acme.url(TEA))}, "dev")
    at_noon(acme)
    acme.forget()
    assert rests(acme)
    fetched = [item.path for item in acme.sandbox.traffic if item.template == "git"]
    assert fetched
    assert not [path for path in fetched if path.startswith((f"/{SHOP}", f"/{TEA}"))]
    queries = [item.request_body for item in acme.sandbox.traffic if item.template == "/graphql"]
    heads = [query for query in queries if query["query"].startswith("query Heads")]
    assert [sorted(_names(query["variables"])) for query in heads] == [["shop", "tea"]]


def _names(variables: Mapping[str, str]) -> list[str]:
    return [value for name, value in variables.items() if name.startswith("name")]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"job": Job()}, id="cd, poll, a push or a person"),
        pytest.param({"verify": "true"}, id="verify"),
        pytest.param({"now": "2026-03-01T12:00:00Z"}, id="a given time"),
        pytest.param({"max_issues": "3"}, id="another option"),
    ],
)
def test_runs_that_never_end_at_once(acme: Organisation, given: dict[str, Any]) -> None:
    at_noon(acme)
    assert not rests(acme, **given)


@pytest.mark.parametrize(
    "move",
    [
        pytest.param(polls.push_to_shop, id="a registered repository"),
        pytest.param(lambda acme: configure(acme, NEW="1"), id="the environment's branch"),
        pytest.param(lambda acme: edit_gitops(acme, {"a.txt": "b"}), id="the GitOps branch"),
        pytest.param(
            lambda acme: acme.status(
                acme.head("dev") or "", CONTEXT, "Starting, attempt 1: inputs not read yet"
            ),
            id="a start that no run has served",
        ),
        pytest.param(
            lambda acme: acme.commit(
                {".environments/dev.yaml": documents.environment(acme.url(), "dev", first=True)}
            ),
            id="the Environment object",
        ),
    ],
)
def test_what_has_moved(acme: Organisation, move: Callable[[Organisation], object]) -> None:
    at_noon(acme)
    move(acme)
    assert not rests(acme)


def test_an_open_pull_request_is_looked_after(acme: Organisation) -> None:
    at_noon(acme)
    configure(acme, NEW="1")
    run(acme)
    assert not rests(acme)


def test_a_fault_in_a_document_that_names_no_repository(acme: Organisation) -> None:
    """The question does not parse the document, but the run that did has recorded a fault."""
    at_noon(acme)
    acme.commit({"cluster-types/fault.yaml": "{"}, "dev")
    assert run_schedule(acme).failed
    assert run_schedule(acme, job=CLOCK).failed


def test_another_version_of_the_code(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    at_noon(acme)
    monkeypatch.setattr(command, "code_digest", lambda: "another")
    assert not rests(acme)
    assert rests(acme)


def test_a_record_of_somebody_else(acme: Organisation) -> None:
    at_noon(acme)
    head = acme.head("dev") or ""
    _, description = acme.records(head)[CONTEXT]
    before = polls.inputs_of(acme)["dev"].digest
    polls.push_to_shop(acme)
    forged = description.replace(before, polls.inputs_of(acme)["dev"].digest)
    assert forged != description
    mallory = acme.sandbox.create_token("user", None, login="mallory", owner="acme")
    body = {"context": CONTEXT, "description": forged, "state": "success"}
    acme.ask("POST", f"{CONTROL_PLANE}/statuses/{head}", body, token=mallory)
    assert not rests(acme)


def test_until_a_placement_decides_otherwise(placed: Organisation) -> None:
    placed.commit({"cluster-types/drone.yaml": None}, "dev")
    at_noon(placed)
    assert rests(placed)
    assert run(placed, job=CLOCK).requeue_time == "2026-03-01T12:30:00Z"
    placed.clock.sleep(timedelta(minutes=31).total_seconds())
    assert not rests(placed)
