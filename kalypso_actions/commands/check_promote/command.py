"""`kalypso check-promote`: promote a commit when the clusters comply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.commands.check_promote.progress_log import ProgressLog
from kalypso_actions.commands.check_promote.recorded_numbers import RecordedNumbers
from kalypso_actions.commands.check_promote.status import DeploymentStatus
from kalypso_actions.commands.check_promote.verify_request import (
    VerifiedRequest,
    verify,
    waiting_since,
)
from kalypso_actions.commands.check_promote.watch import Observation, Watch
from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.cluster_reports import open_cluster_reports
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.dispatch import (
    acknowledge_check_promote,
    acknowledge_end,
    record_refusal,
)
from kalypso_actions.commands.shared.hook import LONGEST as LONGEST_HOOK
from kalypso_actions.commands.shared.hook import HookRun, run_hook
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.compliance import Cluster, ClusterReports
from kalypso_actions.errors import Problem, UsageError
from kalypso_actions.inputs.check_promote import CheckPromoteInputs
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion import statuses
from kalypso_actions.promotion.environments import next_environments
from kalypso_actions.promotion.pipeline import arrows
from kalypso_actions.promotion.run_verdict import RunVerdict, Superseded, run_verdict
from kalypso_actions.promotion.starts import cd_start, check_promote_start
from kalypso_actions.report.check_promote_document import (
    CheckPromoteDocument,
    CheckPromoteFacts,
    ClusterEntry,
    ForeignPathsEntry,
    check_promote_summary,
    verdict_advice,
)
from kalypso_actions.report.documents import ProblemEntry

HOOK: Final = "post-deployment"
WORKFLOW: Final = "check-promote.yaml"
"""The file that runs this command, by the name that every control plane gives it."""

LONGEST_RUN: Final = timedelta(hours=5, minutes=30)
"""GitHub ends a hosted job after six hours. Before that, another run continues the waiting; the
post-deployment command has to end within them, too."""

SHORTEST_PAUSE: Final = timedelta(seconds=1)

BRANCHES_AGE: Final = timedelta(minutes=1)
"""The longest time between two reads of the branches while the run waits."""


@dataclass(frozen=True, slots=True)
class _Ending:
    """The end of a run: its verdict (None: another run continues), and its effects.

    `changed` are the clusters that changed since the previous observation; `status` is the new
    status of the promoted commit; `started` are the pages of started workflows.
    """

    verdict: RunVerdict | None
    observation: Observation = field(default_factory=Observation)
    changed: tuple[Cluster, ...] = ()
    status: CommitStatus | None = None
    hook: HookRun | None = None
    started: Mapping[str, str] = field(default_factory=dict)


def check_promote(
    inputs: CheckPromoteInputs, context: CommandContext, reports: ClusterReports | None = None
) -> CommandResult:
    """Wait until the clusters of an environment comply with a merge, then promote its commit.

    The repositories must confirm the inputs first. A repeated run completes the work of an earlier
    run. With `verify-only` the run only confirms the inputs and records its start. `reports`
    replaces the source that the inputs name. Raise UsageError if the repositories contradict the
    inputs; then the run writes only the record of the start.
    """
    began = context.runtime.now()
    verified = _verify(inputs, context)
    onward = _onward(inputs, verified)
    started = waiting_since(inputs, context, verified)
    acknowledge_check_promote(
        context,
        inputs.environment,
        inputs.promoted_commit,
        verified.repository,
        inputs.gitops_commit,
    )
    if inputs.verify_only:
        return _verified(inputs, context, verified)
    status = DeploymentStatus(context, verified.request)
    with closing(reports or open_cluster_reports(inputs, context)) as source:
        watch = Watch(inputs, context, verified, source)
        superseded = watch.read_branches()
        if not superseded:
            watch.check_inputs()  # before the run posts anything
            status.post(statuses.deploying(inputs.environment))
        with status.failure_of_run():
            if superseded:
                ending = _superseded(inputs, superseded, Observation())
            else:
                ending = _wait(inputs, context, verified, watch, began=began, started=started)
            if ending.verdict and ending.verdict.goes_on:
                ending = _finish(inputs, context, watch, ending, onward)
            if ending.status:
                status.post(ending.status)
        if ending.verdict:
            _acknowledge_end(inputs, context, verified, watch)
    facts = replace(_facts(context, verified), no_reports_advice=source.no_reports_advice)
    return _result(inputs, ending, facts)


def _acknowledge_end(
    inputs: CheckPromoteInputs, context: CommandContext, verified: VerifiedRequest, watch: Watch
) -> None:
    acknowledge_end(
        context,
        inputs.environment,
        inputs.promoted_commit,
        verified.repository,
        {inputs.gitops_commit, watch.gitops_commit},
        watch.gitops_commit,
    )


def _verify(inputs: CheckPromoteInputs, context: CommandContext) -> VerifiedRequest:
    """Verify the inputs; record a refusal of the start, so that poll does not repeat it."""
    try:
        return verify(inputs, context)
    except UsageError:
        record_refusal(
            context,
            inputs.environment,
            inputs.promoted_commit,
            inputs.gitops_repository,
            inputs.gitops_commit,
        )
        raise


def _verified(
    inputs: CheckPromoteInputs, context: CommandContext, verified: VerifiedRequest
) -> CommandResult:
    document = CheckPromoteDocument(
        environment=inputs.environment,
        promoted_commit=inputs.promoted_commit or "",
        gitops_commit=inputs.gitops_commit,
        verify_only=True,
    )
    facts = _facts(context, verified)
    return CommandResult(document, check_promote_summary(document, facts))


def _onward(inputs: CheckPromoteInputs, verified: VerifiedRequest) -> tuple[str, ...]:
    """Return the environments to promote the commit to; none for a configuration change."""
    if inputs.promoted_commit is None:
        return ()
    return next_environments(inputs.next_environment, inputs.environment, verified.environments)


def _wait(
    inputs: CheckPromoteInputs,
    context: CommandContext,
    verified: VerifiedRequest,
    watch: Watch,
    *,
    began: datetime,
    started: datetime,
) -> _Ending:
    """Observe the clusters until there is a verdict.

    `began` is the start of the run, `started` that of the waiting. While the run waits, it reads
    the branches once a minute. Before a verdict it reads them after the reports: see
    Watch.observe.
    """
    runtime = context.runtime
    longest = LONGEST_RUN - timedelta(seconds=LONGEST_HOOK if inputs.post_deployment else 0)
    progress = ProgressLog(runtime.log)
    recorded = RecordedNumbers(context, verified, began=began, started=started)
    while True:
        reports = watch.read_reports()
        for max_age in (BRANCHES_AGE, timedelta()):
            superseded = watch.read_branches(max_age)
            observation = watch.observe(reports, started)
            left = started + inputs.timeout - runtime.now()
            verdict = run_verdict(observation.branches, timed_out=left <= timedelta(0))
            if superseded or not verdict:
                break
        changed = progress.log(observation, runtime.now()) if reports else ()
        if superseded:
            return replace(_superseded(inputs, superseded, observation), changed=changed)
        if verdict:
            return _Ending(verdict, observation, changed, _failure_status(inputs, verdict))
        recorded.record(observation, runtime.now())
        left = started + inputs.timeout - runtime.now()
        pause = max(min(inputs.poll_interval, left), SHORTEST_PAUSE)
        if runtime.job.in_actions and runtime.now() + pause - began >= longest:
            pages = _continue(inputs, context, verified, started)
            return _Ending(None, observation, changed, started=pages)
        runtime.sleep(pause.total_seconds())


def _failure_status(inputs: CheckPromoteInputs, verdict: RunVerdict) -> CommitStatus | None:
    return statuses.failed(inputs.environment, verdict.reason) if verdict.is_failure else None


def _superseded(
    inputs: CheckPromoteInputs, superseded: Superseded, observation: Observation
) -> _Ending:
    post = statuses.rolled_back if superseded.goes_back else statuses.superseded
    status = post(inputs.environment, superseded.by or "none")
    verdict = RunVerdict("superseded", superseded.reason)
    return _Ending(verdict, observation, status=status)


def _continue(
    inputs: CheckPromoteInputs,
    context: CommandContext,
    verified: VerifiedRequest,
    started: datetime,
) -> Mapping[str, str]:
    """Start the run that continues the waiting; return its page."""
    start = check_promote_start(
        context.control_plane,
        WORKFLOW,
        environment=inputs.environment,
        promoted_commit=inputs.promoted_commit or "",
        gitops_commit=inputs.gitops_commit,
        repository=verified.repository,
        started_at=started.isoformat(),
    )
    return {"check-promote": carry_out([start], context).page}


def _finish(
    inputs: CheckPromoteInputs,
    context: CommandContext,
    watch: Watch,
    ending: _Ending,
    onward: Sequence[str],
) -> _Ending:
    """Run the user's command, which decides whether the commit is promoted.

    The command may take long, so read the branches once more: people may have reverted the
    promotion in the meantime.
    """
    if not inputs.post_deployment:
        return _go_on(inputs, context, ending, onward)
    about = {
        "environment": inputs.environment,
        "commit": inputs.promoted_commit or "",
        "gitops_commit": inputs.gitops_commit,
    }
    hook = run_hook(HOOK, inputs.post_deployment, context.runtime, about)
    if hook.failed:
        verdict = RunVerdict("failed", hook.reason)
        status = _failure_status(inputs, verdict)
        return replace(ending, verdict=verdict, hook=hook, status=status)
    superseded = watch.read_branches()
    if superseded:
        superseding = _superseded(inputs, superseded, ending.observation)
        return replace(superseding, changed=ending.changed, hook=hook)
    return replace(_go_on(inputs, context, ending, onward), hook=hook)


def _go_on(
    inputs: CheckPromoteInputs, context: CommandContext, ending: _Ending, onward: Sequence[str]
) -> _Ending:
    """Start CD for the next environments, before the commit's status becomes `Deployed`.

    If the run ends in between, the next run starts them again.
    """
    started = {}
    for environment in onward:
        start = cd_start(
            context.control_plane,
            inputs.cd_workflow,
            environment=environment,
            promoted_commit=inputs.promoted_commit or "",
            promoted_from=inputs.environment,
        )
        started[environment] = carry_out([start], context).page
    status = statuses.deployed(inputs.environment, is_last=not onward)
    return replace(ending, started=started, status=status)


def _facts(context: CommandContext, verified: VerifiedRequest) -> CheckPromoteFacts:
    gitops_url = context.url(verified.repository)
    return CheckPromoteFacts(
        context.url(context.control_plane), gitops_url, arrows=arrows(verified.environments)
    )


def _result(inputs: CheckPromoteInputs, ending: _Ending, facts: CheckPromoteFacts) -> CommandResult:
    observation, changed = ending.observation, frozenset(ending.changed)
    verdict = ending.verdict.verdict if ending.verdict else ""
    reason = ending.verdict.reason if ending.verdict else ""
    failed = ending.verdict is not None and ending.verdict.is_failure
    problems = [Problem(reason, advice=verdict_advice(verdict, facts))] if failed else []
    document = CheckPromoteDocument(
        environment=inputs.environment,
        promoted_commit=inputs.promoted_commit or "",
        gitops_commit=inputs.gitops_commit,
        verdict=verdict,
        reason=reason,
        clusters=observation.counts(),
        rows=tuple(
            ClusterEntry(
                id=cluster.id,
                cluster_type=cluster.cluster_type,
                state=cluster.state,
                reason=cluster.reason,
                revision=cluster.revision,
                changed=cluster in changed,
            )
            for cluster in observation.clusters
        ),
        missing=observation.missing,
        not_ours=tuple(
            ForeignPathsEntry(id=foreign.id, paths=foreign.paths)
            for foreign in observation.not_ours
        ),
        promoted_to=tuple(ending.started) if verdict else (),
        warnings=ProblemEntry.all_of(observation.warnings),
        problems=ProblemEntry.all_of(problems),
    )
    hook = ending.hook.summary() if ending.hook else ""
    page = check_promote_summary(document, replace(facts, hook=hook, started=ending.started))
    return CommandResult(document, page, failed=failed)
