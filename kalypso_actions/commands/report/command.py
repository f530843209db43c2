"""Plan all environments, and write the page and its data."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from kalypso_actions.commands.report.merged_trees import MergedTrees
from kalypso_actions.commands.report.page_parts import page_parts
from kalypso_actions.commands.shared.local_context import (
    ControlPlanePlace,
    LocalContext,
    find_control_plane,
)
from kalypso_actions.commands.shared.reading.base_trees import ReadableBaseTrees
from kalypso_actions.commands.shared.reading.control_plane import read_control_plane
from kalypso_actions.commands.shared.reading.document_reader import SharedReader
from kalypso_actions.commands.shared.reading.snapshot import main_position, read_snapshot
from kalypso_actions.comparison import Mask
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.local import ReportInputs
from kalypso_actions.model.entry_points import DEFAULT_SCHEDULER
from kalypso_actions.planning.fleet_report import ReportCollection
from kalypso_actions.planning.plan import PlanOptions, make_plan
from kalypso_actions.promotion.environments import in_order
from kalypso_actions.report.report_document import ReportDocument, report_page
from kalypso_actions.report.status_document import StatusDocument
from kalypso_actions.scheduling.registry import scheduler_of

PAGE = "index.html"
DATA = "report.json"


def report(
    inputs: ReportInputs,
    context: LocalContext,
    now: datetime,
    pipeline: Callable[[], StatusDocument],
) -> ReportDocument:
    """Plan all environments of the control plane, and write `index.html` and `report.json`.

    `pipeline` reads the pipeline from GitHub, after the control plane is read. An environment that
    cannot be read is a problem of the report. Raises KalypsoError if the control plane cannot be
    read, UsageError for a folder that cannot be written.
    """
    collection = ReportCollection(Mask(inputs.mask))
    with context.reader(inputs.source) as opened:
        plane = find_control_plane(inputs.control_plane, SharedReader(opened), context)
        merged = MergedTrees(plane.reader.repositories)
        for name in in_order(plane.environments):
            try:
                _add(collection, plane, name, merged, inputs, context)
            except KalypsoError as error:
                collection.add_unreadable(name, error.problems)
        title = inputs.title or f"Fleet of {plane.name}"
        document = collection.document(title, now, pipeline())
    _write(inputs.out, document)
    return document


def _add(
    collection: ReportCollection,
    plane: ControlPlanePlace,
    name: str,
    merged: MergedTrees,
    inputs: ReportInputs,
    context: LocalContext,
) -> None:
    environment = plane.environment(name)
    reader, declared = plane.reader, plane.environments[name]
    scheduler = inputs.scheduler or declared.scheduler
    control_plane = read_control_plane(
        environment, reader, promoted_commit=plane.commit_of(environment)
    )
    trees = ReadableBaseTrees(reader.repositories)
    options = PlanOptions.of(inputs)
    base_trees = trees.needed(control_plane.fleet.gitops_repos, scheduler)
    snapshot = read_snapshot(control_plane, reader, options, base_trees=base_trees)
    if trees.warnings:
        raise KalypsoError.of(trees.warnings)
    plan = make_plan(
        snapshot,
        options,
        scheduler_of(declared, inputs.scheduler),
        context.progress,
    )
    collection.add(
        plan,
        scheduler or DEFAULT_SCHEDULER,
        main_position(snapshot, plane.reader),
        merged.of(plan),
    )


def _write(folder: Path, document: ReportDocument) -> None:
    data = document.to_json()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DATA).write_text(data + "\n", encoding="utf-8", newline="\n")
        (folder / PAGE).write_text(
            report_page(document.title, data, page_parts()), encoding="utf-8", newline="\n"
        )
    except OSError as error:
        message = f"--out {folder} cannot be written: {error.strerror}"
        raise UsageError(message, advice="choose another folder") from error
