"""`kalypso rollback`: go back to the last good commit, and hold the environment there.

    read → decide → writes → carry out → document

Every environment is decided before the first write. With `chain`, the last environment goes back
first: an environment that was reached never gets the left commit from one that still has it. Each
write is one commit on the environment's branch, with its hold, made by cd's step. A killed run is
completed by the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.clients.github import workflows
from kalypso_actions.commands.cd.reading import CdReading, check_on_main, read_facts
from kalypso_actions.commands.cd.writes import MESSAGE, CdWrites
from kalypso_actions.commands.shared.auto_merge import auto_merge_warnings
from kalypso_actions.commands.shared.carry_out import Done, carry_out
from kalypso_actions.commands.shared.context import CommandContext, checked_start, person_of
from kalypso_actions.commands.shared.environment_branch import (
    BaseHistory,
    EnvironmentBranch,
    base_at,
    checked_branch,
    deployed_commits,
    last_good,
    read_head,
    read_promotion,
    while_the_branch_moves,
)
from kalypso_actions.commands.shared.own_statuses import own_statuses_of
from kalypso_actions.commands.shared.policy_entry import (
    PolicyFile,
    read_policy_file,
    short_reason,
)
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs.chain import CdInputs, RollbackInputs
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.promotion_policy import Hold
from kalypso_actions.model.writes import (
    DisableAutoMerge,
    NewCommit,
    PostStatus,
    StartWorkflow,
    Write,
)
from kalypso_actions.promotion.environments import environments_behind
from kalypso_actions.promotion.policy import (
    ROLLED_BACK,
    EntryFacts,
    Reason,
    closed,
    evaluate,
    policy_of_proposal,
    same_person,
)
from kalypso_actions.promotion.policy_file import with_hold, without_holds
from kalypso_actions.promotion.rollbacks import (
    RollbackDecision,
    RollbackFacts,
    decide_rollback,
    decide_rollback_behind,
)
from kalypso_actions.promotion.start_records import cd_context, read_record
from kalypso_actions.promotion.starts import schedule_start
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.hold_document import HoldEntry
from kalypso_actions.report.rollback_document import (
    RollbackDocument,
    RolledBackEntry,
    rollback_summary,
)


def rollback(inputs: RollbackInputs, context: CommandContext) -> CommandResult:
    """Bring an environment back to its last good commit, and hold it there.

    With `verify-only`, it only decides. Raises UsageError for an environment or a commit that does
    not exist, and for a start by an account that is no person.
    """
    checked_start(context, ["rollback"])
    run = RollbackRun.of(inputs, context)
    steps = run.read_all()
    done = Done(goes_on_after=(DisableAutoMerge,))
    if not run.refusals(steps) and not inputs.verify_only:
        if inputs.dry_run:
            writes = [write for step in steps for write in run.writes_of(step, done)]
            return dry_run_result("rollback", run.document(steps, done), writes, context)
        steps = [run.carry_out(step, done) for step in steps]
    document = run.document(steps, done)
    context.runtime.log(f"{document.headline}.")
    summary = rollback_summary(document, context.url(context.control_plane), done.started())
    return CommandResult(document, summary, failed=bool(document.problems))


@dataclass(frozen=True, slots=True)
class RollbackStep:
    """An environment, its branch and its policy at one moment, and the decision about it."""

    environment: Environment
    branch: EnvironmentBranch
    decision: RollbackDecision
    policy: PolicyFile
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class RollbackRun:
    """A run of rollback; `person` is the login of the person who started it.

    `names` are the environments that go back, the last one first.
    """

    inputs: RollbackInputs
    context: CommandContext
    environments: Mapping[str, Environment]
    main: str
    person: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, inputs: RollbackInputs, context: CommandContext) -> RollbackRun:
        """Check the inputs. Raises UsageError."""
        environments, main = context.environments(), context.main()
        name = context.environment(inputs.environment, environments).name
        if inputs.to:
            check_on_main(inputs.to, main, context)
        behind: tuple[str, ...] = ()
        if inputs.chain:
            behind = environments_behind(name, environments, _origins(name, environments, context))
        return cls(inputs, context, environments, main, person_of(context), (*behind, name))

    def read_all(self) -> list[RollbackStep]:
        """Read and decide all environments, those that go back first being first."""
        own = self.read(self.inputs.environment)
        return [*(self.read(name, own.decision) for name in self.names[:-1]), own]

    def read(self, name: str, before: RollbackDecision | None = None) -> RollbackStep:
        """Read an environment's branch, and decide; `before` is that of the one that is named."""
        context, environment = self.context, self.environments[name]
        branch = checked_branch(environment, self.main, context)
        branch = read_promotion(branch, context, proposals=False)
        policy = read_policy_file(branch, context)
        history = BaseHistory(branch, self.environments, context)
        target = self.inputs.to or (before.target if before else "")
        left = before.left if before else ""
        facts = RollbackFacts(
            name,
            history.segments,
            history.main,
            last_good=last_good(branch, history, context, without=left) or "",
            deployed=list(deployed_commits(branch, [target], context)) if target else (),
            held_at=[hold.at for hold in policy.policy.holds if hold.at],
        )
        if before is None:
            decision = decide_rollback(facts, self.inputs.to or "")
        else:
            decision = decide_rollback_behind(facts, left, target)
        step = RollbackStep(environment, branch, decision, policy)
        if decision.action == "refused":
            where = Location(branch.url, branch.where.path, branch=branch.name)
            advice = f"kalypso history {name} shows its commits; name one with --to"
            if not facts.has_earlier:
                advice = "promote a correction: it has had no other commit"
            return replace(step, problems=(Problem(decision.reason, where, advice),))
        if decision.action == "write":
            entry = EntryFacts(name, decision.target, rolls_back=True, person=self.person)
            verdict = evaluate(policy.policy, entry, context.runtime.now())
            message = f"{name} cannot go back to {decision.target[:7]}"
            held = tuple(
                Problem(f"{message}: {reason.text}", policy.where, _advice(reason, name))
                for reason in verdict.reasons
            )
            return replace(step, problems=policy.problems or held)
        return step

    def refusals(self, steps: list[RollbackStep]) -> list[Problem]:
        """Return why nothing is written: an environment that cannot go back stops all others."""
        return [problem for step in steps for problem in step.problems]

    def carry_out(self, step: RollbackStep, done: Done) -> RollbackStep:
        """Bring one environment back, and start schedule; read it again if its branch moves."""
        name, steps = step.environment.name, iter([step])

        def attempt() -> RollbackStep:
            now = next(steps, None) or self.read_again(name)
            if not now.problems:
                carry_out(self.writes_of(now, done), self.context, done)
            return now

        return while_the_branch_moves(attempt, self.context)

    def read_again(self, name: str) -> RollbackStep:
        """Read one environment's branch, and decide, as `read_all`."""
        own = self.read(self.inputs.environment)
        return own if name == self.inputs.environment else self.read(name, own.decision)

    def writes_of(self, step: RollbackStep, done: Done) -> Iterator[Write]:
        """Yield the writes of an environment: those of cd with a hold, and schedule's start."""
        if step.decision.action in {"nothing", "present"}:
            return
        facts = self._facts(step)
        done.warnings += facts.problems
        writes = CdWrites(self._cd(step), self.context.control_plane, self._message(step))
        yield from writes.promotion(facts)
        yield from self._proposal_status(step)
        yield self._start(facts)

    def _proposal_status(self, step: RollbackStep) -> Iterator[PostStatus]:
        """Yield that the policy, with the new hold, keeps out what cd has proposed to the branch.

        The job need not read pull requests for that.
        """
        branch, context, target = step.branch, self.context, step.decision.target
        if not branch.own_head:
            return
        proposed = base_at(branch, branch.own_head, context).promoted_commit
        if proposed in {None, target}:
            return
        holds = (*step.policy.policy.holds, self._hold(step))
        policy = replace(step.policy.policy, holds=holds)
        entry = EntryFacts(step.environment.name, proposed or "")
        verdict = closed(policy, entry, context.runtime.now())
        status = policy_of_proposal(verdict.description)
        yield PostStatus(context.control_plane, branch.own_head, status)

    def _hold(self, step: RollbackStep) -> Hold:
        return Hold(self._reason(step), self.person, at=step.decision.target)

    def _facts(self, step: RollbackStep) -> CdReading:
        """Read what cd reads, at the same commit of the branch, and add the hold to its files."""
        cd = self._cd(step)
        facts = read_facts(cd, step.branch, self.environments, self.main, self.context)
        if facts.branch.head != step.branch.head:
            raise PushConflictError(step.branch.name, step.branch.url, facts.branch.head)
        if step.decision.action == "unchanged":
            return facts
        policy, left = step.policy, step.decision.left
        own = {  # of the rollback before
            place
            for place, each in enumerate(policy.policy.holds)
            if each.at == left and same_person(each.by, self.person)
        }
        text = without_holds(policy.text, own, policy.where) if policy.text else None
        new = with_hold(text, self._hold(step), policy.where)
        return replace(facts, changes={**facts.changes, policy.path: new.encode()})

    def _cd(self, step: RollbackStep) -> CdInputs:
        return CdInputs(
            environment=step.environment.name,
            commit=step.decision.target,
            allow_rollback=True,
            commit_by=self.inputs.commit_by,
            schedule_workflow=self.inputs.schedule_workflow,
        )

    def _start(self, facts: CdReading) -> StartWorkflow:
        """Return the start of schedule; it does not repeat what people removed since."""
        branch, control_plane = facts.branch, self.context.control_plane
        is_new = facts.action("commit") == "written"
        return schedule_start(
            control_plane,
            self.inputs.schedule_workflow,
            environment=branch.environment.name,
            environment_commit=NewCommit(control_plane, branch.name) if is_new else branch.head,
            force=False,
        )

    def _reason(self, step: RollbackStep) -> str:
        given = short_reason(self.inputs.reason)
        left = step.decision.left[:7] or "none"
        return f"{ROLLED_BACK}{left}{f' ({given})' if given else ''}"

    def _message(self, step: RollbackStep) -> str:
        left = step.decision.left[:7] or "no commit"
        return (
            f"{MESSAGE}\n\nRolled back from {left} by {self.person}. {step.policy.path} has the "
            "hold and its reason."
        )

    def document(self, steps: list[RollbackStep], done: Done) -> RollbackDocument:
        """Return the document of steps in their order."""
        context, inputs = self.context, self.inputs
        entries = []
        for step in steps:
            new = NewCommit(context.control_plane, step.branch.name)
            decision = step.decision
            entries.append(
                RolledBackEntry(
                    environment=step.environment.name,
                    action="refused" if step.problems else decision.action,
                    commit=decision.target,
                    left=decision.left,
                    environment_commit=done.commits.get(new, ""),
                    hold=HoldEntry.of(self._hold(step)) if decision.action == "write" else None,
                )
            )
        return RollbackDocument(
            environment=inputs.environment,
            chain=inputs.chain,
            verify_only=inputs.verify_only,
            environments=tuple(entries),
            warnings=ProblemEntry.all_of(
                dict.fromkeys((*done.warnings, *auto_merge_warnings(done, context)))
            ),
            problems=ProblemEntry.all_of(dict.fromkeys(self.refusals(steps))),
        )


def _advice(reason: Reason, name: str) -> str:
    owner = reason.hold.by.removeprefix("@") if reason.hold else "LOGIN"
    return (
        f"ask {owner} to release it, or release it for {owner}: kalypso release {name} --by {owner}"
    )


def _origins(
    own_name: str, environments: Mapping[str, Environment], context: CommandContext
) -> Mapping[str, str]:
    """Return where commits came from into each environment, as the chain recorded the starts of cd.

    Those are its present commit, and the one that goes back from `own_name`: a killed run may have
    brought the environment back already. A person's own start has no record. Raises KalypsoError.
    """
    present = {
        name: read_head(environment, context).promoted_commit or ""
        for name, environment in environments.items()
    }
    posted = own_statuses_of(context, sorted(filter(None, present.values())), any_app=True)
    origins = {}
    for name in environments:
        key = cd_context(name).lower()
        statuses = (posted.get(present[each], {}).get(key) for each in (own_name, name))
        for record in filter(None, map(read_record, statuses)):
            origins[name] = record.subject
    return origins


INTERVAL: Final = 5.0
"""Seconds between two looks at a started run: an hour takes a seventh of a token's requests."""


TELLS_AFTER: Final = timedelta(minutes=1)
"""The time after which a person is told that a run has not ended."""


def start_rollback(inputs: RollbackInputs, context: CommandContext) -> RollbackDocument:
    """Start the workflow that goes back, for a person at a terminal, and follow its run.

    Decide first, so that nothing is started in vain. Raises UsageError as `rollback`, GitHubError.
    """
    run = RollbackRun.of(inputs, context)
    document = run.document(run.read_all(), Done())
    if document.problems:
        return document
    context.runtime.log(f"{document.headline}: {inputs.rollback_workflow} is started.")
    given = {
        "environment": inputs.environment,
        "to": document.commit,
        "chain": "true" if inputs.chain else "",
        "reason": inputs.reason,
    }
    started = workflows.dispatch(
        context.github,
        context.control_plane,
        inputs.rollback_workflow,
        ref=run.main,
        inputs={name: value for name, value in given.items() if value},
    )
    if started is None:
        page = f"{context.url(context.control_plane)}/actions/workflows/{inputs.rollback_workflow}"
        context.runtime.log(f"The server does not name the run: see {page}")
        return document.model_copy(update={"run_url": page})
    context.runtime.log(f"{started.url}")
    end: str | None = None
    begun = told = context.runtime.now()
    while end is None:
        context.runtime.sleep(INTERVAL)
        now = context.runtime.now()
        if now - told >= TELLS_AFTER:
            told, minutes = now, (now - begun) // timedelta(minutes=1)
            context.runtime.log(f"It has not ended after {minutes} min; Ctrl-C only stops looking.")
        end = workflows.conclusion(
            context.github, context.control_plane, inputs.rollback_workflow, started.id
        )
    document = document.model_copy(update={"run_url": started.url})
    if end == "success":
        return document
    problem = Problem(
        f"the run of {inputs.rollback_workflow} ended with {end}",
        Location(started.url),
        "its page says why; a run that is started again completes what is left",
    )
    return document.model_copy(update={"problems": ProblemEntry.all_of([problem])})


def show_rollback(
    inputs: RollbackInputs,
    context: CommandContext,
    compare: Callable[[str, str, str], ComparisonEntry],
) -> RollbackDocument:
    """Return the document of a dry run, with what would be rendered differently.

    `compare` returns that for an environment and two commits of main.
    """
    document: RollbackDocument = rollback(inputs, context).document  # type: ignore[assignment]  # its own
    if document.problems:
        return document
    entries = tuple(
        entry.model_copy(update={"changes": compare(entry.environment, entry.left, entry.commit)})
        if entry.action == "write" and entry.left
        else entry
        for entry in document.environments
    )
    return document.model_copy(update={"environments": entries})
