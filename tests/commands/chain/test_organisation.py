"""The organisation has no faults and nothing pending."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.control_plane import (
    read_control_plane,
    read_environment_branch,
)
from kalypso_actions.commands.shared.reading.snapshot import read_snapshot
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.planning.plan import PlanOptions, make_plan
from kalypso_actions.report.schedule_document import ScheduleDocument
from kalypso_actions.scheduling.registry import find_scheduler
from tests.commands.chain.organisation import ENVIRONMENTS, Organisation


def rendered(inputs: ScheduleInputs, context: CommandContext) -> CommandResult:
    environment = read_environment_branch(
        context.reader, context.url(context.control_plane), inputs.environment
    )
    control_plane = read_control_plane(environment, context.reader)
    snapshot = read_snapshot(control_plane, context.reader)
    plan = make_plan(snapshot, PlanOptions(), find_scheduler(), context.runtime.progress)
    assert not plan.problems
    assert not plan.warnings
    return CommandResult(
        ScheduleDocument(assignments=len(plan.assignments)), "\n".join(plan.changes.added)
    )


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_every_environment_renders(acme: Organisation, environment: str) -> None:
    result = acme.run(rendered, ScheduleInputs, environment=environment)
    assert isinstance(result.document, ScheduleDocument)
    assert result.document.assignments == 2
    assert "large/shop-web/reconciler.yaml" in result.summary
    assert acme.writes() == []
    assert acme.dispatches() == []
