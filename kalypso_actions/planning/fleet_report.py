"""The assignments of all environments, with equal contents once, and without secrets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote

from kalypso_actions.comparison import Mask
from kalypso_actions.errors import Finding, Location, Problem, of_level
from kalypso_actions.model.history import BranchPosition, HistoryCommit
from kalypso_actions.model.kinds import Assignment
from kalypso_actions.model.tree import TreeChanges
from kalypso_actions.model.urls import web_page, without_secret
from kalypso_actions.planning.assignment_rendering import PlannedAssignment
from kalypso_actions.planning.config_checks import OF_MISSING_VALUES
from kalypso_actions.planning.explanation import decision_entry
from kalypso_actions.planning.fleet_checks.documents import FIELD_UNKNOWN
from kalypso_actions.planning.merged_findings import (
    told_once,
    with_broken_schemas,
    without_causes,
)
from kalypso_actions.planning.plan import Plan
from kalypso_actions.planning.secret_texts import secret_texts
from kalypso_actions.rendering import BROKEN_SCHEMA
from kalypso_actions.report.comparison_entries import value_text
from kalypso_actions.report.documents import PositionEntry, ProblemEntry, SourceEntry, Where
from kalypso_actions.report.explain_document import DecisionEntry
from kalypso_actions.report.report_document import (
    ConfiguredValueEntry,
    MergedChangeEntry,
    MergedTreeEntry,
    ReportDocument,
    ReportedAssignmentEntry,
    ReportedEnvironmentEntry,
)
from kalypso_actions.report.status_document import StatusDocument
from kalypso_actions.scheduling import Schedule

MOST_WITH_TEXTS: Final = 20_000
"""The most assignments of a report that contains the texts of files."""

MOST_VALUES: Final = 500_000
"""The most values of the different configurations that a report contains.

10,000 assignments with a configuration of 50 values each need that many; 100,000 would take
20 GB of memory, and no browser would open the page.
"""

T = TypeVar("T")


class _Once(Generic[T]):
    """Values in order, one for each key."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self._indexes: dict[Hashable, int] = {}

    def index(self, key: Hashable, make: Callable[..., T], *arguments: Any) -> int:
        """Return the index of a key's value; `make` creates a missing value."""
        if key not in self._indexes:
            self._indexes[key] = len(self.values)
            self.values.append(make(*arguments))
        return self._indexes[key]


class ReportCollection:
    """Collects the plans of environments, one after the other."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._environments: list[ReportedEnvironmentEntry] = []
        self._found: dict[str, tuple[Finding, ...]] = {}
        self._assignments: list[ReportedAssignmentEntry] = []
        self._configurations: _Once[tuple[ConfiguredValueEntry, ...]] = _Once()
        self._decisions: _Once[DecisionEntry] = _Once()
        self._changes: _Once[MergedChangeEntry] = _Once()
        self._texts: _Once[str] = _Once()
        self._with_texts = True
        self._number_of_values = 0

    def add(
        self,
        plan: Plan,
        scheduler: str,
        main: BranchPosition | None = None,
        merged: Sequence[MergedTree] = (),
    ) -> None:
        """Add the plan of an environment; `scheduler` names the scheduler that decided it.

        `main` is the position of its promoted commit, `merged` are its GitOps branches.
        """
        number = len(self._assignments) + len(plan.assignments)
        self._with_texts = self._with_texts and number <= MOST_WITH_TEXTS
        files = _by_folder(plan.changes)
        secrets = secret_texts(self._mask, plan.assignments)
        policies = {policy.name: policy.where for policy in plan.fleet.policies}
        configurations: dict[Hashable, int] = {}
        for item in plan.assignments:
            assignment, own = item.assignment, secrets[item.assignment.folder]
            known = configurations.get(item.combination)
            if known is None:
                known = configurations[item.combination] = self._configuration(item, own)
            failure = item.failure.problem_of(assignment) if item.failure else None
            self._assignments.append(
                ReportedAssignmentEntry(
                    environment=plan.environment,
                    target=assignment.target.name,
                    workload=assignment.target.workload,
                    workspace=assignment.target.workspace,
                    cluster_type=assignment.cluster_type.name,
                    namespace=item.namespace,
                    policies=assignment.policies,
                    configuration=known,
                    decisions=self._selecting(assignment, plan.schedule, policies),
                    changes=self._merged(assignment.folder, merged),
                    files=self._files(files.get(assignment.folder, {}), own),
                    failure=self._findings((failure,))[0].message if failure else "",
                )
            )
        self._found[plan.environment] = plan.findings
        self._environments.append(
            ReportedEnvironmentEntry(
                environment=plan.environment,
                main=PositionEntry.of(plan.environment, main) if main else None,
                scheduler=scheduler,
                sources=SourceEntry.all_of(plan.sources),
                gitops=tuple(map(_tree, merged)),
            )
        )

    def add_unreadable(self, environment: str, problems: tuple[Problem, ...]) -> None:
        """Add an environment that cannot be planned."""
        self._found[environment] = problems
        self._environments.append(ReportedEnvironmentEntry(environment=environment, main=None))

    def document(
        self,
        title: str,
        at: datetime,
        pipeline: StatusDocument,
        of_fleet: Sequence[Finding] = (),
    ) -> ReportDocument:
        """Return the data; for a large fleet, without the texts of files or the values.

        `of_fleet` are the findings over all environments.
        """
        known = {*of_fleet}
        own = (item for found in self._found.values() for item in found)
        of_fleet = [item for item in with_broken_schemas([*of_fleet, *own]) if item in known]
        with_texts = self._with_texts
        with_configurations = self._number_of_values <= MOST_VALUES
        assignments = self._assignments
        if not (with_texts and with_configurations):
            assignments = [
                item.model_copy(
                    update={
                        "files": item.files if with_texts else dict.fromkeys(item.files),
                        "configuration": item.configuration if with_configurations else 0,
                    }
                )
                for item in assignments
            ]
        return ReportDocument(
            title=title,
            at=at,
            environments=tuple(self._judged(item, of_fleet) for item in self._environments),
            pipeline=pipeline,
            warnings=self._findings(of_level(of_fleet, "warning")),
            problems=self._findings(of_level(of_fleet, "error")),
            with_texts=with_texts,
            assignments=tuple(assignments),
            with_configurations=with_configurations,
            configurations=tuple(self._configurations.values) if with_configurations else ((),),
            decisions=tuple(self._decisions.values),
            changes=tuple(self._changes.values),
            texts=tuple(self._texts.values) if with_texts else (),
        )

    def _judged(
        self, entry: ReportedEnvironmentEntry, of_fleet: Sequence[Finding]
    ) -> ReportedEnvironmentEntry:
        """Add the findings of an environment that the fleet does not have, each cause once."""
        known = {*of_fleet}
        causes = {item.where for item in of_fleet if item.code in {FIELD_UNKNOWN, BROKEN_SCHEMA}}
        effects = {*OF_MISSING_VALUES, BROKEN_SCHEMA}
        own = [
            item
            for item in self._found[entry.environment]
            if item not in known and not (item.code in effects and item.where in causes)
        ]
        own = without_causes(told_once(own), of_fleet)
        levels = {"warnings": of_level(own, "warning"), "problems": of_level(own, "error")}
        return entry.model_copy(update={key: self._findings(own) for key, own in levels.items()})

    def _findings(self, problems: tuple[Problem, ...]) -> tuple[ProblemEntry, ...]:
        return ProblemEntry.all_of(self._mask.notes(problems))

    def _configuration(self, item: PlannedAssignment, secrets: Collection[str]) -> int:
        """Return the index of an assignment's values, 0 in a report without them."""
        if self._number_of_values > MOST_VALUES:
            return 0
        values = tuple(self._values(item, secrets))
        known = len(self._configurations.values)
        index = self._configurations.index(values, lambda: values)
        if index == known:
            self._number_of_values += len(values)
        return index

    def _values(
        self, item: PlannedAssignment, secrets: Collection[str]
    ) -> Iterator[ConfiguredValueEntry]:
        config = item.config
        for key, value in sorted(config.values.items()):
            places = filter(None, map(Where.of, config.origins[key,]))
            shown = value_text(self._mask.value((key,), value, secrets))
            yield ConfiguredValueEntry(key=key, value=shown, origins=tuple(places))

    def _selecting(
        self, assignment: Assignment, schedule: Schedule, policies: Mapping[str, Location]
    ) -> tuple[int, ...]:
        """Return the decisions that select an assignment."""
        return tuple(
            # Equal decisions of two environments have different locations.
            self._decisions.index(
                (policies.get(decision.policy), decision), decision_entry, decision, policies
            )
            for decision in schedule.decisions_of(assignment)
        )

    def _merged(self, folder: str, trees: Sequence[MergedTree]) -> tuple[int, ...]:
        return tuple(
            self._changes.index((tree.url, commit.id), _change, tree, commit)
            for tree in trees
            for commit in tree.changes.get(folder, ())
        )

    def _files(self, files: Mapping[str, bytes], secrets: Collection[str]) -> dict[str, int | None]:
        if not self._with_texts:
            return dict.fromkeys(files)
        return {name: self._text(content, secrets) for name, content in files.items()}

    def _text(self, content: bytes, secrets: Collection[str]) -> int:
        text = self._mask.text(content, secrets)
        return self._texts.index(text, lambda: text)


def _change(tree: MergedTree, commit: HistoryCommit) -> MergedChangeEntry:
    return MergedChangeEntry(
        commit=commit.id,
        subject=commit.subject,
        author=commit.author,
        at=commit.date,
        url=f"{tree.page}/commit/{commit.id}" if tree.page else "",
    )


def _tree(tree: MergedTree) -> MergedTreeEntry:
    is_page = tree.page and tree.commit
    folder = f"/{quote(tree.folder)}" if tree.folder else ""
    return MergedTreeEntry(
        repository=without_secret(tree.url),
        branch=tree.branch,
        folder=tree.folder,
        commit=tree.commit,
        page=f"{tree.page}/blob/{tree.commit}{folder}" if is_page else "",
        fault=tree.fault,
    )


def _by_folder(changes: TreeChanges) -> dict[str, dict[str, bytes]]:
    """Return the files of each assignment's folder."""
    folders: dict[str, dict[str, bytes]] = {}
    for path in changes.files:
        *outer, name = path.split("/")
        folders.setdefault("/".join(outer[-2:]), {})[name] = changes.content(path)
    return folders


MOST_COMMITS: Final = 900
"""The most commits of a branch to read: fewer than git fetches at once."""

MOST_CHANGES: Final = 10
"""The most commits to show of each assignment."""


@dataclass(frozen=True, slots=True)
class MergedTree:
    """A GitOps branch: the URL of its repository, its name, and the folder of the tree.

    `commit` is its head, and `changes` are the commits by the assignment's folder, newest first.
    `fault` tells why the commits are unknown.
    """

    url: str
    branch: str
    folder: str
    commit: str = ""
    changes: Mapping[str, tuple[HistoryCommit, ...]] = field(default_factory=dict)
    fault: str = ""

    @property
    def page(self) -> str:
        """The page of the repository, "" without one."""
        return web_page(self.url)


def last_changes(
    commits: Iterable[HistoryCommit], folder: str, assignments: Collection[str]
) -> dict[str, tuple[HistoryCommit, ...]]:
    """Return the newest commits that change each assignment's folder below `folder`.

    `commits` are the commits of a branch, newest first; the function reads no more than needed.
    """
    changes: dict[str, list[HistoryCommit]] = {}
    wanted = set(assignments)
    for commit in commits:
        for name in wanted.intersection(_folders(commit.changes, folder)):
            changes.setdefault(name, []).append(commit)
            if len(changes[name]) == MOST_CHANGES:
                wanted.discard(name)
        if not wanted:
            break
    return {name: tuple(newest) for name, newest in changes.items()}


def _folders(paths: Iterable[str], folder: str) -> Iterator[str]:
    """Yield `<cluster type>/<target>` of the paths below a folder."""
    prefix = f"{folder}/" if folder else ""
    for path in paths:
        if path.startswith(prefix):
            yield "/".join(path[len(prefix) :].split("/", 2)[:2])
