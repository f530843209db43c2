"""Users, organizations and bots."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from kalypso_sandbox.github.endpoints import Json
from kalypso_sandbox.github.payloads.view import View, node_id, timestamp
from kalypso_sandbox.store import Account, Repository

LINKS: Final = {
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

BOT: Final = "[bot]"


def simple(view: View, login: str) -> Json:
    """Return GitHub's `simple-user`."""
    account = view.store.account(login)
    page = f"apps/{login.removesuffix(BOT)}" if account.kind == "Bot" else login
    url = f"{view.api_url}/users/{quote(login)}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id(account.kind, account.id),
        "avatar_url": f"{view.server_url}/avatars/u/{account.id}?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{view.server_url}/{page}",
        **{name: url + path for name, path in LINKS.items()},
        "type": account.kind,
        "user_view_type": "public",
        "site_admin": False,
    }


def optional(view: View, login: str) -> Json:
    """Return GitHub's `simple-user`; None for ""."""
    return simple(view, login) if login else None


def author(view: View, address: str) -> Json:
    """Return the account of a commit's author, by email address; None for an unknown address."""
    login = login_of(address)
    return simple(view, login) if login.lower() in view.store.accounts else None


def public(view: View, login: str) -> Json:
    """Return GitHub's `public-user`."""
    repositories = [
        repository
        for repository in view.store.repositories.values()
        if repository.owner.lower() == login.lower()
    ]
    joined = min((repository.created_at for repository in repositories), default=view.store.now)
    unknown = ("name", "company", "location", "email", "hireable", "bio", "twitter_username")
    return {
        **simple(view, login),
        **dict.fromkeys(unknown),
        "blog": "",
        "public_repos": sum(not repository.private for repository in repositories),
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": timestamp(joined),
        "updated_at": timestamp(joined),
    }


def email(account: Account) -> str:
    """Return the address that GitHub writes into an account's commits."""
    return f"{account.id}+{account.login}@users.noreply.github.com"


def login_of(address: str) -> str:
    """Return the login in an address that GitHub issued; "" for other addresses."""
    name, _, host = address.rpartition("@")
    return name.rpartition("+")[2] if host == "users.noreply.github.com" else ""


def association(view: View, repository: Repository, login: str) -> str:
    """Return an author's association with a repository."""
    if login.lower() == repository.owner.lower():
        return "OWNER"
    return "NONE" if view.store.account(login).kind == "Bot" else "MEMBER"


def organization(view: View, login: str) -> Json:
    """Return GitHub's `organization-simple`, as in events."""
    known = simple(view, login)
    url = f"{view.api_url}/orgs/{quote(login)}"
    return {
        **{key: known[key] for key in ("login", "id", "node_id", "avatar_url")},
        "url": url,
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events",
        "hooks_url": f"{url}/hooks",
        "issues_url": f"{url}/issues",
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "description": None,
    }
