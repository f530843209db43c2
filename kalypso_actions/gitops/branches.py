"""The names of our branches in GitOps repositories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.kinds import GitOpsRepo
from kalypso_actions.model.urls import repository_key


def own_branches(
    prefix: str, environment: str, gitops_repos: Sequence[GitOpsRepo]
) -> Mapping[str, str]:
    """Our branch for each GitOpsRepo of an environment, by its name.

    It is called after the environment, and after the object, too, where one repository has several
    of them. Raises KalypsoError where two objects mean the same tree.
    """
    shared: dict[str, list[GitOpsRepo]] = {}
    for one in gitops_repos:
        shared.setdefault(repository_key(one.target.repo), []).append(one)
    problems = [problem for group in shared.values() for problem in _twice(group)]
    if problems:
        raise KalypsoError.of(problems)
    return {
        one.name: prefix + (environment if len(group) == 1 else f"{environment}.{one.name}")
        for group in shared.values()
        for one in group
    }


def _twice(group: Sequence[GitOpsRepo]) -> list[Problem]:
    first: dict[tuple[str, str], GitOpsRepo] = {}
    problems = []
    for one in group:
        place = (one.target.branch, one.target.path.strip("./"))
        other = first.setdefault(place, one)
        if other is not one:
            message = f"GitOpsRepo {one.name!r} names the same tree as {other.name!r}"
            problems.append(Problem(message, one.where, "remove one of the two"))
    return problems
