"""`kalypso explain`: the reasons for the assignments, configuration and files of an environment."""

from __future__ import annotations

from typing import Any

from kalypso_actions.commands.shared.local_context import LocalContext, read_branch_of
from kalypso_actions.commands.shared.reading.base_trees import ReadableBaseTrees
from kalypso_actions.commands.shared.reading.control_plane import read_control_plane
from kalypso_actions.commands.shared.reading.snapshot import main_position, read_snapshot
from kalypso_actions.comparison import Mask
from kalypso_actions.inputs.local import ExplainInputs
from kalypso_actions.model.entry_points import DEFAULT_SCHEDULER
from kalypso_actions.planning.explanation import (
    ExplainedEnvironment,
    Question,
    explain_file,
    explain_key,
    explain_pairs,
    explain_policies,
)
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.report.documents import PositionEntry, ProblemEntry, SourceEntry
from kalypso_actions.report.explain_document import ExplainDocument
from kalypso_actions.scheduling.registry import scheduler_of


def explain(inputs: ExplainInputs, context: LocalContext) -> ExplainDocument:
    """Read and schedule the environment, and answer the question of the inputs.

    Raises KalypsoError for an unreadable control plane, UsageError for an unknown name.
    """
    with context.reader(inputs.source) as reader:
        branch = read_branch_of(inputs, reader, context, verb="Explaining")
        control_plane = read_control_plane(branch, reader, promoted_commit=inputs.base_commit)
        scheduler = inputs.scheduler or (branch.declared.scheduler if branch.declared else "")
        trees = ReadableBaseTrees(reader.repositories)
        options = PlanOptions.of(inputs)
        snapshot = read_snapshot(
            control_plane,
            reader,
            options,
            base_trees=trees.needed(control_plane.fleet.gitops_repos, scheduler),
        )
        environment = ExplainedEnvironment.of(
            snapshot,
            options,
            scheduler_of(branch.declared, inputs.scheduler),
            Mask(inputs.mask),
        )
        main = main_position(snapshot, reader)
        answer = _answer(inputs, environment)
    readings = [("environment", snapshot.own.revision)]
    readings += [(f"base:{base.name}", reading.revision) for base, reading in snapshot.bases]
    problems = answer.pop("problems", ())
    return ExplainDocument(
        environment=branch.name,
        scheduler=scheduler or DEFAULT_SCHEDULER,
        main=PositionEntry.of(branch.name, main) if main else None,
        sources=SourceEntry.all_of(readings),
        **answer,
        warnings=ProblemEntry.all_of((*environment.warnings, *trees.warnings)),
        problems=ProblemEntry.all_of((*environment.problems, *problems)),
    )


def _answer(inputs: ExplainInputs, environment: ExplainedEnvironment) -> dict[str, Any]:
    """Return the fields of the document that answer the question, and the problems of a file."""
    if inputs.file:
        files, problems = explain_file(environment, inputs.file, inputs.target, inputs.cluster_type)
        return {"files": files, "problems": problems}
    question = Question.of(environment, inputs.target, inputs.cluster_type)
    if inputs.key:
        return {"values": explain_key(question, inputs.key)}
    if inputs.target or inputs.cluster_type:
        return {"pairs": explain_pairs(question)}
    policies, unassigned, empty = explain_policies(environment)
    return {"policies": policies, "unassigned_targets": unassigned, "empty_cluster_types": empty}
