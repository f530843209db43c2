"""`kalypso check-promote`: promote a commit when the clusters comply.

    observe → judge → writes → carry out → record → document

reading  the request, confirmed by the repositories; the branches that it watches
writes   the writes, in the order in which they are carried out

`commands/shared/watch.py` reads the branches and the reports of their clusters repeatedly.

A run that must end before the clusters comply starts another run, which continues the waiting.
After the post-deployment command, which may take an hour, the branches are read once more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from functools import partial

from kalypso_actions.commands.check_promote.reading import (
    VerifiedRequest,
    WatchedEnvironment,
    latest_check,
    verify,
)
from kalypso_actions.commands.check_promote.writes import (
    CheckPromoteWrites,
    RecordedNumbers,
    refusal,
)
from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.cluster_reports import open_cluster_reports
from kalypso_actions.commands.shared.context import CommandContext, checked_start
from kalypso_actions.commands.shared.hook import HookRun
from kalypso_actions.commands.shared.looks.recorder import Recorded, Recorder
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.commands.shared.watch import (
    ProgressLog,
    Watch,
    cluster_fields,
    posting_failures,
    requirements_of,
    wait_and_run_hook,
    waiting_time,
)
from kalypso_actions.compliance import Cluster, ClusterReports, Verdict
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.inputs.chain import CheckPromoteInputs
from kalypso_actions.model.writes import Write
from kalypso_actions.promotion.environments import arrows
from kalypso_actions.promotion.requests import PromotionRequest
from kalypso_actions.report.check_promote_document import (
    CheckPromoteDocument,
    CheckPromoteFacts,
    check_promote_summary,
    verdict_advice,
)
from kalypso_actions.report.documents import ProblemEntry


def check_promote(
    inputs: CheckPromoteInputs, context: CommandContext, reports: ClusterReports | None = None
) -> CommandResult:
    """Wait until the clusters of an environment comply with a merge, then promote its commit.

    The repositories must confirm the inputs first. A repeated run completes the work of an earlier
    run. With `verify-only` the run only confirms the inputs and records its start; with `dry-run`
    it looks once. `reports` replaces the source that the inputs name. Raise UsageError if the
    repositories contradict the inputs; then the run writes only the record of the start. Raise it
    for a run on another branch, too.
    """
    checked_start(context)
    began = context.runtime.now()
    request = PromotionRequest(
        inputs.environment,
        inputs.promoted_commit,
        inputs.gitops_commit,
        inputs.gitops_repository,
        inputs.next_environment,
        inputs.started_at,
    )
    try:
        verified = verify(request, context)
        request = verified.request
    except UsageError:
        if not inputs.dry_run:  # otherwise poll repeats the start
            latest = latest_check(request, request.repository, context)
            carry_out(refusal(request, latest, context.control_plane), context)
        raise
    writes = CheckPromoteWrites(verified, context.control_plane, inputs.cd_workflow)
    received = writes.received()
    if not inputs.dry_run:
        carry_out(received, context)
    if inputs.verify_only:
        planned = received if inputs.dry_run else None
        return check_promote_result(verified, None, context, planned=planned)
    hook: HookRun | None = None
    changed: tuple[Cluster, ...] = ()
    with closing(reports or open_cluster_reports(inputs, context)) as source:
        watched = WatchedEnvironment(verified, context)
        recorder = Recorder(inputs, context)
        watch = Watch(watched, requirements_of(inputs), source, context, recorder.saw)
        advice = source.no_reports_advice
        numbers = partial(
            _record_numbers, RecordedNumbers(began, verified.started), writes, context
        )
        superseded = watch.read_branches()
        if superseded is None:
            watch.check_inputs()  # before the run posts anything
        deploying = () if superseded else writes.deploying()
        if inputs.dry_run:
            verdict = superseded or _look_once(watch, context)
            after = () if verdict.is_open else writes.after(verdict)
            planned = (*received, *deploying, *after)
            return check_promote_result(verified, verdict, context, advice=advice, planned=planned)
        carry_out(deploying, context)
        with posting_failures("check-promote", writes.failure, context):
            verdict = superseded or Verdict("waiting", is_open=True)
            if verdict.is_open:
                wait = waiting_time(inputs, began, source, context)
                verdict, changed, hook = wait_and_run_hook(
                    wait, watch, inputs, _about(request), context, numbers
                )
            done = carry_out(writes.after(verdict), context)
        if not verdict.is_open:
            latest = latest_check(request, verified.repository, context)
            carry_out(writes.ended(latest, watch.gitops_commit), context)
        recorded = recorder.write([request.environment], "Check and promote")
    started = {"check-promote": done.page} if verdict.is_open else done.started()
    return check_promote_result(
        verified,
        verdict,
        context,
        advice=advice,
        changed=changed,
        hook=hook,
        started=started,
        recorded=recorded,
    )


def _look_once(watch: Watch, context: CommandContext) -> Verdict:
    """Look at the clusters, and log their numbers."""
    verdict, has_reports = watch.look()
    if has_reports:
        ProgressLog(context.runtime.log).log(verdict, context.runtime.now())
    return verdict


def _record_numbers(
    recorded: RecordedNumbers,
    writes: CheckPromoteWrites,
    context: CommandContext,
    verdict: Verdict,
) -> None:
    """Record the numbers of clusters if they are due; log a failure of GitHub, and continue."""
    verified = writes.verified
    if not (verified.request.promoted_commit and recorded.are_due(verdict, context.runtime.now())):
        return
    try:
        latest = latest_check(verified.request, verified.repository, context)
        carry_out(writes.numbers(verdict, latest), context)
    except KalypsoError as error:
        context.runtime.log(f"The numbers are not recorded: {error.problem.message}")


def _about(request: PromotionRequest) -> dict[str, str]:
    """Return what the user's command gets to know."""
    return {
        "environment": request.environment,
        "commit": request.promoted_commit or "",
        "gitops_commit": request.gitops_commit,
    }


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
