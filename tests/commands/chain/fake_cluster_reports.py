"""A source of cluster reports that asks a function, for commands that take a source."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kalypso_actions.model.cluster_reports import ClusterReport, FollowedTree


class FakeClusterReports:
    """Reports by repository URL and branch."""

    title = "Fake"
    no_reports_advice = "make some reports up"
    knows_all_clusters = True

    def __init__(self, reports: Callable[[str, str], Sequence[ClusterReport]]) -> None:
        self._reports = reports
        self.is_closed = False

    def check_inputs(self, followed: FollowedTree) -> None:
        """Accept every input."""

    def setup_advice(self) -> str:
        return ""

    def reports(self, followed: FollowedTree) -> Sequence[ClusterReport]:
        return self._reports(followed.repository_url, followed.branch)

    def close(self) -> None:
        self.is_closed = True
