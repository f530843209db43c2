"""Environments of a repository, and variables."""

from __future__ import annotations

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub


def names(github: GitHub, repository: str) -> tuple[str, ...]:
    """Return the names of the repository's environments. Raises GitHubError."""
    failure = "the environments cannot be listed"
    path = "/environments"
    environments = rest.read_all(github, repository, failure, path, item="environments")
    return tuple(environment["name"] for environment in environments)


def variable(github: GitHub, repository: str, environment: str, name: str) -> str | None:
    """Return a variable of an environment; None if either does not exist.

    Variables of the repository and the organization do not count. Raises GitHubError.
    """
    failure = f"the variable {name} of the environment {environment} cannot be read"
    path = f"/environments/{rest.segment(environment)}/variables/{rest.segment(name)}"
    return _value(github, repository, failure, path)


def _value(github: GitHub, repository: str, failure: str, path: str) -> str | None:
    answer = rest.read_optional(github, repository, failure, path)
    return None if answer is None else str(answer["value"])
