"""The form of start records: the statuses by which commands record the start of a workflow.

Every command records a start before it dispatches the workflow. The first job of the started run
replaces the record. `poll` repeats a start whose record stays: see `lost_starts`.

    context                                       on                             subject
    kalypso / cd <environment>                    the promoted commit            where it comes from
    kalypso / check-promote <environment> <repo>  the promoted commit            the GitOps commit
    kalypso / schedule <environment>              the environment branch's head  digest of inputs

    description                        state     meaning
    Starting, attempt <n>: <subject>   success   a workflow was or will be dispatched; after the
                                                 number, `with force` if schedule was
    Received: <subject>                success   the first job of the run has begun; of a waiting
                                                 check-promote with `, 4/8 clusters comply`
    Not needed: <subject>              success   a later commit has made the start superfluous
    Scheduled: <digest>                success   schedule has computed everything for these inputs;
                                                 `, nothing left of 4 assignments by <digest>` if it
                                                 had nothing to do, with the digest of code and
                                                 options; `, again at <time>` if the result of these
                                                 inputs may differ by then
    Blocked: <digest>                  failure   schedule cannot propose anything for these inputs
    Refused: <subject>                 failure   the repositories contradict the started run
    Given up: <subject>                failure   no run began after the last attempt

A record is for machines: it is a success, which hides nothing and asks nobody for anything, unless
a person has to act. The status `<environment> environment` shows that a commit is on its way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from kalypso_actions.model.github import CommitStatus, StatusState
from kalypso_actions.model.own_account import Identity

Command = Literal["cd", "check-promote", "schedule"]
Kind = Literal["starting", "received", "not needed", "scheduled", "blocked", "refused", "given up"]

STATES: Final[dict[Kind, StatusState]] = {
    "starting": "success",
    "received": "success",
    "not needed": "success",
    "scheduled": "success",
    "blocked": "failure",
    "refused": "failure",
    "given up": "failure",
}

DESCRIPTION: Final = re.compile(
    r"(?P<kind>Starting|Received|Not needed|Scheduled|Blocked|Refused|Given up)"
    r"(?:, attempt (?P<attempt>\d+))?(?P<force> with force)?: (?P<subject>.*?)"
    r"(?:, nothing left of (?P<assignments>\d+) assignments by (?P<run>[0-9a-f]{16}))?"
    r"(?:, (?P<compliant>\d+)/(?P<clusters>\d+) clusters comply)?"
    r"(?:, again at (?P<again>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ))?"
)

PREFIX: Final = "kalypso / "
TIME: Final = "%Y-%m-%dT%H:%M:%SZ"

UNREAD: Final = "inputs not read yet"
"""The subject of a start of schedule before the digest is computed."""


@dataclass(frozen=True, slots=True)
class StartRecord:
    """A start as a status records it.

    `since` is the time of the status (None: not known). `force`: schedule proposes content that
    people rejected. `again_at` is the time at which the same inputs may have another result.
    `compliant` has the numbers of compliant clusters and of all clusters while a run waits. If a
    run of schedule left nothing to do, `run` is the digest of its code and options, and
    `assignments` the number of its assignments; otherwise `run` is "".
    """

    kind: Kind
    subject: str
    attempt: int = 0
    since: datetime | None = None
    force: bool = False
    again_at: datetime | None = None
    compliant: tuple[int, int] | None = None
    assignments: int = 0
    run: str = ""

    @property
    def description(self) -> str:
        """The description of the status."""
        attempt = f", attempt {self.attempt}" if self.kind == "starting" else ""
        force = " with force" if self.force else ""
        again = f", again at {self.again_at:{TIME}}" if self.again_at else ""
        rest = f", nothing left of {self.assignments} assignments by {self.run}" if self.run else ""
        clusters = "{}/{}".format(*self.compliant) if self.compliant else ""
        comply = f", {clusters} clusters comply" if clusters else ""
        return f"{self.kind.capitalize()}{attempt}{force}: {self.subject}{rest}{comply}{again}"

    def status(self, context: str, target_url: str = "") -> CommitStatus:
        """Return the status to post under a context."""
        return CommitStatus(context, STATES[self.kind], self.description, target_url)


def cd_context(environment: str) -> str:
    """Return the context of cd's starts for an environment, on the promoted commit."""
    return f"{PREFIX}cd {environment}"


def check_promote_context(environment: str, repository: str) -> str:
    """Return the context of check-promote's starts; `repository` is the GitOps repository."""
    return f"{PREFIX}check-promote {environment} {repository}"


def schedule_context(environment: str) -> str:
    """Return the context of schedule's starts and results."""
    return f"{PREFIX}schedule {environment}"


def starting(subject: str, attempt: int = 1, *, force: bool = False) -> StartRecord:
    """Return the record to post before a dispatch."""
    return StartRecord("starting", subject, attempt, force=force)


def read_record(status: CommitStatus | None) -> StartRecord | None:
    """Return the start that a status records; None without a status, or if it has another form."""
    match = DESCRIPTION.fullmatch(status.description) if status else None
    if status is None or match is None:
        return None
    kind: Kind = match["kind"].lower()  # type: ignore[assignment]  # the pattern has just these
    return StartRecord(
        kind,
        match["subject"],
        int(match["attempt"] or 0),
        status.created_at,
        force=match["force"] is not None,
        again_at=_time(match["again"]),
        compliant=(int(match["compliant"]), int(match["clusters"])) if match["clusters"] else None,
        assignments=int(match["assignments"] or 0),
        run=match["run"] or "",
    )


def _time(text: str | None) -> datetime | None:
    try:
        return datetime.strptime(text, TIME).replace(tzinfo=UTC) if text else None
    except ValueError:
        return None


def trusted_record(status: CommitStatus | None, identity: Identity) -> StartRecord | None:
    """Return a recorded start, as `read_record` does, unless somebody else has posted it.

    Anyone with write access can post a status.
    """
    if status is None or not identity.is_of_chain(status.author):
        return None
    return read_record(status)


MOST: Final = 5
"""The most ids in a description: those of the merged trees, and of newer proposals."""

WRITTEN: Final = "Written: "


def tree_context(environment: str) -> str:
    """Return the context of the status."""
    return f"{PREFIX}tree {environment}"


def read_trees(status: CommitStatus | None) -> tuple[str, ...]:
    """Return the ids of the trees that a status records, newest first."""
    if status is None or not status.description.startswith(WRITTEN):
        return ()
    return tuple(status.description.removeprefix(WRITTEN).split())


def trees_status(environment: str, written: Iterable[str], before: Iterable[str]) -> CommitStatus:
    """Return the status that adds the trees of a run to those `before`."""
    ids = list(dict.fromkeys((*written, *before)))[:MOST]
    return CommitStatus(tree_context(environment), "success", WRITTEN + " ".join(ids), "")
