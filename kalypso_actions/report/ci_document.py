"""The output of `kalypso ci`: its document, and its step summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from pydantic import Field

from kalypso_actions.model.counts import counted
from kalypso_actions.model.tree import TreeChanges
from kalypso_actions.report import markdown
from kalypso_actions.report.chain_document import ChainDocument
from kalypso_actions.report.documents import ChangesEntry, Document
from kalypso_actions.report.pipeline_diagram import MAIN, Mark, PipelineNode, pipeline_diagram

MOST_PATHS: Final = 100
"""The most paths to list for each environment."""


class CheckedEntry(Document):
    """An environment rendered with the commit.

    `has` is the environment's commit of main ("" for none). `assignments` is null if rendering
    failed, `changes` if there is no GitOps branch to compare with. `changes` leaves out the file
    that tracks the commit.
    """

    environment: str
    has: str
    assignments: int | None
    changes: ChangesEntry | None
    problems: int
    warnings: int

    @property
    def paths(self) -> list[tuple[str, str]]:
        """The changed files, each after its change."""
        changes = self.changes or ChangesEntry()
        order = ("deleted", "modified", "added")
        return [(change, path) for change in order for path in getattr(changes, change)]


class CiDocument(ChainDocument):
    """The output of `kalypso ci --output json`; `environments` are those where CD was started."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where CD was started (JSON).",
        "problems": "The number of problems.",
        "warnings": "The number of warnings.",
    }

    schema_name: str = Field("kalypso.ci/v1", alias="schema")
    commit: str = ""
    environments: tuple[str, ...] = ()
    checked: tuple[CheckedEntry, ...] = ()

    def outputs(self) -> Mapping[str, str]:
        """Return the outputs, with the numbers of problems and warnings."""
        counts = {"problems": len(self.problems), "warnings": len(self.warnings)}
        return {**super().outputs(), **{name: str(count) for name, count in counts.items()}}

    @property
    def headline(self) -> str:
        """The result as a line of plain text, also the description of the status."""
        warnings = f", {counted(len(self.warnings), 'warning')}" if self.warnings else ""
        if self.problems:
            return counted(len(self.problems), "problem") + warnings
        numbers = [entry.assignments for entry in self.checked if entry.assignments is not None]
        total = counted(sum(numbers), "assignment")
        return f"{total} in {counted(len(numbers), 'environment')}{warnings}"


def changes_entry(changes: TreeChanges) -> ChangesEntry:
    """Leave out the file that tracks the commit, which changes with every commit."""
    entry = ChangesEntry.model_validate(changes)
    return ChangesEntry(**{name: entry.manifests(name) for name in ChangesEntry.model_fields})


def ci_summary(
    document: CiDocument,
    repository_url: str,
    started: Mapping[str, str],
    arrows: Sequence[tuple[str, str]],
) -> str:
    """Return the step summary.

    `repository_url` is that of the control plane; `started` are the URLs of cd's runs, by
    environment; `arrows` lead from main ("") and each environment to the next ones.
    """
    nodes = [PipelineNode(MAIN, document.commit[:7])]
    for entry in document.checked:
        mark: Mark = "failed" if entry.problems else ""
        node = PipelineNode(entry.environment, f"has {entry.has[:7] or 'none'}", mark)
        if entry.environment in started:
            node = PipelineNode(entry.environment, "cd is started", "active")
        nodes.append(node)
    diagram = pipeline_diagram(nodes, arrows)
    return markdown.render("ci_summary.md.j2", MOST_PATHS=MOST_PATHS, **locals())
