"""Findings, their places, and the exceptions of the package.

A stage returns its value and every `Finding`; a command decides which of them stop it.
`KalypsoError` is raised when continuing makes no sense; only `cli` catches it.

    KalypsoError                     the run ends with exit code 1
    ├── UsageError                   invalid options or inputs: exit code 2
    │   └── MissingExtraError        a package of an extra is not installed
    ├── MovedError                   a branch moved while it was read
    ├── ProcessError                 a program is missing, failed, or timed out
    │   └── OutputLimitError         it wrote too much
    ├── HelmError                    helm refuses a chart
    ├── ProtectedBranchError         a rule protects the branch from pushes
    │   └── UnsignedCommitError      the branch takes signed commits only
    ├── PushConflictError            another push has moved the branch
    ├── UnsupportedExpressionError   CEL that is not evaluated as in OCM
    ├── ForeignUrlError              a URL does not belong to GitHub's API
    └── GitHubError                  a call to GitHub failed
        ├── NoInstallationError      the App is not installed for the owner
        └── RefConflictError         the branch is not at the expected commit

All other exceptions are caught in the room that raises them, or by the room that calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Self

Level = Literal["error", "warning", "note"]
Scope = Literal["run", "environment", "registration", "assignment"]

HERE: Final = "."
"""The repository of the current folder."""


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file of a repository.

    `repository` is the URL or path that the user gave; `path` is relative to its root. `line` and
    `column` count from 1; 0 means the whole file or line. `commit` is "" for a file outside of any
    commit. Column, branch and commit serve messages and links only: locations on the same line are
    equal.
    """

    repository: str
    path: str = ""
    line: int = 0
    column: int = field(default=0, compare=False)
    branch: str = field(default="", compare=False)
    commit: str = field(default="", compare=False)

    def __str__(self) -> str:
        """Return `repository: path:line`, without unknown parts.

        If the repository is the current folder, return its branch instead.
        """
        place = f"{self.path}:{self.line}" if self.line else self.path
        if self.repository == HERE and (place or self.branch):
            branch = f"branch {self.branch}" if self.branch else ""
            return f"{place} ({branch})" if place and branch else place or branch
        return ": ".join(part for part in (self.repository, place) if part)


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault, its place, and advice on what to change.

    `code` names its kind in `model/problem_codes.yaml`; it is "" for failures of GitHub, Azure and
    programs. `related` are the places of other objects involved. `reason` is why people acknowledge
    a warning, "" for all other findings. `scope` is what the finding concerns. A finding is the
    same whatever level and scope a run gives it.
    """

    message: str
    where: Location | None = None
    advice: str = ""
    code: str = ""
    related: tuple[Location, ...] = ()
    reason: str = ""
    level: Level = field(default="error", compare=False)
    scope: Scope = field(default="environment", compare=False)

    @property
    def is_fault(self) -> bool:
        """Whether the rest of a plan is meaningless because of it."""
        return self.level == "error" and self.scope in {"run", "environment"}

    def __str__(self) -> str:
        """Return one line for a terminal or a log."""
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text} ({self.advice})" if self.advice else text


def leveled(
    findings: Iterable[Finding], level: Level, scope: Scope = "environment"
) -> Iterator[Finding]:
    """Yield findings with a level and a scope."""
    return (replace(item, level=level, scope=scope) for item in findings)


def distinct(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield each finding once; the same one on the branches of two environments is two findings."""
    seen: dict[tuple[Finding, str], Finding] = {}
    for item in findings:
        seen.setdefault((item, item.where.branch if item.where else ""), item)
    return iter(seen.values())


def of_level(findings: Iterable[Finding], level: Level) -> tuple[Finding, ...]:
    """Return the findings of a level, without acknowledged warnings."""
    return tuple(item for item in findings if item.level == level and not item.reason)


Problem = Finding
"""The name of `Finding` in plug-ins, and in code that keeps problems, warnings and notes apart."""


@dataclass(slots=True)
class Diagnostics:
    """Problems, warnings and notes in order; a note describes something that may be intended."""

    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them, with their levels."""
        found = self._by_level.items()
        return tuple(item for level, each in found for item in leveled(each, level))

    def add_by_level(self, findings: Iterable[Finding]) -> None:
        """Add findings by their levels."""
        for finding in findings:
            self._by_level[finding.level].append(finding)

    def add(self, other: Self) -> None:
        """Append what another part has, each only once."""
        for level, own in self._by_level.items():
            known = set(own)
            own += [item for item in dict.fromkeys(other._by_level[level]) if item not in known]

    @property
    def _by_level(self) -> dict[Level, list[Problem]]:
        return {"error": self.problems, "warning": self.warnings, "note": self.notes}


class KalypsoError(Exception):
    """An error that ends the run with its message and exit code 1."""

    exit_code = 1

    def __init__(
        self, message: str, where: Location | None = None, advice: str = "", code: str = ""
    ) -> None:
        super().__init__(message)
        self.problems: tuple[Finding, ...] = (Finding(message, where, advice, code),)

    @classmethod
    def of(cls, problems: Sequence[Finding]) -> Self:
        """Make one error of several problems, at least one."""
        error = cls(problems[0].message)
        error.problems = tuple(problems)
        return error

    @property
    def problem(self) -> Finding:
        """The first problem; most errors have only one."""
        return self.problems[0]

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class UsageError(KalypsoError):
    """Invalid options or inputs; the exit code is 2."""

    exit_code = 2


class MissingExtraError(UsageError):
    """A package of an extra is needed but not installed."""

    def __init__(self, message: str, extra: str, advice: str) -> None:
        super().__init__(message, advice=advice)
        self.extra = extra
