"""What clusters run: a period for each content and status of a configuration.

A period ends when content or status changes, never when a commit or the time of a condition does:
a Kustomization becomes ready anew with every reconcile, and commits come that leave a path alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, NamedTuple

from kalypso_actions.observations.record import STATUSES, RealLine, Standing, Status

GONE_STAYS: Final = timedelta(days=30)
"""How long a cluster that is gone keeps its line; Azure's rows linger for 30 hours."""

AFTER_FAILURE: Final = "after a failure: "
"""The beginning of the reason of what has not been well since a failure, such as a new try."""

NEVER: Final = datetime.min.replace(tzinfo=UTC)

Ancestry = Literal["same", "ancestor", "descendant", "none", "unknown"]
"""How a reported commit lies to the head of its branch."""


class Seen(NamedTuple):
    """What a report says of one target on one cluster, after its commit was looked up.

    `content` is "" if the commit cannot be read, or if no commit is reported; `reason` says why.
    `transition` is when the status began, by the cluster; `reported` is when it reported.
    """

    cluster: str
    configuration: str
    target: str
    commit: str
    content: str
    status: Status
    reason: str = ""
    transition: datetime | None = None
    reported: datetime | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of the `RealLine`."""
        return self.cluster.lower(), self.configuration, self.target


@dataclass(frozen=True, slots=True)
class Wanted:
    """The content of a target at the head of its branch, and how other commits lie to the head."""

    content: str = ""
    ancestry: Mapping[str, Ancestry] = field(default_factory=dict)

    def relation(self, content: str, commit: str) -> Standing:
        """Return how a content that `commit` brought relates to the wanted one.

        `content` is "" where it is not known. A commit that the branch does not have is off, and
        so is a descendant of the head, because the head was read after the report.
        """
        ancestry = self.ancestry.get(commit, "unknown")
        if content and content == self.content:
            return "current"
        if ancestry in {"none", "descendant"}:
            return "off"
        return "behind" if content and ancestry != "unknown" else "unknown"


def real_after(
    previous: Iterable[RealLine],
    seen: Iterable[Seen],
    wanted: Mapping[str, Wanted],
    *,
    now: datetime,
    last_look: datetime | None,
    is_complete: bool,
) -> tuple[RealLine, ...]:
    """Return the lines of an environment's cluster type after a look.

    previous     the lines of the record
    wanted       what each target should run, by the field `target`; a target that is missing here
                 could not be read, and relations to it stay
    last_look    the time of the newest look in the record
    is_complete  whether every source answered: else a missing cluster proves nothing

    The result does not depend on the order of `seen`, and the same look twice changes nothing.
    """
    at = max(now, last_look) if last_look else now
    lines = {line.key: line for line in previous}
    after = dict(lines)
    newest = _newest(seen)
    for key, each in newest.items():
        line = lines.get(key)
        if not (line and line.reported and each.reported and each.reported < line.reported):
            after[key] = _line(line, each, at, last_look)
    if is_complete:
        for key in lines.keys() - newest.keys():
            after[key] = _missing(lines[key], at)
    return tuple(
        sorted(
            _related(line, wanted)
            for line in after.values()
            if line.status != "gone" or at - line.since < GONE_STAYS
        )
    )


def _newest(seen: Iterable[Seen]) -> Mapping[tuple[str, str, str], Seen]:
    """Return the newest report of each object; of equally new ones, the worst."""
    newest: dict[tuple[str, str, str], Seen] = {}
    for each in seen:
        other = newest.get(each.key)
        if other is None or _rank(each) > _rank(other):
            newest[each.key] = each
    return newest


def _rank(seen: Seen) -> tuple[datetime, int, str, str]:
    return seen.reported or NEVER, STATUSES.index(seen.status), seen.content, seen.commit


def is_failing(line: RealLine) -> bool:
    """Return whether a configuration has failed, and has not been well since."""
    return line.status == "failure" or (
        line.status not in {"success", "gone"} and line.reason.startswith(AFTER_FAILURE)
    )


def _line(line: RealLine | None, seen: Seen, at: datetime, last_look: datetime | None) -> RealLine:
    """Return the line of an object that was seen; its relation is that of the line before."""
    is_same = line is not None and (line.content, line.status) == (seen.content, seen.status)
    if line and is_same:
        return line
    return RealLine(
        cluster=seen.cluster,
        configuration=seen.configuration,
        target=seen.target,
        commit=seen.commit,
        content=seen.content,
        status=seen.status,
        relation="unknown",
        since=_began(seen, at, last_look),
        reported=seen.reported,
        reason=_reason(line, seen),
    )


def _reason(line: RealLine | None, seen: Seen) -> str:
    """Return why an object has its status; a new try without a reason has that of the failure."""
    if seen.status == "success" and seen.content:
        return ""
    if line is None or seen.status in {"success", "failure"} or not is_failing(line):
        return seen.reason
    return AFTER_FAILURE + (seen.reason or line.reason.removeprefix(AFTER_FAILURE))


def _related(line: RealLine, wanted: Mapping[str, Wanted]) -> RealLine:
    """Return the line with its relation to what its target should run now."""
    if line.status == "gone" or line.target not in wanted:
        return line
    return line._replace(relation=wanted[line.target].relation(line.content, line.commit))


def _began(seen: Seen, at: datetime, last_look: datetime | None) -> datetime:
    """Return when a period began: by the cluster, if that lies between the last two looks."""
    transition = seen.transition
    if transition and last_look and last_look < transition <= at:
        return transition
    return at


def _missing(line: RealLine, at: datetime) -> RealLine:
    """Return the line of an object that a complete answer leaves out."""
    if line.status == "gone":
        return line
    return line._replace(status="gone", since=at, reason="")
