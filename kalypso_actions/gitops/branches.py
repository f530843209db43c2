"""The names of our branches in GitOps repositories."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.kinds import GitOpsRepo
from kalypso_actions.model.urls import repository_key


def own_branches(
    prefix: str, environment: str, gitops_repos: Sequence[GitOpsRepo]
) -> Mapping[str, str]:
    """Return the name of our branch for each GitOpsRepo of an environment, by the object's name.

    The branch has the name of the environment, and of the object too if one repository has several
    objects. Raises KalypsoError if two objects name the same tree.
    """
    shared: dict[str, list[GitOpsRepo]] = {}
    for gitops_repo in gitops_repos:
        shared.setdefault(repository_key(gitops_repo.target.repo), []).append(gitops_repo)
    problems = duplicate_gitops_repos(gitops_repos)
    if problems:
        raise KalypsoError.of(problems)
    return {
        repo.name: prefix + (environment if len(group) == 1 else f"{environment}.{repo.name}")
        for group in shared.values()
        for repo in group
    }


def may_be_own_branch(name: str, environment: str) -> bool:
    """Return whether a branch has the form of ours for an environment, with any prefix."""
    return re.fullmatch(rf".*{re.escape(environment)}(?:\..+)?", name) is not None


def duplicate_gitops_repos(gitops_repos: Sequence[GitOpsRepo]) -> list[Problem]:
    """Return a problem for each GitOpsRepo of an environment that names the tree of another."""
    first: dict[tuple[str, str, str], GitOpsRepo] = {}
    problems = []
    for repo in gitops_repos:
        target = repo.target
        place = (repository_key(target.repo), target.branch, target.path.strip("./"))
        other = first.setdefault(place, repo)
        if other is not repo:
            message = f"GitOpsRepo {repo.name!r} names the same tree as {other.name!r}"
            advice = "remove one of the two"
            problems.append(Problem(message, repo.where, advice, "gitops-repo-duplicate"))
    return problems
