"""Branches that two environments share, or that a GitOpsRepo shares with the control plane."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from kalypso_actions.errors import Problem
from kalypso_actions.model.kinds import Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.model.urls import repository_key
from kalypso_actions.planning.fleet_checks.scope import FleetView

_Place = tuple[str, str, str]


def check_places(view: FleetView) -> Iterator[Problem]:
    """Report places that two owners write to: each would delete the other's files."""
    environments = view.environments or {}
    yield from _shared_branches(environments)
    owners: dict[_Place, tuple[str, GitOpsRepo]] = {}
    for scope in view.scopes:
        for repo in scope.fleet.gitops_repos:
            yield from _in_control_plane(repo, environments)
            place = _place(repo.target)
            name, other = owners.setdefault(place, (scope.environment, repo))
            if place[0] and name != scope.environment:
                yield _shared_gitops_place(repo, scope.environment, other, name)


def _shared_branches(environments: Mapping[str, Environment]) -> Iterator[Problem]:
    first: dict[_Place, Environment] = {}
    for environment in environments.values():
        other = first.setdefault(_place(environment.control_plane), environment)
        if other is not environment:
            yield Problem(
                f"Environments {other.name!r} and {environment.name!r} have the same branch, "
                f"{environment.control_plane.branch!r}",
                environment.where,
                "give each environment a branch of its own in spec.controlPlane.branch",
                "environment-branch-shared",
                related=(other.where,),
            )


def _shared_gitops_place(repo: GitOpsRepo, name: str, other: GitOpsRepo, owner: str) -> Problem:
    subject = f"GitOpsRepo {repo.name!r}: the environments {owner!r} and {name!r}"
    advice = "give each environment a branch or path of its own"
    if repo.where == other.where:
        advice = f"move it from main to the branch of the environment that {repo.name!r} is for"
    return Problem(
        f"{subject} write to the same branch, {repo.target.branch!r}, and delete each other's "
        "manifests",
        repo.where,
        advice,
        "gitops-repo-shared",
        related=(other.where,),
    )


def _in_control_plane(
    repo: GitOpsRepo, environments: Mapping[str, Environment]
) -> Iterator[Problem]:
    repository, branch, path = _place(repo.target)
    for environment in environments.values():
        own = _place(environment.control_plane)
        nested = posixpath.commonpath((path, own[2])) in {path, own[2]}
        if repository and (repository, branch) == own[:2] and nested:
            yield Problem(
                f"GitOpsRepo {repo.name!r} names the branch of the environment "
                f"{environment.name!r} in the control plane",
                repo.where,
                "name the GitOps repository, or a branch that no environment has",
                "gitops-repo-in-control-plane",
            )


def _place(place: RepositoryPath) -> _Place:
    path = posixpath.normpath(place.path.strip("/") or ".")
    return repository_key(place.repo), place.branch, "" if path == "." else path
