"""Git objects: write blobs, trees and commits.

https://docs.github.com/rest/git
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from kalypso_sandbox.git.commits import Person
from kalypso_sandbox.git.repositories import BareRepository
from kalypso_sandbox.github.api import body_fields, lookups
from kalypso_sandbox.github.endpoints import Answer, Call, Json, RefusedError, endpoint
from kalypso_sandbox.github.mergeability import github_committer
from kalypso_sandbox.github.payloads import accounts, commits
from kalypso_sandbox.github.payloads.view import View

MODES: Final = ("100644", "100755", "040000", "160000", "120000")
BAD_TREE: Final = "GitRPC::BadObjectState"


@endpoint("POST", "/repos/{owner}/{repo}/git/blobs", "contents: write", statuses=(201, 409, 422))
def create_blob(call: Call) -> Answer:
    """Write the content of a file."""
    git = _git(call)
    text = body_fields.required_text(call.body, "content")
    encoding = body_fields.text(call.body, "encoding") or "utf-8"
    if encoding not in {"utf-8", "base64"}:
        raise RefusedError(422, f"Invalid encoding: {encoding}")
    try:
        content = base64.b64decode(text) if encoding == "base64" else text.encode()
    except binascii.Error:
        raise RefusedError(422, "content is not valid Base64") from None
    sha = git.write_blob(content)
    url = f"{View.of(call).api(call.named_repository)}/git/blobs/{sha}"
    return Answer(201, {"sha": sha, "url": url}, {"location": url})


@endpoint(
    "POST", "/repos/{owner}/{repo}/git/trees", "contents: write", statuses=(201, 404, 409, 422)
)
def create_tree(call: Call) -> Answer:
    """Write a tree: a base with changes, or all entries of a new one."""
    git = _git(call)
    base = body_fields.text(call.body, "base_tree") or ""
    kind = git.object_type(base) if base else "tree"
    if kind == "commit":
        base = git.commit(base).tree
    elif kind != "tree":
        raise lookups.not_found()
    entries = body_fields.listing(call.body, "tree")
    if not entries:
        raise RefusedError(422, "Invalid tree info")
    changes: dict[str, tuple[str, str | bytes] | None] = {}
    for entry in entries:
        changes[_path(entry)] = _change(git, entry)
    sha = git.write_tree(base, changes)
    if sha is None:
        raise RefusedError(422, BAD_TREE)
    url = f"{View.of(call).api(call.named_repository)}/git/trees/{sha}"
    answer = {"sha": sha, "url": url, "tree": [], "truncated": False}
    return Answer(201, answer, {"location": url})


@endpoint("POST", "/repos/{owner}/{repo}/git/commits", "contents: write", statuses=(201, 409, 422))
def create_commit(call: Call) -> Answer:
    """Write a commit. GitHub signs commits of Apps and jobs if the request names no author."""
    git, body = _git(call), call.body
    message = body_fields.required_text(body, "message")
    tree = body_fields.required_text(body, "tree")
    if git.object_type(tree) != "tree":
        raise RefusedError(422, "Tree SHA does not exist")
    parents = [str(parent) for parent in body_fields.listing(body, "parents") or ()]
    if any(git.object_type(parent) != "commit" for parent in parents):
        raise RefusedError(422, "Parent SHA does not exist or is not a commit object")
    account = call.store.account(call.identity.login)
    own = Person(account.login, accounts.email(account), call.store.now)
    author, committer = (_person(call, name) for name in ("author", "committer"))
    signed = call.identity.kind != "user" and author is None and committer is None
    if signed:
        committer = github_committer(call.store.now)
    author = author or own
    sha = git.make_commit(tree, parents, message, author, committer or author, signed=signed)
    answer = commits.git_commit(View.of(call), call.named_repository, git.commit(sha))
    return Answer(201, answer, {"location": answer["url"]})


def _git(call: Call) -> BareRepository:
    git = call.store.git(call.named_repository)
    if not git.refs():
        raise RefusedError(409, "Git Repository is empty.")
    return git


def _path(entry: Mapping[str, Json]) -> str:
    path = body_fields.required_text(entry, "path")
    parts = path.split("/")
    if {"", ".", "..", ".git"} & set(parts):
        raise RefusedError(422, "tree.path contains a malformed path component")
    return path


def _change(git: BareRepository, entry: Mapping[str, Json]) -> tuple[str, str | bytes] | None:
    """Return the mode and content of an entry; None for an entry that deletes a path."""
    mode = body_fields.required_text(entry, "mode")
    if mode not in MODES:
        raise RefusedError(422, "Must supply a valid tree.mode")
    content, sha = body_fields.text(entry, "content"), body_fields.text(entry, "sha")
    if content is not None and sha is not None:
        raise RefusedError(422, "Must supply either tree.sha or tree.content but not both.")
    if content is not None:
        return mode, content.encode()
    if "sha" not in entry:
        raise RefusedError(422, "Must supply either tree.sha or tree.content")
    if sha is None:
        return None
    if git.object_type(sha) is None:
        raise RefusedError(422, f"tree.sha {sha} does not exist")
    return mode, sha


def _person(call: Call, name: str) -> Person | None:
    fields = body_fields.mapping(call.body, name)
    if not fields:
        return None
    date = datetime.fromisoformat(fields["date"]) if "date" in fields else call.store.now
    name, email = (body_fields.required_text(fields, key) for key in ("name", "email"))
    return Person(name, email, date)
