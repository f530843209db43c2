"""The GitOps branches of environments, with the last changes of their assignments."""

from __future__ import annotations

from itertools import chain

from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.kinds import GitOpsRepo
from kalypso_actions.model.layout import gitops_folder
from kalypso_actions.planning.fleet_report import MOST_COMMITS, MergedTree, last_changes
from kalypso_actions.planning.plan import Plan


class MergedTrees:
    """Reads GitOps branches; after a failure, it does not read the repository again."""

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories
        self._faults: dict[str, str] = {}

    def of(self, plan: Plan) -> tuple[MergedTree, ...]:
        """Return the branches of a plan's GitOpsRepos; an unreadable one has the reason."""
        folders = [item.assignment.folder for item in plan.assignments]
        return tuple(self._read(repo, folders) for repo in plan.fleet.gitops_repos)

    def _read(self, repo: GitOpsRepo, assignments: list[str]) -> MergedTree:
        url, branch, path = repo.target.repo, repo.target.branch, repo.target.path
        if url in self._faults:
            return MergedTree(url, branch, path, fault=self._faults[url])
        try:
            folder = gitops_folder(path, repo.where)
            commits = self._repositories.history(url, branch, MOST_COMMITS)
            head = next(commits, None)
            if head is None:
                fault = "there is no such branch, or the clone lacks its history"
                return MergedTree(url, branch, folder, fault=fault)
            changes = last_changes(chain([head], commits), folder, assignments)
        except KalypsoError as error:
            self._faults[url] = error.problem.message
            return MergedTree(url, branch, path, fault=error.problem.message)
        return MergedTree(url, branch, folder, head.id, changes)
