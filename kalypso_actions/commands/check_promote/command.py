"""`kalypso check-promote`: promote a commit when the clusters comply.

    observe → judge → writes → carry out → document

reading   the request, confirmed by the repositories
watch     the GitOps branches and the reports of their clusters, read repeatedly, with a verdict
writes    the writes, in the order in which they are carried out
document  the log of the waiting, and the document

A run that must end before the clusters comply starts another run, which continues the waiting.
After the post-deployment command, which may take an hour, the branches are read once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.commands.check_promote.document import ProgressLog, check_promote_result
from kalypso_actions.commands.check_promote.reading import latest_check, verify
from kalypso_actions.commands.check_promote.watch import Watch
from kalypso_actions.commands.check_promote.writes import (
    CheckPromoteWrites,
    RecordedNumbers,
    refusal,
)
from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.cluster_reports import open_cluster_reports
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.hook import LONGEST as LONGEST_HOOK
from kalypso_actions.commands.shared.hook import HookRun, run_hook
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.shared.run_start import checked_start
from kalypso_actions.compliance import Cluster, ClusterReports, Requirements, Verdict
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.chain import CheckPromoteInputs
from kalypso_actions.promotion.requests import PromotionRequest

HOOK: Final = "post-deployment"

LONGEST_RUN: Final = timedelta(hours=5, minutes=30)
"""GitHub ends a hosted job after six hours. Before that, another run continues the waiting; the
post-deployment command has to end within them, too."""

SHORTEST_PAUSE: Final = timedelta(seconds=1)


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
    requirements = Requirements(
        timeout=inputs.timeout,
        min_compliant=inputs.min_compliant,
        grace=inputs.grace_period,
        settle=inputs.settle,
        stale_after=inputs.stale_after,
        missing=inputs.missing,
        unreachable=inputs.unreachable,
        require_targets=inputs.require_targets,
        ignore_clusters=inputs.ignore_clusters,
    )
    hook: HookRun | None = None
    changed: tuple[Cluster, ...] = ()
    with closing(reports or open_cluster_reports(inputs, context)) as source:
        watch = Watch(verified, requirements, source, context)
        advice = source.no_reports_advice
        superseded = watch.read_branches()
        if superseded is None:
            watch.check_inputs()  # before the run posts anything
        deploying = () if superseded else writes.deploying()
        if inputs.dry_run:
            verdict = superseded or watch.look()[0]
            after = () if verdict.is_open else writes.after(verdict)
            planned = (*received, *deploying, *after)
            return check_promote_result(verified, verdict, context, advice=advice, planned=planned)
        carry_out(deploying, context)
        with _posting_failures(writes, context):
            verdict = superseded or Verdict("waiting", is_open=True)
            if verdict.is_open:
                longest = LONGEST_RUN - timedelta(
                    seconds=LONGEST_HOOK if inputs.post_deployment else 0
                )
                interval = _interval(inputs.poll_interval, source, context)
                wait = WaitingTime(began, longest, interval)
                verdict, changed = _wait(wait, watch, writes, context)
            if verdict.goes_on and inputs.post_deployment:
                hook = _run_hook(inputs.post_deployment, request, context)
                ending = Verdict("failed", hook.reason) if hook.failed else watch.read_branches()
                verdict = verdict.ended_by(ending) if ending else verdict
            done = carry_out(writes.after(verdict), context)
        if not verdict.is_open:
            latest = latest_check(request, verified.repository, context)
            carry_out(writes.ended(latest, watch.gitops_commit), context)
    started = {"check-promote": done.page} if verdict.is_open else done.started()
    return check_promote_result(
        verified, verdict, context, advice=advice, changed=changed, hook=hook, started=started
    )


@dataclass(frozen=True, slots=True)
class WaitingTime:
    """A run `began` then, may wait for the `longest` time, and looks at each `interval`."""

    began: datetime
    longest: timedelta
    interval: timedelta


def _wait(
    wait: WaitingTime, watch: Watch, writes: CheckPromoteWrites, context: CommandContext
) -> tuple[Verdict, tuple[Cluster, ...]]:
    """Look at the clusters until there is a verdict, or this run must end.

    Return the verdict, and the clusters that have just changed.
    """
    runtime, verified = context.runtime, writes.verified
    progress = ProgressLog(runtime.log)
    recorded = RecordedNumbers(wait.began, verified.started)
    while True:
        verdict, has_reports = watch.look()
        changed = progress.log(verdict, runtime.now()) if has_reports else ()
        if not verdict.is_open:
            return verdict, changed
        if verified.request.promoted_commit and recorded.are_due(verdict, runtime.now()):
            _record_numbers(verdict, writes, context)
        pause = max(min(wait.interval, watch.time_left), SHORTEST_PAUSE)
        if runtime.job.in_actions and runtime.now() + pause - wait.began >= wait.longest:
            return verdict, changed
        runtime.sleep(pause.total_seconds())


def _interval(given: timedelta, source: ClusterReports, context: CommandContext) -> timedelta:
    """Return the time between two looks: that of the inputs, if the source bears it."""
    shortest: timedelta = getattr(source, "shortest_pause", given)
    if given < shortest:
        seconds = shortest.total_seconds()
        context.runtime.log(f"poll-interval is raised to {seconds:.0f} s for {source.title}.")
    return max(given, shortest)


def _record_numbers(verdict: Verdict, writes: CheckPromoteWrites, context: CommandContext) -> None:
    """Record the numbers of clusters; log a failure of GitHub, and continue."""
    verified = writes.verified
    try:
        latest = latest_check(verified.request, verified.repository, context)
        carry_out(writes.numbers(verdict, latest), context)
    except KalypsoError as error:
        context.runtime.log(f"The numbers are not recorded: {error.problem.message}")


def _run_hook(command: str, request: PromotionRequest, context: CommandContext) -> HookRun:
    """Run the user's command, which decides whether the commit is promoted."""
    about = {
        "environment": request.environment,
        "commit": request.promoted_commit or "",
        "gitops_commit": request.gitops_commit,
    }
    return run_hook(HOOK, command, context.runtime, about)


@contextmanager
def _posting_failures(writes: CheckPromoteWrites, context: CommandContext) -> Iterator[None]:
    """If an error ends the run, post it as a failure, and raise it again.

    Otherwise a cancelled job or a bug would leave the commit at `Deploying`. A killed run cannot
    post: then a person runs the job again, or the next merge continues.
    """
    try:
        yield
    except BaseException as error:
        match error:
            case KalypsoError():
                reason = error.problem.message
            case KeyboardInterrupt():
                reason = "the run was cancelled"
            case _:
                reason = f"check-promote ended with an error of its own ({type(error).__name__})"
        try:
            carry_out(writes.failure(reason), context)
        except KalypsoError as failure:
            context.runtime.log(f"The failure cannot be posted: {failure.problem.message}")
        raise
