"""Accounts and their repositories, and GitHub's format of ids and times."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlsplit

from kalypso_sandbox.git.objects import Person
from kalypso_sandbox.github.access import RepositoryAccess
from kalypso_sandbox.json_http import Json

ACCOUNT_LINKS: Final = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}
REPOSITORY_LINKS: Final = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
COUNTS: Final = ("size", "stargazers_count", "watchers_count", "forks_count", "forks", "watchers")
"""Counts of features that the sandbox does not have."""


def node_id(kind: str, number: int | str) -> str:
    """Return a GraphQL id in GitHub's older format."""
    return base64.b64encode(f"0{len(kind)}:{kind}{number}".encode()).decode()


def timestamp(time: datetime) -> str:
    """Format a time in UTC, to the second."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def optional_timestamp(time: datetime | None) -> str | None:
    """Format a time, or return None."""
    return timestamp(time) if time else None


def user(access: RepositoryAccess, login: str) -> Json:
    """Return GitHub's `simple-user`."""
    account = access.store.account(login)
    page = f"apps/{login.removesuffix('[bot]')}" if account.kind == "Bot" else login
    url = f"{access.api_url}/users/{quote(login)}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id(account.kind, account.id),
        "avatar_url": f"{access.server_url}/avatars/u/{account.id}?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{access.server_url}/{page}",
        **{name: url + path for name, path in ACCOUNT_LINKS.items()},
        "type": account.kind,
        "user_view_type": "public",
        "site_admin": False,
    }


def optional_user(access: RepositoryAccess, login: str) -> Json:
    """Return GitHub's `simple-user`; None for ""."""
    return user(access, login) if login else None


def author(access: RepositoryAccess, address: str) -> Json:
    """Return the account of a commit's author, by email address; None for an unknown address."""
    login = login_of(address)
    return user(access, login) if login.lower() in access.store.accounts else None


def own_person(access: RepositoryAccess) -> Person:
    """Return the identity as the author of a commit, with the address that GitHub issues."""
    account = access.store.account(access.identity.login)
    address = f"{account.id}+{account.login}@users.noreply.github.com"
    return Person(account.login, address, access.store.now)


def login_of(address: str) -> str:
    """Return the login in an address that GitHub issued; "" for other addresses."""
    name, _, host = address.rpartition("@")
    return name.rpartition("+")[2] if host == "users.noreply.github.com" else ""


def association(access: RepositoryAccess, login: str) -> str:
    """Return an author's association with the repository."""
    if login.lower() == access.repository.owner.lower():
        return "OWNER"
    return "NONE" if access.store.account(login).kind == "Bot" else "MEMBER"


def organization(access: RepositoryAccess, login: str) -> Json:
    """Return GitHub's `organization-simple`, as in events."""
    known = user(access, login)
    url = f"{access.api_url}/orgs/{quote(login)}"
    return {
        **{key: known[key] for key in ("login", "id", "node_id", "avatar_url")},
        "url": url,
        **{f"{name}_url": f"{url}/{name}" for name in ("repos", "events", "hooks", "issues")},
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "description": None,
    }


def minimal_repository(access: RepositoryAccess) -> Json:
    """Return GitHub's `minimal-repository`."""
    repository = access.repository
    return {
        "id": repository.id,
        "node_id": node_id("Repository", repository.id),
        "name": repository.name,
        "full_name": repository.full_name,
        "private": repository.private,
        "owner": user(access, repository.owner),
        "html_url": access.page,
        "description": None,
        "fork": bool(repository.parent),
        "url": access.url,
        **{name: access.url + path for name, path in REPOSITORY_LINKS.items()},
    }


def simple_repository(access: RepositoryAccess) -> Json:
    """Return GitHub's `repository`, as in lists, pull requests and events."""
    repository, page = access.repository, access.page
    host = urlsplit(page).hostname
    still_open = sum(issue.state == "open" for issue in repository.issues.values())
    return {
        **minimal_repository(access),
        **dict.fromkeys(COUNTS, 0),
        "git_url": f"git://{host}/{repository.full_name}.git",
        "ssh_url": f"git@{host}:{repository.full_name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "topics": [],
        "default_branch": repository.default_branch,
        "visibility": repository.visibility,
        "open_issues": still_open,
        "open_issues_count": still_open,
        "archived": repository.archived,
        "disabled": False,
        "is_template": False,
        "has_issues": True,
        "has_projects": False,
        "has_wiki": False,
        "has_pages": repository.has_pages,
        "has_downloads": False,
        "has_discussions": False,
        "allow_forking": True,
        "web_commit_signoff_required": False,
        "pushed_at": timestamp(repository.pushed_at),
        "created_at": timestamp(repository.created_at),
        "updated_at": timestamp(repository.pushed_at),
    }
