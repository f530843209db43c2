"""The writing side of a proposition: branch, pull request, labels, merge; each knows what is done.

A run that was killed, or that others were faster than, leaves nothing that the next one does not
put right: what is there as wanted is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions import gitops
from kalypso_actions.clients.git import Signature
from kalypso_actions.clients.github import labels, merging, pull_requests
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.labels import KALYPSO, PROMOTED, WITHDRAWN, make_labels
from kalypso_actions.commands.schedule.propose import Proposition
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.report import markdown, pull_request
from kalypso_actions.report.chain_documents import PullRequestEntry
from kalypso_actions.report.pull_request import PullRequestText

AUTHOR: Final = Signature("Kalypso Scheduler", "kalypso.scheduler@email.com")
MESSAGE: Final = "Kalypso Scheduler commit"
"""Author and message are upstream's."""


@dataclass(frozen=True, slots=True)
class Published:
    """What was done with a pull request, whose head is `commit`.

    `merge_commit` is "" unless this run has merged it.
    """

    proposition: Proposition
    entry: PullRequestEntry
    pull: PullRequest
    commit: str
    merge_commit: str = ""
    warnings: tuple[Problem, ...] = ()


def push(proposition: Proposition, context: CommandContext) -> str:
    """Our branch at a commit of what is proposed, on top of the branch it is proposed to.

    The commit that is there is taken where it is just this: another run, or this one before it was
    killed, has pushed it. Returns the commit. Raises PushConflictError where another run is faster.
    """
    state, standing, proposed = proposition.state, proposition.standing, proposition.proposed
    head = state.own_head
    if proposition.decision.action == "leave" and head:
        return head
    same = standing and (standing.digest, standing.tracking) == (proposed.digest, proposed.tracking)
    if head and standing and same and standing.fits and standing.parent == state.commit:
        return head
    commit = context.remotes.commit(
        state.url,
        parent=state.commit,
        changes=_files(proposition),
        message=gitops.with_trailer(MESSAGE, proposed.digest),
        author=AUTHOR,
        date=context.runtime.now(),
    )
    context.remotes.push(state.url, commit, branch=state.own_branch, expected=head)
    context.runtime.log(f"{state.repository}: {state.own_branch} is at {commit[:7]}")
    return commit


def _files(proposition: Proposition) -> Mapping[str, bytes | None]:
    changes, folder = proposition.changes, proposition.state.tree.path
    sources = f"{folder}/{SOURCES_FILE}" if folder else SOURCES_FILE
    written = {path: changes.files[path] for path in (*changes.added, *changes.modified, sources)}
    return {**written, **dict.fromkeys(changes.deleted)}


def publish(
    proposition: Proposition, text: PullRequestText, inputs: ScheduleInputs, context: CommandContext
) -> Published:
    """The pull request of our branch, whose head is `text.commit`, with its text and labels."""
    state, pull = proposition.state, proposition.pull
    wanted = [KALYPSO, *([PROMOTED] if proposition.promoted else []), *inputs.labels]
    outcome = "unchanged"
    if pull is None or proposition.writes or labels.missing(wanted, pull.labels):
        make_labels(state.repository, wanted, context)
        pull, outcome = pull_requests.ensure(
            context.github,
            state.repository,
            head=state.own_branch,
            base=state.branch,
            title=pull_request.title(state.branch, state.own_branch),
            body=pull_request.body(text) if proposition.writes or pull is None else pull.body,
            labels=wanted,
        )
    # What is open is not withdrawn, though it was, before somebody has opened it again.
    for name in {PROMOTED, WITHDRAWN}.difference(wanted):
        if not labels.missing([name], pull.labels):
            labels.remove(context.github, state.repository, pull.number, name)
            outcome = "updated"
    pushed = proposition.decision.action == "update" or outcome == "updated"
    action = "created" if outcome == "created" else "updated" if pushed else "unchanged"
    entry = PullRequestEntry(
        repository=state.repository, number=pull.number, url=pull.url, action=action
    )
    context.runtime.log(f"{state.repository}: pull request #{pull.number} {action}: {pull.url}")
    return Published(proposition, entry, pull, text.commit)


def withdraw(
    proposition: Proposition, environment: str, context: CommandContext
) -> Iterator[PullRequestEntry]:
    """Close what we have open and do not propose any more, with a comment that says why."""
    state, decision = proposition.state, proposition.decision
    to = markdown.code(state.branch)
    closing = [
        (stray, f"Kalypso proposes to {to} from {markdown.code(state.own_branch)} now.")
        for stray in proposition.strays
    ]
    if proposition.pull and decision.action in {"withdraw", "stop"}:
        reason = (
            f"{to} has everything that the environment is to have: there "
            "is nothing to propose any more."
            if decision.action == "withdraw"
            else "This is not what the environment is to have any more, and what it is to have was "
            f"rejected: {decision.reason}."
        )
        closing.append((proposition.pull, reason))
    if closing:
        make_labels(state.repository, [WITHDRAWN], context)
    for pull, reason in closing:
        mark = markdown.marker("withdrawn", environment)
        closed = pull_requests.close(
            context.github,
            state.repository,
            pull.number,
            mark=mark,
            comment=reason,
            labels=[WITHDRAWN],
        )
        if closed:
            context.runtime.log(f"{state.repository}: pull request #{pull.number} withdrawn")
            yield PullRequestEntry(
                repository=state.repository, number=pull.number, url=pull.url, action="withdrawn"
            )


def merge(published: Published, context: CommandContext) -> Published:
    """Merge the pull request if that is wanted, exactly at its commit; refused, it stays open."""
    proposition = published.proposition
    state = proposition.state
    where = Location(state.repository)
    number = published.pull.number
    if published.pull.mergeable is False and proposition.decision.action == "leave":
        _note_refusal(published, published.pull, context)  # nothing that schedule could do better
    if not proposition.auto_merge:
        return published
    if proposition.decision.hold:
        message = f"#{number} is not merged automatically: {proposition.decision.hold}"
        advice = "merge it yourself if it is wanted"
        return replace(published, warnings=(Problem(message, where, advice),))
    before = pull_requests.get(context.github, state.repository, number)
    merged = merging.merge_as_allowed(
        context.github, state.repository, number, head=published.commit
    )
    if isinstance(merged, merging.Refused):
        _note_refusal(published, before, context)
        message = f"#{number} is not merged automatically: {merged.reason}"
        advice = "merge it when it is ready; otherwise poll tries again when something has changed"
        return replace(published, warnings=(Problem(message, where, advice),))
    context.runtime.log(f"{state.repository}: pull request #{number} merged")
    entry = published.entry.model_copy(update={"action": "merged"})
    return replace(published, entry=entry, merge_commit=merged.commit)


def _note_refusal(published: Published, before: PullRequest, context: CommandContext) -> None:
    """Write into the body where the merge was refused, so that poll tries each state once."""
    state = published.proposition.state
    mark = pull_request.read_mark(before.body)
    now = pull_requests.get(context.github, state.repository, before.number)
    if mark is None or now.state != "open":
        return
    tried = replace(mark, tried=(state.commit, before.merge_state))
    pull_requests.ensure(
        context.github,
        state.repository,
        head=state.own_branch,
        base=state.branch,
        title=before.title,
        body=pull_request.marked(before.body, tried),
    )
