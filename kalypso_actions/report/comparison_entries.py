"""A comparison of two plans without secrets: a part of JSON documents, and lines of a terminal."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final

from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.differences import Change, MaskedComparison, SetValue
from kalypso_actions.model.layout import assignment_folder
from kalypso_actions.report.documents import Entries, OutputDocument, ProblemEntry, Where
from kalypso_actions.report.escaping import shortened

LONGEST: Final = 100
"""The most characters of a value in a line."""

MOST_ASSIGNMENTS: Final = 1_000
"""The most assignments to name for each value: a change of the configuration for all would name
each assignment as often as there are values."""

STYLES: Final = {"added": "green", "modified": "yellow", "deleted": "red"}
SIGNS: Final = {"added": "+", "modified": "~", "deleted": "-"}


class AssignmentNameEntry(OutputDocument):
    """A deployment target on a cluster type."""

    cluster_type: str
    target: str

    @property
    def text(self) -> str:
        """The folder of its files."""
        return assignment_folder(self.cluster_type, self.target)


class FileChangeEntry(OutputDocument):
    """A file of the tree that differs; `diff` is null if all diffs together are too long."""

    path: str
    change: Change
    diff: str | None


class SetValueEntry(OutputDocument):
    """A configuration value as JSON, and the place of the layer that set it."""

    value: str
    where: Where | None

    @classmethod
    def of(cls, value: SetValue | None) -> SetValueEntry | None:
        """Convert a value; None stays None."""
        if value is None:
            return None
        return cls(value=value_text(value.value), where=Where.of(value.where))


class ValueChangeEntry(OutputDocument):
    """A configuration value that differs for `assignments`; a side without a value is null.

    `assignments` are the first of them, and `more_assignments` the number of the others.
    """

    key: str
    assignments: Entries[AssignmentNameEntry]
    more_assignments: int = 0
    before: SetValueEntry | None
    after: SetValueEntry | None


class DocumentChangeEntry(OutputDocument):
    """A document of the control plane that differs."""

    kind: str
    name: str
    change: Change
    where: Where | None


class WithheldEntry(OutputDocument):
    """The numbers of hidden differences, which come from a less visible repository."""

    repository: str
    assignments: int = 0
    files: int
    values: int
    problems: int
    warnings: int


class ComparisonEntry(OutputDocument):
    """All differences between two plans of an environment.

    `problems` and `warnings` are those that only the head has; the others are only counted.
    """

    assignments_added: Entries[AssignmentNameEntry] = ()
    assignments_removed: Entries[AssignmentNameEntry] = ()
    files: Entries[FileChangeEntry] = ()
    values: Entries[ValueChangeEntry] = ()
    documents: Entries[DocumentChangeEntry] = ()
    problems: Entries[ProblemEntry] = ()
    problems_known: int = 0
    warnings: Entries[ProblemEntry] = ()
    warnings_known: int = 0
    mass_removal: ProblemEntry | None = None
    withheld: Entries[WithheldEntry] = ()

    @classmethod
    def of(cls, comparison: MaskedComparison, diffs: Mapping[str, str]) -> ComparisonEntry:
        """Convert a comparison, with the unified diffs of its files by their paths."""
        removal = comparison.mass_removal
        return cls(
            assignments_added=AssignmentNameEntry.all_of(comparison.assignments_added),
            assignments_removed=AssignmentNameEntry.all_of(comparison.assignments_removed),
            files=tuple(
                FileChangeEntry(path=file.path, change=file.change, diff=diffs.get(file.path))
                for file in comparison.files
            ),
            values=tuple(
                ValueChangeEntry(
                    key=key_text(change.path),
                    assignments=AssignmentNameEntry.all_of(change.assignments[:MOST_ASSIGNMENTS]),
                    more_assignments=max(0, len(change.assignments) - MOST_ASSIGNMENTS),
                    before=SetValueEntry.of(change.before),
                    after=SetValueEntry.of(change.after),
                )
                for change in comparison.values
            ),
            documents=DocumentChangeEntry.all_of(comparison.documents),
            problems=ProblemEntry.all_of(comparison.problems_new),
            problems_known=comparison.problems_known,
            warnings=ProblemEntry.all_of(comparison.warnings_new),
            warnings_known=comparison.warnings_known,
            mass_removal=ProblemEntry.model_validate(removal) if removal else None,
            withheld=WithheldEntry.all_of(comparison.withheld),
        )

    @property
    def differs(self) -> bool:
        """Whether anything differs but findings."""
        return bool(
            self.assignments_added
            or self.assignments_removed
            or self.files_changed
            or self.values_changed
            or self.documents
        )

    @property
    def files_changed(self) -> int:
        """The number of files that differ, including hidden ones."""
        return len(self.files) + sum(item.files for item in self.withheld)

    @property
    def values_changed(self) -> int:
        """The number of values that differ, including hidden ones."""
        return len(self.values) + sum(item.values for item in self.withheld)


def key_text(path: Sequence[Hashable]) -> str:
    """Format keys and list indexes: `regions.east.hosts[0]`."""
    text = "".join(f"[{key}]" if type(key) is int else f".{key}" for key in path)
    return text.removeprefix(".")


def value_text(value: object) -> str:
    """Format a value as JSON; a text stays unchanged."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def comparison_lines(comparison: ComparisonEntry) -> Iterator[tuple[str, str]]:
    """Yield lines about documents, assignments, values and files, each after its style."""
    yield from document_lines(comparison)
    for entry in comparison.assignments_added:
        yield "green", f"+ assignment {entry.text}"
    for entry in comparison.assignments_removed:
        yield "red", f"- assignment {entry.text}"
    for change in comparison.values:
        yield from _value_lines(change)
    for file in comparison.files:
        yield STYLES[file.change], f"{SIGNS[file.change]} {file.path}"


def document_lines(comparison: ComparisonEntry) -> Iterator[tuple[str, str]]:
    """Yield a line for each document of the control plane, after its style."""
    for item in comparison.documents:
        yield STYLES[item.change], f"{SIGNS[item.change]} {item.kind} {item.name}"


def _value_lines(change: ValueChangeEntry) -> Iterator[tuple[str, str]]:
    sides = [side for side in (change.before, change.after) if side]
    kind: Change = "modified" if len(sides) == 2 else "added" if change.after else "deleted"
    values = " → ".join(shortened(side.value, LONGEST) for side in sides)
    yield STYLES[kind], f"{SIGNS[kind]} {shortened(change.key, LONGEST)}: {values}"
    places = [side.where for side in reversed(sides) if side.where]
    where = f"{places[0].path}:{places[0].line}, " if places else ""
    names = abbreviated([name.text for name in change.assignments], 1, change.more_assignments)
    yield "dim", f"    {where}for {names}"
