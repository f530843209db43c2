"""The parsed contents of a reading; content at several paths is parsed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.sources.ignore_rules import IgnoreFiles, IgnoreRules, read_ignore_files
from kalypso_actions.sources.kustomization import Kustomization, read_kustomization
from kalypso_actions.sources.limits import Limits, too_many_values
from kalypso_actions.sources.objects import read_objects
from kalypso_actions.sources.paths import printable
from kalypso_actions.sources.source_tree import SourceTree
from kalypso_actions.sources.yaml_documents import ParsedFile

KustomizationReading = tuple[Kustomization | None, tuple[Problem, ...], tuple[Problem, ...]]


@dataclass(slots=True)
class ParsedContents:
    """The parsed files of one reading, and its limits; None: only each file has limits."""

    limits: Limits | None = None
    _ignore_files: IgnoreFiles | None = None
    _tree: SourceTree | None = None
    _objects: dict[bytes, ParsedFile] = field(default_factory=dict)
    _kustomizations: dict[str, KustomizationReading] = field(default_factory=dict)
    _values: int = 0

    def ignore_files(self, repository: str, contents: Mapping[str, bytes]) -> IgnoreFiles:
        """Return the exclusions, which do not change between the rounds of a reading."""
        if self._ignore_files is None:
            self._ignore_files = read_ignore_files(repository, contents)
        return self._ignore_files

    def source_tree(self, entries: Mapping[str, FileEntry], ignore: IgnoreRules) -> SourceTree:
        """Return the tree, which does not change between the rounds of a reading."""
        if self._tree is None:
            self._tree = SourceTree(entries, ignore)
        return self._tree

    def objects(self, repository: str, path: str, content: bytes) -> ParsedFile:
        """Return the objects of a file; beyond the limit of values, only that problem."""
        where = Location(repository, printable(path))
        if self._excess(where):
            return ParsedFile()  # an earlier file has the problem
        parsed = self._objects.get(content)
        if parsed is None:
            parsed = read_objects(repository, where.path, content, self._left())
            self._objects[content] = parsed
        self._values += parsed.values
        excess = self._excess(where)
        return ParsedFile(problems=(excess,)) if excess else _at(parsed, where.path)

    def kustomization(self, repository: str, path: str, content: bytes) -> KustomizationReading:
        """Return the kustomization of a file, or None, with problems and warnings."""
        known = self._kustomizations.get(path)
        if known is None:
            where = Location(repository, printable(path))
            kustomization, problems, warnings, values = read_kustomization(
                repository, path, content, self._left()
            )
            self._values += values
            excess = self._excess(where)
            known = (None, (excess,), ()) if excess else (kustomization, problems, warnings)
            self._kustomizations[path] = known
        return known

    def _left(self) -> int | None:
        return None if self.limits is None else max(0, self.limits.values - self._values)

    def _excess(self, where: Location) -> Problem | None:
        if self.limits is None or self._values <= self.limits.values:
            return None
        return too_many_values(self.limits, where)


def _at(parsed: ParsedFile, path: str) -> ParsedFile:
    """Return a parsed file of the same content, moved to this path."""
    places = [document.where for document in parsed.documents]
    places += [problem.where for problem in parsed.problems + parsed.warnings if problem.where]
    if all(where.path == path for where in places):
        return parsed
    return replace(
        parsed,
        documents=tuple(
            replace(document, where=replace(document.where, path=path))
            for document in parsed.documents
        ),
        problems=_moved(parsed.problems, path),
        warnings=_moved(parsed.warnings, path),
    )


def _moved(problems: tuple[Problem, ...], path: str) -> tuple[Problem, ...]:
    return tuple(
        replace(problem, where=replace(problem.where, path=path)) if problem.where else problem
        for problem in problems
    )
