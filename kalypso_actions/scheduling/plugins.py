"""Check the schedulers of other packages; an error names the scheduler at fault."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.kinds import Fleet
from kalypso_actions.scheduling.interface import Schedule, Scheduler

TIME_LIMIT: Final = 300.0
"""Seconds for one result: the limit ends infinite loops and affects no result."""


class _NoAnswerError(BaseException):
    """The time is over. A plugin that catches every Exception does not catch this BaseException."""


class CheckedScheduler:
    """Runs a scheduler twice; checks that the results agree and use only the fleet's objects."""

    def __init__(self, name: str, scheduler: Scheduler, time_limit: float = TIME_LIMIT) -> None:
        self._name = name
        self._scheduler = scheduler
        self._time_limit = time_limit

    def schedule(self, fleet: Fleet) -> Schedule:
        """Return the result of the scheduler. Raises KalypsoError if the scheduler is at fault."""
        first, second = self._call(fleet), self._call(fleet)
        faults = list(self._faults(first, fleet))
        if not faults and _outcome(first) != _outcome(second):
            faults = [
                "answers differently when it is asked twice; it must not use the time, random"
            ]
            faults[0] += " numbers or the order of sets"
        if faults:
            message = f"the scheduler {self._name!r} {faults[0]}"
            raise KalypsoError(message, advice="correct the package, or use another scheduler")
        return first

    def _call(self, fleet: Fleet) -> Schedule:
        try:
            with _at_most(self._time_limit):
                result: object = self._scheduler.schedule(fleet)
        except _NoAnswerError:
            message = f"the scheduler {self._name!r} did not answer in {self._time_limit:g} seconds"
            raise KalypsoError(message, advice="this is a fault of its package") from None
        except KalypsoError:
            raise
        except Exception as error:  # the code of another package
            message = f"the scheduler {self._name!r} failed: {type(error).__name__}: {error}"
            advice = "this is a fault of its package"
            raise KalypsoError(message, advice=advice) from error
        if not isinstance(result, Schedule):
            kind = type(result).__name__
            raise KalypsoError(f"the scheduler {self._name!r} returns {kind}, not a Schedule")
        return result

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


def _outcome(schedule: Schedule) -> tuple[object, ...]:
    return schedule.assignments, schedule.problems, schedule.warnings, schedule.placements
