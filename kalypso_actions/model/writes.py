"""The writes of a command to GitHub and to remotes, as values.

A command decides first, and writes last: between the two, its writes are a tuple of these values.
They can be compared, printed (`--dry-run`) and carried out (`commands.shared.carry_out`).

    Push("acme/control-plane", url, "dev", expected=head, parent=head, changes=files, message=text)
    StartWorkflow("acme/control-plane", "schedule.yaml", {"environment": "dev"})

A value that only an earlier write of the same run knows has a stand-in: `NewCommit` for a commit,
`OpenedPullRequest` for a number, and `Later` for a text with either of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, Generic, Literal, TypeVar

from kalypso_actions.model.counts import counted
from kalypso_actions.model.github import CommitStatus, Issue, PullRequest
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.tree import BaseTree, TreeChanges

T = TypeVar("T")

CommitBy = Literal["auto", "git", "api"]
"""How to commit: by git, by GitHub's API, which signs, or as a rule of the branch requires."""

UNKNOWN: Final = "…"
"""Stands for the result of an earlier write in a text for people."""


@dataclass(frozen=True, slots=True)
class NewCommit:
    """The commit that an earlier write of the run makes on a branch: a push, or a merge."""

    repository: str
    branch: str

    def __str__(self) -> str:
        """Return the words for people."""
        return f"the new commit of {self.branch}"


@dataclass(frozen=True, slots=True)
class OpenedPullRequest:
    """The pull request between two branches that an earlier write of the run opens or updates."""

    repository: str
    head: str
    base: str


@dataclass(frozen=True, slots=True)
class Later(Generic[T]):
    """A value that `make` returns for `given` and the result of earlier writes.

    The result is the commit of a `NewCommit`, the number of an `OpenedPullRequest`, or, for None,
    all that the run has done (`carry_out.Done`). `shown` stands for the value in a dry run.
    """

    make: Callable[[Any, Any], T]
    given: object = field(repr=False)
    of: NewCommit | OpenedPullRequest | None
    shown: T


@dataclass(frozen=True, slots=True)
class Push:
    """A commit for a branch of a repository; the branch is at `expected` (None: absent).

    `repository` is owner/name, `url` is for git.

    `changes` apply to the files of `parent` (None: no files): None deletes a file, bytes are its
    new content, and an id is that of a blob in the clone of `url`. `earlier` are commits between
    `parent` and this one, each with its changes. `base` is the branch that the commit is proposed
    to ("": none); `requires_signatures` says whether a rule of `base`
    requires signatures (None: not known). `alternative` is what people can do if a rule refuses the
    push.
    """

    repository: str
    url: str
    branch: str
    expected: str | None
    parent: str | None
    changes: Mapping[str, FileContent | None] = field(repr=False)
    message: str
    base: str = ""
    requires_signatures: bool | None = None
    commit_by: CommitBy = "auto"
    alternative: str = ""
    earlier: tuple[Mapping[str, bytes | None], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class RecordTrees:
    """Record the ids of the trees that the run pushes: later runs copy folders from them.

    The record stands on a `commit` of the environment's branch in a `repository`, or on the source
    commit of an application. `trees` have the URL, the pushed commit, the folder, and the content
    of the tree's record.
    """

    repository: str
    environment: str
    commit: str
    trees: tuple[tuple[str, str | NewCommit, str, bytes], ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPullRequest:
    """Open our pull request from `head` into `base`, or give it this title and body.

    Without a body, the title and the body of the `known` pull request stay. `commit` is that of
    `head`. `known` is our open pull request, if the run has found one; `read_first` is false if
    GitHub has just shown that none is open. `labels` are added to the pull request, `dropped` are
    taken from it, and `new_labels` are created in the repository if they are not among
    `repository_labels` (None: not known). `former_labels` are for the pull request of a former
    identity, which is closed.
    """

    repository: str
    head: str
    base: str
    title: str
    body: str | Later[str] | None = field(repr=False)
    commit: str | NewCommit = ""
    known: PullRequest | None = field(default=None, repr=False)
    read_first: bool = True
    labels: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    new_labels: tuple[str, ...] = ()
    repository_labels: tuple[str, ...] | None = field(default=None, repr=False)
    former_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateText:
    """Give our pull request another body, whatever has become of it."""

    repository: str
    pull: PullRequest = field(repr=False)
    body: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ClosePullRequest:
    """Close our open pull request with a comment that gives the reason, and labels.

    `mark` is the first line of the comment.
    """

    repository: str
    number: int
    mark: str
    comment: str = field(repr=False)
    url: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DisableAutoMerge:
    """Keep GitHub from merging a pull request by itself.

    `forgets_refusal`: poll then lets schedule try to merge the pull request once more.
    """

    repository: str
    pull: PullRequest = field(repr=False)
    forgets_refusal: bool = False


@dataclass(frozen=True, slots=True)
class PostStatus:
    """Post a status on a commit, unless the latest status of its context says the same.

    `keeps_deployed`: the status `Deployed` of the same context stays; `strictly_own`: that of
    another App does not, although with a job's token this App may be one of the chain.
    `is_record`: the status records something for later runs, and is left out with a token that
    cannot post statuses. `keeps_force`: so does the record of a start with `force` whose run has
    not begun. `if_complete`: it is left out if a write of the run was refused. `if_absent`: a
    status of the chain in the same context stays. `is_new`: the run has read that it is missing,
    although another account of the chain may have posted the same.
    """

    repository: str
    commit: str | NewCommit
    status: CommitStatus | Later[CommitStatus]
    keeps_deployed: bool = False
    strictly_own: bool = False
    is_record: bool = False
    keeps_force: bool = False
    if_complete: bool = False
    if_absent: bool = False
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class StartWorkflow:
    """Start a workflow of the control plane's main, after the record by which poll repeats it.

    Inputs without a value are left out. `keeps_force`: if a recorded start of the same workflow
    with `force` still waits for its run, this start, which may replace it, has `force` too. `ref`
    is the branch of the workflow file; "" for main, which the token then has to read. `shown` is
    the status that shows people the start, posted before the record.
    """

    repository: str
    workflow: str
    inputs: Mapping[str, str | NewCommit]
    record: PostStatus | None = None
    keeps_force: bool = False
    ref: str = ""
    shown: PostStatus | None = None


@dataclass(frozen=True, slots=True)
class MergePullRequest:
    """Merge our pull request at exactly `commit`, or let GitHub merge it when its rules allow.

    If GitHub refuses, the pull request stays open, as `NoteRefusal` notes. After a merge, for which
    GitHub starts no workflow, `then` starts one; it may name the merge by a `NewCommit`. `known` is
    the pull request if it was open before the run. The message of the merge begins with `title` and
    the number of the pull request ("": as the repository's settings say).
    """

    pull_request: OpenedPullRequest
    commit: str | NewCommit
    base_head: str
    known: PullRequest | None = field(default=None, repr=False)
    then: StartWorkflow | None = None
    title: str = ""

    @property
    def repository(self) -> str:
        """The repository of the pull request."""
        return self.pull_request.repository


@dataclass(frozen=True, slots=True)
class NoteRefusal:
    """Note in the text of a pull request that GitHub cannot merge it into `base_head`.

    poll lets schedule try each state once.
    """

    repository: str
    pull: PullRequest = field(repr=False)
    base_head: str


@dataclass(frozen=True, slots=True)
class WriteIssue:
    """Open our issue with this title, or give it this body, and open it again.

    `among` are the issues that the run has read, and may be ours (None: not read).
    """

    repository: str
    title: str
    body: str = field(repr=False)
    labels: tuple[str, ...]
    among: tuple[Issue, ...] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class CloseIssue:
    """Close our open issue with a comment that gives the reason; `mark` is its first line."""

    repository: str
    number: int
    title: str
    mark: str
    comment: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class WriteComment:
    """Create or update our comment on an issue or a pull request; `mark` is its first line.

    `replaces_other_bots`: comments of other bots with this mark are deleted. `only_at` is the head
    of the pull request that the comment describes: with another head, nothing is written ("": an
    issue, or any head).
    """

    repository: str
    number: int
    mark: str
    body: str = field(repr=False)
    replaces_other_bots: bool = False
    only_at: str = ""


@dataclass(frozen=True, slots=True)
class Unmoved:
    """No write, but a condition for those after it: a branch is where the run has read it.

    `commit` is its head, also one that the run has pushed (None: absent); `message` says what
    another head means. Another head does not matter if it leaves the files of `changes` as they are
    in `base_tree`.
    """

    repository: str
    url: str
    branch: str
    commit: str | NewCommit | None
    message: str
    changes: TreeChanges | None = field(default=None, repr=False)
    base_tree: BaseTree | None = field(default=None, repr=False)


Write = (
    Push
    | RecordTrees
    | OpenPullRequest
    | UpdateText
    | ClosePullRequest
    | DisableAutoMerge
    | PostStatus
    | StartWorkflow
    | MergePullRequest
    | NoteRefusal
    | WriteIssue
    | CloseIssue
    | WriteComment
    | Unmoved
)


@dataclass(frozen=True, slots=True)
class WritePart:
    """A write in words: its kind, such as `push`, its repository, and `what` it does there."""

    kind: str
    repository: str
    what: str


MOST_NAMED: Final = 3
"""The most files of a push that its words name."""


def parts(  # noqa: C901, PLR0912 - one case for each kind of write
    write: Write,
) -> list[WritePart]:
    """Return a write in words, with the record and the start that belong to it.

    A condition is no write.
    """
    before: list[WritePart] = []
    after: list[WritePart] = []
    match write:
        case Unmoved():
            return []
        case Push(branch=branch):
            files = counted(len({*write.changes, *chain(*write.earlier)}), "file")
            kind = "push"
            what = f"{files} to {branch}{'' if write.expected else ' (a new branch)'}"
            if len(write.changes) <= MOST_NAMED:
                what += f": {', '.join(sorted(write.changes))}"
        case RecordTrees(environment=name):
            trees = counted(len(write.trees), "tree")
            kind, what = "post status", f"kalypso / tree {name}: {trees} (on {_of(write.commit)})"
        case OpenPullRequest(known=known):
            kind = "update pull request" if known else "open pull request"
            what = f"#{known.number} {write.title}" if known else write.title
        case UpdateText(pull=pull):
            kind, what = "update pull request", f"#{pull.number} {pull.title}"
        case ClosePullRequest(number=number):
            kind, what = "close pull request", f"#{number}"
        case DisableAutoMerge(pull=pull):
            kind, what = "disable auto-merge", f"#{pull.number}"
        case PostStatus(status=status):
            status = status.shown if isinstance(status, Later) else status
            text = f"{status.context}: {status.description}"
            is_kept = write.keeps_deployed and not write.strictly_own
            unless = ", unless that is Deployed" if is_kept else ""
            kind, what = "post status", f"{text} (on {_of(write.commit)}{unless})"
        case StartWorkflow(inputs=inputs, record=record, shown=shown):
            before = [part for each in (shown, record) if each for part in parts(each)]
            given = ", ".join(f"{name} {value}" for name, value in inputs.items() if value)
            kind, what = "start workflow", f"{write.workflow} ({given})"
        case MergePullRequest(known=known, then=then):
            after = parts(then) if then else []
            pull_request = f"#{known.number}" if known else f"from {write.pull_request.head}"
            kind, what = "merge pull request", f"{pull_request} at {_of(write.commit)}"
        case NoteRefusal(pull=pull):
            state = f"it cannot be merged into {_of(write.base_head)}"
            kind, what = "update pull request", f"#{pull.number}: {state}"
        case WriteIssue(title=title):
            kind, what = "write issue", title
        case CloseIssue(number=number, title=title):
            kind, what = "close issue", f"#{number} {title}"
        case WriteComment(number=number):
            kind, what = "write comment", f"on #{number}"
    return [*before, WritePart(kind, write.repository, what), *after]


def _of(commit: str | NewCommit) -> str:
    return commit[:7] if isinstance(commit, str) else str(commit)
