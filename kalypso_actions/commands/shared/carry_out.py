"""Carry out the writes of a command, each once, in order.

    done = carry_out(writes, context)
    done.commits["acme/gitops", "kalypso/dev"]

A write that has happened already is not repeated. A write whose result is unknown is looked up
first. A branch that another run has moved raises `PushConflictError`: the caller reads everything
again, because the other run may have had newer inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from kalypso_actions.clients.git import (
    ProtectedBranchError,
    PushConflictError,
    Signature,
    UnsignedCommitError,
)
from kalypso_actions.clients.github import (
    GitHub,
    GitHubError,
    auto_merges,
    branches,
    comments,
    git_data,
    issues,
    labels,
    merging,
    pull_requests,
    refs,
    statuses,
    viewer,
    workflows,
)
from kalypso_actions.clients.github.idempotent_writes import WriteResult
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.labels import make_labels
from kalypso_actions.commands.shared.local_commits import AUTHOR
from kalypso_actions.commands.shared.own_statuses import NOT_ALLOWED, latest_record, own_statuses
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.github import CommitStatus, PullRequest
from kalypso_actions.model.urls import owner_of
from kalypso_actions.model.writes import (
    CloseIssue,
    ClosePullRequest,
    DisableAutoMerge,
    Later,
    MergePullRequest,
    NewCommit,
    OpenPullRequest,
    PostStatus,
    Push,
    StartWorkflow,
    Write,
    WriteComment,
    WriteIssue,
)
from kalypso_actions.promotion.schedule_runs import is_served
from kalypso_actions.promotion.start_records import read_record
from kalypso_actions.promotion.statuses import is_deployed

T = TypeVar("T")
MergeResult = merging.Merged | auto_merges.Enabled | merging.Refused

DELAYS: Final = (1.0, 3.0, 10.0)
"""Seconds to wait after a dispatch with an unknown result."""

RULE: Final = "rule violations"
UNSIGNED: Final = "verified signatures"


@dataclass(slots=True)
class Done:
    """What the writes of a run have done, for its later writes and for its document.

    `commits` are the new heads by repository and branch, `pulls` the pull requests by repository,
    head and base, each with the action on it, `merges` the results of merges by repository and
    number, `pages` those of started runs by environment, `closed` the pull requests that this run
    closed. `problems` are refusals that do not end the run.
    """

    commits: dict[tuple[str, str], str] = field(default_factory=dict)
    pulls: dict[tuple[str, str, str], tuple[PullRequest, WriteResult]] = field(default_factory=dict)
    merges: dict[tuple[str, int], MergeResult] = field(default_factory=dict)
    pages: list[tuple[StartWorkflow, str]] = field(default_factory=list)
    closed: list[ClosePullRequest] = field(default_factory=list)
    comments: list[tuple[WriteComment, WriteResult]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @contextmanager
    def collecting(self, refusal: type[KalypsoError] = GitHubError) -> Iterator[None]:
        """Add refusals to `problems`, so that the run goes on, and reports the rest."""
        try:
            yield
        except refusal as error:
            self.problems += error.problems

    def started(self) -> dict[str, str]:
        """Return the pages of the started runs by their environment."""
        return {str(write.inputs["environment"]): page for write, page in self.pages}

    @property
    def page(self) -> str:
        """The page of the last started run."""
        return self.pages[-1][1]

    def commit(self, commit: str | NewCommit) -> str:
        """Return a commit, or the one that a write has made."""
        if isinstance(commit, str):
            return commit
        return self.commits[commit.repository, commit.branch]

    def value(self, value: T | Later[T]) -> T:
        """Return a value, or make it from the result of a write."""
        if not isinstance(value, Later):
            return value
        of = value.of
        if isinstance(of, NewCommit):
            return value.make(value.given, self.commit(of))
        pull, _ = self.pulls[of.repository, of.head, of.base]
        return value.make(value.given, pull.number)


def carry_out(  # noqa: C901 - one case for each kind of write
    writes: Iterable[Write], context: CommandContext, done: Done | None = None
) -> Done:
    """Carry out writes in order; return what they have done, added to `done`.

    Raises PushConflictError if another run has moved a branch, GitHubError and KalypsoError for
    refusals.
    """
    done = Done() if done is None else done
    for write in writes:
        match write:
            case Push():
                done.commits[write.repository, write.branch] = push(write, context)
            case OpenPullRequest():
                done.pulls[write.repository, write.head, write.base] = _open(write, context, done)
            case ClosePullRequest():
                if _close_pull_request(write, context):
                    done.closed.append(write)
            case DisableAutoMerge():
                _disable_auto_merge(write, context)
            case MergePullRequest():
                _merge(write, context, done)
            case PostStatus():
                _post(write, context, done)
            case StartWorkflow():
                done.pages.append((write, _start(write, context, done)))
            case WriteIssue():
                _write_issue(write, context)
            case CloseIssue():
                _close_issue(write, context)
            case WriteComment():
                done.comments.append((write, _comment(write, context)))
    return done


def push(write: Push, context: CommandContext) -> str:
    """Commit to a branch, and return the commit.

    With `auto`, git writes the commit; GitHub's API does if a rule requires signatures, or has
    refused git's push.

    Raises PushConflictError if another run moved the branch, ProtectedBranchError if a rule refuses
    the commit, and KalypsoError.
    """
    is_auto = write.commit_by == "auto"
    by_api = write.commit_by == "api" or (is_auto and _requires_signatures(write, context.github))
    try:
        commit = _push_by_api(write, context) if by_api else _push_by_git(write, context)
    except UnsignedCommitError:
        if not is_auto:
            raise
        commit = _push_by_api(write, context)
    context.github.recent_writes.add_push(write.repository, write.branch, commit)
    return commit


def own_signature(github: GitHub, repository: str) -> Signature:
    """Return the author of our commits: the token's account, with its no-reply address.

    Raises GitHubError.
    """
    account = viewer.account(github, owner_of(repository) or "")
    return Signature(account.login, f"{account.id}+{account.login}@{github.server.noreply_domain}")


def _requires_signatures(write: Push, github: GitHub) -> bool:
    """Whether the branch that the commit is for requires signatures.

    A rule of our own branch becomes known when GitHub refuses the push.
    """
    if write.requires_signatures is not None:
        return write.requires_signatures
    branch, exists = write.base or write.branch, bool(write.base) or write.expected is not None
    return branches.requires_signatures(github, write.repository, branch, exists=exists)


def _commit_in_clone(write: Push, author: Signature, context: CommandContext) -> str:
    return context.remotes.commit(
        write.url,
        parent=write.parent,
        changes=write.changes,
        message=write.message,
        author=author,
        date=context.runtime.now(),
    )


def _push_by_git(write: Push, context: CommandContext) -> str:
    commit = _commit_in_clone(write, own_signature(context.github, write.repository), context)
    context.remotes.push(write.url, commit, branch=write.branch, expected=write.expected)
    return commit


def _push_by_api(write: Push, context: CommandContext) -> str:
    github, repository = context.github, write.repository
    commit = git_data.create_commit(
        github,
        repository,
        parent=write.parent,
        changes=_contents(write, context),
        message=write.message,
    )
    try:
        refs.move(
            github,
            repository,
            write.branch,
            commit,
            expected=write.expected,
            fast_forward=write.parent == write.expected,
        )
    except refs.RefConflictError as conflict:
        raise PushConflictError(write.branch, write.url, conflict.head) from conflict
    except GitHubError as error:
        is_unsigned = UNSIGNED in error.reason.lower()
        if not (is_unsigned or RULE in error.reason.lower()):
            raise
        advice = "let the GitHub App bypass the branch's rules (a job's GITHUB_TOKEN cannot)"
        if is_unsigned:
            advice = "GitHub signs no commit of a personal token: use a GitHub App"
        raise ProtectedBranchError(error.problem.message, error.problem.where, advice) from error
    return commit


def _contents(write: Push, context: CommandContext) -> dict[str, bytes | None]:
    """Return the changes with the contents of blobs that only the clone has."""
    changes = dict(write.changes)
    blobs = [path for path, content in changes.items() if isinstance(content, str)]
    if blobs:
        commit = _commit_in_clone(write, AUTHOR, context)  # this commit is not pushed
        changes |= context.repositories.open(write.url, commit=commit).read(blobs)
    return {path: content for path, content in changes.items() if not isinstance(content, str)}


def _open(
    write: OpenPullRequest, context: CommandContext, done: Done
) -> tuple[PullRequest, WriteResult]:
    github, repository = context.github, write.repository
    outcome: WriteResult = "unchanged"
    make_labels(repository, write.needed, context, write.present)
    pull, outcome = pull_requests.ensure(
        github,
        repository,
        head=write.head,
        base=write.base,
        title=write.title,
        body=done.value(write.body),
        labels=write.labels,
        replaced_labels=write.replaced,
        read_first=write.read_first,
    )
    for name in write.dropped:
        if not labels.missing([name], pull.labels):
            labels.remove(github, repository, pull.number, name)
            outcome = "updated" if outcome == "unchanged" else outcome
    return pull, outcome


def _close_pull_request(write: ClosePullRequest, context: CommandContext) -> bool:
    make_labels(write.repository, write.labels, context)
    closed = pull_requests.close(
        context.github,
        write.repository,
        write.number,
        mark=write.mark,
        comment=write.comment,
        labels=write.labels,
    )
    if closed:
        context.runtime.log(f"{write.repository}: pull request #{write.number} withdrawn")
    return closed


def _disable_auto_merge(write: DisableAutoMerge, context: CommandContext) -> None:
    auto_merges.disable(context.github, write.repository, write.pull.number)
    context.runtime.log(f"{write.repository}: the auto-merge of #{write.pull.number} is off")


def _merge(write: MergePullRequest, context: CommandContext, done: Done) -> None:
    pull, _ = done.pulls[write.repository, write.pull_request.head, write.pull_request.base]
    result = auto_merges.merge_when_allowed(
        context.github, write.repository, pull.number, head=done.commit(write.commit)
    )
    done.merges[write.repository, pull.number] = result


def _post(write: PostStatus, context: CommandContext, done: Done) -> bool:
    """Post a status; return whether it was posted."""
    commit, status = done.commit(write.commit), done.value(write.status)
    if write.is_record:
        return _post_record(write, status, commit, context)
    if write.keeps_deployed:
        # The App that posts Deployed has another account than the job in which cd runs by default.
        latest = own_statuses(context, commit, any_app=True)
        if is_deployed(latest.get(status.context.lower())):
            return False
    # The link of a status that the command itself links says something else than this run's page.
    run_url = "" if status.target_url else context.runtime.job.run_url
    posted = statuses.post(
        context.github, write.repository, commit, status, run_url=run_url, is_new=write.is_new
    )
    if posted:
        context.runtime.log(f"{commit[:7]}: {status.context}: {status.description}")
    return posted


def _post_record(
    write: PostStatus, status: CommitStatus, commit: str, context: CommandContext
) -> bool:
    """Post a record; if the token cannot post statuses, poll cannot repeat a lost start."""
    status = replace(status, target_url=context.runtime.job.run_url)
    try:
        return statuses.post(context.github, write.repository, commit, status, is_new=write.is_new)
    except GitHubError as error:
        if error.status not in NOT_ALLOWED:
            raise
        context.runtime.log(f"The start is not recorded: {error.problem.message}")
        return False


def _start(write: StartWorkflow, context: CommandContext, done: Done) -> str:
    """Record the start, then start the workflow; return the page of the run, or of all runs.

    After an unknown result, repeat the start: every workflow is idempotent.
    """
    given = {name: done.commit(value) for name, value in write.inputs.items()}
    if write.record:
        record = replace(
            write.record,
            commit=done.commit(write.record.commit),
            status=done.value(write.record.status),
        )
        if write.keeps_force and _awaits_force(record, context):
            given["force"] = "true"
            record = _with_force(record)
        _post(record, context, done)
    given = {name: value for name, value in given.items() if value}
    delays = iter(DELAYS)
    while True:
        try:
            run = workflows.dispatch(
                context.github,
                write.repository,
                write.workflow,
                ref=context.main(),
                inputs=given,
            )
            break
        except GitHubError as error:
            delay = next(delays, None)
            if delay is None or not error.uncertain:
                raise
            context.runtime.sleep(delay)
    url = run.url if run else f"{context.url(write.repository)}/actions/workflows/{write.workflow}"
    values = ", ".join(f"{name} {value}" for name, value in given.items())
    context.runtime.log(f"Started {write.workflow} ({values}): {url}")
    return url


def _awaits_force(record: PostStatus, context: CommandContext) -> bool:
    """Whether a recorded start with `force` still waits for its run; only our own records count."""
    commit, name = str(record.commit), _status_context(record)
    if is_served(latest_record(context, commit, name), force=False):
        return False
    return not is_served(read_record(own_statuses(context, commit).get(name.lower())), force=False)


def _with_force(record: PostStatus) -> PostStatus:
    status = record.status
    start = read_record(status) if isinstance(status, CommitStatus) else None
    if start is None:
        return record
    return replace(record, status=replace(start, force=True).status(_status_context(record)))


def _status_context(record: PostStatus) -> str:
    return record.status.context if isinstance(record.status, CommitStatus) else ""


def _write_issue(write: WriteIssue, context: CommandContext) -> None:
    make_labels(write.repository, write.labels, context)
    issue, outcome = issues.ensure(
        context.github,
        write.repository,
        title=write.title,
        body=write.body,
        labels=write.labels,
        among=write.among,
    )
    context.runtime.log(f"{write.repository}: issue #{issue.number} {outcome}: {write.title}")


def _close_issue(write: CloseIssue, context: CommandContext) -> None:
    issues.close(
        context.github, write.repository, write.number, mark=write.mark, comment=write.comment
    )
    context.runtime.log(f"{write.repository}: issue #{write.number} closed: {write.title}")


def _comment(write: WriteComment, context: CommandContext) -> WriteResult:
    github, repository = context.github, write.repository
    _, outcome = comments.ensure(github, repository, write.number, write.mark, write.body)
    if write.replaces_other_bots:
        comments.delete_of_other_bots(github, repository, write.number, write.mark)
    return outcome
