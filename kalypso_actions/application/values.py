"""The values of a target, in the files that helm gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kalypso_actions.application.variables import replace_variables
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import Compatibility, Findings, Target
from kalypso_actions.sources.yaml_documents import parse_yaml

JOINED: str = "values.yaml"
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
    so the last of equal keys replaces the others, and a text without a final newline swallows the
    first line of the next. `2023` leaves variables in the joined text as they are.
    """
    if compatibility == "none":
        files, findings = {}, Findings()
        for path in target.levels:
            where = Location(repository, path)
            content, problems = replace_variables(contents[path], variables, where, compatibility)
            findings.problems += problems
            if not problems:
                findings.add(check_values(content, where))
            files[path] = content
        return files, findings
    texts = [contents[path] for path in target.levels]
    joined = b"".join(texts) + b"\n" * len(texts)
    findings = _check_joined(joined, target.levels, texts, repository)
    if compatibility == "current":
        places = _Places(target.levels, texts)
        joined, problems = replace_variables(
            joined, variables, Location(repository, JOINED), compatibility
        )
        findings.problems += [
            replace(problem, where=places.at(repository, problem.where.line))
            for problem in problems
            if problem.where
        ]
    return {JOINED: joined}, findings


def check_values(content: bytes, where: Location) -> Findings:
    """Parse a file of values, of which helm reads the first document."""
    parsed = parse_yaml(where.repository, where.path, content)
    problems = [
        replace(problem, message=_NOT_A_MAP, advice="write keys and values")
        if problem.code == "document-not-kubernetes"
        else problem
        for problem in parsed.problems
    ]
    if len(parsed.documents) > 1:
        second = parsed.documents[1].where
        message = "helm reads only the first document of a file of values"
        problems.append(Problem(message, second, "remove the ---", "values-documents"))
    return Findings(problems, list(parsed.warnings))


_NOT_A_MAP = "the values are no map of keys"


def _check_joined(
    joined: bytes, levels: Sequence[str], texts: Sequence[bytes], repository: str
) -> Findings:
    """Check each text, and the places where two are glued together."""
    findings = Findings()
    for path, text in zip(levels, texts, strict=True):
        findings.add(check_values(text, Location(repository, path)))
    if findings.problems:
        return findings
    for path, text, following in zip(levels, texts, levels[1:], strict=False):
        if text and not text.endswith(b"\n"):
            line = text.count(b"\n") + 1
            parsed = parse_yaml(repository, path, joined)
            problem = Problem(
                f"the file has no final newline: its last line and the first of {following} "
                "become one",
                Location(repository, path, line),
                "end it with a newline, or set compatibility to none",
                "values-glued",
            )
            (findings.problems if parsed.problems else findings.warnings).append(problem)
    return findings


class _Places:
    """Translates a line of the joined text to a line of a level."""

    def __init__(self, levels: Sequence[str], texts: Sequence[bytes]) -> None:
        self._starts: list[tuple[int, str]] = []
        line = 1
        for path, text in zip(levels, texts, strict=True):
            self._starts.append((line, path))
            line += text.count(b"\n")

    def at(self, repository: str, line: int) -> Location:
        """Return the place of a line, in the last level that begins at or before it."""
        start, path = [item for item in self._starts if item[0] <= line][-1]
        return Location(repository, path, line - start + 1)
