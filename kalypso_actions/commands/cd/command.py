"""`kalypso cd`: promote a commit of main to an environment."""

from __future__ import annotations

from kalypso_actions.clients.github import commits, statuses
from kalypso_actions.commands.cd.promote import Promoted, check_promotable, promote
from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.dispatch import acknowledge_cd
from kalypso_actions.commands.shared.environment_branch import EnvironmentBranch
from kalypso_actions.commands.shared.own_statuses import own_statuses
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs.cd import CdInputs
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.cd_decision import replaced_by, takes_back
from kalypso_actions.promotion.starts import forces_schedule, schedule_start
from kalypso_actions.report.cd_document import CdDocument
from kalypso_actions.report.cd_summary import CdFacts, cd_headline, cd_summary
from kalypso_actions.report.documents import ProblemEntry


def cd(inputs: CdInputs, context: CommandContext) -> CommandResult:
    """Promote a commit of main to an environment, and start schedule for it.

    cd writes the commit to base-repo.yaml on the environment's branch, or proposes it there. A
    second run completes the work of the first. With `verify-only`, it only checks the inputs and
    replaces the record of the start. Raises UsageError for an environment that does not exist, and
    for a commit that is not on main, or is older than the environment's without allow-rollback.
    """
    environment = context.environment(inputs.environment)
    main = context.main()
    branch = EnvironmentBranch(context, environment, main)
    if inputs.verify_only:
        check_promotable(inputs, context, branch, main)
        acknowledge_cd(context, inputs.environment, inputs.commit)
        return _verified(inputs, context, branch)
    acknowledge_cd(context, inputs.environment, inputs.commit)
    promoted = promote(inputs, context, branch, main)
    _post_statuses(inputs, context, promoted)
    _post_replacement(inputs, context, branch, promoted)
    started = ""
    if promoted.action in {"written", "unchanged"}:
        start = schedule_start(
            context.control_plane,
            inputs.schedule_workflow,
            environment=inputs.environment,
            environment_commit=promoted.environment_commit,
            force=forces_schedule(promoted.action, inputs.promoted_from),
        )
        started = carry_out([start], context).page
    return _build_result(inputs, context, branch, promoted, started)


def _build_result(
    inputs: CdInputs,
    context: CommandContext,
    branch: EnvironmentBranch,
    promoted: Promoted,
    started: str,
) -> CommandResult:
    document = CdDocument(
        environment=inputs.environment,
        commit=inputs.commit,
        action=promoted.action,
        changed=promoted.changed,
        reason=promoted.rollback.reason if promoted.rollback else "",
        environment_commit=promoted.environment_commit,
        pull_request_number=promoted.pull.number if promoted.pull else None,
        pull_request_url=promoted.pull.url if promoted.pull else "",
        warnings=ProblemEntry.all_of(_warnings(promoted, context)),
        problems=ProblemEntry.all_of(_problems(promoted)),
    )
    facts = CdFacts(
        repository_url=context.url(context.control_plane),
        branch=branch.name,
        before=promoted.before,
        hook=promoted.hook.summary() if promoted.hook else "",
        started=started,
    )
    context.runtime.log(f"{cd_headline(document)}.")
    return CommandResult(document, cd_summary(document, facts), failed=bool(document.problems))


def _verified(
    inputs: CdInputs, context: CommandContext, branch: EnvironmentBranch
) -> CommandResult:
    document = CdDocument(environment=inputs.environment, commit=inputs.commit, verify_only=True)
    context.runtime.log(f"{cd_headline(document)}.")
    facts = CdFacts(repository_url=context.url(context.control_plane), branch=branch.name)
    return CommandResult(document, cd_summary(document, facts))


def _warnings(promoted: Promoted, context: CommandContext) -> list[Problem]:
    warnings = [*promoted.warnings]
    if promoted.action != "rejected" or promoted.pull is None:
        return warnings
    number = promoted.pull.number
    message = f"nothing is proposed: #{number} with the same commit was closed without merging"
    advice = (
        "to propose it again, start cd by hand, without promoted-from; a newer commit of main is "
        "proposed by itself"
    )
    where = Location(context.url(context.control_plane))
    return [*warnings, Problem(message, where, advice)]


def _problems(promoted: Promoted) -> list[Problem]:
    hook = promoted.hook
    if hook is None or not hook.failed:
        return []
    advice = "its output says why; correct that, then run again"
    return [Problem(f"{hook.reason}: nothing was written", advice=advice)]


def _post_statuses(inputs: CdInputs, context: CommandContext, promoted: Promoted) -> None:
    """Post the status of the commit, and of the one that it replaces."""
    environment, commit = inputs.environment, inputs.commit
    match promoted:
        case Promoted(action="written"):
            _post(context, commit, table.promoted(environment))
        case Promoted(action="unchanged"):
            _post_unless_deployed(context, commit, table.promoted(environment))
        case Promoted(action="proposed", pull=pull) if pull:
            _post(context, commit, table.waiting_for(environment, pull.number))
        case Promoted(rollback=rollback) if rollback:
            status = table.rolled_back(environment, rollback.back_to or "none")
            _post_unless_deployed(context, commit, status)
        case Promoted(action="superseded", before=before) if before:
            _post_unless_deployed(context, commit, table.superseded(environment, before))
        case Promoted(hook=hook) if hook:
            _post(context, commit, table.failed(environment, hook.reason))
    if promoted.replaced:
        _post_end(context, environment, promoted.replaced, commit)


def _post_replacement(
    inputs: CdInputs, context: CommandContext, branch: EnvironmentBranch, promoted: Promoted
) -> None:
    """Post the status again if another run has replaced the commit in the meantime.

    The other run may have posted first: the run that posts last must read last.
    """
    if promoted.action not in {"written", "unchanged", "proposed"}:
        return
    state = branch.read(proposals=promoted.action == "proposed")
    proposed = state.proposal.promoted_commit if state.proposal else None
    if proposed:
        branch.describe(state, proposed)
    newer = replaced_by(inputs.commit, state.base.promoted_commit, proposed)
    if newer:
        _post_end(context, inputs.environment, inputs.commit, newer)


def _post_end(context: CommandContext, environment: str, commit: str, by: str) -> None:
    """Post that `by` replaced a commit, unless the commit was deployed or no longer exists."""
    relation = commits.relation(context.github, context.control_plane, commit, by)
    if relation is not None:
        end = table.rolled_back if takes_back(relation) else table.superseded
        _post_unless_deployed(context, commit, end(environment, by))


def _post_unless_deployed(context: CommandContext, commit: str, status: CommitStatus) -> None:
    # The App that posts Deployed has another account than the job in which cd runs by default.
    latest = own_statuses(context, commit, any_app=True)
    if not table.is_deployed(latest.get(status.context.lower())):
        _post(context, commit, status)


def _post(context: CommandContext, commit: str, status: CommitStatus) -> None:
    run_url = context.runtime.job.run_url
    if statuses.post(context.github, context.control_plane, commit, status, run_url=run_url):
        context.runtime.log(f"{commit[:7]}: {status.context}: {status.description}")
