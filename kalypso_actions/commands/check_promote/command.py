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
from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.commands.check_promote.document import (
    ProgressLog,
    check_promote_document,
    check_promote_result,
)
from kalypso_actions.commands.check_promote.reading import VerifiedRequest, latest_check, verify
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
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
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
    repositories contradict the inputs; then the run writes only the record of the start.
    """
    began = context.runtime.now()
    verified = _verified(inputs, context)
    writes = CheckPromoteWrites(inputs, verified, context.control_plane)
    received = writes.received()
    if not inputs.dry_run:
        carry_out(received, context)
    if inputs.verify_only:
        document = check_promote_document(inputs, None)
        if inputs.dry_run:
            return dry_run_result("check-promote", document, received, context)
        return check_promote_result(document, verified, context)
    hook: HookRun | None = None
    changed: tuple[Cluster, ...] = ()
    with closing(reports or open_cluster_reports(inputs, context)) as source:
        watch = Watch(verified, _requirements(inputs), inputs.timeout, source, context)
        superseded = watch.read_branches()
        if superseded is None:
            watch.check_inputs()  # before the run posts anything
        deploying = () if superseded else writes.deploying()
        if inputs.dry_run:
            verdict = superseded or watch.look()[0]
            after = () if verdict.is_open else writes.after(verdict)
            document = check_promote_document(inputs, verdict, advice=source.no_reports_advice)
            planned = (*received, *deploying, *after)
            return dry_run_result("check-promote", document, planned, context)
        carry_out(deploying, context)
        with _posting_failures(writes, context):
            verdict = superseded or Verdict("waiting", is_open=True)
            if verdict.is_open:
                verdict, changed = _wait(inputs, watch, writes, began, context)
            if verdict.goes_on and inputs.post_deployment:
                hook = _run_hook(inputs, context)
                ending = Verdict("failed", hook.reason) if hook.failed else watch.read_branches()
                verdict = verdict.ended_by(ending) if ending else verdict
            done = carry_out(writes.after(verdict), context)
        if not verdict.is_open:
            latest = latest_check(verified.request, verified.repository, context)
            carry_out(writes.ended(latest, watch.gitops_commit), context)
    started = {"check-promote": done.page} if verdict.is_open else done.started()
    promoted_to = () if verdict.is_open else tuple(started)
    advice = source.no_reports_advice
    document = check_promote_document(inputs, verdict, changed, promoted_to, advice)
    return check_promote_result(document, verified, context, hook, started, advice)


def _verified(inputs: CheckPromoteInputs, context: CommandContext) -> VerifiedRequest:
    """Verify the inputs; record a refusal of the start, so that poll does not repeat it."""
    request = PromotionRequest(inputs.environment, inputs.promoted_commit, inputs.gitops_commit)
    try:
        return verify(request, inputs, context)
    except UsageError:
        if not inputs.dry_run:
            repository = inputs.gitops_repository
            latest = latest_check(request, repository, context)
            carry_out(refusal(request, repository, latest, context.control_plane), context)
        raise


def _requirements(inputs: CheckPromoteInputs) -> Requirements:
    return Requirements(
        min_compliant=inputs.min_compliant,
        grace=inputs.grace_period,
        settle=inputs.settle,
        stale_after=inputs.stale_after,
        missing=inputs.missing,
        unreachable=inputs.unreachable,
        require_targets=inputs.require_targets,
        ignore_clusters=inputs.ignore_clusters,
    )


def _wait(
    inputs: CheckPromoteInputs,
    watch: Watch,
    writes: CheckPromoteWrites,
    began: datetime,
    context: CommandContext,
) -> tuple[Verdict, tuple[Cluster, ...]]:
    """Look at the clusters until there is a verdict, or this run, which `began` then, must end.

    Return the verdict, and the clusters that have just changed.
    """
    runtime, verified = context.runtime, writes.verified
    longest = LONGEST_RUN - timedelta(seconds=LONGEST_HOOK if inputs.post_deployment else 0)
    progress = ProgressLog(runtime.log)
    recorded = RecordedNumbers(began, verified.started)
    while True:
        verdict, has_reports = watch.look()
        changed = progress.log(verdict, runtime.now()) if has_reports else ()
        if not verdict.is_open:
            return verdict, changed
        if inputs.promoted_commit and recorded.are_due(verdict, runtime.now()):
            _record_numbers(verdict, writes, context)
        pause = max(min(inputs.poll_interval, watch.time_left), SHORTEST_PAUSE)
        if runtime.job.in_actions and runtime.now() + pause - began >= longest:
            return verdict, changed
        runtime.sleep(pause.total_seconds())


def _record_numbers(verdict: Verdict, writes: CheckPromoteWrites, context: CommandContext) -> None:
    """Record the numbers of clusters; log a failure of GitHub, and continue."""
    verified = writes.verified
    try:
        latest = latest_check(verified.request, verified.repository, context)
        carry_out(writes.numbers(verdict, latest), context)
    except KalypsoError as error:
        context.runtime.log(f"The numbers are not recorded: {error.problem.message}")


def _run_hook(inputs: CheckPromoteInputs, context: CommandContext) -> HookRun:
    """Run the user's command, which decides whether the commit is promoted."""
    about = {
        "environment": inputs.environment,
        "commit": inputs.promoted_commit or "",
        "gitops_commit": inputs.gitops_commit,
    }
    return run_hook(HOOK, inputs.post_deployment, context.runtime, about)


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
