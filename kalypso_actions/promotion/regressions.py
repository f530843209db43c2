"""What a commit of main breaks in an environment, and what was broken there before.

A standing fault of one environment must not keep a commit from the others; one that the commit
brings must.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from kalypso_actions.errors import Problem
from kalypso_actions.model.urls import repository_key

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class EnvironmentFaults:
    """What is wrong in an environment with one commit of main.

    `failures` are assignments that fail, by their folder; `unusable` registrations that cannot be
    used, by their name; `usable` the names of the others; `faults` everything else that keeps the
    environment from being rendered.
    """

    failures: Mapping[str, Problem] = field(default_factory=dict)
    unusable: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    usable: Set[str] = frozenset()
    faults: tuple[Problem, ...] = ()

    @property
    def is_faultless(self) -> bool:
        """Whether nothing is wrong, so that nothing has to be held against an earlier look."""
        return not (self.failures or self.unusable or self.faults)


@dataclass(frozen=True, slots=True)
class Regressions:
    """What the commit breaks, and what is wrong all the same."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def regressions(
    after: EnvironmentFaults, before: EnvironmentFaults | None, *, sources_block: bool
) -> Regressions:
    """Hold an environment with the commit (`after`) against the same without it (`before`).

    Without a look before, everything that is wrong is new. A registration that was not usable
    before, or was not there, is a problem only where `sources_block`: its repository is somebody
    else's, and a fleet goes on without it.
    """
    known = before or EnvironmentFaults()
    standing = {_key(problem) for problem in known.faults}
    judged: list[tuple[bool, Problem]] = [
        *((folder not in known.failures, one) for folder, one in after.failures.items()),
        *((_key(problem) not in standing, problem) for problem in after.faults),
    ]
    for name, problems in after.unusable.items():
        is_new = sources_block and name not in known.unusable
        judged += [(is_new or name in known.usable, problem) for problem in problems]
    return Regressions(
        tuple(problem for is_new, problem in judged if is_new),
        tuple(problem for is_new, problem in judged if not is_new),
    )


def without(problems: Iterable[Problem], told: Iterable[Problem]) -> Iterator[Problem]:
    """Those that are not told already, in whichever form the repository's URL is written."""
    known = {_key(problem) for problem in told}
    return (problem for problem in problems if _key(problem) not in known)


def by_environment(problems: Mapping[str, Iterable[Problem]]) -> Iterator[Problem]:
    """The problems of several environments, each once, saying where it was found."""
    found: dict[Problem, list[str]] = {}
    for environment, those in problems.items():
        for problem in dict.fromkeys(those):
            found.setdefault(problem, []).append(environment)
    for problem, environments in found.items():
        message = f"{', '.join(environments)}: {problem.message}"
        yield Problem(message, problem.where, problem.advice)


def _key(problem: Problem) -> Key:
    """What stays the same when lines above the place are added or go."""
    where = problem.where
    place = (repository_key(where.repository), where.path) if where else ("", "")
    return problem.message, *place
