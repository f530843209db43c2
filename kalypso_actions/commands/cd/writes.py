"""The writes of cd, in order. Nothing is read or written here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kalypso_actions.commands.cd.reading import CdReading
from kalypso_actions.commands.shared.environment_branch import REPLACES, EnvironmentBranch
from kalypso_actions.commands.shared.hook import HookRun
from kalypso_actions.commands.shared.labels import WITHDRAWN
from kalypso_actions.commands.shared.reading.base_history import OVERRIDE
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.model.change_titles import ChangeKind, ChangeMeaning, harmless
from kalypso_actions.model.github import CommitStatus, Relation
from kalypso_actions.model.writes import (
    UNKNOWN,
    ClosePullRequest,
    Later,
    NewCommit,
    OpenedPullRequest,
    OpenPullRequest,
    PostStatus,
    Push,
    StartWorkflow,
    Write,
)
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.cd_decision import replaced_by, takes_back
from kalypso_actions.promotion.policy import overridden, policy_of_proposal
from kalypso_actions.promotion.starts import forces_schedule, schedule_start
from kalypso_actions.report.chain_document import proposal_body
from kalypso_actions.report.markdown import marker

MESSAGE: Final = "Promoting Commit_Id to the environment"
"""The message is upstream's."""


@dataclass(frozen=True, slots=True)
class CdWrites:
    """Makes the writes of a run of cd in a control plane (`owner/name`).

    `message` is that of its commit on the environment's branch. `person` passes over the policy.
    """

    inputs: CdInputs
    control_plane: str
    message: str = MESSAGE
    person: str = ""

    def promotion(self, facts: CdReading) -> tuple[Write, ...]:
        """Return the writes to the environment's branch or to our proposal, and the statuses."""
        return (*self._branch_writes(facts), *self._statuses(facts))

    def failure(self, hook: HookRun) -> tuple[Write, ...]:
        """Return the writes after the pre-deployment command has failed."""
        status = table.failed(self.inputs.environment, hook.reason)
        return (self._post(self.inputs.commit, status),)

    def waiting(self, entry: CdReading) -> tuple[PostStatus, ...]:
        """Return the status of a commit that the policy keeps out; none if it lets it in."""
        if not entry.waits:
            return ()
        status = table.waiting(self.inputs.environment, entry.verdict.description)
        return (self._post(self.inputs.commit, status, keeps_deployed=True),)

    def replacement(self, now: EnvironmentBranch, relation: Relation | None) -> tuple[Write, ...]:
        """Return the writes if another run has replaced the commit in the meantime.

        `now` is the branch after the writes, `relation` that of the newer commit to this one. The
        other run may have posted first: the run that posts last must read last.
        """
        proposed = now.proposal.promoted_commit if now.proposal else None
        describe = [self._describe(now, proposed, now.own_head)] if proposed else []
        newer = replaced_by(self.inputs.commit, now.promoted_commit, proposed)
        ended = self._ended(self.inputs.commit, newer, relation) if newer else ()
        return (*describe, *ended)

    def start(self, facts: CdReading) -> tuple[StartWorkflow, ...]:
        """Return the start of schedule, if the branch has the commit."""
        branch, action = facts.branch, facts.action(self.inputs.mode)
        if action not in {"written", "unchanged"}:
            return ()
        new = NewCommit(self.control_plane, branch.name)
        start = schedule_start(
            self.control_plane,
            self.inputs.schedule_workflow,
            environment=self.inputs.environment,
            environment_commit=new if action == "written" else branch.head,
            force=forces_schedule(action, self.inputs.promoted_from),
        )
        return (start,)

    def _branch_writes(self, facts: CdReading) -> Iterator[Write]:
        branch, commit = facts.branch, self.inputs.commit
        proposal = branch.proposal
        match facts.action(self.inputs.mode):
            case "written":
                yield from facts.auto_merges
                yield self._push(facts, branch.name, branch.head, self._message(facts))
            case "proposed":
                own_head: str | NewCommit = branch.own_head
                if not branch.brings(commit):
                    replaced = facts.replaced
                    message = self._message(facts, f"{REPLACES}: {replaced}" if replaced else "")
                    yield self._push(facts, branch.own_name, branch.own_head, message)
                    own_head = NewCommit(self.control_plane, branch.own_name)
                rollback = facts.advance.rollback
                passes_over = facts.verdict.description if facts.overridden else ""
                yield self._describe(
                    branch, commit, own_head, rollback=rollback, passes_over=passes_over
                )
                if facts.overridden or facts.has_policy:
                    yield self._policy_status(own_head, facts)
            case "superseded" if facts.rollback is None:
                # The run that pushed our proposal may not have opened its pull request yet.
                if proposal and proposal.pull is None and proposal.promoted_commit:
                    yield self._describe(branch, proposal.promoted_commit, branch.own_head)
            case "unchanged":
                yield from self._withdraw_empty(branch)
            case "waiting" if branch.brings(commit):
                yield self._policy_status(branch.own_head, facts)

    def _message(self, facts: CdReading, trailer: str = "") -> str:
        """Return the message of a commit, which says who passed over the policy, and why."""
        override = ""
        if facts.overridden:
            override = f"{OVERRIDE}: {self.person}: {harmless(self.inputs.override)}"
        trailers = "\n".join(filter(None, (trailer, override)))
        return f"{self.message}\n\n{trailers}" if trailers else self.message

    def _policy_status(self, head: str | NewCommit, facts: CdReading) -> PostStatus:
        """Return the status of our proposal: whether the policy would let it in now."""
        reasons = "" if facts.overridden else facts.verdict.description
        return PostStatus(
            repository=self.control_plane, commit=head, status=policy_of_proposal(reasons)
        )

    def _push(self, facts: CdReading, name: str, head: str, message: str) -> Push:
        """Commit the commit of main to a branch at `head` ("": absent)."""
        branch = facts.branch
        return Push(
            repository=self.control_plane,
            url=branch.url,
            branch=name,
            base=branch.name,
            expected=head or None,
            parent=branch.head,
            changes=dict(facts.changes),
            message=message,
            commit_by=self.inputs.commit_by,
            alternative="" if name == branch.own_name else "use mode: pull-request",
        )

    def _describe(
        self,
        branch: EnvironmentBranch,
        promoted_commit: str,
        own_head: str | NewCommit,
        *,
        rollback: bool = False,
        passes_over: str = "",
    ) -> OpenPullRequest:
        """Open the pull request of our branch, or update its text for `promoted_commit`.

        `rollback`: this run's commit takes back the present one. `passes_over` is why the policy
        would keep the commit out.
        """
        goes_back = rollback and promoted_commit == self.inputs.commit
        kind: ChangeKind = "rollback" if goes_back else "promotion"
        meaning = ChangeMeaning(kind, branch.environment.name, promoted_commit)
        return OpenPullRequest(
            repository=self.control_plane,
            head=branch.own_name,
            base=branch.name,
            title=meaning.title,
            body=proposal_body(
                meaning, branch.url, branch.promoted_commit, self.person, passes_over
            ),
            commit=own_head,
            former_labels=(WITHDRAWN,),
        )

    def _withdraw_empty(self, branch: EnvironmentBranch) -> Iterator[ClosePullRequest]:
        """Close our open pull request if the environment has its commit already."""
        proposal = branch.proposal
        if proposal and proposal.pull and proposal.promoted_commit == branch.promoted_commit:
            yield ClosePullRequest(
                repository=self.control_plane,
                number=proposal.pull.number,
                mark=marker("withdrawn", branch.environment.name),
                comment=f"The environment has {proposal.promoted_commit} already: "
                "nothing is left to merge.",
                labels=(WITHDRAWN,),
            )

    def _statuses(self, facts: CdReading) -> Iterator[PostStatus]:
        """Yield the status of the commit, and of the one that it replaces."""
        branch, commit, name = facts.branch, self.inputs.commit, self.inputs.environment
        if facts.overridden:
            status = overridden(name, f"Overridden by {self.person}: {self.inputs.override}")
            yield self._post(commit, status)
        match facts.action(self.inputs.mode):
            case "waiting":
                yield from self.waiting(facts)
            case "written":
                yield self._post(commit, table.promoted(name))
                for older in facts.waiting:
                    ended = table.superseded(name, commit)
                    yield self._post(older, ended, keeps_deployed=True)
            case "unchanged":
                yield self._post(commit, table.promoted(name), keeps_deployed=True)
            case "proposed":
                pull = OpenedPullRequest(self.control_plane, branch.own_name, branch.name)
                shown = table.waiting_for(name, UNKNOWN)
                waiting = Later(table.waiting_for, name, pull, shown)
                yield self._post(commit, waiting)
            case "superseded" if facts.rollback:
                ended = table.rolled_back(name, facts.rollback.back_to or "none")
                yield self._post(commit, ended, keeps_deployed=True)
            case "superseded" if facts.before:
                yield self._post(commit, table.superseded(name, facts.before), keeps_deployed=True)
        if facts.replaced:
            yield from self._ended(facts.replaced, commit, facts.relation)

    def _ended(self, commit: str, by: str, relation: Relation | None) -> Iterator[PostStatus]:
        """Yield that `by` replaced a commit, unless the commit was deployed or no longer exists."""
        if relation is not None:
            ended = table.rolled_back if takes_back(relation) else table.superseded
            yield self._post(commit, ended(self.inputs.environment, by), keeps_deployed=True)

    def _post(
        self,
        commit: str,
        status: CommitStatus | Later[CommitStatus],
        *,
        keeps_deployed: bool = False,
    ) -> PostStatus:
        return PostStatus(
            repository=self.control_plane,
            commit=commit,
            status=status,
            keeps_deployed=keeps_deployed,
        )
