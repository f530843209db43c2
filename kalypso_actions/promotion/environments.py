"""Which environments a commit of main reaches first, and which after another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.model.kinds import Environment

DEFAULT_FIRST: Final = "dev"
"""Upstream's first environment, by its name alone."""


def first_environments(
    given: Sequence[str], environments: Mapping[str, Environment]
) -> tuple[str, ...]:
    """Where a new commit of main goes.

    Those `given`; else those annotated as first; else, where any object names a next one, those
    that none names; else `dev`; else the only one. Raises UsageError for unknown ones among the
    given, KalypsoError where nothing settles it.
    """
    if given:
        return _known(given, environments, "first-environments")
    annotated = tuple(name for name, one in environments.items() if one.is_first)
    if annotated:
        return annotated
    named = {after for one in environments.values() for after in one.next_environments}
    unnamed = tuple(name for name in environments if name not in named)
    if named and unnamed:
        return unnamed
    if DEFAULT_FIRST in environments:
        return (DEFAULT_FIRST,)
    if len(environments) == 1:
        return tuple(environments)
    raise KalypsoError(
        "which environment comes first is not known"
        if environments
        else "main has no Environment object",
        advice='annotate an Environment with kalypso.io/first-environment: "true"'
        if environments
        else "add one for each environment, with its branch",
    )


def next_environments(
    given: Sequence[str], environment: str, environments: Mapping[str, Environment]
) -> tuple[str, ...]:
    """Where a commit goes that `environment` has deployed: those given, else as annotated.

    Raises UsageError or KalypsoError for one that does not exist.
    """
    if given:
        return _known(given, environments, "next-environment")
    own = environments.get(environment)
    if own is None:
        return ()
    problems = [
        Problem(
            f"Environment {environment!r} names {name!r} as next, and there is none of this name",
            own.where,
            f"write one of {', '.join(sorted(environments))}",
        )
        for name in own.next_environments
        if name not in environments
    ]
    if problems:
        raise KalypsoError.of(problems)
    return tuple(dict.fromkeys(own.next_environments))


def _known(given: Sequence[str], environments: Collection[str], name: str) -> tuple[str, ...]:
    unknown = [one for one in given if one not in environments]
    if unknown:
        raise UsageError(
            f"{name}: there is no Environment {', '.join(map(repr, unknown))} on main",
            advice=f"write one of {', '.join(sorted(environments))}" if environments else "",
        )
    return tuple(dict.fromkeys(given))
