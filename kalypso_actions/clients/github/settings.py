"""What a repository is set to: names of secrets, variables, what workflows may do.

Values of secrets are nobody's to read; variables may be those of the organization as well.
"""

from __future__ import annotations

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.model.github import ActionsSettings, SettingNames


def of_repository(github: GitHub, repository: str) -> SettingNames:
    """What every job finds: the repository's own, and its organization's. Raises GitHubError."""
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
    """What only jobs of an environment find, which must exist. Raises GitHubError."""
    path = f"/environments/{rest.segment(environment)}"
    of_it = f"of the environment {environment} cannot be listed"
    secrets = _names(github, repository, f"the secrets {of_it}", f"{path}/secrets", "secrets")
    failure = f"the variables {of_it}"
    variables = _names(github, repository, failure, f"{path}/variables", "variables")
    return SettingNames(frozenset(secrets), frozenset(variables))


def of_actions(github: GitHub, repository: str) -> ActionsSettings:
    """Whether workflows run, whose actions they may use, what jobs may do. Raises GitHubError."""
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
    return {one["name"] for one in rest.read_all(github, repository, failure, path, item=item)}
