"""The objects of GraphQL types: dictionaries, with functions in place of expensive values.

graphql-core calls such a function with the request's info and the field's arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kalypso_sandbox.github import branch_rules
from kalypso_sandbox.github.endpoints import Call
from kalypso_sandbox.github.graphql import issues, labels_and_rules, statuses
from kalypso_sandbox.github.graphql.paging import check_supported, first_page
from kalypso_sandbox.github.payloads.view import View, node_id, timestamp
from kalypso_sandbox.store import Repository

Fields = Mapping[str, Any]

TYPES: Final = {"commit": "Commit", "tree": "Tree", "blob": "Blob", "tag": "Tag"}


def repository(call: Call, repository: Repository) -> Fields:
    """Return GraphQL's `Repository`."""
    git = call.store.git(repository)
    return {
        "id": node_id("Repository", repository.id),
        "databaseId": repository.id,
        "name": repository.name,
        "nameWithOwner": repository.full_name,
        "isArchived": repository.archived,
        "isEmpty": lambda _info: not git.refs(),
        "isPrivate": repository.private,
        "visibility": repository.visibility.upper(),
        "url": View.of(call).html(repository),
        "defaultBranchRef": lambda _info: ref(
            call, repository, f"refs/heads/{repository.default_branch}"
        ),
        "ref": lambda _info, qualifiedName: ref(call, repository, qualifiedName),  # noqa: N803 (GitHub's)
        "object": lambda _info, expression="", oid="": _object_of_expression(
            call, repository, oid or expression
        ),
        "issues": lambda _info, **wanted: issues.connection(call, repository, **wanted),
        "labels": lambda _info, **wanted: labels_and_rules.labels(call, repository, **wanted),
        "pullRequests": lambda _info, **wanted: issues.pull_requests(call, repository, **wanted),
    }


def ref(call: Call, repository: Repository, name: str) -> Fields | None:
    """Return GraphQL's `Ref`, by its full name, or a branch or tag by its short name."""
    refs = call.store.git(repository).refs()
    for prefix in ("", "refs/heads/", "refs/tags/", "refs/"):
        full = prefix + name
        if full.startswith("refs/") and full in refs:
            break
    else:
        return None
    where, _, short = full.removeprefix("refs/").partition("/")
    kind = "commit" if where == "heads" else None
    return {
        "id": node_id("Ref", f"{repository.id}:{full}"),
        "name": short,
        "prefix": f"refs/{where}/",
        "refUpdateRule": lambda _info: _classic_rule(repository, full),
        "rules": lambda _info, **wanted: labels_and_rules.rules(
            repository, full.removeprefix(branch_rules.BRANCHES), **wanted
        ),
        "target": lambda _info: _object(call, repository, refs[full], kind),
    }


def _classic_rule(repository: Repository, ref: str) -> Fields | None:
    """Return GraphQL's `RefUpdateRule`: the part of a classic protection that everybody may see."""
    branch = ref.removeprefix(branch_rules.BRANCHES)
    rules = branch_rules.rules_for_branch(repository, branch) if branch != ref else ()
    classic = [rule for rule in rules if rule.classic]
    requires_signatures = any(rule.required_signatures for rule in classic)
    return {"requiresSignatures": requires_signatures} if classic else None


def _object_of_expression(call: Call, repository: Repository, expression: str) -> Fields | None:
    """Return the object of `revision` or `revision:path`, as in git rev-parse."""
    git = call.store.git(repository)
    revision, colon, path = expression.partition(":")
    if colon:
        git_object = git.object_at(revision, path)
        return _object(call, repository, *git_object) if git_object else None
    try:
        return _object(call, repository, git.commit(revision).id, "commit")
    except LookupError:
        return _object(call, repository, revision)


def _object(call: Call, repository: Repository, oid: str, kind: str | None = None) -> Fields | None:
    kind = kind or call.store.git(repository).object_type(oid)
    if kind is None:
        return None
    name = TYPES[kind]
    common: dict[str, Any] = {
        "__typename": name,
        "id": node_id(name, f"{repository.id}:{oid}"),
        "oid": oid,
        "abbreviatedOid": oid[:7],
    }
    if kind != "commit":
        return common
    return {**common, **_of_commit(call, repository, oid)}


def _of_commit(call: Call, repository: Repository, oid: str) -> Mapping[str, Callable[..., Any]]:
    git = call.store.git(repository)
    return {
        "author": lambda _info: {"name": git.commit(oid).author.name, "user": None},
        "committedDate": lambda _info: timestamp(git.commit(oid).committer.date),
        "message": lambda _info: git.commit(oid).message.rstrip("\n"),
        "messageHeadline": lambda _info: git.commit(oid).message.partition("\n")[0],
        "parents": lambda _info, **wanted: _parents(call, repository, oid, **wanted),
        "tree": lambda _info: _object(call, repository, git.commit(oid).tree, "tree"),
        "status": lambda _info: statuses.of_commit(call, repository, oid),
        "history": lambda _info, **wanted: _history(call, repository, oid, **wanted),
    }


def _parents(
    call: Call, repository: Repository, oid: str, first: int | None = None, **others: Any
) -> Fields:
    """Return GraphQL's `CommitConnection`."""
    check_supported(others)
    parents = call.store.git(repository).commit(oid).parents
    some = parents[: first_page(first, "parents")]
    return {
        "nodes": [_object(call, repository, parent, "commit") for parent in some],
        "totalCount": len(parents),
    }


def _history(
    call: Call, repository: Repository, oid: str, first: int | None = None, **others: Any
) -> Fields:
    """Return GraphQL's `CommitHistoryConnection`: the first page, without any filter."""
    check_supported(others)
    first = first_page(first, "history")
    git = call.store.git(repository)
    return {
        "nodes": lambda _info: [
            _object(call, repository, commit, "commit") for commit in git.history(oid, first)
        ],
        "totalCount": lambda _info: git.history_length(oid),
    }
