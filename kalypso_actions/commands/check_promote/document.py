"""What check-promote tells people: the log while it waits, and the document at its end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.commands.check_promote.reading import VerifiedRequest
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.hook import HookRun
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.compliance import Cluster, Verdict
from kalypso_actions.errors import Problem
from kalypso_actions.model.writes import Write
from kalypso_actions.promotion.environments import arrows
from kalypso_actions.report.check_promote_document import (
    CheckPromoteDocument,
    CheckPromoteFacts,
    ClusterEntry,
    ForeignPathsEntry,
    check_promote_summary,
    verdict_advice,
)
from kalypso_actions.report.documents import ProblemEntry

MOST_CLUSTERS: Final = 20
"""The number of clusters that one entry of the log names."""

LOG_INTERVAL: Final = timedelta(minutes=5)
"""The log repeats the numbers after this time, so that the run does not seem to hang."""


class ProgressLog:
    """Logs the numbers and the clusters that changed; the first entry has only numbers."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._numbers = ""
        self._states: Mapping[tuple[str, str], str] = {}
        self._logged_at: datetime | None = None

    def log(self, verdict: Verdict, now: datetime) -> tuple[Cluster, ...]:
        """Log a verdict that differs from the last one; return the clusters that changed.

        The first verdict has none.
        """
        states = {(cluster.id, cluster.cluster_type): cluster.state for cluster in verdict.clusters}
        changed = [
            cluster
            for cluster in verdict.clusters
            if self._states
            and self._states.get((cluster.id, cluster.cluster_type)) != cluster.state
        ]
        numbers = verdict.progress()
        is_silent = self._logged_at is None or now - self._logged_at >= LOG_INTERVAL
        if changed or numbers != self._numbers or is_silent:
            self._log(numbers)
            self._log_clusters(changed)
            self._logged_at = now
        self._numbers, self._states = numbers, states
        return tuple(changed)

    def _log_clusters(self, changed: Sequence[Cluster]) -> None:
        for cluster in changed[:MOST_CLUSTERS]:
            before = self._states.get((cluster.id, cluster.cluster_type), "new")
            reason = f": {cluster.reason}" if cluster.reason else ""
            self._log(f"  {cluster.name}: {before} → {cluster.state}{reason}")
        if len(changed) > MOST_CLUSTERS:
            self._log(f"  … and {len(changed) - MOST_CLUSTERS} more")


def check_promote_result(
    verified: VerifiedRequest,
    verdict: Verdict | None,
    context: CommandContext,
    *,
    advice: str = "",
    changed: Collection[Cluster] = (),
    hook: HookRun | None = None,
    started: Mapping[str, str] | None = None,
    planned: Iterable[Write] | None = None,
) -> CommandResult:
    """Return the result of a verdict; None: the run has only verified the request.

    `changed` are the clusters that changed since the previous verdict, `started` the pages of
    started runs by environment, `planned` the writes of a dry run. `advice` is for people if no
    cluster reports.
    """
    request = verified.request
    seen = verdict or Verdict("waiting", is_open=True)
    name = "" if seen.is_open else seen.name
    problems = (
        [Problem(seen.reason, advice=verdict_advice(name, advice))] if seen.is_failure else []
    )
    document = CheckPromoteDocument(
        environment=request.environment,
        promoted_commit=request.promoted_commit or "",
        gitops_commit=request.gitops_commit,
        verify_only=verdict is None,
        verdict=name,
        reason=seen.reason,
        clusters=seen.counts(),
        rows=tuple(
            ClusterEntry(
                id=cluster.id,
                cluster_type=cluster.cluster_type,
                state=cluster.state,
                reason=cluster.reason,
                revision=cluster.revision,
                changed=cluster in changed,
            )
            for cluster in seen.clusters
        ),
        missing=seen.missing,
        not_ours=tuple(ForeignPathsEntry(id=name, paths=paths) for name, paths in seen.not_ours),
        promoted_to=() if seen.is_open else tuple(started or ()),
        warnings=ProblemEntry.all_of((*verified.warnings, *seen.warnings)),
        problems=ProblemEntry.all_of(problems),
    )
    if planned is not None:
        return dry_run_result("check-promote", document, planned, context)
    facts = CheckPromoteFacts(
        context.url(context.control_plane),
        context.url(verified.repository),
        advice,
        hook.summary() if hook else "",
        started or {},
        arrows(verified.environments),
    )
    page = check_promote_summary(document, facts)
    return CommandResult(document, page, failed=bool(document.problems))
