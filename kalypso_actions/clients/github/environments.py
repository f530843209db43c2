"""Environments of a repository and the variables set for them."""

from __future__ import annotations

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub


def names(github: GitHub, repository: str) -> tuple[str, ...]:
    """The names of the repository's environments, as GitHub lists them. Raises GitHubError."""
    failure = "the environments cannot be listed"
    found = rest.read_all(github, repository, failure, "/environments", item="environments")
    return tuple(environment["name"] for environment in found)


def variable(github: GitHub, repository: str, environment: str, name: str) -> str | None:
    """A variable of an environment itself; None where either does not exist.

    A variable of the same name on the repository or the organization is not looked at.
    Raises GitHubError.
    """
    failure = f"the variable {name} of the environment {environment} cannot be read"
    path = f"/environments/{rest.segment(environment)}/variables/{rest.segment(name)}"
    return _value(github, repository, failure, path)


def repository_variable(github: GitHub, repository: str, name: str) -> str | None:
    """A variable of the repository; None where it is not set. Raises GitHubError."""
    failure = f"the variable {name} cannot be read"
    return _value(github, repository, failure, f"/actions/variables/{rest.segment(name)}")


def _value(github: GitHub, repository: str, failure: str, path: str) -> str | None:
    answer = rest.read_optional(github, repository, failure, path)
    return None if answer is None else str(answer["value"])
