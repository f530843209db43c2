"""Our closed and merged pull requests for a GitOps branch, read as far as necessary."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from kalypso_actions import gitops
from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.github import GitHub, issues, pull_requests
from kalypso_actions.commands.shared.reading.gitops_state import GitOpsState, ProposalCommits
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.model.tree import Snapshot, TreeChanges
from kalypso_actions.planning.plan import Plan

MAX_COMMITS: Final = 1000
"""The most commits of a branch to read: no environment keeps one commit of main for longer."""


class PastPullRequests:
    """Our closed and merged pull requests for a GitOps branch, and others' changes since then."""

    def __init__(
        self,
        state: GitOpsState,
        plan: Plan,
        sources: Snapshot,
        proposals: ProposalCommits,
        github: GitHub,
        remotes: RemoteRepositories,
        *,
        without: str,
        exist: bool = True,
    ) -> None:
        """Unmerged pull requests with the label `without` do not count.

        `exist` is False if the caller knows that there are no pull requests.
        """
        self._state = state
        self._plan = plan
        self._sources = sources
        self._proposals = proposals
        self._github = github
        self._remotes = remotes
        pages = pull_requests.closed_pages(
            github, state.repository, head=state.own_branch, base=state.branch, without=without
        )
        self._pages = pages if exist else iter(())
        self._pulls: list[PullRequest] = []
        self._merges: dict[str, int] = {}
        self._awaited: set[str] = set()
        self._rejected: dict[int, bool] = {}

    def restrictions(self, proposal: gitops.Proposal, changes: TreeChanges) -> gitops.Restrictions:
        """Return the restrictions for a proposal with `changes`. Raises KalypsoError."""
        self._load()
        history = self._history(proposal)
        foreign = set(changes.foreign_deleted)
        wanted = {
            path: version
            for path, version in gitops.wanted_content(changes).items()
            if path not in foreign
        }
        closed = list(self._closed(history.before_era, proposal))
        key = (proposal.digest, proposal.promoted_commit)
        rejected = gitops.rejected_content(wanted, key, history, closed)
        return rejected.restrictions(
            {commit for commit in rejected.commits if self._has_changed_inputs(commit)},
            closed=self._latest_is_closed(),
            is_as_merged=history.is_as_merged,
        )

    def _load(self) -> bool:
        """Read another page of pull requests; return whether there is one."""
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

    def _history(self, proposal: gitops.Proposal) -> gitops.MergeHistory:
        state, cluster_types = self._state, self._plan.cluster_types
        while not self._merges and self._load():
            pass
        if not self._merges:
            return gitops.without_merges(state.tree, cluster_types)
        line = islice(self._remotes.history(state.url, state.commit), MAX_COMMITS)
        return gitops.read_merge_history(
            line, state.tree, cluster_types, proposal.promoted_commit, self._number_of
        )

    def _latest_is_closed(self) -> bool:
        for pull in self._all_pulls():
            if pull.merged or self._is_rejected(pull):
                return not pull.merged
        return False

    def _closed(
        self, before_era: int, proposal: gitops.Proposal
    ) -> Iterator[gitops.ClosedProposal]:
        """Yield the pull requests of the present era that people closed, newest first."""
        for pull in self._all_pulls():
            if pull.number <= before_era:
                return
            if not pull.merged and self._is_rejected(pull):
                closed = self._proposals.closed(pull)
                if closed and closed.promoted_commit == proposal.promoted_commit:
                    yield closed

    def _all_pulls(self) -> Iterator[PullRequest]:
        place = 0
        while place < len(self._pulls) or self._load():
            yield from self._pulls[place : (place := len(self._pulls))]

    def _is_rejected(self, pull: PullRequest) -> bool:
        if pull.number not in self._rejected:
            events = issues.events(self._github, self._state.repository, pull.number)
            self._rejected[pull.number] = gitops.closed_by_people(events)
        return self._rejected[pull.number]

    def _has_changed_inputs(self, commit: str) -> bool:
        """Whether people changed the inputs since the tree of a commit was made."""
        previous = gitops.read_sources(
            self._proposals.content(commit, SOURCES_FILE), self._plan.environment
        )
        if previous is None:
            return False
        if gitops.sources_changed(previous, self._plan.sources):
            return True
        before, now = previous.environment_branch, self._sources.own.revision
        if before is None or before.commit is None or now.commit in {None, before.commit}:
            return False
        line = self._remotes.history(now.repository, now.commit or "")
        return gitops.environment_changed(line, before.commit, now.path)
