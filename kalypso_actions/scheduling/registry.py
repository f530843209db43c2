"""Schedulers by name: by labels, and the entry points of this and other packages."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from types import FrameType
from typing import Any, Final, TypeVar

from kalypso_actions.errors import Finding, KalypsoError, UsageError
from kalypso_actions.model.documents import Document
from kalypso_actions.model.entry_points import (
    DEFAULT_SCHEDULER,
    SCHEDULERS,
    find_implementation,
    installed_points,
    is_own_scheduler,
)
from kalypso_actions.model.kinds import Environment, Fleet
from kalypso_actions.model.nearest import nearest
from kalypso_actions.scheduling.interface import Schedule, Scheduler
from kalypso_actions.scheduling.labels import LabelScheduler

BUILT_IN: Final[Mapping[str, Callable[[], Scheduler]]] = {DEFAULT_SCHEDULER: LabelScheduler}


def find_scheduler(name: str = DEFAULT_SCHEDULER) -> Scheduler:
    """Return the scheduler registered as `name`; "" is the default.

    Raises UsageError if there is none, and KalypsoError if it cannot be imported.
    """
    missing = f"there is no scheduler {name!r}"
    name = name or DEFAULT_SCHEDULER
    make = find_implementation(name, BUILT_IN, SCHEDULERS, missing)
    return make() if is_own_scheduler(name) else CheckedScheduler(name, ask_plugin(name, make))


def installed_schedulers() -> Iterator[Scheduler]:
    """Yield every scheduler, in the order of names. Raises KalypsoError as `find_scheduler`."""
    yield from map(find_scheduler, _names())


def scheduler_of(environment: Environment | None, name: str = "") -> Scheduler:
    """Return the scheduler `name`, or else the one that the Environment's annotation names.

    Raises UsageError for an unknown `name`, and KalypsoError for an unknown annotation.
    """
    if name or environment is None:
        return find_scheduler(name)
    try:
        return find_scheduler(environment.scheduler)
    except UsageError as error:
        problem = error.problem
        close = nearest(environment.scheduler, _names())
        raise KalypsoError(
            f"Environment {environment.name!r}: {problem.message}",
            environment.scheduler_where or environment.where,
            f"did you mean {close}?" if close else problem.advice,
            "scheduler-unknown",
        ) from error


def trusted_scheduler(name: str, known: Collection[str], otherwise: str) -> str:
    """Return the name of the scheduler that plans an unapproved change.

    The change may name one of our schedulers, or a `known` plugin, which the state before the
    change names, too. In any other case, return `otherwise`.
    """
    return name if name in known or is_own_scheduler(name) else otherwise


def uses_present_assignments(name: str) -> bool:
    """Whether a scheduler may depend on the present assignments; scheduling by labels does not."""
    return name not in {"", DEFAULT_SCHEDULER}


def _names() -> list[str]:
    return sorted({*BUILT_IN, *installed_points(SCHEDULERS)})


Answer = TypeVar("Answer")

OUTCOME: Final = attrgetter("assignments", "problems", "warnings", "placements")
TIME_LIMIT: Final = 300.0
"""Seconds for one result: the limit ends infinite loops and affects no result."""


class _NoAnswerError(BaseException):
    """The time is over. A plugin that catches every Exception does not catch this BaseException."""


class CheckedScheduler:
    """Runs a scheduler twice; checks that the results agree and use only the fleet's objects.

    The scheduler's class may lack all methods besides `schedule`.
    """

    def __init__(self, name: str, scheduler: Scheduler, time_limit: float = TIME_LIMIT) -> None:
        self._name = name
        self._scheduler = scheduler
        self._time_limit = time_limit

    def schedule(self, fleet: Fleet) -> Schedule:
        """Return the result of the scheduler. Raises KalypsoError if the scheduler is at fault."""
        first, second = (
            self._of_type(Schedule, self._ask(lambda: self._scheduler.schedule(fleet)))
            for _ in range(2)
        )
        fault = next(self._faults(first, fleet), "")
        if not fault and OUTCOME(first) != OUTCOME(second):
            fault = "answers differently when it is asked twice; it must not use the time, random"
            fault += " numbers or the order of sets"
        if fault:
            message = f"the scheduler {self._name!r} {fault}"
            raise KalypsoError(message, advice="correct the package, or use another scheduler")
        return first

    def check(self, documents: Sequence[Document]) -> Sequence[Finding]:
        """Return the findings of the scheduler; none without the method."""
        if not hasattr(self._scheduler, "check"):
            return ()
        found = self._ask(lambda: tuple(self._scheduler.check(documents)))
        return [self._of_type(Finding, finding) for finding in found]

    def json_schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the schemas of the scheduler; none without the method."""
        if not hasattr(self._scheduler, "json_schemas"):
            return {}
        return self._of_type(dict, self._ask(self._scheduler.json_schemas))

    def _ask(self, question: Callable[[], Answer]) -> Answer:
        return ask_plugin(self._name, question, self._time_limit)

    def _of_type(self, kind: type[Answer], answer: object) -> Answer:
        if not isinstance(answer, kind):
            given, wanted = type(answer).__name__, kind.__name__
            raise KalypsoError(f"the scheduler {self._name!r} returns {given}, not a {wanted}")
        return answer

    def _faults(self, schedule: Schedule, fleet: Fleet) -> Iterator[str]:
        targets = {target.name: target for target in fleet.targets}
        cluster_types = {item.name: item for item in fleet.cluster_types}
        policies = {policy.name for policy in fleet.policies}
        seen: set[tuple[str, str]] = set()
        for assignment in schedule.assignments:
            target, cluster_type = assignment.target, assignment.cluster_type
            if targets.get(target.name) != target:
                yield f"assigns the unknown target {target.name!r}"
            if cluster_types.get(cluster_type.name) != cluster_type:
                yield f"assigns the unknown cluster type {cluster_type.name!r}"
            for name in set(assignment.policies) - policies:
                yield f"names the unknown policy {name!r}"
            pair = (cluster_type.name, target.name)
            if pair in seen:
                yield f"assigns {target.name!r} to {cluster_type.name!r} twice"
            seen.add(pair)


def ask_plugin(name: str, question: Callable[[], Answer], time_limit: float = TIME_LIMIT) -> Answer:
    """Return a plugin's answer. Raises KalypsoError if it fails, or takes too many seconds."""
    try:
        with _at_most(time_limit):
            return question()
    except _NoAnswerError:
        message = f"the scheduler {name!r} did not answer in {time_limit:g} seconds"
        raise KalypsoError(message, advice="this is a fault of its package") from None
    except KalypsoError:
        raise
    except Exception as error:  # the code of another package
        message = f"the scheduler {name!r} failed: {type(error).__name__}: {error}"
        advice = "this is a fault of its package"
        raise KalypsoError(message, advice=advice) from error


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise _NoAnswerError after a time in Python code, in the main thread on POSIX only.

    Elsewhere, only the time limit of the job ends the code.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise _NoAnswerError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
