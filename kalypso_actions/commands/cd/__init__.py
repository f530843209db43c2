"""`kalypso cd`: promote a commit of main to an environment, and start schedule for it.

    read → decide → writes → carry out → document

reading    the environment's branch, and what people have rejected or undone
read_back  the files to push, read as schedule will read them
writes     the writes, in the order in which they are carried out

The pre-deployment command runs once, and only before a write. After it, and after somebody else has
moved the branch, everything is read again. What happens after the writes has been read after them,
too: another run of cd may have replaced the commit in the meantime.
"""

from __future__ import annotations

from typing import Final

from kalypso_actions.commands.cd.reading import (
    CdReading,
    check_on_main,
    read_entry,
    read_facts,
    relation_of,
)
from kalypso_actions.commands.cd.writes import CdWrites
from kalypso_actions.commands.shared.auto_merge import auto_merge_warnings
from kalypso_actions.commands.shared.carry_out import Done, carry_out
from kalypso_actions.commands.shared.context import CommandContext, checked_start, person_of
from kalypso_actions.commands.shared.environment_branch import (
    checked_branch,
    read_promotion,
    while_the_branch_moves,
)
from kalypso_actions.commands.shared.hook import HookRun, run_hook
from kalypso_actions.commands.shared.own_statuses import latest_record, was_recorded
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.model.writes import (
    DisableAutoMerge,
    NewCommit,
    OpenedPullRequest,
    PostStatus,
    Write,
)
from kalypso_actions.promotion.cd_decision import replaced_by
from kalypso_actions.promotion.start_records import StartRecord, cd_context
from kalypso_actions.promotion.starter_rights import PersonsInput
from kalypso_actions.promotion.starts import record_of
from kalypso_actions.report.chain_document import CdDocument, cd_summary
from kalypso_actions.report.documents import ProblemEntry

HOOK: Final = "pre-deployment"


def cd(inputs: CdInputs, context: CommandContext) -> CommandResult:
    """Promote a commit of main to an environment, and start schedule for it.

    cd writes the commit to base-repo.yaml on the environment's branch, or proposes it there. A
    second run completes the work of the first. With `verify-only`, it only checks the inputs and
    replaces the record of the start. Raises UsageError for an environment that does not exist, and
    for a commit that is not on main, or is older than the environment's without allow-rollback, and
    for a start that the account must not make.
    """
    _check_start(inputs, context)
    environments, main = context.environments(), context.main()
    environment = context.environment(inputs.environment, environments)
    branch = checked_branch(environment, main, context)
    person = person_of(context) if inputs.override else ""
    writes = CdWrites(inputs, context.control_plane, person=person)
    begun = _received(inputs, context)
    if inputs.verify_only:
        check_on_main(inputs.commit, main, context)
        entry = read_entry(inputs, branch, environments, main, context)
        return _verified(inputs, entry, (*begun, *writes.waiting(entry)), context)
    if not inputs.dry_run:
        carry_out(begun, context)  # even if the run fails, poll need not start it once more
    check_on_main(inputs.commit, main, context)
    done = Done(goes_on_after=(DisableAutoMerge,))
    hooks: list[HookRun] = []

    def promote() -> tuple[CdReading, tuple[Write, ...]]:
        facts = read_facts(inputs, branch, environments, main, context)
        if not hooks and _needs_hook(inputs, facts):
            hooks.append(_run_hook(inputs, facts, context))
            if not hooks[0].failed:
                # The command may take an hour, in which people may promote another commit.
                facts = read_facts(inputs, branch, environments, main, context)
        failed = next((hook for hook in hooks if hook.failed), None)
        promotion = writes.failure(failed) if failed else writes.promotion(facts)
        if not inputs.dry_run:
            carry_out(promotion, context, done)
        return facts, promotion

    facts, promotion = while_the_branch_moves(promote, context)
    hook = hooks[0] if hooks else None
    has_failed = hook is not None and hook.failed
    start = () if has_failed else writes.start(facts)
    if inputs.dry_run:
        document = _document(inputs, facts, None, done, context)
        return dry_run_result("cd", document, (*begun, *promotion, *start), context)
    if not has_failed and facts.action(inputs.mode) in {"written", "unchanged", "proposed"}:
        _complete(inputs, facts, writes, context)
    carry_out(start, context, done)
    return _result(inputs, facts, hook, done, context)


def _check_start(inputs: CdInputs, context: CommandContext) -> None:
    """Raise UsageError if the account that started the run may not do what it asks for."""
    asks: dict[PersonsInput, bool] = {
        "promoted-from": not inputs.promoted_from,
        "allow-rollback": inputs.allow_rollback,
        "override": bool(inputs.override),
    }
    start = checked_start(context, [name for name, is_asked in asks.items() if is_asked])
    if start.bot is None:
        return
    name, commit = cd_context(inputs.environment), inputs.commit
    problem = start.unrecorded(
        inputs.promoted_from,
        is_recorded=was_recorded(context, commit, name, inputs.promoted_from),
        status_context=name,
        where=Location(context.url(context.control_plane)),
    )
    if problem:
        raise UsageError.of([problem])


def _received(inputs: CdInputs, context: CommandContext) -> tuple[PostStatus, ...]:
    """Return the record that a run of cd has begun, unless a person started it."""
    name, commit = cd_context(inputs.environment), inputs.commit
    record = latest_record(context, commit, name)
    if record is None or record.kind not in {"starting", "given up"}:
        return ()
    received = StartRecord("received", record.subject)
    return (record_of(context.control_plane, commit, name, received),)


def _needs_hook(inputs: CdInputs, facts: CdReading) -> bool:
    """Whether the pre-deployment command decides: only before a write of the commit."""
    writes = facts.action(inputs.mode) in {"written", "proposed"}
    is_new = writes and not facts.branch.brings(inputs.commit)
    return bool(inputs.pre_deployment) and is_new and not inputs.dry_run


def _run_hook(inputs: CdInputs, facts: CdReading, context: CommandContext) -> HookRun:
    about = {
        "environment": inputs.environment,
        "commit": inputs.commit,
        "previous_commit": facts.before or "",
        "promoted_from": inputs.promoted_from,
        "control_plane": context.control_plane,
    }
    return run_hook(HOOK, inputs.pre_deployment, context.runtime, about)


def _complete(
    inputs: CdInputs, facts: CdReading, writes: CdWrites, context: CommandContext
) -> None:
    """Read the branch once more, and post the status again if another run has replaced the commit.

    The other run may have posted first: the run that posts last must read last.
    """
    proposals = facts.action(inputs.mode) == "proposed"
    now = read_promotion(facts.branch, context, proposals=proposals)
    proposed = now.proposal.promoted_commit if now.proposal else None
    newer = replaced_by(inputs.commit, now.promoted_commit, proposed)
    relation = relation_of(inputs.commit, newer, context) if newer else None
    carry_out(writes.replacement(now, relation), context)


def _document(
    inputs: CdInputs, facts: CdReading, hook: HookRun | None, done: Done, context: CommandContext
) -> CdDocument:
    """Return the document of a run that has `done` its writes, or none in a dry run."""
    branch, control_plane = facts.branch, context.control_plane
    action = "" if hook and hook.failed else facts.action(inputs.mode)
    opened = OpenedPullRequest(control_plane, branch.own_name, branch.name)
    pull, outcome = done.pulls.get(opened, (facts.rejected, "unchanged"))
    new, own = (NewCommit(control_plane, name) for name in (branch.name, branch.own_name))
    is_pushed = (own if action == "proposed" else new) in done.commits
    environment_commit = branch.head if action == "unchanged" else done.commits.get(new, "")
    where = Location(context.url(control_plane))
    warnings = dict.fromkeys((*facts.problems, *auto_merge_warnings(done, context)))
    problems = []
    if action == "rejected" and pull:
        message = (
            f"nothing is proposed: #{pull.number} with the same commit was closed without merging"
        )
        advice = (
            "to propose it again, start cd by hand, without promoted-from; a newer commit of main "
            "is proposed by itself"
        )
        warnings[Problem(message, where, advice)] = None
    if hook and hook.failed:
        advice = "correct the cause that the command's output names, then run again"
        problems.append(Problem(f"{hook.reason}: nothing was written", advice=advice))
    shown = pull if action in {"proposed", "rejected"} else None
    return CdDocument(
        environment=inputs.environment,
        commit=inputs.commit,
        action=action,
        changed=is_pushed or (action == "proposed" and outcome != "unchanged"),
        reason=facts.rollback.reason if facts.rollback and not problems else "",
        waiting_for=facts.verdict.description if action == "waiting" else "",
        overridden=facts.verdict.description if facts.overridden else "",
        environment_commit=environment_commit,
        pull_request_number=shown.number if shown else None,
        pull_request_url=shown.url if shown else "",
        warnings=ProblemEntry.all_of(warnings),
        problems=ProblemEntry.all_of(problems),
    )


def _result(
    inputs: CdInputs, facts: CdReading, hook: HookRun | None, done: Done, context: CommandContext
) -> CommandResult:
    document = _document(inputs, facts, hook, done, context)
    context.runtime.log(f"{document.headline}.")
    summary = cd_summary(
        document,
        repository_url=context.url(context.control_plane),
        branch=facts.branch.name,
        before=facts.before,
        hook=hook.summary() if hook else "",
        started=done.page if done.pages else "",
        reasons=[reason.text for reason in facts.verdict.reasons],
        override=inputs.override if facts.overridden else "",
    )
    return CommandResult(document, summary, failed=bool(document.problems))


def _verified(
    inputs: CdInputs, entry: CdReading, writes: tuple[PostStatus, ...], context: CommandContext
) -> CommandResult:
    document = CdDocument(
        environment=inputs.environment,
        commit=inputs.commit,
        verify_only=True,
        action="waiting" if entry.waits else "",
        waiting_for=entry.verdict.description if entry.waits else "",
    )
    if inputs.dry_run:
        return dry_run_result("cd", document, writes, context)
    carry_out(writes, context)
    context.runtime.log(f"{document.headline}.")
    url, branch = context.url(context.control_plane), entry.branch.name
    reasons = [reason.text for reason in entry.verdict.reasons]
    summary = cd_summary(document, repository_url=url, branch=branch, reasons=reasons)
    return CommandResult(document, summary)
