"""Schedulers of other packages: their errors, their time limit, and what they may leave out."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from kalypso_actions.errors import Finding, KalypsoError, Location
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import Assignment, Fleet
from kalypso_actions.scheduling import Schedule, Scheduler
from kalypso_actions.scheduling.registry import CheckedScheduler, find_scheduler
from kalypso_placement.scheduler import PlacementScheduler
from tests.builders import cluster_type, fleet, policy, target


class Plugin(Scheduler):
    """A scheduler of another package; `answers` are returned in turn, or raised."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)

    def schedule(self, fleet: Fleet) -> Any:  # noqa: ARG002
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def answered(*assignments: Assignment) -> Schedule:
    return Schedule(assignments, (), lambda _target, _type: ())


FLEET = fleet(cluster_types=[cluster_type("c1")], targets=[target("t1")], policies=[policy("p")])


GOOD = Assignment(FLEET.targets[0], FLEET.cluster_types[0], ("p",))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([ZeroDivisionError("oops")], "failed: ZeroDivisionError: oops"),
        ([None], "returns NoneType, not a Schedule"),
        ([answered(dataclasses.replace(GOOD, target=target("t2")))], "unknown target 'app-t2'"),
        (
            [answered(dataclasses.replace(GOOD, cluster_type=cluster_type("c9")))],
            "unknown cluster type 'c9'",
        ),
        ([answered(dataclasses.replace(GOOD, policies=("q",)))], "unknown policy 'q'"),
        ([answered(GOOD, GOOD)], "assigns 'app-t1' to 'c1' twice"),
        ([answered(GOOD), answered()], "answers differently"),
    ],
    ids=["exception", "type", "target", "cluster-type", "policy", "twice", "random"],
)
def test_an_error_of_a_plugin_names_it(answers: list[object], message: str) -> None:
    with pytest.raises(KalypsoError, match=message) as failure:
        CheckedScheduler("prices", Plugin(*answers)).schedule(FLEET)
    assert "'prices'" in failure.value.problem.message


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_plugin_that_never_ends_is_ended() -> None:
    class Endless(Scheduler):
        def schedule(self, fleet: Fleet) -> Schedule:
            while True:
                with suppress(Exception):
                    str(fleet)

    with pytest.raises(KalypsoError, match=r"'prices' did not answer in 0\.05 seconds"):
        CheckedScheduler("prices", Endless(), time_limit=0.05).schedule(FLEET)


def test_a_plugin_without_fault_is_used() -> None:
    assert CheckedScheduler("prices", Plugin(answered(GOOD))).schedule(FLEET).assignments == (GOOD,)
    assert isinstance(find_scheduler("placement"), PlacementScheduler)


DOCUMENT = Document({"kind": "Price", "metadata": {"name": "c1"}}, Location("plane", "p.yaml"), {})
FINDINGS = [Finding("c1 has no price"), Finding("c2 is free", level="warning")]


class OldPlugin:
    """A class with the only method that a scheduler needs."""

    def schedule(self, fleet: Fleet) -> Schedule:  # noqa: ARG002
        return answered()


class PluginWithDocuments(Plugin):
    """A scheduler that checks its documents and describes them to editors."""

    def check(self, documents: Sequence[Document]) -> Any:
        return FINDINGS if documents == [DOCUMENT] else [None]

    def json_schemas(self) -> dict[str, Any]:
        return {"Price": {"type": "object"}}


@pytest.mark.parametrize(
    ("plugin", "findings", "schemas"),
    [
        (OldPlugin(), [], {}),
        (Plugin(), [], {}),
        (PluginWithDocuments(), FINDINGS, {"Price": {"type": "object"}}),
    ],
    ids=["without", "inherited", "own"],
)
def test_a_plugin_may_have_documents(
    plugin: Any, findings: list[Finding], schemas: dict[str, Any]
) -> None:
    scheduler = CheckedScheduler("prices", plugin)
    assert list(scheduler.check([DOCUMENT])) == findings
    assert scheduler.json_schemas() == schemas


def test_a_wrong_answer_about_documents_names_the_plugin() -> None:
    with pytest.raises(KalypsoError, match="'prices' returns NoneType, not a Finding"):
        CheckedScheduler("prices", PluginWithDocuments()).check([])
