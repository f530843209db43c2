"""The GitOps branches of an environment, as far as they can be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kalypso_actions.commands.shared.reading.base_tree import read_base_tree
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.gitops_folder import gitops_folder
from kalypso_actions.model.kinds import GitOpsRepo, RepositoryPath
from kalypso_actions.model.tree import BaseTree
from kalypso_actions.scheduling.registry import uses_present_assignments


@dataclass(slots=True)
class ReadableBaseTrees:
    """The readable GitOps branches of an environment, each read once; `warnings` of the others."""

    repositories: Repositories
    trees: dict[RepositoryPath, BaseTree | None] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)

    def open(self, gitops_repos: Sequence[GitOpsRepo]) -> list[BaseTree]:
        """Return the trees of GitOpsRepos, without unreadable ones."""
        for gitops_repo in gitops_repos:
            if gitops_repo.target not in self.trees:
                self.trees[gitops_repo.target] = self._read(gitops_repo)
        trees = (self.trees[gitops_repo.target] for gitops_repo in gitops_repos)
        return [tree for tree in trees if tree is not None]

    def _read(self, gitops_repo: GitOpsRepo) -> BaseTree | None:
        target = gitops_repo.target
        try:
            folder = gitops_folder(target.path, gitops_repo.where)
            files = self.repositories.open(target.repo, branch=target.branch)
            return read_base_tree(files, target.branch, folder)
        except KalypsoError as error:
            self.warnings += [
                Problem(
                    f"what would change in {target.repo} is not known: {problem.message}",
                    gitops_repo.where,
                    problem.advice,
                )
                for problem in error.problems
            ]
            return None


def trees_for(scheduler: str, repositories: Repositories) -> ReadableBaseTrees | None:
    """Return the trees that a scheduler of this name needs; None if it needs none."""
    return ReadableBaseTrees(repositories) if uses_present_assignments(scheduler) else None


def no_trees(_: Sequence[GitOpsRepo]) -> Sequence[BaseTree]:
    """Open nothing, because the scheduler needs only the fleet."""
    return ()
