"""What people said of earlier proposals for a GitOps branch: read as far as it matters now."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from kalypso_actions import gitops
from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.github import GitHub, issues, pull_requests
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.model.tree import Snapshot, TreeChanges
from kalypso_actions.plan import Plan
from kalypso_actions.snapshot.gitops_state import EarlierProposals, GitOpsState

FURTHEST: Final = 1000
"""Of a branch, no more commits are looked at: no environment has one commit of main for longer."""


class PastProposals:
    """Our pull requests for a GitOps branch that are closed or merged, and what followed."""

    def __init__(
        self,
        state: GitOpsState,
        plan: Plan,
        sources: Snapshot,
        earlier: EarlierProposals,
        github: GitHub,
        remotes: RemoteRepositories,
        *,
        without: str,
    ) -> None:
        """Unmerged pull requests with the label `without` are passed over."""
        self._state = state
        self._plan = plan
        self._sources = sources
        self._earlier = earlier
        self._github = github
        self._remotes = remotes
        self._pages = pull_requests.closed_pages(
            github, state.repository, head=state.own_branch, base=state.branch, without=without
        )
        self._pulls: list[PullRequest] = []
        self._merges: dict[str, int] = {}
        self._awaited: set[str] = set()
        self._verdicts: dict[int, bool] = {}

    def verdict(self, proposed: gitops.Proposed, changes: TreeChanges) -> gitops.Verdict:
        """What people said of the content that is proposed. Raises KalypsoError."""
        self._load()
        past = self._past(proposed)
        foreign = set(changes.foreign_deleted)
        wanted = {
            path: version
            for path, version in gitops.wanted_content(changes).items()
            if path not in foreign
        }
        closed = list(self._closed(past.before, proposed))
        key = (proposed.digest, proposed.tracking)
        found = gitops.rejected(wanted, key, past, closed)
        return found.verdict(
            {commit for commit in found.commits if self._is_wished(commit)},
            closed=self._latest_is_closed(),
            is_as_merged=past.is_as_merged,
        )

    def _load(self) -> bool:
        """Read another page of pull requests; whether there is one."""
        page = next(self._pages, None)
        if page is None:
            return False
        self._pulls += page
        merges = {pull.merge_commit: pull.number for pull in page if pull.merged}
        self._merges |= merges
        self._awaited |= merges.keys()
        return True

    def _number_of(self, commit: str) -> int | None:
        """The pull request of ours that a commit of the branch merges.

        The commits are asked for from the newest one on: once all merges that are known have come,
        the next one may be on another page.
        """
        while commit not in self._merges and not self._awaited and self._load():
            pass
        self._awaited.discard(commit)
        return self._merges.get(commit)

    def _past(self, proposed: gitops.Proposed) -> gitops.Past:
        state, cluster_types = self._state, self._plan.cluster_types
        while not self._merges and self._load():
            pass
        if not self._merges:
            return gitops.without_merges(state.tree, cluster_types)
        line = islice(self._remotes.history(state.url, state.commit), FURTHEST)
        return gitops.read_past(line, state.tree, cluster_types, proposed.tracking, self._number_of)

    def _latest_is_closed(self) -> bool:
        for pull in self._every_pull():
            if pull.merged or self._is_verdict(pull):
                return not pull.merged
        return False

    def _closed(self, before: int, proposed: gitops.Proposed) -> Iterator[gitops.ClosedProposal]:
        """The pull requests of the present era that people closed, newest first."""
        for pull in self._every_pull():
            if pull.number <= before:
                return
            if not pull.merged and self._is_verdict(pull):
                closed = self._earlier.closed(pull)
                if closed and closed.tracking == proposed.tracking:
                    yield closed

    def _every_pull(self) -> Iterator[PullRequest]:
        place = 0
        while place < len(self._pulls) or self._load():
            yield from self._pulls[place : (place := len(self._pulls))]

    def _is_verdict(self, pull: PullRequest) -> bool:
        if pull.number not in self._verdicts:
            events = issues.events(self._github, self._state.repository, pull.number)
            self._verdicts[pull.number] = gitops.closed_by_people(events)
        return self._verdicts[pull.number]

    def _is_wished(self, commit: str) -> bool:
        """Whether people have changed what the tree of a commit was made of."""
        previous = gitops.read_sources(
            self._earlier.content(commit, SOURCES_FILE), self._plan.environment
        )
        if previous is None:
            return False
        if gitops.sources_changed(previous, self._plan.sources):
            return True
        was, now = previous.environment_branch, self._sources.own.revision
        if was is None or was.commit is None or now.commit in {None, was.commit}:
            return False
        line = self._remotes.history(now.repository, now.commit or "")
        return gitops.environment_changed(line, was.commit, now.path)
