"""Our earlier proposals to a GitOps branch, and what people did to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Final

from kalypso_actions.clients.github import commits, issues, pull_requests
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.labels import WITHDRAWN
from kalypso_actions.commands.shared.own_proposals import (
    named_commit,
    proposal_on_own_branch,
    read_commit,
)
from kalypso_actions.gitops.merge_history import (
    MergeHistory,
    Rejection,
    after_force_push,
    read_merge_history,
    without_merges,
)
from kalypso_actions.gitops.own_files import record_paths
from kalypso_actions.gitops.proposal_decision import OpenProposal, ProposedTree
from kalypso_actions.gitops.proposed_commit import (
    changed_content,
    digest_of,
    wanted_content,
)
from kalypso_actions.gitops.provenance import read_sources
from kalypso_actions.gitops.rejections import (
    ClosedProposal,
    Restrictions,
    closed_by_people,
    environment_changed,
    rejected_content,
    sources_changed,
)
from kalypso_actions.model.documents import RevisionFiles, content_of
from kalypso_actions.model.github import Commit, ProposalOverview, PullRequest
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.model.tree import GitOpsBranch, Snapshot, TreeChanges
from kalypso_actions.planning.plan import Plan

MAX_COMMITS: Final = 1000
"""The most commits of a branch to read: no environment keeps one commit of main for longer."""


@dataclass(slots=True)
class EarlierProposals:
    """Our earlier proposals to a GitOps branch, read only as far as `changes` need.

    `overview` has what GitHub has said about them already. Every method raises KalypsoError.
    """

    branch: GitOpsBranch
    changes: TreeChanges
    plan: Plan
    sources: Snapshot
    overview: ProposalOverview
    context: CommandContext
    _pages: Iterator[tuple[PullRequest, ...]] = field(default_factory=lambda: iter(()))
    _pulls: list[PullRequest] = field(default_factory=list)
    _merges: dict[str, int] = field(default_factory=dict)
    _awaited: set[str] = field(default_factory=set)
    _rejected: dict[int, bool] = field(default_factory=dict)

    def on_own_branch(self) -> OpenProposal | None:
        """Return the proposal on our branch; None without a branch."""
        known = self.overview.own_commit
        return proposal_on_own_branch(self.branch, self.changes, self.context, known)

    def restrictions(self, proposed: ProposedTree) -> Restrictions:
        """Return the restrictions of a proposal because of people's earlier rejections."""
        if self.overview.has_closed is not False:
            self._pages = pull_requests.closed_pages(
                self.context.github,
                self.branch.repository,
                head=self.branch.own_branch,
                base=self.branch.branch,
                without=WITHDRAWN,
            )
        self._load()
        history = self._history(proposed)
        foreign = set(self.changes.foreign_deleted)
        wanted = {
            path: version
            for path, version in wanted_content(self.changes).items()
            if path not in foreign
        }
        closed = list(self._closed(history.before_era, proposed))
        key = (proposed.digest, proposed.promoted_commit)
        rejected = rejected_content(wanted, key, history, closed)
        return rejected.restrictions(
            {commit for commit in rejected.commits if self._has_changed_inputs(commit)},
            closed=self._latest_is_closed(),
            is_as_merged=history.is_as_merged,
        )

    def _load(self) -> bool:
        """Read another page of closed pull requests; return whether there is one."""
        page = next(self._pages, None)
        if page is None:
            return False
        self._pulls += page
        merges = {pull.merge_commit: pull.number for pull in page if pull.merged}
        self._merges |= merges
        self._awaited |= merges.keys()
        return True

    def _number_of(self, commit: str) -> int | None:
        """Return the number of our pull request that a commit of the branch merges.

        The caller asks for newer commits before older ones: a merge that is not known yet may be on
        another page of pull requests.
        """
        while commit not in self._merges and not self._awaited and self._load():
            pass
        self._awaited.discard(commit)
        return self._merges.get(commit)

    def _history(self, proposed: ProposedTree) -> MergeHistory:
        branch, cluster_types = self.branch, self.plan.cluster_types
        while not self._merges and self._load():
            pass
        if not self._merges:
            return without_merges(branch.tree, cluster_types)
        history = self._history_of_line(proposed)
        # The newest merge is the first one on the line.
        merges = (pull for pull in self._all_pulls() if pull.merged)
        absent = list(takewhile(lambda pull: pull.merge_commit in self._awaited, merges))
        if not absent or not self._is_forced_back(absent[0].merge_commit):
            return history
        self._awaited.difference_update(pull.merge_commit for pull in absent)
        history, latest = self._history_of_line(proposed), absent[0]
        files = self._files(latest.merge_commit)
        rejection: Rejection | None = None
        if self._promoted_commit(files) == proposed.promoted_commit:
            rejection = Rejection(latest.number, "undone", latest.merge_commit)
        return after_force_push(history, files.entries(), branch.tree, cluster_types, rejection)

    def _history_of_line(self, proposed: ProposedTree) -> MergeHistory:
        branch = self.branch
        line = islice(self.context.remotes.history(branch.url, branch.head), MAX_COMMITS)
        return read_merge_history(
            line, branch.tree, self.plan.cluster_types, proposed.promoted_commit, self._number_of
        )

    def _is_forced_back(self, merge: str) -> bool:
        """Whether the branch has lost a merge; one without a commit in common began anew."""
        github, repository = self.context.github, self.branch.repository
        return commits.relation(github, repository, merge, self.branch.head) in {
            "behind",
            "diverged",
        }

    def _all_pulls(self) -> Iterator[PullRequest]:
        place = 0
        while place < len(self._pulls) or self._load():
            yield from self._pulls[place : (place := len(self._pulls))]

    def _latest_is_closed(self) -> bool:
        for pull in self._all_pulls():
            if pull.merged or self._is_rejected(pull):
                return not pull.merged
        return False

    def _is_rejected(self, pull: PullRequest) -> bool:
        if pull.number not in self._rejected:
            events = issues.events(self.context.github, self.branch.repository, pull.number)
            self._rejected[pull.number] = closed_by_people(events)
        return self._rejected[pull.number]

    def _closed(self, before_era: int, proposed: ProposedTree) -> Iterator[ClosedProposal]:
        """Yield the proposals of the present era that people closed, newest first."""
        for pull in self._all_pulls():
            if pull.number <= before_era:
                return
            if not pull.merged and self._is_rejected(pull):
                closed = self._closed_proposal(pull)
                if closed and closed.promoted_commit == proposed.promoted_commit:
                    yield closed

    def _closed_proposal(self, pull: PullRequest) -> ClosedProposal | None:
        """Return the proposal of a pull request closed unmerged; None if its commits are gone."""
        commit = self._commit(pull.head_commit)
        if commit is None or not commit.parents:
            return None
        files, digest = self._files(commit.id), digest_of(commit.message)
        # Others may have pushed to the branch too, or have merged into it.
        parent = commit.parents[0] if digest else self._merge_base(commit.id)
        changed = changed_content(self._files(parent).entries(), files.entries())
        records = record_paths(self.branch.folder)
        return ClosedProposal(
            pull.number,
            commit.id,
            digest,
            self._promoted_commit(files),
            {path: version for path, version in changed.items() if path not in records},
        )

    def _has_changed_inputs(self, commit: str) -> bool:
        """Whether people changed the inputs since the tree of a commit was made."""
        content = self._read(self._files(commit), SOURCES_FILE)
        previous = read_sources(content, self.plan.environment)
        if previous is None:
            return False
        if sources_changed(previous, self.plan.sources):
            return True
        before, now = previous.environment_branch, self.sources.own.revision
        if before is None or before.commit is None or now.commit in {None, before.commit}:
            return False
        line = self.context.remotes.history(now.repository, now.commit or "")
        return environment_changed(line, before.commit, now.path)

    def _commit(self, commit: str) -> Commit | None:
        """Return a commit; None if the repository lost it, as after a forced push."""
        known = self.overview.own_commit
        return read_commit(self.context, self.branch.repository, commit, known)

    def _merge_base(self, commit: str) -> str:
        branch = self.branch
        return commits.merge_base(self.context.github, branch.repository, branch.head, commit)

    def _files(self, commit: str) -> RevisionFiles:
        return self.context.repositories.open(self.branch.url, commit=commit)

    def _promoted_commit(self, files: RevisionFiles) -> str | None:
        return named_commit(files, self.branch)

    def _read(self, files: RevisionFiles, place: str) -> bytes | None:
        return content_of(files, self.branch.path_of(place))
