"""Repositories."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from kalypso_sandbox.github.endpoints import Json
from kalypso_sandbox.github.payloads import accounts
from kalypso_sandbox.github.payloads.view import View, node_id, timestamp
from kalypso_sandbox.store import Repository

LINKS: Final = {
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


def minimal(view: View, repository: Repository) -> Json:
    """Return GitHub's `minimal-repository`."""
    url = view.api(repository)
    return {
        "id": repository.id,
        "node_id": node_id("Repository", repository.id),
        "name": repository.name,
        "full_name": repository.full_name,
        "private": repository.private,
        "owner": accounts.simple(view, repository.owner),
        "html_url": view.html(repository),
        "description": None,
        "fork": bool(repository.parent),
        "url": url,
        **{name: url + path for name, path in LINKS.items()},
    }


def full(view: View, repository: Repository) -> Json:
    """Return GitHub's `full-repository`."""
    return {**simple(view, repository), "network_count": 0, "subscribers_count": 0}


def simple(view: View, repository: Repository) -> Json:
    """Return GitHub's `repository`, as in lists, pull requests and events."""
    page = view.html(repository)
    host = urlsplit(page).hostname
    still_open = sum(issue.state == "open" for issue in repository.issues.values())
    return {
        **minimal(view, repository),
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


def pushed(view: View, repository: Repository) -> Json:
    """Return a push event's repository, which has some times in seconds, and some old fields."""
    return {
        **simple(view, repository),
        "created_at": int(repository.created_at.timestamp()),
        "pushed_at": int(repository.pushed_at.timestamp()),
        "master_branch": repository.default_branch,
        "stargazers": 0,
    }
