"""Settings of a repository: names of secrets and variables, and permissions of workflows.

GitHub never returns the values of secrets.
"""

from __future__ import annotations

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.model.github import ActionsSettings, SettingNames


def of_repository(github: GitHub, repository: str) -> SettingNames:
    """Return the names for all jobs, including those of the organization. Raises GitHubError."""
    failure = "the secrets cannot be listed"
    secrets: set[str] = set()
    for path in ("/actions/organization-secrets", "/actions/secrets"):
        secrets |= _names(github, repository, failure, path, "secrets")
    failure = "the variables cannot be listed"
    variables: set[str] = set()
    for path in ("/actions/organization-variables", "/actions/variables"):
        variables |= _names(github, repository, failure, path, "variables")
    return SettingNames(frozenset(secrets), frozenset(variables))


def of_environment(github: GitHub, repository: str, environment: str) -> SettingNames:
    """Return the names that only jobs of an existing environment see. Raises GitHubError."""
    path = f"/environments/{rest.segment(environment)}"
    failure = f"the secrets of the environment {environment} cannot be listed"
    secrets = _names(github, repository, failure, f"{path}/secrets", "secrets")
    failure = f"the variables of the environment {environment} cannot be listed"
    variables = _names(github, repository, failure, f"{path}/variables", "variables")
    return SettingNames(frozenset(secrets), frozenset(variables))


def of_actions(github: GitHub, repository: str) -> ActionsSettings:
    """Return the repository's settings of GitHub Actions. Raises GitHubError."""
    failure = "the settings of GitHub Actions cannot be read"
    path = "/actions/permissions"
    settings = rest.read(github, repository, failure, path)
    jobs = rest.read(github, repository, failure, f"{path}/workflow")
    return ActionsSettings(
        enabled=settings["enabled"],
        allowed=settings.get("allowed_actions", "all"),
        jobs_may_open_pull_requests=jobs["can_approve_pull_request_reviews"],
    )


def _names(github: GitHub, repository: str, failure: str, path: str, item: str) -> set[str]:
    items = rest.read_all(github, repository, failure, path, item=item)
    return {str(entry["name"]) for entry in items}
