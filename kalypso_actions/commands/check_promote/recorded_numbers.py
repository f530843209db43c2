"""The numbers of clusters that a waiting run records, so that `kalypso status` can show them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.commands.check_promote.verify_request import VerifiedRequest
from kalypso_actions.commands.check_promote.watch import Observation
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.dispatch import record_compliant
from kalypso_actions.errors import KalypsoError

PAUSE: Final = timedelta(minutes=1)
"""The time between two records in the first hour of the waiting."""

PART: Final = 60
"""Later, the pause is a sixtieth of the time that the run has waited.

GitHub keeps 1,000 statuses of a commit and context, and refuses others, such as the record of a
start. A month has 460 records.

https://docs.github.com/rest/commits/statuses
"""


def pause_after(waited: timedelta) -> timedelta:
    """Return the time between two records."""
    return max(PAUSE, waited / PART)


class RecordedNumbers:
    """Records numbers that have changed, at most once a minute; a short run records nothing.

    `began` is the start of the run, `started` that of the waiting. A configuration change has no
    promoted commit to record them on.
    """

    def __init__(
        self,
        context: CommandContext,
        verified: VerifiedRequest,
        *,
        began: datetime,
        started: datetime,
    ) -> None:
        self._context = context
        self._started = started
        self._verified = verified
        self._recorded_at = began
        self._numbers: tuple[int, int] | None = None

    def record(self, observation: Observation, now: datetime) -> None:
        """Record the numbers of an observation; log a failure of GitHub, and continue."""
        request = self._verified.request
        numbers = observation.counts().get("compliant", 0), len(observation.clusters)
        is_due = now - self._recorded_at >= pause_after(now - self._started)
        is_new = is_due and numbers != self._numbers
        if request.promoted_commit is None or not observation.clusters or not is_new:
            return
        self._numbers, self._recorded_at = numbers, now
        try:
            record_compliant(
                self._context,
                request.environment,
                request.promoted_commit,
                self._verified.repository,
                request.gitops_commit,
                numbers,
            )
        except KalypsoError as error:
            self._context.runtime.log(f"The numbers are not recorded: {error.problem.message}")
