"""The order in which a commit of main arrives in environments, as a preview shows it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.kinds import Environment
from kalypso_actions.promotion.environments import first_environments


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
