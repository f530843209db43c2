"""A cell of the matrix: a write that hits a fault, and its result.

After the call, each fact is as before or as wanted. If the call succeeds, all facts are as wanted;
if it fails, a second call makes them so. The client repeats no successful request, and a call
writes nothing if everything is as wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.errors import KalypsoError
from kalypso_sandbox import Exchange
from tests.faults.disturbances import Disturbance, Extent
from tests.faults.state import OPEN, Facts, facts
from tests.faults.trials import Ground, Trial
from tests.faults.write import GRAPHQL, TOKENS, Write

Outcome = Literal["done", "later", "found", "part", "refused", "raced"]

OBJECTS: Final = tuple(
    f"/repos/{{owner}}/{{repo}}/git/{name}" for name in ("blobs", "trees", "commits")
)
"""The endpoints that make git objects."""

OUTCOMES: Final[dict[Outcome, str]] = {
    "done": "the call succeeds, and the change is made once",
    "later": "the call fails, everything is as before, and a second call succeeds",
    "found": "the call fails although the change is made, and a second call detects that",
    "part": "the call fails half-way, and a second call does the rest",
    "refused": "the server refuses it, everything is as before, and a later call succeeds",
    "raced": "another commit was faster, and a second call continues from it",
}


@dataclass(frozen=True)
class Cell:
    """The result of a call, its number of requests, and all its faults."""

    outcome: Outcome
    requests: int
    faults: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{'WRONG' if self.faults else self.outcome} {self.requests}"


@dataclass(frozen=True)
class Course:
    """A write without a fault: the facts before and after, and its requests."""

    before: Facts
    wanted: Facts
    requests: Sequence[Exchange]


def undisturbed(ground: Ground, write: Write) -> Course:
    """Run the write without a fault. Raises AssertionError if it fails or changes nothing."""
    with ground.trial() as trial:
        write.prepare(trial)
        before = facts(ground.sandbox, trial.repository)
        requests, error = _call(trial, write)
        wanted = facts(ground.sandbox, trial.repository)
    assert error is None, error
    assert before != wanted, f"{write.name} changes nothing"
    return Course(before, wanted, requests)


def cell(
    ground: Ground, write: Write, course: Course, disturbance: Disturbance, extent: Extent
) -> Cell:
    """Run the write with this fault."""
    requests_before = next(n for n, request in enumerate(course.requests) if write.asks(request))
    with ground.trial() as trial:
        write.prepare(trial)
        with ground.sandbox.faults.on(disturbance.fault(write, extent, requests_before)):
            requests, error = _call(trial, write)
        after = facts(ground.sandbox, trial.repository)
        wrong = [
            *_wrong_facts(course, after, error, write.half_open),
            *_wrong_failure(write, disturbance, extent, error),
        ]
        if not any(disturbance.kind in request.fault for request in requests):
            wrong.append("the fault was not met")
        again = _repair(trial, write, course, error, wrong)
        wrong += _wrong_repetitions(write, course, disturbance, [*requests, *again])
        outcome = _outcome(course, after, error)
        if disturbance.ends_for(write) and outcome == "later":
            outcome = "refused"
        return Cell(outcome, len(requests), tuple(wrong))


def _call(trial: Trial, write: Write) -> tuple[list[Exchange], KalypsoError | None]:
    """Return the requests of a call, and its error."""
    start = len(trial.sandbox.traffic)
    error = None
    try:
        write.act(trial)
    except KalypsoError as failure:
        error = failure
    return list(trial.sandbox.traffic)[start:], error


def _outcome(course: Course, after: Facts, error: KalypsoError | None) -> Outcome:
    if error is None:
        return "done"
    if isinstance(error, PushConflictError):
        return "raced"
    if after == course.before:
        return "later"
    return "found" if after == course.wanted else "part"


def _wrong_facts(
    course: Course, after: Facts, error: KalypsoError | None, half_open: int | None = None
) -> Iterator[str]:
    """Yield the facts that are not as wanted; after a failure, a fact may also be as before.

    After a failure, `half_open` may be open.
    """
    for name in sorted({*course.before, *course.wanted, *after}):
        before, wanted, now = (known.get(name) for known in (course.before, course.wanted, after))
        allowed = [before, wanted] if error else [wanted]
        if error and half_open is not None and name.endswith(OPEN):
            allowed.append(half_open)
        if now not in allowed:
            yield f"{name} is {now!r}, not {' or '.join(map(repr, allowed))}"


def _wrong_failure(
    write: Write, disturbance: Disturbance, extent: Extent, error: KalypsoError | None
) -> Iterator[str]:
    """Yield a fault if the call fails although it must pass, or passes although it must fail."""
    known = write.can_be_found or not disturbance.uncertain
    ends = disturbance.ends_for(write)
    passes = extent == "once" and not ends and known
    # git cannot distinguish the 403 of a rate limit from that of a missing permission.
    if error and passes and not (write.by_git and disturbance.kind == "secondary"):
        yield f"it fails: {error}"
    if ends and error is None:
        yield "it does not report the refusal"


def _repair(
    trial: Trial, write: Write, course: Course, error: KalypsoError | None, wrong: list[str]
) -> list[Exchange]:
    """Call again without a fault: once if the first call failed, and once more as a no-op."""
    every: list[Exchange] = []
    if error:
        requests, failure = _call(trial, write)
        every += requests
        if failure:
            wrong.append(f"the second call fails: {failure}")
        actual = facts(trial.sandbox, trial.repository)
        wrong += [f"after the second call {fact}" for fact in _wrong_facts(course, actual, None)]
    if write.can_be_found:
        requests, failure = _call(trial, write)
        every += requests
        if failure or _named(requests):
            wrong.append(f"a call with nothing to do: {failure or _named(requests)}")
    return every


def _wrong_repetitions(
    write: Write, course: Course, disturbance: Disturbance, requests: Sequence[Exchange]
) -> Iterator[str]:
    """Return requests that were repeated after a successful one.

    If the client cannot look the write up, it may repeat it once after a lost response.
    """
    if write.by_git:  # a push compares and swaps; the facts count the commits
        return

    def was_done(exchange: Exchange) -> bool:
        return exchange.status in range(200, 300) or bool(exchange.fault and disturbance.hides)

    normal = Counter(_named(filter(write.asks, course.requests)))
    done = Counter(
        _named(request for request in requests if write.asks(request) and was_done(request))
    )
    spare = 1 if disturbance.hides and not write.can_be_found else 0
    for name, count in (done - normal).items():
        if count > spare:
            yield f"{name} is done {done[name]} times"


def _named(requests: Iterable[Exchange]) -> list[str]:
    """Return the exchanges that write."""
    return [f"{request.method} {request.template}" for request in requests if is_write(request)]


def is_write(exchange: Exchange) -> bool:
    """Whether a request changes what people see."""
    if exchange.template == "git":
        return exchange.method == "POST" and exchange.path.endswith("git-receive-pack")
    if exchange.template == GRAPHQL:
        return str(exchange.request_body.get("query", "")).startswith("mutation")
    # A second token instead of a lost one does no harm, nor does an object on no branch.
    harmless = {TOKENS, *OBJECTS}
    return exchange.method not in {"GET", "HEAD"} and exchange.template not in harmless
