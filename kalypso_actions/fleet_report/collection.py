"""The assignments of all environments, with equal contents once, and without secrets."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from datetime import datetime
from typing import Final

from kalypso_actions.assignment_rendering import PlannedAssignment
from kalypso_actions.comparison import Mask
from kalypso_actions.errors import Problem
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.plan import Plan
from kalypso_actions.plan_pair import secret_texts
from kalypso_actions.report.comparison_entries import value_text
from kalypso_actions.report.documents import PositionEntry, ProblemEntry, SourceEntry, Where
from kalypso_actions.report.report_document import (
    ConfiguredValueEntry,
    ReportDocument,
    ReportedAssignmentEntry,
    ReportedEnvironmentEntry,
)

MOST_WITH_FILES: Final = 20_000
"""Assignments of a report that has the texts of files."""


class ReportCollection:
    """Collects the plans of environments, one after the other."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._environments: list[ReportedEnvironmentEntry] = []
        self._assignments: list[ReportedAssignmentEntry] = []
        self._configurations: dict[tuple[ConfiguredValueEntry, ...], int] = {}
        self._texts: dict[str, int] = {}

    def add(self, plan: Plan, main: BranchPosition | None) -> None:
        """Add the plan of an environment; main's position is that of its promoted commit."""
        files = _by_folder(plan.changes.files)
        secrets = secret_texts(self._mask, plan.assignments)
        configurations: dict[Hashable, int] = {}
        for item in plan.assignments:
            known = configurations.get(item.combination)
            if known is None:
                known = configurations[item.combination] = self._configuration(
                    item, secrets[item.assignment.folder]
                )
            own = files.get(item.assignment.folder, {})
            self._assignments.append(self._assignment(plan.environment, item, known, own, secrets))
        self._environments.append(
            ReportedEnvironmentEntry(
                environment=plan.environment,
                main=PositionEntry.of(plan.environment, main) if main else None,
                sources=SourceEntry.all_of(plan.sources),
                warnings=self._findings(plan.all_warnings),
                problems=self._findings(plan.problems),
            )
        )

    def add_unreadable(self, environment: str, problems: tuple[Problem, ...]) -> None:
        """Add an environment that cannot be planned."""
        entry = ReportedEnvironmentEntry(
            environment=environment, main=None, problems=self._findings(problems)
        )
        self._environments.append(entry)

    def document(self, title: str, at: datetime) -> ReportDocument:
        """Return the data; that of a large fleet has no files."""
        with_files = len(self._assignments) <= MOST_WITH_FILES
        assignments = self._assignments
        if not with_files:
            assignments = [item.model_copy(update={"files": {}}) for item in assignments]
        return ReportDocument(
            title=title,
            at=at,
            environments=tuple(self._environments),
            with_files=with_files,
            assignments=tuple(assignments),
            configurations=tuple(self._configurations),
            texts=tuple(self._texts) if with_files else (),
        )

    def _findings(self, problems: tuple[Problem, ...]) -> tuple[ProblemEntry, ...]:
        return ProblemEntry.all_of(self._mask.notes(problems))

    def _assignment(
        self,
        environment: str,
        item: PlannedAssignment,
        configuration: int,
        files: Mapping[str, bytes],
        secrets: Mapping[str, Collection[str]],
    ) -> ReportedAssignmentEntry:
        assignment = item.assignment
        target = assignment.target
        failure = item.failure.problem_of(assignment) if item.failure else None
        return ReportedAssignmentEntry(
            environment=environment,
            target=target.name,
            workload=target.workload,
            workspace=target.workspace,
            cluster_type=assignment.cluster_type.name,
            namespace=item.namespace,
            policies=assignment.policies,
            configuration=configuration,
            files={
                name: self._text(content, secrets[assignment.folder])
                for name, content in files.items()
            },
            failure=self._findings((failure,))[0].message if failure else "",
        )

    def _configuration(self, item: PlannedAssignment, secrets: Collection[str]) -> int:
        values = tuple(self._values(item, secrets))
        return self._configurations.setdefault(values, len(self._configurations))

    def _values(
        self, item: PlannedAssignment, secrets: Collection[str]
    ) -> Iterator[ConfiguredValueEntry]:
        config = item.config
        for key, value in sorted(config.values.items()):
            places = filter(None, map(Where.of, config.origins[key,]))
            shown = value_text(self._mask.value((key,), value, secrets))
            yield ConfiguredValueEntry(key=key, value=shown, origins=tuple(places))

    def _text(self, content: bytes, secrets: Collection[str]) -> int:
        text = self._mask.text(content, secrets)
        return self._texts.setdefault(text, len(self._texts))


def _by_folder(files: Mapping[str, bytes]) -> dict[str, dict[str, bytes]]:
    """Return the files of each assignment's folder."""
    folders: dict[str, dict[str, bytes]] = {}
    for path, content in files.items():
        *outer, name = path.split("/")
        folders.setdefault("/".join(outer[-2:]), {})[name] = content
    return folders
