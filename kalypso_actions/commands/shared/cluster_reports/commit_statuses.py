"""The statuses that clusters post on the commits of a GitOps branch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from kalypso_actions.clients.github import GitHubError, statuses
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.compliance.commit_statuses import (
    cluster_context,
    faults_of_statuses,
    needs_history,
    nobody_expected,
    reports_of_statuses,
    unlisted_pairs,
)
from kalypso_actions.doctor_rules.check import Check
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.inputs.chain import ClusterSources
from kalypso_actions.model.cluster_reports import ClusterReport, FollowedTree
from kalypso_actions.model.github import CommitStatus

JOB: Final = "github-actions[bot]"
"""The author of the statuses of every job of every workflow."""

LOGIN: Final = re.compile(r"[a-z0-9_-]+(\[bot\])?")
"""In lower case; the logins of managed users contain a `_`."""

SETTLE: Final = timedelta(minutes=1)
"""How long a state lasts before it counts where no input says it."""


class CommitStatuses:
    """The statuses of the contexts `cluster/<cluster>/<cluster type>`, by trusted authors."""

    title = "Commit statuses"
    no_reports_advice = (
        "check the Provider and the Alert of the clusters, and their commitStatusExpr: each "
        "cluster posts the context cluster/<cluster>/<cluster type>"
    )
    knows_all_clusters = False

    def __init__(self, inputs: ClusterSources, context: CommandContext) -> None:
        self._authors = frozenset(author.lower() for author in inputs.status_authors)
        self._stale_after = getattr(inputs, "stale_after", None)
        self._settle: timedelta = getattr(inputs, "settle", SETTLE)
        self._context = context
        self._rows: dict[tuple[str, str], list[CommitStatus]] = {}
        self._warnings: tuple[Problem, ...] = ()
        self._newest: Mapping[str, Mapping[str, CommitStatus]] = {}

    def check_inputs(self, followed: FollowedTree) -> None:
        """Raise UsageError if the inputs are missing or wrong; send no request."""
        self._check_authors()
        if self._stale_after is not None:
            raise UsageError(
                "stale-after cannot be used with commit-statuses: a status is posted once",
                advice="remove stale-after",
            )
        if followed.unlisted:
            one = len(followed.unlisted) == 1
            names = ", ".join(followed.unlisted)
            raise UsageError(
                f"the cluster type {names} does not list its clusters"
                if one
                else f"the cluster types {names} do not list their clusters",
                advice="add the annotation kalypso.io/clusters with the names of the clusters: a "
                "cluster that posts nothing would be overlooked",
            )

    def _check_authors(self) -> None:
        if not self._authors:
            raise UsageError(
                "status-authors is missing",
                advice="name the logins that post the statuses of clusters, such as "
                "fleet-flux[bot], by --status-authors or in a workflow by the variable "
                "KALYPSO_STATUS_AUTHORS: anyone with write access can post a status",
            )
        for author in sorted(self._authors):
            if not LOGIN.fullmatch(author):
                raise UsageError(
                    f"status-authors: {author} is no login",
                    advice="write the login of a GitHub App as fleet-flux[bot], without @ or app/",
                )
        if JOB in self._authors:
            raise UsageError(
                f"status-authors names {JOB}, as which every job of every workflow posts",
                advice="let the clusters post by a GitHub App of their own",
            )

    def setup_advice(self) -> str:
        """Return the inputs that `kalypso doctor` lacks to send requests."""
        return "" if self._authors else "give --status-authors to have the statuses read"

    def reports(self, followed: FollowedTree) -> Sequence[ClusterReport]:
        """Return the reports of the expected clusters.

        Raise UsageError without authors, KalypsoError if the statuses cannot be read.
        """
        self._check_authors()
        self._newest, self._warnings = {}, ()
        repository = self._context.repository(followed.repository_url)
        if not followed.expected:
            if not followed.unlisted:
                self._warnings = (nobody_expected(f"{repository}@{followed.branch}", followed),)
            return ()
        try:
            newest = statuses.of_commits(self._context.github, repository, followed.commits)
            by_commit = {
                commit: self._with_history(repository, commit, newest.get(commit, {}))
                for commit in followed.commits
            }
        except GitHubError as error:
            answered = f" (GitHub answered {error.status})" if error.status else ""
            problem = error.problem
            message = f"{problem.message}{answered}"
            raise KalypsoError(message, problem.where, problem.advice) from error
        self._newest = newest
        reports, unlisted = reports_of_statuses(by_commit, followed, self._authors)
        self._warnings = tuple(unlisted_pairs(unlisted, followed))
        return reports

    def warnings(self) -> tuple[Problem, ...]:
        """Return a warning for each cluster that reported at the last look and is not listed."""
        return self._warnings

    def checks(self, followed: FollowedTree) -> Sequence[Check]:
        """Return a warning for each fault of the statuses that the last look saw."""
        faults = faults_of_statuses(self._newest, followed, self._authors)
        return tuple(Check.of_problem("warning", fault, self.title) for fault in faults)

    def close(self) -> None:
        """Do nothing: the connections are GitHub's."""

    def _with_history(
        self, repository: str, commit: str, newest: Mapping[str, CommitStatus]
    ) -> list[CommitStatus]:
        """Return the statuses of a commit's clusters, newest first.

        Each context is listed at most once for the same newest status.
        """
        contexts = {key: status for key, status in newest.items() if cluster_context(key)}
        if any(self._is_new(commit, key, status) for key, status in contexts.items()):
            rows: dict[str, list[CommitStatus]] = {}
            for status in statuses.history(self._context.github, repository, commit):
                rows.setdefault(status.context.lower(), []).append(status)
            for key in contexts:
                self._rows[commit, key] = rows.get(key, [])
        return [
            status
            for key, latest in contexts.items()
            for status in self._rows.get((commit, key)) or [latest]
        ]

    def _is_new(self, commit: str, key: str, status: CommitStatus) -> bool:
        """Return whether the history of a context must be read; keep a status that says enough."""
        row = self._rows.get((commit, key))
        if row and _identity(row[0]) == _identity(status):
            return False
        now = self._context.runtime.now()
        is_young = status.created_at is None or now - status.created_at < self._settle
        if needs_history(status, self._authors, is_young=is_young):
            return True
        self._rows[commit, key] = [status, *(row or ())]
        return False


def _identity(status: CommitStatus) -> tuple[object, ...]:
    """Return what GraphQL and REST both say of a status: several may be of one second."""
    return status.created_at, status.author.lower(), status.state, status.description
