"""The values of a target, in the files for helm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import Compatibility, Findings, Target
from kalypso_actions.planning.application.variables import replace_variables
from kalypso_actions.sources.yaml_documents import parse_yaml

JOINED: Final = "values.yaml"
"""The name of the file in which upstream joins the levels."""


def values_files(
    target: Target,
    contents: Mapping[str, bytes],
    variables: Mapping[str, str],
    repository: str,
    compatibility: Compatibility,
) -> tuple[dict[str, bytes], Findings]:
    """Return the files of values for helm, the lowest level first.

    With `none`, each level is a file, and helm merges their maps deeply. Upstream joins the texts,
    so the last of equal keys replaces the others, and the last line of a text without a final
    newline becomes one line with the next text. `2023` does not replace variables in the joined
    text.
    """
    if compatibility == "none":
        files, findings = {}, Findings()
        for path in target.levels:
            where = Location(repository, path)
            content, file_findings = replace_variables(
                contents[path], variables, where, compatibility
            )
            findings.add(file_findings)
            if not file_findings.problems:
                findings.add(check_values(content, where, compatibility))
            files[path] = content
        return files, findings
    texts = [contents[path] for path in target.levels]
    joined = b"".join(texts) + b"\n" * len(texts)
    findings, places = Findings(), _Places(target.levels, texts, repository)
    if compatibility == "current":
        where = Location(repository, JOINED)
        joined, file_findings = replace_variables(joined, variables, where, compatibility)
        findings.warnings += places.translated(file_findings.warnings)
    findings.add(_check_joined(joined, places))
    return {JOINED: joined}, findings


def check_values(content: bytes, where: Location, compatibility: Compatibility) -> Findings:
    """Parse a file of values: helm 3 reads its first document, and helm 4 merges all.

    With upstream's modes, further documents are only a warning, since upstream does not report
    them.
    """
    parsed = parse_yaml(where.repository, where.path, content)
    problems = [
        replace(problem, message=_NOT_A_MAP, advice="write keys and values")
        if problem.code == "document-not-kubernetes"
        else problem
        for problem in parsed.problems
    ]
    warnings = list(parsed.warnings)
    if len(parsed.documents) > 1:
        second = parsed.documents[1].where
        message = "helm 3 reads only the first document of a file of values, helm 4 all"
        unread = Problem(message, second, "remove the ---", "values-documents")
        (problems if compatibility == "none" else warnings).append(unread)
    return Findings(problems, warnings)


_NOT_A_MAP: Final = "the values are not a map of keys"


def _check_joined(joined: bytes, places: _Places) -> Findings:
    """Parse the joined text, and report where two texts are glued together.

    Equal keys in it are intended: the level below replaces the level above.
    """
    parsed = check_values(joined, Location(places.repository, JOINED), "current")
    glued = list(places.glued())
    if parsed.problems:
        return Findings(problems=glued or list(places.translated(parsed.problems)))
    unread = [warning for warning in parsed.warnings if warning.code == "values-documents"]
    return Findings(warnings=[*glued, *places.translated(unread)])


class _Places:
    """Translates lines of the joined text to lines of the levels."""

    def __init__(self, levels: Sequence[str], texts: Sequence[bytes], repository: str) -> None:
        self.repository = repository
        self._levels = list(zip(levels, texts, strict=True))
        self._starts: list[tuple[int, str]] = []
        line = 1
        for path, text in self._levels:
            self._starts.append((line, path))
            line += text.count(b"\n")

    def translated(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """Yield the problems of the joined text, located in the levels that they come from."""
        for problem in problems:
            line = problem.where.line if problem.where else 1
            start, path = [item for item in self._starts if item[0] <= max(line, 1)][-1]
            yield replace(problem, where=Location(self.repository, path, line - start + 1))

    def glued(self) -> Iterator[Problem]:
        """Yield a problem for each text whose last line runs into the next text."""
        for (path, text), (following, _) in pairwise(self._levels):
            if text and not text.endswith(b"\n"):
                yield Problem(
                    f"the file has no final newline: its last line and the first of {following} "
                    "become one",
                    Location(self.repository, path, text.count(b"\n") + 1),
                    "end it with a newline, or set compatibility to none",
                    "values-glued",
                )
