"""The document of a preview, without secrets, and its complete diffs."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from kalypso_actions.commands.preview.comparison import ComparedBranch, ComparedEnvironment
from kalypso_actions.commands.preview.reading import ArrivingCommits, ChangedBranch, PreviewRequest
from kalypso_actions.comparison import Mask, unified_diff
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.differences import Comparison, MaskedComparison
from kalypso_actions.model.urls import repository_key
from kalypso_actions.promotion.environments import Faults, arrival, blocked
from kalypso_actions.promotion.regressions import by_environment, without
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.preview_document import (
    ArrivalEntry,
    ArrivingCommitEntry,
    PreviewDocument,
    PreviewEnvironmentEntry,
)

MOST_DIFFS: Final = 4 * 1024 * 1024
"""The most characters of diffs in the document; the file of diffs has all."""


class PreviewDiffs:
    """The diffs of comparisons; the document takes as many as it has room for."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._room = MOST_DIFFS

    def of(self, comparison: MaskedComparison) -> Mapping[str, str]:
        """Return the diffs that the document has room for, by path; keep all."""
        diffs = {}
        for file in comparison.files:
            text = unified_diff(file, f"{comparison.environment}/")
            self.texts.append(text)
            self._room -= len(text)
            if self._room >= 0:
                diffs[file.path] = text
        return diffs


def preview_result(
    request: PreviewRequest,
    compared: ComparedBranch,
    mask: Mask,
    commits: Mapping[str, ArrivingCommits],
    settings: Collection[str],
    failures: Mapping[str, str],
) -> tuple[PreviewDocument, str]:
    """Mask all comparisons, and return the document and the diffs of all files.

    `commits` are the earlier commits that arrive with the change, and `failures` the descriptions
    of failed deployments, both by environment. `settings` are the changed files with settings.
    """
    diffs = PreviewDiffs()
    documents = _located(compared.documents.masked(mask), request.change)
    changes: dict[str, MaskedComparison] = {}
    entries = []
    faulty = _blocked(request, compared)
    for item in compared.environments:
        change = _without(_located(item.change.masked(mask), request.change), documents)
        changes[item.name] = change
        comparison = None
        if item.arriving:
            arriving = _located(item.arriving.masked(mask), request.change)
            arriving = _without(_without(arriving, documents), change)
            comparison = ComparisonEntry.of(arriving, diffs.of(arriving))
        entries.append(
            PreviewEnvironmentEntry(
                environment=item.name,
                compared=item.change.pair is not None,
                added=item.name not in compared.before,
                removed=item.name not in compared.after,
                blocked=item.name in faulty,
                change=ComparisonEntry.of(change, diffs.of(change)),
                waiting_for=item.waiting_for,
                failure=failures.get(item.name, ""),
                idle=item.change.pair.idle if item.change.pair else (),
                arrival=_arrival(request, compared, item, comparison, commits.get(item.name)),
            )
        )
    document = PreviewDocument(
        **compared_commits(request),
        assignments_added=sum(len(entry.change.assignments_added) for entry in entries),
        assignments_removed=sum(len(entry.change.assignments_removed) for entry in entries),
        files_changed=sum(entry.change.files_changed for entry in entries),
        settings=tuple(settings),
        environments=tuple(entries),
        notes=_notes(request, compared, mask),
        **findings_of(documents, changes),
    )
    return document, "".join(diffs.texts)


def _notes(
    request: PreviewRequest, compared: ComparedBranch, mask: Mask
) -> tuple[ProblemEntry, ...]:
    notes = by_environment({item.name: mask.notes(item.notes) for item in compared.environments})
    without_effect = mask.notes(compared.notes)
    return ProblemEntry.all_of(_with_branches((*notes, *without_effect), request.change))


def _blocked(request: PreviewRequest, compared: ComparedBranch) -> Collection[str]:
    """Return the environments that no commit with these problems reaches."""
    of_branch = compared.documents.problems
    numbers = {
        item.name: item.change.problems
        for item in compared.environments
        if item.name in compared.after
    }
    if request.change.is_main:
        return blocked(numbers, of_branch)
    return blocked({name: Faults(of.new + of_branch.new, of.known) for name, of in numbers.items()})


def findings_of(
    documents: MaskedComparison, changes: Mapping[str, MaskedComparison]
) -> dict[str, Any]:
    """Return the document's fields of new and known findings."""
    problems = [
        *documents.problems_new,
        *by_environment({name: item.problems_new for name, item in changes.items()}),
    ]
    warnings = [
        *documents.warnings_new,
        *by_environment({name: tuple(_warnings(item)) for name, item in changes.items()}),
    ]
    comparisons = [documents, *changes.values()]
    return {
        "problems": ProblemEntry.all_of(dict.fromkeys(problems)),
        "warnings": ProblemEntry.all_of(dict.fromkeys(warnings)),
        "problems_known": sum(item.problems_known for item in comparisons),
        "warnings_known": sum(item.warnings_known for item in comparisons),
    }


def failed_preview(
    request: PreviewRequest, problems: Collection[Problem], mask: Mask
) -> PreviewDocument:
    """Return the document of a preview that could not compare."""
    masked = mask.masked(Comparison("", problems_new=tuple(problems)))
    return PreviewDocument(
        **compared_commits(request),
        compared=False,
        problems=ProblemEntry.all_of(masked.problems_new),
    )


def compared_commits(request: PreviewRequest) -> dict[str, Any]:
    """Return the document's fields about the compared commits."""
    return {
        "branch": request.change.branch,
        "base": request.change.base,
        "head": request.change.head,
        "pull_request": request.pull_request,
        "head_commit": request.head_commit,
    }


def _without(comparison: MaskedComparison, others: MaskedComparison) -> MaskedComparison:
    """Leave out the findings of another comparison."""
    known = (*others.problems_new, *others.warnings_new)
    problems = tuple(without(comparison.problems_new, others.problems_new))
    warnings = tuple(without(comparison.warnings_new, known))
    return MaskedComparison(
        dataclasses.replace(comparison, problems_new=problems, warnings_new=warnings)
    )


def _located(comparison: MaskedComparison, change: ChangedBranch) -> MaskedComparison:
    removal = comparison.mass_removal
    return MaskedComparison(
        dataclasses.replace(
            comparison,
            problems_new=_with_branches(comparison.problems_new, change),
            warnings_new=_with_branches(comparison.warnings_new, change),
            mass_removal=_with_branches([removal], change)[0] if removal else None,
        )
    )


def _with_branches(problems: Iterable[Problem], change: ChangedBranch) -> tuple[Problem, ...]:
    """Name the branch in the location of each problem that is not in the changed branch.

    Otherwise GitHub would show its annotation on a file of the same name in the pull request.
    """
    keys = {repository_key(url) for url in (change.url, *change.other_urls)}

    def located(where: Location | None) -> Location | None:
        if where is None or repository_key(where.repository) not in keys:
            return where
        is_own = where.branch in {"", change.branch} or change.is_local
        name = change.url if is_own else f"{change.url}@{where.branch}"
        return dataclasses.replace(where, repository=name)

    return tuple(dataclasses.replace(problem, where=located(problem.where)) for problem in problems)


def _warnings(comparison: Comparison) -> Iterator[Problem]:
    if comparison.mass_removal:
        yield comparison.mass_removal
    yield from comparison.warnings_new


def _arrival(
    request: PreviewRequest,
    compared: ComparedBranch,
    item: ComparedEnvironment,
    comparison: ComparisonEntry | None,
    commits: ArrivingCommits | None,
) -> ArrivalEntry | None:
    if not request.change.is_main or item.name not in compared.after:
        return None
    when = arrival(item.name, compared.after)
    number, newest = commits or (None, ())
    return ArrivalEntry(
        has=item.promoted_commit or "",
        commits=number,
        newest=tuple(
            ArrivingCommitEntry(commit=each.commit, subject=each.subject) for each in newest
        ),
        is_first=when.is_first,
        after=when.after,
        comparison=comparison,
    )
