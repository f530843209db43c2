"""The writes of check-promote, in order. Nothing is read or written here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.commands.check_promote.reading import VerifiedRequest
from kalypso_actions.compliance import Verdict
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.writes import PostStatus, Write
from kalypso_actions.promotion import statuses
from kalypso_actions.promotion.requests import PromotionRequest
from kalypso_actions.promotion.start_records import StartRecord, check_promote_context
from kalypso_actions.promotion.starts import cd_start, check_promote_start, record_of

WORKFLOW: Final = "check-promote.yaml"
"""The file that runs this command, by the name that every control plane gives it."""

PAUSE: Final = timedelta(minutes=1)
"""The time between two records of numbers in the first hour of the waiting."""

PART: Final = 60
"""Later, the pause is a sixtieth of the time that the run has waited.

GitHub keeps 1,000 statuses of a commit and context, and refuses others, such as the record of a
start. A month has 460 records.

https://docs.github.com/rest/commits/statuses
"""


def pause_after(waited: timedelta) -> timedelta:
    """Return the time between two records of numbers."""
    return max(PAUSE, waited / PART)


def refusal(
    request: PromotionRequest, latest: StartRecord | None, control_plane: str
) -> tuple[PostStatus, ...]:
    """Return the record that the repositories contradict a start, so that poll does not repeat it.

    `latest` is the record of the latest start. Other requests are not recorded.
    """
    promoted_commit, gitops_commit = request.promoted_commit, request.gitops_commit
    if not (latest and latest.kind == "starting" and latest.subject == gitops_commit):
        return ()
    name = check_promote_context(request.environment, request.repository)
    refused = StartRecord("refused", gitops_commit)
    return (record_of(control_plane, promoted_commit or "", name, refused),)


@dataclass(frozen=True, slots=True)
class CheckPromoteWrites:
    """Makes the writes of a run; a configuration change has no commit to write on."""

    verified: VerifiedRequest
    control_plane: str
    cd_workflow: str

    def received(self) -> tuple[Write, ...]:
        """Return the record that a run checks this commit of a GitOps branch."""
        return self._record(self.verified.request.gitops_commit)

    def deploying(self) -> tuple[Write, ...]:
        """Return the status of the promoted commit while the run waits."""
        return self._status(statuses.deploying(self.verified.request.environment))

    def failure(self, reason: str) -> tuple[Write, ...]:
        """Return the status after an error has ended the run."""
        return self._status(statuses.failed(self.verified.request.environment, reason))

    def numbers(self, verdict: Verdict, latest: StartRecord | None) -> tuple[Write, ...]:
        """Return the record of the numbers of clusters, which `kalypso status` shows.

        The record of a start for a later merge stays.
        """
        gitops_commit = self.verified.request.gitops_commit
        if not (latest and latest.kind == "received" and latest.subject == gitops_commit):
            return ()
        return self._record(gitops_commit, compliant(verdict))

    def after(self, verdict: Verdict) -> tuple[Write, ...]:
        """Return the starts after a verdict, then the new status of the promoted commit.

        CD for the next environments starts before the status becomes `Deployed`: if the run ends in
        between, the next run starts it again. While the verdict is open, another run of
        check-promote continues the waiting.
        """
        verified, request = self.verified, self.verified.request
        name, promoted_commit = request.environment, request.promoted_commit or ""
        if verdict.is_open:
            start = check_promote_start(
                self.control_plane,
                WORKFLOW,
                environment=name,
                promoted_commit=promoted_commit,
                gitops_commit=request.gitops_commit,
                repository=verified.repository,
                started_at=verified.started.isoformat(),
            )
            return (start,)
        if verdict.goes_on:
            starts = (
                cd_start(
                    self.control_plane,
                    self.cd_workflow,
                    environment=environment,
                    promoted_commit=promoted_commit,
                    promoted_from=name,
                )
                for environment in verified.onward
            )
            return (*starts, *self._status(statuses.deployed(name)))
        if verdict.is_failure:
            return self._status(statuses.failed(name, verdict.reason))
        if verdict.name == "superseded":
            post = statuses.rolled_back if verdict.goes_back else statuses.superseded
            return self._status(post(name, verdict.by or "none"))
        return ()

    def ended(self, latest: StartRecord | None, gitops_commit: str) -> tuple[Write, ...]:
        """Return the record of the newest commit that the run has checked, at its end.

        The record of a start for a later merge stays.
        """
        checked = {self.verified.request.gitops_commit, gitops_commit}
        if latest and latest.kind == "starting" and latest.subject not in checked:
            return ()
        return self._record(gitops_commit)

    def _record(
        self, gitops_commit: str, numbers: tuple[int, int] | None = None
    ) -> tuple[Write, ...]:
        request = self.verified.request
        if request.promoted_commit is None:
            return ()
        name = check_promote_context(request.environment, self.verified.repository)
        record = StartRecord("received", gitops_commit, compliant=numbers)
        return (record_of(self.control_plane, request.promoted_commit, name, record),)

    def _status(self, status: CommitStatus) -> tuple[Write, ...]:
        """Post a status; a second run for the same merge does not revoke `Deployed`."""
        commit = self.verified.request.promoted_commit
        if commit is None:
            return ()
        return (
            PostStatus(self.control_plane, commit, status, keeps_deployed=True, strictly_own=True),
        )


def compliant(verdict: Verdict) -> tuple[int, int]:
    """Return the numbers of compliant clusters and of all clusters."""
    return verdict.counts().get("compliant", 0), len(verdict.clusters)


class RecordedNumbers:
    """Says when to record numbers that have changed: at most once a minute, in a long run.

    `began` is the start of the run, `started` that of the waiting.
    """

    def __init__(self, began: datetime, started: datetime) -> None:
        self._started = started
        self._recorded_at = began
        self._numbers: tuple[int, int] | None = None

    def are_due(self, verdict: Verdict, now: datetime) -> bool:
        """Return whether to record the numbers of a verdict now."""
        numbers = compliant(verdict)
        is_due = now - self._recorded_at >= pause_after(now - self._started)
        if not verdict.clusters or not is_due or numbers == self._numbers:
            return False
        self._numbers, self._recorded_at = numbers, now
        return True
