"""The periods of a record, recomputed plainly from its log by the rules of correlation.

A real period belongs to every desired period of its target with the same content that it overlaps;
if there is none, to the last one of that content before it. So a cluster that never left a content
is current at once when a revert brings the content back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from kalypso_actions.observations.projection import Step
from kalypso_actions.observations.record import (
    DesiredLine,
    Observation,
    RealLine,
    TargetKey,
    parse_line,
)


class DesiredPeriod(NamedTuple):
    """What a target should run from `line.since` until another content, or None for now."""

    environment: str
    line: DesiredLine
    until: datetime | None

    @property
    def target(self) -> TargetKey:
        """The identity of the target in its environment."""
        return self.line.target


class RealPeriod(NamedTuple):
    """What a cluster ran from `line.since` until another content or status, or None for now."""

    environment: str
    cluster_type: str
    line: RealLine
    until: datetime | None


@dataclass
class Replay:
    """Reads the commits of the record, the oldest first, and knows all periods so far.

    replay = Replay()
    for steps in commits:
        replay.add(steps)
    replay.desired(), replay.real()
    """

    looks: dict[str, Observation] = field(default_factory=dict)
    at: datetime | None = None
    """The newest look at any environment."""
    _desired: dict[tuple[str, TargetKey], dict[int, DesiredLine]] = field(default_factory=dict)
    _real: dict[tuple[str, str, tuple[str, str, str]], list[RealLine]] = field(default_factory=dict)

    def add(self, steps: Iterable[Step]) -> None:
        """Add the changes of one commit, that is of one look. Raises ValueError."""
        by_kind: dict[str, list[Step]] = {}
        for step in steps:
            by_kind.setdefault(step.place.kind, []).append(step)
        for step in by_kind.get("observed", ()):
            for text in step.added:
                look = parse_line(Observation, text)
                self.looks[look.environment] = look
                self.at = max(self.at or look.at, look.at)
        for kind in ("desired-before", "desired"):
            for step in by_kind.get(kind, ()):
                self._add_desired(step)
        for step in by_kind.get("real", ()):
            self._add_real(step)

    def _add_desired(self, step: Step) -> None:
        environment = step.place.environment
        for line in (parse_line(DesiredLine, text) for text in step.added):
            key = environment, line.target
            self._desired.setdefault(key, {})[line.number] = line

    def _add_real(self, step: Step) -> None:
        place = step.place
        for text in step.added:
            line = parse_line(RealLine, text)
            lines = self._real.setdefault((place.environment, place.cluster_type, line.key), [])
            if lines and _is_same_period(lines[-1], line):
                lines[-1] = line
            else:
                lines.append(line)

    def desired(self) -> Iterator[DesiredPeriod]:
        """Yield all desired periods, those of a target in the order of its branch."""
        for (environment, _), lines in self._desired.items():
            ordered = [lines[number] for number in sorted(lines)]
            ends = [line.since for line in ordered[1:]]
            for line, until in zip(ordered, [*ends, None], strict=True):
                yield DesiredPeriod(environment, line, until)

    def real(self) -> Iterator[RealPeriod]:
        """Yield all real periods but those in which a cluster is gone, the oldest first."""
        for (environment, cluster_type, _), lines in self._real.items():
            ends = [line.since for line in lines[1:]]
            for line, until in zip(lines, [*ends, None], strict=True):
                if line.status != "gone":
                    yield RealPeriod(environment, cluster_type, line, until)


def _is_same_period(before: RealLine, after: RealLine) -> bool:
    return (before.content, before.status, before.since) == (
        after.content,
        after.status,
        after.since,
    )


def owners(real: RealPeriod, desired: Sequence[DesiredPeriod]) -> list[DesiredPeriod]:
    """Return the desired periods that a real one belongs to, of those of its target in order."""
    same = [each for each in desired if real.line.content and _content(each) == real.line.content]
    overlapping = [each for each in same if _overlaps(real, each)]
    before = [each for each in same if each.line.since <= real.line.since]
    return overlapping or before[-1:]


def _content(period: DesiredPeriod) -> str:
    return period.line.content


def _overlaps(real: RealPeriod, desired: DesiredPeriod) -> bool:
    """Return whether two half-open periods have a moment in common."""
    ends_after = desired.until is None or real.line.since < desired.until
    return ends_after and (real.until is None or desired.line.since < real.until)
