"""Facts about a repository: settings, environments, names of secrets and variables.

GitHub never returns the values of secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from github.Permissions import Permissions
from github.Repository import Repository

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.errors import GitHubError, Json
from kalypso_actions.model.github import (
    ActionsSettings,
    EnvironmentRules,
    RepositoryFacts,
    SettingNames,
    Visibility,
)


def get(github: GitHub, repository: str) -> RepositoryFacts:
    """Return the facts about a repository. Raises GitHubError."""

    def read(target: Repository) -> RepositoryFacts:
        target.complete()
        permissions: Permissions | None = target.permissions
        return RepositoryFacts(
            id=target.id,
            name=target.full_name,
            owner_id=target.owner.id,
            is_organization=target.owner.type == "Organization",
            default_branch=target.default_branch,
            may_push=permissions is None or permissions.push is not False,
            is_archived=target.archived,
            created_at=target.created_at,
            visibility=_visibility(target),
        )

    return github.call(repository, "the repository cannot be read", read)


def id_of_name(github: GitHub, name: str, repository: str) -> int:
    """Return the id of the repository that a name leads to, with the credential for `repository`.

    GitHub redirects former names, even those of another owner (developer.github.com/changes/
    2015-04-17-preview-repository-redirects), where an App need not be installed. Raises
    GitHubError.
    """
    path = "/".join(map(rest.segment, name.split("/")))
    return github.call(
        repository,
        f"the repository cannot be read by the name {name}",
        lambda target: Repository(target.requester, url=f"/repos/{path}").id,
    )


UNREADABLE: Final = frozenset({403, 404, 451})
"""GitHub's answers for a repository that the token may not see, or that does not exist."""


def is_same(github: GitHub, name: str, repository: str) -> bool:
    """Return whether a name leads to a repository, with the credential for the repository.

    The id decides: a former name counts while GitHub redirects it, and somebody else may take it.
    Raises GitHubError for a rate limit, and for failures other than `UNREADABLE`.
    """
    try:
        ids = {id_of_name(github, each, repository) for each in (name, repository)}
    except GitHubError as error:
        if error.status not in UNREADABLE or error.limited:
            raise
        return False
    return len(ids) == 1


def site_is_public(github: GitHub, repository: str) -> bool | None:
    """Return whether everybody may read the repository's Pages; None if GitHub does not say.

    A private repository's site is public, too, unless GitHub Enterprise Cloud restricts it
    (docs.github.com/pages/getting-started-with-github-pages/
    changing-the-visibility-of-your-github-pages-site). Return None for a repository without a
    site, too. Raises GitHubError.
    """
    site = github.call_optional(
        repository, "GitHub Pages cannot be read", lambda target: rest.read(target, "/pages")
    )
    answer = (site or {}).get("public")
    return answer if isinstance(answer, bool) else None


def environments(github: GitHub, repository: str) -> Mapping[str, EnvironmentRules]:
    """Return the repository's environments, and how each is protected. Raises GitHubError."""
    failure = "the environments cannot be listed"
    listed = _entries(github, repository, failure, "/environments", "environments")
    return {
        str(entry["name"]): EnvironmentRules(
            any_branch=entry.get("deployment_branch_policy") is None,
            needs_approval=any(
                rule["type"] == "required_reviewers" for rule in entry.get("protection_rules", ())
            ),
        )
        for entry in listed
    }


def variable(github: GitHub, repository: str, environment: str, name: str) -> str | None:
    """Return a variable of an environment; None if either does not exist.

    Variables of the repository and the organization do not count. Raises GitHubError.
    """
    return github.call_optional(
        repository,
        f"the variable {name} of the environment {environment} cannot be read",
        lambda target: target.get_environment(environment).get_variable(name).value,
    )


def settings(github: GitHub, repository: str) -> SettingNames:
    """Return the names for all jobs, and the values of variables, also of the organization.

    Raises GitHubError.
    """
    entries = {
        item: [
            entry
            for path in (f"/actions/organization-{item}", f"/actions/{item}")
            for entry in _entries(github, repository, f"the {item} cannot be listed", path, item)
        ]
        for item in ("secrets", "variables")
    }
    # Variables of the repository come after those of its organization, and before them in value.
    values = {str(entry["name"]): str(entry["value"]) for entry in entries["variables"]}
    secrets = frozenset(str(entry["name"]) for entry in entries["secrets"])
    return SettingNames(secrets, frozenset(values), values)


def settings_of_environment(github: GitHub, repository: str, environment: str) -> SettingNames:
    """Return the names that only jobs of an existing environment see. Raises GitHubError."""
    path = f"/environments/{rest.segment(environment)}"
    failure = f"of the environment {environment} cannot be listed"
    secrets, variables = (
        frozenset(
            str(entry["name"])
            for entry in _entries(
                github, repository, f"the {item} {failure}", f"{path}/{item}", item
            )
        )
        for item in ("secrets", "variables")
    )
    return SettingNames(secrets, variables)


def settings_of_actions(github: GitHub, repository: str) -> ActionsSettings:
    """Return the repository's settings of GitHub Actions. Raises GitHubError."""
    failure = "the settings of GitHub Actions cannot be read"
    path = "/actions/permissions"
    settings = github.call(repository, failure, lambda target: rest.read(target, path))
    jobs = github.call(repository, failure, lambda target: rest.read(target, f"{path}/workflow"))
    return ActionsSettings(
        enabled=settings["enabled"],
        allowed=settings.get("allowed_actions", "all"),
        jobs_may_open_pull_requests=jobs["can_approve_pull_request_reviews"],
    )


def _entries(github: GitHub, repository: str, failure: str, path: str, item: str) -> list[Json]:
    return github.call(repository, failure, lambda target: rest.read_all(target, path, item=item))


def _visibility(repository: Repository) -> Visibility:
    """Return the visibility; servers that do not know internal repositories only say `private`."""
    if repository.private:
        return "internal" if repository.visibility == "internal" else "private"
    return "public"
