"""`kalypso explain`: the reasons for the assignments, configuration and files of an environment."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from kalypso_actions.commands.shared.local_context import LocalContext, read_branch_of
from kalypso_actions.commands.shared.reading.base_trees import ReadableBaseTrees
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    read_control_plane,
)
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.snapshot import (
    main_position,
    read_registered,
    read_snapshot,
)
from kalypso_actions.comparison import Mask
from kalypso_actions.errors import Diagnostics, KalypsoError, UsageError
from kalypso_actions.fleet.parsing import parse_document
from kalypso_actions.inputs.local import ExplainInputs
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.entry_points import DEFAULT_SCHEDULER
from kalypso_actions.model.kinds import DeploymentTarget, RepositoryPath, Workload
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
        try:
            answer = _answer(inputs, environment)
        except UsageError as error:
            advice = _registered_elsewhere(inputs, branch, reader, context)
            if not advice:
                raise
            raise UsageError(error.problem.message, error.problem.where, advice) from error
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


MOST_CHANGES: Final = 20
"""Branches of changes to look into for an unknown target: each is read and parsed."""


def _registered_elsewhere(
    inputs: ExplainInputs, own: EnvironmentReading, reader: Reader, context: LocalContext
) -> str:
    """Return the branch of the clone that has the unknown target, and how to ask about it."""
    clone = context.clone(reader) if inputs.target and not inputs.control_plane else None
    if clone is None or inputs.environment_dir:
        return ""
    asked = f"kalypso explain {own.name} --target {inputs.target}"
    branches = {clone.main: f"{asked} --base-commit {clone.main}"}
    if clone.change_of_main:
        branches[clone.change_of_main] = f"{asked} --base-commit {clone.change_of_main}"
    for name, environment in clone.environments.items():
        if name != own.name:
            question = f"kalypso explain {name} --target {inputs.target}"
            branches.setdefault(environment.control_plane.branch, question)
    changes = [name for name in clone.repository.branches() if name not in branches]
    for name in list(dict.fromkeys(changes))[:MOST_CHANGES]:
        branches[name] = f"{asked} --base-commit {name}"
    for branch, question in branches.items():
        try:
            reading = reader.documents(RepositoryPath(str(clone.path), branch, "."))
        except KalypsoError:
            continue  # the answer about the asked environment stays
        if inputs.target in targets_of([reading], reader):
            return f"the branch {branch} registers it: {question}"
    return ""


def targets_of(readings: Sequence[Reading], reader: Reader) -> set[str]:
    """Return the names of targets and Workloads; read registered folders on this machine only."""
    registered = read_registered(readings, reader, allow_network=False)
    delivered = [item.reading for item in registered.values() if item.reading]
    names: set[str] = set()
    for document in chain.from_iterable(each.documents for each in (*readings, *delivered)):
        match parse_document(document, Diagnostics()):
            case DeploymentTarget() as target:
                names |= {target.name, target.workload}
            case Workload() as workload:
                names |= {workload.name, *(target.name for target in workload.targets)}
            case _:
                continue
    return names - {""}


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
