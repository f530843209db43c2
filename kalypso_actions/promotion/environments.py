"""The first environments of a commit of main, and the order in which it arrives in others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.kinds import (
    FIRST_ENVIRONMENT_ANNOTATION,
    NEXT_ENVIRONMENT_ANNOTATION,
    Environment,
)
from kalypso_actions.model.nearest import nearest

FROM_CI: Final = "ci"
"""The origin of a commit that no environment has had before."""

DEFAULT_FIRST: Final = "dev"
"""Upstream's first environment, by its name alone."""


def first_environments(
    given: Sequence[str], environments: Mapping[str, Environment]
) -> tuple[str, ...]:
    """Return the environments that a new commit of main reaches first.

    These are the `given` ones; else those annotated as first; else, if annotations name next
    environments, the only environment that no annotation names; else `dev`, unless an annotation
    names it; else the only environment. Only `given` and annotations lead to several environments:
    a variable, which is not read here, may name an environment as next. Raise UsageError for
    unknown given ones, KalypsoError if the first environment is ambiguous.
    """
    if given:
        return _known(given, environments, "first-environments")
    annotated = tuple(name for name, environment in environments.items() if environment.is_first)
    if annotated:
        return annotated
    next_environments = _named_by_another(environments)
    unnamed = tuple(name for name in environments if name not in next_environments)
    if len(unnamed) == 1:  # this is also the only environment, if there is just one
        return unnamed
    if DEFAULT_FIRST in unnamed:
        return (DEFAULT_FIRST,)
    raise _unknown_first([environments[name] for name in unnamed or environments])


def _unknown_first(candidates: Sequence[Environment]) -> KalypsoError:
    if not candidates:
        return KalypsoError(
            "main has no Environment object",
            advice="add one for each environment, with its branch",
            code="environment-missing",
        )
    names = ", ".join(
        f"{candidate.name!r} ({_in_file(candidate.where)})" for candidate in candidates
    )
    return KalypsoError(
        f"the first environment is ambiguous: it may be any of {names}",
        candidates[0].where,
        f'annotate the first one with {FIRST_ENVIRONMENT_ANNOTATION}: "true"',
        "first-environment-ambiguous",
    )


def chain_gaps(
    environments: Mapping[str, Environment],
    following: Mapping[str, Sequence[str] | None] | None = None,
    branches: Collection[str] | None = None,
) -> tuple[Problem, ...]:
    """Return a problem for each gap of the chain, with the line to add.

    Gaps are next environments that do not exist, circles, environments without a branch, and those
    that nothing leads to. `following` are the next environments of each environment, as variables
    and annotations say (None: unknown ones); by default, annotations alone count. `branches` are
    those of the control plane; None leaves them out.
    """
    gaps: list[Problem] = []
    for environment in environments.values():
        if following is None or following[environment.name] is None:
            gaps += unknown_next(environment, environments)
        if branches is not None and environment.control_plane.branch not in branches:
            gaps.append(missing_branch(environment))
    gaps += environment_circles(environments)
    return (*gaps, *unreached_environments((), environments, following))


def missing_branch(environment: Environment) -> Problem:
    """Return the problem of an environment without its branch."""
    name, branch = environment.name, environment.control_plane.branch
    return Problem(
        f"environment {name!r} has no branch {branch!r} yet",
        environment.where,
        f"create it: kalypso init --environments {name} writes its first files; or correct the "
        "branch here",
        "environment-without-branch",
    )


def unknown_next(
    environment: Environment, environments: Mapping[str, Environment], known: Collection[str] = ()
) -> Iterator[Problem]:
    """Yield a problem for each annotated next environment that does not exist.

    `known` are other names that have a problem of their own.
    """
    for name in environment.next_environments:
        if name not in environments and name not in known:
            yield Problem(
                f"Environment {environment.name!r} names {name!r} as next, which does not exist",
                environment.next_environment_where,
                near_environment(name, environments),
                "next-environment-unknown",
            )


def unreached_environments(
    given: Sequence[str],
    environments: Mapping[str, Environment],
    following: Mapping[str, Sequence[str] | None] | None = None,
) -> tuple[Problem, ...]:
    """Return a warning for each environment that nothing leads to, with where the chain ends.

    `given` are the environments that the input `first-environments` names, and `following` those
    of `chain_gaps`; without it, a variable `NEXT_ENVIRONMENT` may lead to the environment.
    """
    try:
        first = first_environments(given, environments)
    except KalypsoError:
        first = ()
    known = following or {name: each.next_environments for name, each in environments.items()}
    if None in known.values():
        return ()
    reached = {*first, *(each for name in known for each in known[name] or () if each != name)}
    ends = [
        f"{name!r} ({_in_file(environments[name].where)})"
        for name in environments
        if name in reached and not known[name]
    ]
    before = f", such as {abbreviated(ends, MAX_LISTED)}, where the chain ends," if ends else ""
    return tuple(
        Problem(
            f"no other Environment names {name!r} as next: commits come to it only if a variable "
            "NEXT_ENVIRONMENT names it",
            environment.where,
            f"annotate the Environment before it{before} with {NEXT_ENVIRONMENT_ANNOTATION}: "
            f'{name}, or this one with {FIRST_ENVIRONMENT_ANNOTATION}: "true"',
            "environment-unreached",
            level="warning",
        )
        for name, environment in environments.items()
        if name not in reached
    )


def environment_circles(environments: Mapping[str, Environment]) -> tuple[Problem, ...]:
    """Return a problem for each circle of annotations, with the line of each annotation.

    An environment that names itself is a circle, too.
    """
    circles: dict[frozenset[tuple[str, str]], Problem] = {}
    for environment in environments.values():
        for name in environment.next_environments:
            path = _shortest_path(name, environment.name, environments)
            if path:
                names = (environment.name, *path[:-1])
                steps = frozenset(zip(names, path, strict=True))
                problem = _circle_problem([environments[name] for name in names])
                circles.setdefault(steps, problem)
    return tuple(circles.values())


def is_in_circle(environment: Environment, environments: Mapping[str, Environment]) -> bool:
    """Whether the next environments of an environment lead back to it."""
    return any(
        _shortest_path(name, environment.name, environments)
        for name in environment.next_environments
    )


def _circle_problem(circle: Sequence[Environment]) -> Problem:
    """Return the problem of a circle; each environment names the following one as next."""
    where = circle[0].next_environment_where
    if len(circle) == 1:
        return Problem(
            f"Environment {circle[0].name!r} names itself as next",
            where,
            "name the environment after it, or remove the annotation from the last one",
            "environment-circle",
        )
    names = ", ".join(
        f"{former.name!r} names {latter.name!r} ({_in_file(former.next_environment_where)})"
        for former, latter in zip(circle, (*circle[1:], circle[0]), strict=True)
    )
    return Problem(
        f"Environments name each other as next in a circle: {names}",
        where,
        "remove one of these names from its annotation",
        "environment-circle",
    )


def _shortest_path(
    start: str, end: str, environments: Mapping[str, Environment]
) -> tuple[str, ...]:
    """Return the names from `start` to `end`, each annotated as next of the former; () for none."""
    paths: list[tuple[str, ...]] = [(start,)] if start in environments else []
    seen = {start}
    for path in paths:
        if path[-1] == end:
            return path
        for name in environments[path[-1]].next_environments:
            if name in environments and name not in seen:
                seen.add(name)
                paths.append((*path, name))
    return ()


def _named_by_another(environments: Mapping[str, Environment]) -> set[str]:
    """Return the names that annotations of other environments name as next."""
    return {
        name
        for environment in environments.values()
        for name in environment.next_environments
        if name != environment.name
    }


def _in_file(where: Location) -> str:
    """Return the file and line without the repository, which is the same for all Environments."""
    return f"{where.path}:{where.line}" if where.line else where.path


def next_environments(
    given: Sequence[str], environment: str, environments: Mapping[str, Environment]
) -> tuple[str, ...]:
    """Return the environments after `environment`: the given ones, else the annotated ones.

    Raise UsageError or KalypsoError for an environment that does not exist.
    """
    if given:
        return _known(given, environments, "next-environment")
    own = environments.get(environment)
    if own is None:
        return ()
    problems = tuple(unknown_next(own, environments))
    if problems:
        raise KalypsoError.of(problems)
    return tuple(dict.fromkeys(own.next_environments))


def annotated_next(
    environment: str, environments: Mapping[str, Environment]
) -> tuple[str, ...] | None:
    """Return the environments after `environment` by the annotations, for people.

    Return None if no Environment has the annotation: then variables NEXT_ENVIRONMENT say the order.
    """
    if not any(each.next_environments for each in environments.values()):
        return None
    own = environments.get(environment)
    return tuple(name for name in own.next_environments if name in environments) if own else ()


def near_environment(name: str, environments: Collection[str]) -> str:
    """Return the advice for an unknown environment: the closest name, and all names."""
    near = nearest(name, environments)
    suggestion = f"did you mean {near!r}? " if near else ""
    known = abbreviated(sorted(environments), MAX_LISTED) or "none"
    return f"{suggestion}Environments on main: {known}"


def _known(given: Sequence[str], environments: Collection[str], source: str) -> tuple[str, ...]:
    unknown = [name for name in given if name not in environments]
    if unknown:
        raise UsageError(
            f"{source}: there is no Environment {', '.join(map(repr, unknown))} on main",
            advice=f"write one of {', '.join(sorted(environments))}" if environments else "",
        )
    return tuple(dict.fromkeys(given))


@dataclass(frozen=True, slots=True)
class Arrival:
    """When a new commit of main arrives in an environment: first, or `after` others.

    If neither, only a person or a variable NEXT_ENVIRONMENT brings it there.
    """

    is_first: bool
    after: tuple[str, ...]


def arrival(name: str, environments: Mapping[str, Environment]) -> Arrival:
    """Return when a new commit of main arrives in an environment, by the annotations."""
    try:
        first = first_environments((), environments)
    except KalypsoError:
        first = ()  # ci reports the error
    before = (item.name for item in environments.values() if name in item.next_environments)
    return Arrival(name in first, tuple(item for item in before if item != name))


@dataclass(frozen=True, slots=True)
class Faults:
    """The numbers of problems with a change: new ones, and older ones."""

    new: int
    known: int


def blocked(environments: Mapping[str, Faults], of_main: Faults | None = None) -> Collection[str]:
    """Return the environments in which nothing arrives before problems are fixed.

    schedule refuses an environment with problems. ci refuses a commit of main with problems in the
    documents of main (`of_main`, None for a change of another branch) or with new problems in an
    environment: then nothing arrives anywhere.
    """
    if of_main and (
        of_main.new or of_main.known or any(item.new for item in environments.values())
    ):
        return frozenset(environments)
    return frozenset(name for name, item in environments.items() if item.new or item.known)


def in_order(environments: Mapping[str, Environment]) -> tuple[str, ...]:
    """Return the environments from the first ones to the last ones, each once.

    Environments to which no annotation leads come last, by name.
    """
    try:
        names = [*first_environments((), environments)]
    except KalypsoError:
        names = []
    for name in names:
        names += [
            each
            for each in environments[name].next_environments
            if each in environments and each not in names
        ]
    return (*names, *sorted(environments.keys() - set(names)))


def arrows(
    environments: Mapping[str, Environment], given: Sequence[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the steps of a commit from one environment to the next; "" is main.

    `given` are the first environments if no annotation marks them.
    """
    try:
        first = first_environments(given, environments)
    except KalypsoError:
        first = ()
    return (
        *(("", name) for name in first),
        *(
            (name, each)
            for name in in_order(environments)
            for each in environments[name].next_environments
        ),
    )


def environments_behind(
    name: str, environments: Mapping[str, Environment], started: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the environments that a commit reaches after this one, the last ones first.

    `started` are the origins of the commits that environments have, as the chain has recorded them:
    inputs and variables `NEXT_ENVIRONMENT` lead to environments that no annotation names.
    """
    behind: dict[str, None] = {}

    def add(before: str, path: frozenset[str]) -> None:
        following = [*environments[before].next_environments]
        following += [each for each, origin in started.items() if origin == before]
        for each in following:
            if each in environments and each not in path and each not in behind:
                add(each, path | {each})
                behind[each] = None

    add(name, frozenset({name}))
    return tuple(behind)


def previous_of(name: str, environments: Mapping[str, Environment]) -> Sequence[str]:
    """Return the environments whose annotation names this one as next."""
    return [each.name for each in environments.values() if name in each.next_environments]


def requires_later(
    environments: Mapping[str, Environment], required: Mapping[str, Collection[str]]
) -> tuple[tuple[str, str], ...]:
    """Return each environment with an environment that it requires, and that comes only after it.

    `required` are the environments that policies require, by the environment of the policy. An
    environment without a former one counts as reached: main, people and variables lead to it.
    """
    reachable = _entered(environments, {})
    return tuple(
        (name, each)
        for name, names in required.items()
        for each in names
        if {name, each} <= reachable
        and (
            name == each
            or (
                each in _entered(environments, required, given=name)
                and each not in _entered(environments, required, without=name)
            )
        )
    )


def _entered(
    environments: Mapping[str, Environment],
    required: Mapping[str, Collection[str]],
    *,
    given: str = "",
    without: str = "",
) -> set[str]:
    """Return the environments that a commit enters, by the annotations and by `required`.

    It enters `given` in any case, and never enters `without`.
    """
    entered = {given} - {""}
    waiting = {name for name in environments if name not in {given, without}}
    while True:
        more = {
            name
            for name in waiting
            if entered.issuperset(each for each in required.get(name, ()) if each in environments)
            and _is_reached(environments[name], environments, entered)
        }
        if not more:
            return entered
        entered |= more
        waiting -= more


def _is_reached(
    environment: Environment, environments: Mapping[str, Environment], entered: Collection[str]
) -> bool:
    before = {*previous_of(environment.name, environments)} - {environment.name}
    return environment.is_first or not before or not before.isdisjoint(entered)
