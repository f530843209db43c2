"""The objects of GraphQL types: dictionaries, with functions in place of expensive values.

graphql-core calls such a function with the request's info and the field's arguments. Connections
have their first page, in GitHub's default order or the newest first.

https://docs.github.com/graphql/guides/using-pagination-in-the-graphql-api
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from graphql import GraphQLError

from kalypso_sandbox.git.repositories import BRANCHES
from kalypso_sandbox.github.access import allowed, not_accessible
from kalypso_sandbox.github.api.git_data import rule_parts
from kalypso_sandbox.github.branch_rules import (
    check_mergeability,
    combined_state,
    latest_statuses,
    rules_for_branch,
)
from kalypso_sandbox.github.endpoints import Call
from kalypso_sandbox.github.payloads.accounts import node_id, timestamp
from kalypso_sandbox.store import Issue, PullRequest, Status

Fields = Mapping[str, Any]

TYPES: Final = {"commit": "Commit", "tree": "Tree", "blob": "Blob", "tag": "Tag"}

MERGEABLE: Final = {True: "MERGEABLE", False: "CONFLICTING", None: "UNKNOWN"}
"""REST's values of `mergeable` -> GraphQL's."""

MAX_RECORDS: Final = 100
"""The maximum number of records in one page of a connection."""


def check_permission(call: Call, *permissions: str) -> None:
    """Raise GraphQLError if the identity has none of the permissions."""
    if not allowed(call.identity, permissions, call.repository):
        raise GraphQLError(not_accessible(call.identity), extensions={"type": "FORBIDDEN"})


def repository(call: Call) -> Fields:
    """Return GraphQL's `Repository`."""
    repository = call.repository
    return {
        "id": node_id("Repository", repository.id),
        "databaseId": repository.id,
        "name": repository.name,
        "nameWithOwner": repository.full_name,
        "isArchived": repository.archived,
        "isEmpty": lambda _info: not call.git.refs(),
        "isPrivate": repository.private,
        "visibility": repository.visibility.upper(),
        "url": call.page,
        "defaultBranchRef": lambda _info: _ref(call, BRANCHES + repository.default_branch),
        "ref": lambda _info, qualifiedName: _ref(call, qualifiedName),  # noqa: N803 (GitHub's)
        "object": lambda _info, expression="", oid="": _object_of_expression(
            call, oid or expression
        ),
        "issues": lambda _info, **wanted: _issues(call, **wanted),
        "labels": lambda _info, **wanted: _labels(call, repository.labels, **wanted),
        "pullRequests": lambda _info, **wanted: _pull_requests(call, **wanted),
    }


def _connection(
    name: str, records: Sequence[Any], first: int | None, node: Callable[[Any], Any], others: Fields
) -> Fields:
    """Return the first page of a connection. Raises GraphQLError for invalid arguments."""
    shown = records[: _first_page(first, name, others)]
    return {"totalCount": len(records), "nodes": [node(record) for record in shown]}


def _first_page(first: int | None, connection: str, others: Iterable[str]) -> int:
    """Return the number of records that a query asks for; `others` are its other arguments."""
    for name in others:
        raise GraphQLError(f"the sandbox does not support the argument {name}")
    if first is None:
        message = "You must provide a `first` or `last` value to properly paginate the"
        extensions = {"type": "MISSING_PAGINATION_BOUNDARIES"}
        raise GraphQLError(f"{message} `{connection}` connection.", extensions=extensions)
    if not 0 <= first <= MAX_RECORDS:
        message = f"Requesting {first} records on the `{connection}` connection exceeds the `first`"
        extensions = {"type": "EXCESSIVE_PAGINATION"}
        raise GraphQLError(f"{message} limit of {MAX_RECORDS} records.", extensions=extensions)
    return first


def _ref(call: Call, name: str) -> Fields | None:
    """Return GraphQL's `Ref`, by its full name, or a branch or tag by its short name."""
    refs = call.git.refs()
    names = (prefix + name for prefix in ("", BRANCHES, "refs/tags/", "refs/"))
    full = next((each for each in names if each.startswith("refs/") and each in refs), None)
    if full is None:
        return None
    where, _, short = full.removeprefix("refs/").partition("/")
    return {
        "id": node_id("Ref", f"{call.repository.id}:{full}"),
        "name": short,
        "prefix": f"refs/{where}/",
        "refUpdateRule": lambda _info: _classic_rule(call, full),
        "rules": lambda _info, **wanted: _rules(call, full.removeprefix(BRANCHES), **wanted),
        "target": lambda _info: _object(call, refs[full], "commit" if where == "heads" else None),
    }


def _classic_rule(call: Call, ref: str) -> Fields | None:
    """Return GraphQL's `RefUpdateRule`: the part of a classic protection that everybody may see."""
    branch = ref.removeprefix(BRANCHES)
    rules = rules_for_branch(call.repository, branch) if branch != ref else ()
    classic = [rule for rule in rules if rule.classic]
    requires_signatures = any(rule.required_signatures for rule in classic)
    return {"requiresSignatures": requires_signatures} if classic else None


def _rules(call: Call, branch: str, first: int | None = None, **others: Any) -> Fields:
    """Return GraphQL's `RepositoryRuleConnection`: the rules of rulesets for a branch."""
    rules = rules_for_branch(call.repository, branch)
    kinds = [part["type"] for rule in rules if not rule.classic for part in rule_parts(rule)]

    def node(kind: str) -> Fields:
        own_id = node_id("RepositoryRule", f"{call.repository.id}:{branch}:{kind}")
        return {"id": own_id, "type": kind.upper()}

    return _connection("rules", kinds, first, node, others)


def _object_of_expression(call: Call, expression: str) -> Fields | None:
    """Return the object of `revision` or `revision:path`, as in git rev-parse."""
    revision, colon, path = expression.partition(":")
    if colon:
        git_object = call.git.object_at(revision, path)
        return _object(call, *git_object) if git_object else None
    try:
        return _object(call, call.git.commit(revision).id, "commit")
    except LookupError:
        return _object(call, revision)


def _object(call: Call, oid: str, kind: str | None = None) -> Fields | None:
    kind = kind or call.git.object_type(oid)
    if kind is None:
        return None
    common: dict[str, Any] = {
        "__typename": TYPES[kind],
        "id": node_id(TYPES[kind], f"{call.repository.id}:{oid}"),
        "oid": oid,
        "abbreviatedOid": oid[:7],
    }
    return {**common, **_of_commit(call, oid)} if kind == "commit" else common


def _of_commit(call: Call, oid: str) -> Mapping[str, Callable[..., Any]]:
    git = call.git
    return {
        "author": lambda _info: {"name": git.commit(oid).author.name, "user": None},
        "committedDate": lambda _info: timestamp(git.commit(oid).committer.date),
        "message": lambda _info: git.commit(oid).message.rstrip("\n"),
        "messageHeadline": lambda _info: git.commit(oid).message.partition("\n")[0],
        "associatedPullRequests": lambda _info, orderBy=None, **wanted: (  # noqa: ARG005, N803
            _pull_requests_of_commit(call, oid, **wanted)
        ),
        "parents": lambda _info, first=None, **others: _connection(
            "parents",
            git.commit(oid).parents,
            first,
            lambda parent: _object(call, parent, "commit"),
            others,
        ),
        "tree": lambda _info: _object(call, git.commit(oid).tree, "tree"),
        "status": lambda _info: _status_of_commit(call, oid),
        "history": lambda _info, **wanted: _history(call, oid, **wanted),
    }


def _pull_requests_of_commit(
    call: Call, oid: str, first: int | None = None, **others: Any
) -> Fields:
    """Return GraphQL's `PullRequestConnection` of those that brought a commit, or would."""
    check_permission(call, "pull_requests: read")
    git = call.git
    matching = []
    for issue in call.repository.issues.values():
        pull = issue.pull_request
        if pull is None:
            continue
        brought = {item.id for item in git.commits_between(pull.base_commit, pull.head_commit)}
        if oid in brought or (pull.merged_at and oid == pull.merge_commit):
            matching.append(issue)
    name = "associatedPullRequests"
    return _connection(name, matching, first, lambda issue: _pull(call, issue), others)


def _history(call: Call, oid: str, first: int | None = None, **others: Any) -> Fields:
    """Return GraphQL's `CommitHistoryConnection`: the first page, without any filter."""
    first = _first_page(first, "history", others)
    git = call.git
    return {
        "nodes": lambda _info: [
            _object(call, commit, "commit") for commit in git.history(oid, first)
        ],
        "totalCount": lambda _info: git.history_length(oid),
    }


def _status_of_commit(call: Call, oid: str) -> Fields | None:
    """Return GraphQL's `Status`, the latest of each context; None for a commit without any.

    Raises GraphQLError for a token that may not read statuses.
    """
    check_permission(call, "statuses: read")
    latest = latest_statuses(call.repository, oid)
    contexts = {name: _context(call, status) for name, status in latest.items()}
    if not latest:
        return None
    return {
        "id": node_id("Status", f"{call.repository.id}:{oid}"),
        "state": combined_state(latest.values()).upper(),
        "context": lambda _info, name: contexts.get(name.lower()),
        "contexts": list(contexts.values()),
    }


def _context(call: Call, status: Status) -> Fields:
    return {
        "id": node_id("StatusContext", status.id),
        "context": status.context,
        "createdAt": timestamp(status.created_at),
        "creator": _actor(call, status.author),
        "description": status.description,
        "state": status.state.upper(),
        "targetUrl": status.target_url,
    }


def _issues(
    call: Call,
    first: int | None = None,
    states: Collection[str] = (),
    labels: Collection[str] = (),
    **others: Any,
) -> Fields:
    """Return GraphQL's `IssueConnection`; `labels` are alternatives."""
    check_permission(call, "issues: read")
    wanted = {label.lower() for label in labels}
    matching = [
        issue
        for issue in _newest_first(call, others.pop("orderBy", None))
        if issue.pull_request is None
        and (not states or issue.state.upper() in states)
        and (not wanted or wanted & set(issue.labels))
    ]
    return _connection("issues", matching, first, lambda issue: _issue(call, issue), others)


def _pull_requests(
    call: Call,
    first: int | None = None,
    states: Collection[str] = (),
    baseRefName: str | None = None,  # noqa: N803 (GitHub's)
    headRefName: str | None = None,  # noqa: N803 (GitHub's)
    **others: Any,
) -> Fields:
    """Return GraphQL's `PullRequestConnection`; heads of forks count too."""
    check_permission(call, "pull_requests: read")
    matching = [
        issue
        for issue in _newest_first(call, others.pop("orderBy", None))
        if (pull := issue.pull_request) is not None
        and (not states or ("MERGED" if pull.merged_at else issue.state.upper()) in states)
        and baseRefName in {None, pull.base_branch}
        and headRefName in {None, pull.head_branch}
    ]
    return _connection("pullRequests", matching, first, lambda issue: _pull(call, issue), others)


def _newest_first(call: Call, order: object) -> list[Issue]:
    if order not in (None, {"field": "CREATED_AT", "direction": "DESC"}):
        raise GraphQLError("the sandbox supports no other order than the newest first")
    return sorted(call.repository.issues.values(), key=lambda issue: -issue.number)


def _issue(call: Call, issue: Issue, page: str = "issues") -> Fields:
    return {
        "id": node_id("Issue", issue.id),
        "author": _actor(call, issue.author),
        "body": issue.body or "",
        "number": issue.number,
        "title": issue.title,
        "url": f"{call.page}/{page}/{issue.number}",
    }


def _pull(call: Call, issue: Issue) -> Fields:
    pull = issue.pull
    return {
        **_issue(call, issue, "pull"),
        "id": node_id("PullRequest", issue.id),
        "autoMergeRequest": _auto_merge(call, pull),
        "baseRefName": pull.base_branch,
        "commits": lambda _info, **wanted: _commits_of_pull(call, pull, **wanted),
        "createdAt": timestamp(issue.created_at),
        "headRefName": pull.head_branch,
        "headRefOid": call.head(pull),
        "isCrossRepository": call.store.repository(pull.head_repository) is not call.repository,
        "isDraft": pull.draft,
        "labels": lambda _info, orderBy=None, **wanted: _labels(  # noqa: ARG005, N803 (GitHub's)
            call, issue.labels, **wanted
        ),
        "merged": pull.merged_at is not None,
        "mergeable": lambda _info: MERGEABLE[check_mergeability(call, issue).mergeable],
    }


def _commits_of_pull(
    call: Call,
    pull: PullRequest,
    first: int | None = None,
    last: int | None = None,
    **others: Any,
) -> Fields:
    """Return GraphQL's `PullRequestCommitConnection`: the first commits, or the last ones."""
    check_permission(call, "contents: read")
    known = [each.id for each in call.git.commits_between(pull.base_commit, call.head(pull))]
    shown = known[-last:] if last else known

    def node(oid: str) -> Fields:
        own_id = node_id("PullRequestCommit", f"{call.repository.id}:{oid}")
        return {"id": own_id, "commit": lambda _info: _object(call, oid, "commit")}

    return {**_connection("commits", shown, first or last, node, others), "totalCount": len(known)}


def _auto_merge(call: Call, pull: PullRequest) -> Fields | None:
    """Return GraphQL's `AutoMergeRequest`."""
    if pull.auto_merge is None:
        return None
    enabled_by = _actor(call, pull.auto_merge.identity.login)
    return {"enabledBy": enabled_by, "mergeMethod": pull.auto_merge.method.upper()}


def _labels(call: Call, keys: Iterable[str], first: int | None = None, **others: Any) -> Fields:
    """Return GraphQL's `LabelConnection` of a repository, an issue or a pull request."""
    check_permission(call, "issues: read", "pull_requests: read")
    labels = [call.repository.labels[key] for key in keys]
    return _connection(
        "labels",
        labels,
        first,
        lambda label: {"id": node_id("Label", label.id), "name": label.name},
        others,
    )


def _actor(call: Call, login: str) -> Fields:
    """Return GraphQL's `Actor`; the login of a bot lacks REST's `[bot]`."""
    account = call.store.account(login)
    kind = "Bot" if account.kind == "Bot" else "User"
    return {
        "__typename": kind,
        "id": node_id(kind, account.id),
        "databaseId": account.id,
        "login": account.login.removesuffix("[bot]"),
    }
