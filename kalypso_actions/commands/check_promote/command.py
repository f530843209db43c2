"""`kalypso check-promote`: the clusters of an environment have it, and the commit goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from kalypso_actions.commands.check_promote.status import DeploymentStatus
from kalypso_actions.commands.check_promote.verify_request import (
    VerifiedClaim,
    verify,
    waiting_since,
)
from kalypso_actions.commands.check_promote.watch import Look, Watch
from kalypso_actions.commands.runtime.azure_clusters import AzureClusters
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.dispatch import (
    acknowledge_check_promote,
    acknowledge_end,
    start_cd,
    start_check_promote,
)
from kalypso_actions.commands.runtime.hook import LONGEST as LONGEST_HOOK
from kalypso_actions.commands.runtime.hook import HookRun, run_hook
from kalypso_actions.commands.runtime.result import CommandResult
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.chain import CheckPromoteInputs
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion import next_environments
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.rounds import FAILURES, GOES_ON, Decision, Superseded, decide
from kalypso_actions.report.chain_documents import (
    CheckPromoteDocument,
    ClusterEntry,
    ForeignPathsEntry,
)
from kalypso_actions.report.check_promote_summary import (
    ADVICE,
    CheckPromoteFacts,
    check_promote_summary,
)
from kalypso_actions.report.documents import ProblemEntry

HOOK: Final = "post-deployment"
WORKFLOW: Final = "check-promote.yaml"
"""The file that runs this command, by the name that every control plane gives it."""

LONGEST_RUN: Final = timedelta(hours=5, minutes=30)
"""A hosted job is ended after six hours: before that, another run goes on with the waiting. A
command that runs after it has to end within them, too."""

SHORTEST_PAUSE: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a run ends: the verdict (None: another run goes on), the last look, and what came of it.

    `status` is what the promoted commit gets; `started` are pages by what was started.
    """

    decision: Decision | None
    look: Look = field(default_factory=Look)
    status: CommitStatus | None = None
    hook: HookRun | None = None
    started: Mapping[str, str] = field(default_factory=dict)


def check_promote(inputs: CheckPromoteInputs, context: CommandContext) -> CommandResult:
    """Wait until the clusters of an environment comply with a merge, and promote its commit.

    Nothing that the inputs claim is believed before the repositories say it. The commit's status
    tells how it stands; once its clusters comply, CD is started for the next environments. Run
    again, this repairs what an earlier run has left undone. `verify-only` replaces the record of
    the start, and otherwise only looks whether the claim holds. Raises UsageError for one that does
    not, before anything is written.
    """
    began = context.runtime.now()
    verified = verify(inputs, context)
    onward = _onward(inputs, verified)
    started = waiting_since(inputs, context)
    record = partial(
        acknowledge_check_promote,
        context,
        inputs.environment,
        inputs.promoted_commit,
        verified.repository,
    )
    record(inputs.gitops_commit)
    if inputs.verify_only:
        return _verified(inputs, context, verified)
    status = DeploymentStatus(context, verified.claim)
    with AzureClusters(inputs, context.runtime) as azure:
        watch = Watch(inputs, context, verified, azure)
        found = watch.look_at_branches()
        if watch.must_ask and not found:
            azure.connect()  # what is wrong with the inputs is told before anything is posted
        if not found:
            status.post(table.deploying(inputs.environment))
        with status.told_where_it_ends():
            if found:
                ending = _superseded(inputs, found, Look())
            else:
                ending = _wait(inputs, context, verified, watch, began=began, started=started)
            if ending.decision and ending.decision.verdict in GOES_ON:
                ending = _finish(inputs, context, watch, ending, onward)
            if ending.status:
                status.post(ending.status)
        if ending.decision:
            acknowledge_end(
                context,
                inputs.environment,
                inputs.promoted_commit,
                verified.repository,
                {inputs.gitops_commit, watch.gitops_commit},
                watch.gitops_commit,
            )
    return _outcome(inputs, ending, _facts(context, verified))


def _verified(
    inputs: CheckPromoteInputs, context: CommandContext, verified: VerifiedClaim
) -> CommandResult:
    document = CheckPromoteDocument(
        environment=inputs.environment,
        promoted_commit=inputs.promoted_commit or "",
        gitops_commit=inputs.gitops_commit,
        verify_only=True,
    )
    facts = _facts(context, verified)
    return CommandResult(document, check_promote_summary(document, facts))


def _onward(inputs: CheckPromoteInputs, verified: VerifiedClaim) -> tuple[str, ...]:
    """The environments that the commit goes on to; a configuration change goes nowhere."""
    if inputs.promoted_commit is None:
        return ()
    return next_environments(inputs.next_environment, inputs.environment, verified.environments)


def _wait(
    inputs: CheckPromoteInputs,
    context: CommandContext,
    verified: VerifiedClaim,
    watch: Watch,
    *,
    began: datetime,
    started: datetime,
) -> _Ending:
    """Look until there is a verdict; `began` is when this run did, `started` when the waiting did.

    The clusters are asked before the branches are read: what a cluster has then, the branch has.
    """
    runtime = context.runtime
    longest = LONGEST_RUN - timedelta(seconds=LONGEST_HOOK if inputs.post_deployment else 0)
    while True:
        rows = watch.ask()
        found = watch.look_at_branches()
        look = watch.judge(rows, started)
        if rows:
            runtime.log(look.progress())
        if found:
            return _superseded(inputs, found, look)
        left = started + inputs.timeout - runtime.now()
        decision = decide(look.standings, timed_out=left <= timedelta(0))
        if decision:
            return _Ending(decision, look, _status(inputs, decision))
        pause = max(min(inputs.poll_interval, left), SHORTEST_PAUSE)
        if runtime.job.in_actions and runtime.now() + pause - began >= longest:
            return _Ending(None, look, started=_continue(inputs, context, verified, started))
        runtime.sleep(pause.total_seconds())


def _status(inputs: CheckPromoteInputs, decision: Decision) -> CommitStatus | None:
    """What a verdict makes of the commit's status; None where it stays."""
    if decision.verdict in FAILURES:
        return table.failed(inputs.environment, decision.reason)
    return None


def _superseded(inputs: CheckPromoteInputs, found: Superseded, look: Look) -> _Ending:
    by = found.by or "none"
    if found.goes_back:
        reason = f"{found.source} went back: it names {by[:7]}"
        status = table.rolled_back(inputs.environment, by)
    else:
        reason = f"{found.source} names {by[:7]} by now"
        status = table.superseded(inputs.environment, by)
    return _Ending(Decision("superseded", reason), look, status)


def _continue(
    inputs: CheckPromoteInputs, context: CommandContext, verified: VerifiedClaim, started: datetime
) -> Mapping[str, str]:
    """Start the run that goes on with the waiting; its page."""
    page = start_check_promote(
        context,
        WORKFLOW,
        environment=inputs.environment,
        promoted_commit=inputs.promoted_commit or "",
        gitops_commit=inputs.gitops_commit,
        repository=verified.repository,
        started_at=started.isoformat(),
    )
    return {"check-promote": page}


def _finish(
    inputs: CheckPromoteInputs,
    context: CommandContext,
    watch: Watch,
    ending: _Ending,
    onward: Sequence[str],
) -> _Ending:
    """Let the user's command decide whether the commit goes on.

    It may take its time: what people have taken back meanwhile does not go on.
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
        decision = Decision("failed", hook.reason)
        return replace(ending, decision=decision, hook=hook, status=_status(inputs, decision))
    found = watch.look_at_branches()
    if found:
        return replace(_superseded(inputs, found, ending.look), hook=hook)
    return replace(_go_on(inputs, context, ending, onward), hook=hook)


def _go_on(
    inputs: CheckPromoteInputs, context: CommandContext, ending: _Ending, onward: Sequence[str]
) -> _Ending:
    """Start CD for the next environments.

    Only after that is the commit to be called deployed: where this ends in between, the next run
    starts them again.
    """
    started = {}
    for environment in onward:
        started[environment] = start_cd(
            context,
            inputs.cd_workflow,
            environment=environment,
            promoted_commit=inputs.promoted_commit or "",
            promoted_from=inputs.environment,
        )
    status = table.deployed(inputs.environment, is_last=not onward)
    return replace(ending, started=started, status=status)


def _facts(context: CommandContext, verified: VerifiedClaim) -> CheckPromoteFacts:
    """The pages of the repositories that this is about."""
    place = next(iter(verified.own))
    return CheckPromoteFacts(context.url(context.control_plane), context.url(place.repository))


def _outcome(
    inputs: CheckPromoteInputs, ending: _Ending, facts: CheckPromoteFacts
) -> CommandResult:
    decision, look = ending.decision, ending.look
    verdict = decision.verdict if decision else ""
    reason = decision.reason if decision else ""
    failed = decision is not None and decision.verdict in FAILURES
    problems = [Problem(reason, advice=ADVICE[verdict])] if failed else []
    document = CheckPromoteDocument(
        environment=inputs.environment,
        promoted_commit=inputs.promoted_commit or "",
        gitops_commit=inputs.gitops_commit,
        verdict=verdict,
        reason=reason,
        clusters=look.counts(),
        rows=tuple(
            ClusterEntry(
                id=one.id,
                cluster_type=one.cluster_type,
                state=one.state,
                reason=one.reason,
                revision=one.revision,
            )
            for one in look.clusters
        ),
        missing=look.missing,
        not_ours=tuple(ForeignPathsEntry(id=one.id, paths=one.paths) for one in look.not_ours),
        promoted_to=tuple(ending.started) if verdict else (),
        warnings=ProblemEntry.all_of(look.warnings),
        problems=ProblemEntry.all_of(problems),
    )
    hook = ending.hook.summary() if ending.hook else ""
    page = check_promote_summary(document, replace(facts, hook=hook, started=ending.started))
    return CommandResult(document, page, failed=failed)
