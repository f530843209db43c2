"""`kalypso report`: plan all environments, and write one page about the fleet, and its data."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final

from kalypso_actions import report as report_room
from kalypso_actions.clients.git import GitRepository, enclosing_clone, is_path, is_repository
from kalypso_actions.clients.github import GitHubServer
from kalypso_actions.commands.delivery import delivery_entry
from kalypso_actions.commands.shared.context import Runtime, open_context
from kalypso_actions.commands.shared.local_context import (
    ControlPlanePlace,
    LocalContext,
    find_control_plane,
)
from kalypso_actions.commands.shared.looks.branches import normal_folder
from kalypso_actions.commands.shared.reading.base_history import passed_commits
from kalypso_actions.commands.shared.reading.base_trees import ReadableBaseTrees
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    read_control_plane,
)
from kalypso_actions.commands.shared.reading.document_reader import SharedReader
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.commands.shared.reading.snapshot import main_position, read_snapshot
from kalypso_actions.commands.shared.record import ask_record
from kalypso_actions.commands.status import status
from kalypso_actions.comparison import Mask
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.fleet.named_branches import main_base
from kalypso_actions.inputs.chain import RecordedInputs, StatusInputs
from kalypso_actions.inputs.local import ReportInputs
from kalypso_actions.inputs.paths import is_folder
from kalypso_actions.inputs.reading import checked_inputs, collect_inputs, secrets_of
from kalypso_actions.model.entry_points import DEFAULT_SCHEDULER
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import BaseRepo, GitOpsRepo
from kalypso_actions.model.layout import gitops_folder
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.model.urls import repository_key, web_page
from kalypso_actions.observations import timeline
from kalypso_actions.observations.delivery import figures
from kalypso_actions.observations.drift import drift as drift_at
from kalypso_actions.observations.projection import Database
from kalypso_actions.planning.fleet_checks import FleetScope
from kalypso_actions.planning.fleet_checks.scope import scope_of
from kalypso_actions.planning.fleet_report import (
    MOST_COMMITS,
    MergedTree,
    ReportCollection,
    last_changes,
)
from kalypso_actions.planning.merged_findings import documents_of, fleet_findings, settled
from kalypso_actions.planning.plan import Plan, PlanOptions, make_plan
from kalypso_actions.promotion.environments import in_order
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.drift_document import DriftEntry
from kalypso_actions.report.observed_document import (
    DeliveryCasesEntry,
    DeploymentEntry,
    ObservedDocument,
    RunEntry,
    TargetHistoryEntry,
    TimelineEntry,
    VersionPeriodEntry,
)
from kalypso_actions.report.pipeline_drawing import PlannedEnvironment, pipeline_html
from kalypso_actions.report.report_document import PageParts, ReportDocument, report_page
from kalypso_actions.report.status_document import StatusDocument
from kalypso_actions.scheduling.registry import scheduler_of

PAGE = "index.html"
DATA = "report.json"
DAYS: Final = 90
"""The days of the past that the page draws."""
MOST_CLUSTERS: Final = 2000
"""Above, the page has timelines of cluster types alone."""

TargetNames = Mapping[timeline.Key, str]
"""The names of targets in the control plane, by what the record calls them."""


def report(
    inputs: ReportInputs,
    context: LocalContext,
    now: datetime,
    pipeline: Callable[[], StatusDocument],
    observed: Callable[[TargetNames], ObservedDocument] | None = None,
) -> ReportDocument:
    """Plan all environments of the control plane, and write `index.html` and `report.json`.

    `pipeline` reads the pipeline from GitHub, after the control plane is read, and `observed` the
    record. An environment or a record that cannot be read is a problem of the report. Raises
    KalypsoError if the control plane cannot be read, UsageError for a folder that cannot be
    written.
    """
    collection = ReportCollection(Mask(inputs.mask))
    with context.reader(inputs.source) as opened:
        plane = find_control_plane(inputs.control_plane, SharedReader(opened), context)
        merged = MergedTrees(plane.reader.repositories)
        names: dict[timeline.Key, str] = {}
        scopes: list[FleetScope | None] = []
        snapshots: list[Snapshot] = []
        bases: dict[str, BaseRepo] = {}
        ahead: dict[str, int] = {}
        for name in in_order(plane.environments):
            try:
                environment = plane.environment(name)
                snapshot, plan, position = _add(
                    collection, plane, environment, merged, inputs, context
                )
            except KalypsoError as error:
                collection.add_unreadable(name, error.problems)
            else:
                scopes.append(scope_of(plan.fleet, snapshot))
                snapshots.append(snapshot)
                base = main_base(environment.own) if environment.promoted_commit else None
                if base and position and position.ahead is not None:
                    bases[name], ahead[name] = base, position.ahead
                names |= _target_names(plan)
        title = inputs.title or f"Fleet of {plane.name}"
        repositories = plane.reader.repositories
        passed = passed_commits(
            plane.environments, bases, ahead, repositories, plane.place, plane.main
        )
        of_fleet = fleet_findings(passed, scopes, plane.environments, snapshots)
        document = collection.document(title, now, pipeline(), of_fleet)
    if observed:
        document = _with_record(document, observed, names)
    _write(inputs.out, document)
    return document


def _with_record(
    document: ReportDocument,
    observed: Callable[[TargetNames], ObservedDocument],
    names: TargetNames,
) -> ReportDocument:
    try:
        return document.model_copy(update={"observed": observed(names)})
    except KalypsoError as error:
        problems = (*document.problems, *ProblemEntry.all_of(error.problems))
        return document.model_copy(update={"problems": problems})


def _target_names(plan: Plan) -> TargetNames:
    """Return the names of an environment's targets by what the record calls them."""
    return {
        (
            plan.environment,
            repository_key(target.manifests.get("repo", "")),
            target.manifests.get("branch", ""),
            normal_folder(target.manifests.get("path", "")),
        ): target.name
        for target in plan.fleet.targets
    }


def _add(
    collection: ReportCollection,
    plane: ControlPlanePlace,
    environment: EnvironmentReading,
    merged: MergedTrees,
    inputs: ReportInputs,
    context: LocalContext,
) -> tuple[Snapshot, Plan, BranchPosition | None]:
    """Add an environment; return what was read and planned, and the position of its commit."""
    reader, declared = plane.reader, plane.environments[environment.name]
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
    findings = settled(plan.findings, documents_of(snapshot))
    position = main_position(snapshot, reader)
    collection.add(
        dataclasses.replace(plan, findings=findings),
        scheduler or DEFAULT_SCHEDULER,
        position,
        merged.of(plan),
    )
    return snapshot, plan.without_contents(), position


def _write(folder: Path, document: ReportDocument) -> None:
    data = document.to_json()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DATA).write_text(data + "\n", encoding="utf-8", newline="\n")
        (folder / PAGE).write_text(
            report_page(document.title, data, page_parts(), drawing(document)),
            encoding="utf-8",
            newline="\n",
        )
    except OSError as error:
        message = f"--out {folder} cannot be written: {error.strerror}"
        raise UsageError(message, advice="choose another folder") from error


def drawing(document: ReportDocument) -> str:
    """Return the drawing of a report's pipeline."""
    numbers = Counter(each.environment for each in document.assignments)
    failing = Counter(each.environment for each in document.assignments if each.failure)
    planned = [
        PlannedEnvironment(
            each.environment,
            each.main,
            numbers[each.environment],
            failing[each.environment],
            len(each.problems),
            len(each.warnings),
        )
        for each in document.environments
    ]
    return pipeline_html(document.pipeline, planned)


class MergedTrees:
    """Reads GitOps branches; after a failure, it does not read the repository again."""

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories
        self._faults: dict[str, str] = {}

    def of(self, plan: Plan) -> tuple[MergedTree, ...]:
        """Return the branches of a plan's GitOpsRepos; an unreadable one has the reason."""
        folders = [item.assignment.folder for item in plan.assignments]
        return tuple(self._read(repo, folders) for repo in plan.fleet.gitops_repos)

    def _read(self, repo: GitOpsRepo, assignments: list[str]) -> MergedTree:
        url, branch, path = repo.target.repo, repo.target.branch, repo.target.path
        if url in self._faults:
            return MergedTree(url, branch, path, fault=self._faults[url])
        try:
            folder = gitops_folder(path, repo.where)
            commits = self._repositories.history(url, branch, MOST_COMMITS)
            head = next(commits, None)
            if head is None:
                fault = "there is no such branch, or the clone lacks its history"
                return MergedTree(url, branch, folder, fault=fault)
            changes = last_changes(chain([head], commits), folder, assignments)
        except KalypsoError as error:
            self._faults[url] = error.problem.message
            return MergedTree(url, branch, path, fault=error.problem.message)
        return MergedTree(url, branch, folder, head.id, changes)


def read_observed(
    inputs: ReportInputs, control_plane: str | None, runtime: Runtime, names: TargetNames
) -> ObservedDocument:
    """Return what the record of a control plane says, for the targets with these names.

    Raises KalypsoError for a record that is missing or cannot be read.
    """
    place = "" if is_folder(inputs.record) else _github_name(control_plane, runtime)
    options = {"record": inputs.record, "control-plane": place}
    given = collect_inputs(RecordedInputs, options, runtime.environment)
    end = int(runtime.now().timestamp()) + 1  # what began in this second is shown, too
    window = timeline.DrawnTime(end - DAYS * 86400, end)
    with open_context(checked_inputs(RecordedInputs, given), runtime) as context:
        record, found = ask_record(
            context, inputs.record, lambda tables: observed_document(tables, window, names)
        )
    return found.model_copy(update={"record": record})


def observed_document(
    tables: Database, window: timeline.DrawnTime, names: TargetNames
) -> ObservedDocument:
    """Return what the tables of a record say of a window, for the targets that have a name."""
    since, looked_at = timeline.looks(tables, window)
    clusters = timeline.number_of_clusters(tables, window)
    is_small = clusters <= MOST_CLUSTERS
    at = datetime.fromtimestamp(window.end, UTC)
    delivery = figures(tables, at, datetime.fromtimestamp(window.start, UTC), parts=False)
    return ObservedDocument(
        start=window.start,
        end=window.end,
        since=since,
        looked_at=looked_at,
        clusters_left_out=0 if is_small else clusters,
        drift=DriftEntry.all_of(drift_at(tables, at)),
        delivery=tuple(map(delivery_entry, delivery)),
        cases=tuple(
            DeliveryCasesEntry.model_validate(
                {"environment": each.scope.environment, **dataclasses.asdict(each.cases)}
            )
            for each in delivery
        ),
        timelines=tuple(
            TimelineEntry(**row._asdict())
            for row in timeline.timelines(tables, window, with_clusters=is_small)
        ),
        deployments=tuple(
            DeploymentEntry(
                environment=each.environment,
                commit=each.commit,
                url=f"{page}/commit/{each.commit}" if (page := web_page(each.repository)) else "",
                at=each.at,
                state=each.state,
                well=each.well,
                clusters=each.clusters,
            )
            for each in timeline.deployments(tables)
        ),
        histories=tuple(
            TargetHistoryEntry(
                environment=key[0],
                target=names[key],
                periods=tuple(VersionPeriodEntry(**each._asdict()) for each in periods),
            )
            for key, periods in timeline.histories(tables, window).items()
            if key in names
        ),
        runs=tuple(
            RunEntry(
                environment=run.key[0],
                target=names[run.key],
                cluster_type=run.cluster_type,
                version=run.version,
                state=run.state,
                clusters=run.clusters,
            )
            for run in timeline.runs(tables)
            if run.key in names
        ),
    )


FOLDER: Final = Path(report_room.__file__).parent / "page_parts"
SCRIPTS: Final = ("elements", "findings", "observed", "matrix", "detail", "start")
"""The parts of the script, in order."""


def page_parts() -> PageParts:
    """Read the style, the script and the body of the page."""
    script = "\n".join(_text(f"{name}.js") for name in SCRIPTS)
    return PageParts(_text("page.css"), script, _text("body.html"))


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


NO_OPTIONS: Final[Mapping[str, Any]] = {}


def read_pipeline(
    control_plane: str | None, runtime: Runtime, options: Mapping[str, Any] = NO_OPTIONS
) -> StatusDocument:
    """Return the document of `kalypso status` for a control plane, by default the clone at hand.

    `control_plane` is a URL or path, `options` say how to read the clusters. An error becomes a
    problem of the document; after an error of the clusters, it has the pipeline without them.
    """
    name = ""
    try:
        name = _github_name(control_plane, runtime)
        options = {**options, "control-plane": name}
        given = collect_inputs(StatusInputs, options, runtime.environment)
        inputs = checked_inputs(StatusInputs, given)
        for secret in secrets_of(inputs):
            runtime.runner.mask(secret)
        with open_context(inputs, runtime) as context:
            return status(inputs, context)
    except KalypsoError as error:
        problems = ProblemEntry.all_of(error.problems)
        if not options.get("clusters"):
            return StatusDocument(control_plane=name, problems=problems)
    without = read_pipeline(control_plane, runtime)
    return without.model_copy(
        update={"problems": tuple(dict.fromkeys((*without.problems, *problems)))}
    )


def _github_name(control_plane: str | None, runtime: Runtime) -> str:
    """Return `owner/name` of a control plane on the GitHub of the environment's variables.

    Raises UsageError for another server.
    """
    urls: tuple[str, ...] = (control_plane or "",)
    if control_plane is None or is_path(control_plane):
        path = enclosing_clone(Path()) if control_plane is None else Path(control_plane)
        is_clone = path is not None and is_repository(path)
        urls = GitRepository(path, runtime.programs).remotes() if path and is_clone else ()
    server = GitHubServer.of_environment(runtime.environment)
    name = server.name_of(urls)
    if not name:
        raise UsageError(f"the control plane is not a repository on {server.server_url}")
    return name
