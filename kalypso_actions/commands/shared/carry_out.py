"""Carry out the writes of a command, each once, in order.

    done = carry_out(writes, context)
    done.commits[NewCommit("acme/gitops", "kalypso/dev")]

A write that has happened already is not repeated. A write whose result is unknown is looked up
first. A branch that another run has moved raises `PushConflictError`: the caller reads everything
again, because the other run may have had newer inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from kalypso_actions.clients.git import (
    ProtectedBranchError,
    PushConflictError,
    Signature,
    UnsignedCommitError,
)
from kalypso_actions.clients.github import (
    GitHub,
    GitHubError,
    branches,
    comments,
    commits,
    issues,
    labels,
    merging,
    pull_requests,
    statuses,
    workflows,
)
from kalypso_actions.clients.github.idempotent_writes import WriteResult
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.labels import make_labels
from kalypso_actions.commands.shared.local_commits import AUTHOR
from kalypso_actions.commands.shared.own_statuses import (
    NOT_ALLOWED,
    latest_record,
    own_statuses,
    record_trees,
)
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.gitops.proposed_commit import changes_under
from kalypso_actions.gitops.provenance import tree_id
from kalypso_actions.model.github import CommitStatus, PullRequest
from kalypso_actions.model.urls import owner_of
from kalypso_actions.model.writes import (
    CloseIssue,
    ClosePullRequest,
    DisableAutoMerge,
    Later,
    MergePullRequest,
    NewCommit,
    NoteRefusal,
    OpenedPullRequest,
    OpenPullRequest,
    PostStatus,
    Push,
    RecordTrees,
    StartWorkflow,
    Unmoved,
    UpdateText,
    Write,
    WriteComment,
    WriteIssue,
)
from kalypso_actions.promotion.lost_starts import is_served
from kalypso_actions.promotion.start_records import read_record
from kalypso_actions.promotion.statuses import is_deployed
from kalypso_actions.report.pull_request import marked, read_mark

T = TypeVar("T")
MergeResult = merging.Merged | merging.Enabled | merging.Refused

DELAYS: Final = (1.0, 3.0, 10.0)
"""Seconds to wait after a dispatch with an unknown result."""

ISSUES_DISABLED: Final = 410
"""GitHub's answer to the creation of an issue in a repository without issues."""

RULE: Final = "rule violations"
UNSIGNED: Final = "verified signatures"


class MovedError(KalypsoError):
    """A branch has moved since it was read."""


@dataclass(slots=True)
class Done:
    """What the writes of a run have done, for its later writes and for its document.

    `commits` are the new heads of branches, `pulls` the pull requests that were opened or updated,
    `merges` the results of merges by repository and number, `disabled` the pull requests without
    auto-merge, as they are now, and `pages` those of started runs.

    A refusal ends the run, but refusals of the kinds `goes_on_after` only become `problems`.
    """

    goes_on_after: tuple[type[Write], ...] = ()
    commits: dict[NewCommit, str] = field(default_factory=dict)
    pulls: dict[OpenedPullRequest, tuple[PullRequest, WriteResult]] = field(default_factory=dict)
    merges: dict[tuple[str, int], MergeResult] = field(default_factory=dict)
    disabled: list[tuple[DisableAutoMerge, PullRequest]] = field(default_factory=list)
    pages: list[tuple[StartWorkflow, str]] = field(default_factory=list)
    closed: list[ClosePullRequest] = field(default_factory=list)
    comments: list[tuple[WriteComment, WriteResult]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    _without_issues: set[str] = field(default_factory=set)

    def started(self) -> dict[str, str]:
        """Return the pages of the started runs by their environment."""
        return {str(write.inputs["environment"]): page for write, page in self.pages}

    @property
    def page(self) -> str:
        """The page of the last started run."""
        return self.pages[-1][1]

    def commit(self, commit: str | NewCommit) -> str:
        """Return a commit, or the one that a write has made."""
        return commit if isinstance(commit, str) else self.commits[commit]

    def value(self, value: T | Later[T]) -> T:
        """Return a value, or make it from the result of a write."""
        if not isinstance(value, Later):
            return value
        match value.of:
            case NewCommit() as commit:
                return value.make(value.given, self.commits[commit])
            case OpenedPullRequest() as opened:
                return value.make(value.given, self.pulls[opened][0].number)
        return value.make(value.given, self)


def carry_out(writes: Iterable[Write], context: CommandContext, done: Done | None = None) -> Done:
    """Carry out writes in order; return what they have done, added to `done`.

    Raises MovedError and PushConflictError if another run has moved a branch, GitHubError and
    KalypsoError for other refusals.
    """
    done = Done() if done is None else done
    for write in writes:
        try:
            HOW[type(write)](write, context, done)
        except KalypsoError as error:
            if not isinstance(write, done.goes_on_after):
                raise
            done.problems += error.problems
    return done


def carry_out_each(
    groups: Iterable[Iterable[Write]], context: CommandContext, problems: list[Problem]
) -> Done:
    """Carry out groups of writes; a refusal ends its group alone, and is added to `problems`."""
    done = Done()
    for writes in groups:
        try:
            carry_out(writes, context, done)
        except KalypsoError as error:
            problems += error.problems
    return done


def _check_unmoved(write: Unmoved, context: CommandContext, done: Done) -> None:
    head = context.remotes.heads(write.url, [write.branch]).get(write.branch)
    if head == (done.commit(write.commit) if write.commit else None):
        return
    if write.changes and write.base_tree:
        if head is None:
            return
        now = context.repositories.open(write.url, commit=head).entries()
        if not changes_under(write.changes, write.base_tree.entries, now):
            return
    raise MovedError(write.message, Location(write.repository), "run again")


def _push(write: Push, context: CommandContext, done: Done) -> None:
    try:
        commit = push(write, context)
    except ProtectedBranchError as error:
        if not write.alternative:
            raise
        problem = error.problem
        advice = f"{problem.advice}; or {write.alternative}"
        raise KalypsoError(problem.message, problem.where, advice) from error
    done.commits[NewCommit(write.repository, write.branch)] = commit
    context.runtime.log(f"{write.repository}: {write.branch} is at {commit[:7]}")


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
    account = github.account(owner_of(repository) or "")
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
        earlier=write.earlier,
    )


def _push_by_git(write: Push, context: CommandContext) -> str:
    commit = _commit_in_clone(write, own_signature(context.github, write.repository), context)
    context.remotes.push(write.url, commit, branch=write.branch, expected=write.expected)
    return commit


def _push_by_api(write: Push, context: CommandContext) -> str:
    github, repository = context.github, write.repository
    parent, commit = write.parent, ""
    for changes in (*write.earlier, _contents(write, context)):
        commit = commits.create(
            github,
            repository,
            parent=parent,
            changes=changes,
            message=write.message,
        )
        parent = commit
    try:
        branches.move(
            github,
            repository,
            write.branch,
            commit,
            expected=write.expected,
            fast_forward=write.parent == write.expected,
        )
    except branches.RefConflictError as conflict:
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


def _record_trees(write: RecordTrees, context: CommandContext, done: Done) -> None:
    written = []
    for url, commit, folder, sources in write.trees:
        files = context.repositories.open(url, commit=done.commit(commit))
        written.append(tree_id(sources, files.folder_ids(folder)))
    record_trees(context, write.environment, write.commit, written)


def _open(write: OpenPullRequest, context: CommandContext, done: Done) -> None:
    github, repository = context.github, write.repository
    if write.commit:  # an earlier run may just have pushed it
        github.recent_writes.add_push(repository, write.head, done.commit(write.commit))
    pull = write.known
    outcome: WriteResult = "unchanged"
    body = pull.body if pull else ""
    if write.body is not None:
        body = done.value(write.body)
    if pull is None or write.body is not None or labels.missing(write.labels, pull.labels):
        make_labels(repository, write.new_labels, context, write.repository_labels)
        pull, outcome = pull_requests.ensure(
            github,
            repository,
            head=write.head,
            base=write.base,
            title=write.title,
            body=body,
            labels=write.labels,
            replaced_labels=write.former_labels,
            read_first=write.read_first,
        )
    for name in write.dropped:
        if not labels.missing([name], pull.labels):
            labels.remove(github, repository, pull.number, name)
            outcome = "updated" if outcome == "unchanged" else outcome
    done.pulls[OpenedPullRequest(repository, write.head, write.base)] = pull, outcome
    context.runtime.log(f"{repository}: pull request #{pull.number} {outcome}: {pull.url}")


def _update_text(write: UpdateText, context: CommandContext, _: Done) -> None:
    pull = write.pull
    pull_requests.set_texts(context.github, write.repository, pull, pull.title, write.body)
    context.runtime.log(f"{write.repository}: pull request #{pull.number} updated: {pull.url}")


def _close_pull_request(write: ClosePullRequest, context: CommandContext, done: Done) -> None:
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
        done.closed.append(write)
        context.runtime.log(f"{write.repository}: pull request #{write.number} withdrawn")


def _disable_auto_merge(write: DisableAutoMerge, context: CommandContext, done: Done) -> None:
    github, repository, pull = context.github, write.repository, write.pull
    now = merging.disable_auto_merge(github, repository, pull.number)
    done.disabled.append((write, now))
    if not now.merged:
        context.runtime.log(f"{repository}: the auto-merge of #{pull.number} is off")
    mark = read_mark(pull.body)
    if write.forgets_refusal and mark and github.identity(repository).wrote(pull.author):
        # Otherwise poll waits until the state differs from that of the last refused merge.
        body = marked(pull.body, replace(mark, tried=None))
        pull_requests.set_texts(github, repository, pull, pull.title, body)


def _merge(write: MergePullRequest, context: CommandContext, done: Done) -> None:
    github, repository, commit = context.github, write.repository, done.commit(write.commit)
    github.recent_writes.add_push(repository, write.pull_request.head, commit)
    pull, _ = done.pulls.get(write.pull_request, (write.known, ""))
    if pull is None:
        return
    before = pull_requests.get(github, repository, pull.number)
    title = f"{write.title} (#{pull.number})" if write.title else ""
    result = merging.merge_when_allowed(github, repository, pull.number, head=commit, title=title)
    done.merges[repository, pull.number] = result
    if isinstance(result, merging.Merged):
        done.commits[NewCommit(repository, write.pull_request.base)] = result.commit
        context.runtime.log(f"{repository}: pull request #{pull.number} merged")
        carry_out([write.then] if write.then else [], context, done)
        return
    _note_refusal(NoteRefusal(repository, before, write.base_head), context, done)
    if isinstance(result, merging.Enabled):
        context.runtime.log(
            f"{repository}: GitHub merges #{pull.number} when its rules allow it: {result.reason}"
        )


def _note_refusal(write: NoteRefusal, context: CommandContext, _: Done) -> None:
    pull = write.pull
    mark = read_mark(pull.body)
    if mark:
        # GitHub may merge it at any moment: edit it by number, also if it is closed.
        body = marked(pull.body, replace(mark, tried=(write.base_head, pull.merge_state)))
        pull_requests.set_texts(context.github, write.repository, pull, pull.title, body)


def _post(write: PostStatus, context: CommandContext, done: Done) -> None:
    commit = done.commit(write.commit)
    if write.if_complete and done.problems:
        return
    status = done.value(write.status)
    if write.is_record:
        _post_record(write, status, commit, context)
        return
    if write.keeps_deployed:
        # The App that posts Deployed has another account than the job in which cd runs by default.
        latest = own_statuses(context, commit, any_app=not write.strictly_own)
        known = latest.get(status.context.lower())
        # A version before posted Deployed as pending.
        if known and is_deployed(known) and not (is_deployed(status) and known.state == "pending"):
            return
    # The link of a status that the command itself links says something else than this run's page.
    run_url = "" if status.target_url else context.runtime.job.run_url
    if statuses.post(
        context.github, write.repository, commit, status, run_url=run_url, is_new=write.is_new
    ):
        context.runtime.log(f"{commit[:7]}: {status.context}: {status.description}")


def _post_record(
    write: PostStatus, status: CommitStatus, commit: str, context: CommandContext
) -> None:
    """Post a record; if the token cannot post statuses, poll cannot repeat a lost start."""
    is_new = False
    if write.if_absent and _is_posted(commit, status.context, context):
        return
    if write.keeps_force:
        latest = latest_record(context, commit, status.context)
        if not is_served(latest, force=False):
            return
        is_new = latest is not None and latest.description != status.description
    status = replace(status, target_url=context.runtime.job.run_url)
    try:
        statuses.post(context.github, write.repository, commit, status, is_new=is_new)
    except GitHubError as error:
        if error.status not in NOT_ALLOWED:
            raise
        context.runtime.log(f"{status.context!r} is not posted: {error.problem.message}")


def _is_posted(commit: str, status_context: str, context: CommandContext) -> bool:
    """Whether a commit has a status of the chain; so it counts if the token cannot read it."""
    try:
        return status_context.lower() in own_statuses(context, commit, any_app=True)
    except GitHubError as error:
        if error.status not in NOT_ALLOWED:
            raise
        return True


def _start(write: StartWorkflow, context: CommandContext, done: Done) -> None:
    """Record the start, then start the workflow; note the page of the run, or of all runs.

    After an unknown result, repeat the start: every workflow is idempotent.
    """
    given = {name: done.commit(value) for name, value in write.inputs.items()}
    if write.shown:
        _post(write.shown, context, done)
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
                ref=write.ref or context.main(),
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
    done.pages.append((write, url))
    context.runtime.log(f"Started {write.workflow} ({values}): {url}")


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


def _keep_issue(write: WriteIssue | CloseIssue, context: CommandContext, done: Done) -> None:
    """Write or close an issue; after a refusal of the repository, leave out its others."""
    repository = write.repository
    if repository in done._without_issues:
        return
    try:
        if isinstance(write, WriteIssue):
            _write_issue(write, context)
        elif issues.close(
            context.github, repository, write.number, mark=write.mark, comment=write.comment
        ):
            context.runtime.log(f"{repository}: issue #{write.number} closed: {write.title}")
    except GitHubError as error:
        done._without_issues.add(repository)
        if error.status != ISSUES_DISABLED:
            raise
        done.warnings += error.problems


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


def _comment(write: WriteComment, context: CommandContext, done: Done) -> None:
    github, repository = context.github, write.repository
    if write.only_at:
        pull = pull_requests.get(github, repository, write.number)
        if pull.head_commit != write.only_at:
            return
    _, outcome = comments.ensure(github, repository, write.number, write.mark, write.body)
    if write.replaces_other_bots:
        comments.delete_of_other_bots(github, repository, write.number, write.mark)
    done.comments.append((write, outcome))


HOW: Final[Mapping[type[Write], Callable[[Any, CommandContext, Done], None]]] = {
    Push: _push,
    RecordTrees: _record_trees,
    OpenPullRequest: _open,
    UpdateText: _update_text,
    ClosePullRequest: _close_pull_request,
    DisableAutoMerge: _disable_auto_merge,
    PostStatus: _post,
    StartWorkflow: _start,
    MergePullRequest: _merge,
    NoteRefusal: _note_refusal,
    WriteIssue: _keep_issue,
    CloseIssue: _keep_issue,
    WriteComment: _comment,
    Unmoved: _check_unmoved,
}
"""The function that carries out each kind of write."""
