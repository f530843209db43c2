"""The content that people rejected earlier, and the restrictions of a proposal with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from kalypso_actions.gitops.merge_history import Content, MergeHistory, Rejection
from kalypso_actions.gitops.own_files import in_folder
from kalypso_actions.gitops.provenance import PreviousSources
from kalypso_actions.model.documents import Revision
from kalypso_actions.model.github import IssueEvent
from kalypso_actions.model.history import FileVersion, HistoryCommit

AT_ONCE: Final = timedelta(seconds=2)
"""The longest time between the deletion of a branch and the closing of its pull request, which
GitHub reports in either order. A person who closes a pull request and then deletes its branch takes
longer.
"""


@dataclass(frozen=True, slots=True)
class ClosedProposal:
    """A pull request of ours that people closed unmerged.

    `commit` is its head, `changes` the files that it wanted to change.
    """

    number: int
    commit: str
    digest: str | None
    promoted_commit: str | None
    changes: Mapping[str, FileVersion | None]


@dataclass(frozen=True, slots=True)
class Restrictions:
    """Restrictions of a proposal because of earlier rejections.

    `rejected` says why the run must not propose it, `hold` why it must not merge it automatically
    ("" for no restriction). `again` are the pull requests with rejected content that it repeats.
    """

    rejected: str = ""
    again: tuple[int, ...] = ()
    hold: str = ""


@dataclass(frozen=True, slots=True)
class RejectedContent:
    """The rejected content of a proposal; `is_all`: the proposal has no other content."""

    content: Mapping[Content, Rejection]
    is_all: bool

    @property
    def commits(self) -> frozenset[str]:
        """The commits whose `sources.json` has the sources of the content."""
        return frozenset(rejection.commit for rejection in self.content.values())

    def restrictions(
        self, changed: Collection[str], *, closed: bool, is_as_merged: bool
    ) -> Restrictions:
        """Return the restrictions for the proposal.

        `changed` are those of `commits` whose inputs people changed since. `closed`: people closed
        our latest pull request. `is_as_merged`: the branch is exactly as our last merge left it.
        """
        again = tuple(sorted({rejection.number for rejection in self.content.values()}))
        hold = ""
        if closed:
            hold = "people have rejected the one before it"
        elif again:
            hold = f"it proposes again what people removed: {numbers(again)}"
        elif not is_as_merged:
            hold = "the branch holds something else than our last merge left there"
        is_rejected = self.is_all and not self.commits & set(changed)
        return Restrictions(self._reason() if is_rejected else "", again, hold)

    def _reason(self) -> str:
        words = {"closed": "closed without merging", "undone": "undone after its merge"}
        parts = []
        for how, text in words.items():
            pulls = sorted({item.number for item in self.content.values() if item.how == how})
            if pulls:
                verb = "were" if len(pulls) > 1 else "was"
                parts.append(f"{numbers(pulls)} with the same content {verb} {text}")
        return "; ".join(parts)


def rejected_content(
    wanted: Mapping[str, FileVersion | None],
    proposal: tuple[str | None, str | None],
    history: MergeHistory,
    closed: Iterable[ClosedProposal],
) -> RejectedContent:
    """Return the content of a proposal that people rejected.

    `wanted` are our files that it changes; `proposal` is its digest and its promoted commit.
    `closed` are the pull requests of the present era that people closed.
    """
    known: dict[Content, Rejection] = dict(history.removed)
    same: Rejection | None = None
    for pull in sorted(closed, key=lambda pull: pull.number):
        rejection = Rejection(pull.number, "closed", pull.commit)
        for content in pull.changes.items():
            older = known.get(content)
            newest = max(history.merged.get(content, 0), older.number if older else 0)
            if pull.number > newest:
                known[content] = rejection
        if (pull.digest, pull.promoted_commit) == proposal:
            same = rejection
    if same and all(history.merged.get(item, 0) < same.number for item in wanted.items()):
        # The same tree, though the branch may have changed since.
        whole = dict.fromkeys(wanted.items(), same) or {("", None): same}
        return RejectedContent(whole, is_all=True)
    repeated = {content: known[content] for content in wanted.items() if content in known}
    return RejectedContent(repeated, is_all=bool(wanted) and len(repeated) == len(wanted))


def numbers(pulls: Sequence[int]) -> str:
    """Return the numbers of pull requests for people: `#2, #3`."""
    return ", ".join(f"#{number}" for number in pulls)


def closed_by_people(events: Sequence[IssueEvent]) -> bool:
    """Whether people rejected a pull request; `events` are oldest first.

    The last closing counts, unless a bot closed the pull request or somebody deleted its branch.
    https://docs.github.com/rest/using-the-rest-api/issue-event-types
    """
    places = [place for place, event in enumerate(events) if event.name == "closed"]
    if not places:
        return True
    closing = events[places[-1]]
    return not (
        closing.by_bot or _is_deleted(events[: places[-1]]) or _deletes_branch(closing, events)
    )


def _is_deleted(events: Sequence[IssueEvent]) -> bool:
    """Whether the branch is deleted after these events."""
    names = [
        event.name for event in events if event.name in {"head_ref_deleted", "head_ref_restored"}
    ]
    return names[-1:] == ["head_ref_deleted"]


def _deletes_branch(closing: IssueEvent, events: Sequence[IssueEvent]) -> bool:
    return any(
        event.name == "head_ref_deleted"
        and event.actor == closing.actor
        and abs(event.date - closing.date) <= AT_ONCE
        for event in events
    )


DOCUMENTS: Final = (".yaml", ".yml")
IGNORE_FILE: Final = ".sourceignore"


def sources_changed(previous: PreviousSources, now: Iterable[tuple[str, Revision]]) -> bool:
    """Whether the path of a registration or BaseRepo has other content than in `previous`.

    `now` has the revisions of this run by part: see `Plan.sources`. It has none for a registration
    that cannot be read.
    """
    for part, revision in now:
        kind, _, name = part.partition(":")
        sources = previous.registrations if kind == "registration" else previous.base_repos
        before = sources.get(name)
        if name and (before is None or before.tree != revision.tree):
            return True
    return False


def environment_changed(line: Iterable[HistoryCommit], commit: str, folder: str) -> bool:
    """Whether a commit of an environment's branch changes a document after `commit`.

    `line` are the commits of the branch, newest first; `folder` holds the environment's documents.
    If `commit` is no longer on the branch, the documents count as changed.
    """
    folder = "" if folder == "." else folder
    for newer in line:
        if newer.id == commit:
            return False
        if any(_is_read(segments) for _, segments in in_folder(newer.changes, folder)):
            return True
    return True


def _is_read(segments: list[str]) -> bool:
    """Whether Flux reads a file: neither a README nor a workflow file."""
    *folders, name = segments
    if any(folder.startswith(".") for folder in folders):
        return False
    return name == IGNORE_FILE or (name.endswith(DOCUMENTS) and not name.startswith("."))
