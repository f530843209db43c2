"""What check-promote tells people at its end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kalypso_actions.commands.check_promote.reading import VerifiedRequest
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.hook import HookRun
from kalypso_actions.commands.shared.looks.recorder import Recorded
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.commands.shared.watch import cluster_fields
from kalypso_actions.compliance import Cluster, Verdict
from kalypso_actions.errors import Problem
from kalypso_actions.model.writes import Write
from kalypso_actions.promotion.environments import arrows
from kalypso_actions.report.check_promote_document import (
    CheckPromoteDocument,
    CheckPromoteFacts,
    check_promote_summary,
    verdict_advice,
)
from kalypso_actions.report.documents import ProblemEntry


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
    recorded: Recorded | None = None,
) -> CommandResult:
    """Return the result of a verdict; None: the run has only verified the request.

    `changed` are the clusters that changed since the previous verdict, `started` the pages of
    started runs by environment, `planned` the writes of a dry run, and `recorded` what the run has
    written to the record. `advice` is for people if no cluster reports.
    """
    recorded = recorded or Recorded()
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
        **cluster_fields(seen, changed),
        promoted_to=() if seen.is_open else tuple(started or ()),
        events=recorded.events,
        more_events=recorded.more_events,
        warnings=ProblemEntry.all_of((*verified.warnings, *seen.warnings, *recorded.warnings)),
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
