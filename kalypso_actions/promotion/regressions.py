"""The faults that a commit of main causes in an environment, without those that existed before.

An old fault of one environment must not keep a commit from the others; a new one must.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from kalypso_actions.errors import Problem
from kalypso_actions.model.urls import repository_key

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class EnvironmentFaults:
    """The faults of an environment with one commit of main.

    failures   assignments that fail, by their folder
    unusable   registrations that cannot be used, by their name
    usable     the names of the other registrations
    faults     all other faults that prevent the rendering of the environment
    """

    failures: Mapping[str, Problem] = field(default_factory=dict)
    unusable: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    usable: Set[str] = frozenset()
    faults: tuple[Problem, ...] = ()

    @property
    def is_faultless(self) -> bool:
        """Whether there is no fault to compare with the commit before."""
        return not (self.failures or self.unusable or self.faults)

    def with_registrations(self, other: EnvironmentFaults) -> EnvironmentFaults:
        """Add the registrations that only another commit has."""
        own = self.usable | self.unusable.keys()
        unusable = {name: item for name, item in other.unusable.items() if name not in own}
        return replace(
            self,
            unusable={**self.unusable, **unusable},
            usable=self.usable | (other.usable - own),
        )


@dataclass(frozen=True, slots=True)
class Regressions:
    """New faults as `problems`, old ones as `warnings`."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def regressions(after: EnvironmentFaults, before: EnvironmentFaults | None) -> Regressions:
    """Compare the faults of an environment with the commit (`after`) and without it (`before`).

    If `before` is None, every fault is new. A registration that was unusable before is never a
    problem: another team owns its repository, which must not stop the others.
    """
    known = before or EnvironmentFaults()
    old = {_key(problem) for problem in known.faults}
    is_new_by_problem: list[tuple[bool, Problem]] = [
        *((folder not in known.failures, problem) for folder, problem in after.failures.items()),
        *((_key(problem) not in old, problem) for problem in after.faults),
    ]
    for name, problems in after.unusable.items():
        is_new_by_problem += [(name not in known.unusable, problem) for problem in problems]
    return Regressions(
        tuple(problem for is_new, problem in is_new_by_problem if is_new),
        tuple(problem for is_new, problem in is_new_by_problem if not is_new),
    )


def without(problems: Iterable[Problem], reported: Iterable[Problem]) -> Iterator[Problem]:
    """Return the problems that are not reported yet; the spelling of URLs does not matter."""
    known = {_key(problem) for problem in reported}
    return (problem for problem in problems if _key(problem) not in known)


def by_environment(problems: Mapping[str, Iterable[Problem]]) -> Iterator[Problem]:
    """Return the problems of several environments, each once, with the names of its environments.

    The keys of `problems` are the names.
    """
    names_by_problem: dict[Problem, list[str]] = {}
    for environment, environment_problems in problems.items():
        for problem in dict.fromkeys(environment_problems):
            names_by_problem.setdefault(problem, []).append(environment)
    for problem, names in names_by_problem.items():
        message = f"{', '.join(names)}: {problem.message}"
        yield replace(problem, message=message)


def _key(problem: Problem) -> Key:
    """Return a key that does not change if lines above the problem are added or removed."""
    where = problem.where
    place = (repository_key(where.repository), where.path) if where else ("", "")
    return problem.message, *place
