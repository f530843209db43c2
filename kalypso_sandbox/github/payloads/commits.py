"""Commits and refs."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import quote

from kalypso_sandbox.git.commits import FileChange, GitCommit, Person
from kalypso_sandbox.github.endpoints import Json
from kalypso_sandbox.github.payloads import accounts
from kalypso_sandbox.github.payloads.view import View, node_id, timestamp
from kalypso_sandbox.store import Repository

UNSIGNED = {
    "verified": False,
    "reason": "unsigned",
    "signature": None,
    "payload": None,
    "verified_at": None,
}


def reference(view: View, repository: Repository, ref: str, sha: str, kind: str) -> Json:
    """Return GitHub's `git-ref`; `kind` is the type of its object."""
    url = view.api(repository)
    return {
        "ref": ref,
        "node_id": node_id("Ref", f"{repository.id}:{ref}"),
        "url": f"{url}/git/{quote(ref)}",
        "object": {"sha": sha, "type": kind, "url": f"{url}/git/{kind}s/{sha}"},
    }


def git_commit(view: View, repository: Repository, commit: GitCommit) -> Json:
    """Return GitHub's `git-commit`: git's own fields."""
    url = view.api(repository)
    page = view.html(repository)
    return {
        "sha": commit.id,
        "node_id": node_id("Commit", f"{repository.id}:{commit.id}"),
        "url": f"{url}/git/commits/{commit.id}",
        "html_url": f"{page}/commit/{commit.id}",
        "author": _signature(commit.author),
        "committer": _signature(commit.committer),
        "tree": {"sha": commit.tree, "url": f"{url}/git/trees/{commit.tree}"},
        "message": commit.message.rstrip("\n"),
        "parents": [
            {
                "sha": parent,
                "url": f"{url}/git/commits/{parent}",
                "html_url": f"{page}/commit/{parent}",
            }
            for parent in commit.parents
        ],
        "verification": _verification(commit),
    }


def full(view: View, repository: Repository, commit: GitCommit) -> Json:
    """Return GitHub's `commit`, with the accounts of the author and committer if they have any."""
    known = git_commit(view, repository, commit)
    url = f"{view.api(repository)}/commits"
    inner = {key: known[key] for key in ("author", "committer", "message", "tree", "url")}
    return {
        "sha": commit.id,
        "node_id": known["node_id"],
        "commit": {**inner, "comment_count": 0, "verification": known["verification"]},
        "url": f"{url}/{commit.id}",
        "html_url": known["html_url"],
        "comments_url": f"{url}/{commit.id}/comments",
        "author": accounts.author(view, commit.author.email),
        "committer": accounts.author(view, commit.committer.email),
        "parents": [{**parent, "url": f"{url}/{parent['sha']}"} for parent in known["parents"]],
    }


def pushed(view: View, repository: Repository, commit: GitCommit) -> Json:
    """Return a commit of a push event, which lists no files."""
    return {
        "id": commit.id,
        "tree_id": commit.tree,
        "distinct": True,
        "message": commit.message.rstrip("\n"),
        "timestamp": _with_zone(commit.committer.date),
        "url": f"{view.html(repository)}/commit/{commit.id}",
        "author": _named(commit.author),
        "committer": _named(commit.committer),
    }


def changed_file(view: View, repository: Repository, change: FileChange, commit: str) -> Json:
    """Return GitHub's `diff-entry`, without the patch."""
    path = quote(change.path)
    page = view.html(repository)
    entry = {
        "sha": change.blob,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page}/blob/{commit}/{path}",
        "raw_url": f"{page}/raw/{commit}/{path}",
        "contents_url": f"{view.api(repository)}/contents/{path}?ref={commit}",
    }
    if change.previous_path:
        entry["previous_filename"] = change.previous_path
    return entry


def _verification(commit: GitCommit) -> Json:
    if not commit.signature:
        return UNSIGNED
    return {
        "verified": True,
        "reason": "valid",
        "signature": commit.signature,
        "payload": f"tree {commit.tree}\n",
        "verified_at": timestamp(commit.committer.date),
    }


def _signature(person: Person) -> Json:
    return {"name": person.name, "email": person.email, "date": timestamp(person.date)}


def _named(person: Person) -> Json:
    login = accounts.login_of(person.email)
    name: Json = {"name": person.name, "email": person.email}
    return {**name, "username": login} if login else name


def _with_zone(date: datetime) -> str:
    return date.isoformat(timespec="seconds")
