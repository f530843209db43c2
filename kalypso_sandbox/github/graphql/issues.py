"""Issues and pull requests in GraphQL: the first page, newest first."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from graphql import GraphQLError

from kalypso_sandbox.github.endpoints import Call
from kalypso_sandbox.github.graphql import labels_and_rules
from kalypso_sandbox.github.graphql.actors import actor
from kalypso_sandbox.github.graphql.paging import check_supported, first_page
from kalypso_sandbox.github.mergeability import check_mergeability
from kalypso_sandbox.github.payloads.view import View, node_id, timestamp
from kalypso_sandbox.github.permissions import allowed, not_accessible
from kalypso_sandbox.store import Issue, PullRequest, Repository

Fields = Mapping[str, Any]

MERGEABLE: Final = {True: "MERGEABLE", False: "CONFLICTING", None: "UNKNOWN"}
"""REST's values of `mergeable` -> GraphQL's."""

TYPES: Final = """
input IssueFilters {
  assignee: String
  createdBy: String
  labels: [String!]
  mentioned: String
  milestone: String
  milestoneNumber: String
  since: DateTime
  states: [IssueState!]
  viewerSubscribed: Boolean = false
}

input IssueOrder {
  direction: OrderDirection!
  field: IssueOrderField!
}

enum OrderDirection {
  ASC
  DESC
}

enum IssueOrderField {
  COMMENTS
  CREATED_AT
  UPDATED_AT
}

enum IssueState {
  CLOSED
  OPEN
}

enum PullRequestState {
  CLOSED
  MERGED
  OPEN
}

type IssueConnection {
  nodes: [Issue]
  totalCount: Int!
}

type Issue implements Node {
  id: ID!
  author: Actor
  body: String!
  number: Int!
  title: String!
  url: URI!
}

type PullRequestConnection {
  nodes: [PullRequest]
  totalCount: Int!
}

type PullRequest implements Node {
  id: ID!
  author: Actor
  autoMergeRequest: AutoMergeRequest
  baseRefName: String!
  body: String!
  createdAt: DateTime!
  headRefName: String!
  headRefOid: GitObjectID!
  isCrossRepository: Boolean!
  isDraft: Boolean!
  labels(
    after: String
    before: String
    first: Int
    last: Int
    orderBy: LabelOrder = {field: CREATED_AT, direction: ASC}
  ): LabelConnection
  mergeable: MergeableState!
  number: Int!
  title: String!
  url: URI!
}

enum MergeableState {
  CONFLICTING
  MERGEABLE
  UNKNOWN
}
"""


def connection(
    call: Call,
    repository: Repository,
    first: int | None = None,
    states: Collection[str] = (),
    labels: Collection[str] = (),
    **others: Any,
) -> Fields:
    """Return GraphQL's `IssueConnection`; `labels` are alternatives."""
    _check(call, repository, "issues", others)
    wanted = {label.lower() for label in labels}
    matching = [
        issue
        for issue in _newest_first(repository)
        if issue.pull_request is None
        and (not states or issue.state.upper() in states)
        and (not wanted or wanted & set(issue.labels))
    ]
    nodes = matching[: first_page(first, "issues")]
    return {
        "totalCount": len(matching),
        "nodes": [_issue(call, repository, each) for each in nodes],
    }


def pull_requests(
    call: Call,
    repository: Repository,
    first: int | None = None,
    states: Collection[str] = (),
    baseRefName: str | None = None,  # noqa: N803 (GitHub's)
    headRefName: str | None = None,  # noqa: N803 (GitHub's)
    **others: Any,
) -> Fields:
    """Return GraphQL's `PullRequestConnection`; heads of forks count too."""
    _check(call, repository, "pull_requests", others)
    matching = [
        issue
        for issue in _newest_first(repository)
        if (pull := issue.pull_request) is not None
        and (not states or _state(issue) in states)
        and baseRefName in {None, pull.base_branch}
        and headRefName in {None, pull.head_branch}
    ]
    nodes = matching[: first_page(first, "pullRequests")]
    return {"totalCount": len(matching), "nodes": [_pull(call, repository, each) for each in nodes]}


def _check(call: Call, repository: Repository, permission: str, others: Fields) -> None:
    check_supported(others.keys() - {"orderBy"})
    if others.get("orderBy") not in (None, {"field": "CREATED_AT", "direction": "DESC"}):
        raise GraphQLError("the sandbox supports no other order than the newest first")
    if not allowed(call.identity, [f"{permission}: read"], repository):
        raise GraphQLError(not_accessible(call.identity), extensions={"type": "FORBIDDEN"})


def _newest_first(repository: Repository) -> list[Issue]:
    return sorted(repository.issues.values(), key=lambda issue: -issue.number)


def _state(issue: Issue) -> str:
    merged = issue.pull_request is not None and issue.pull_request.merged_at is not None
    return "MERGED" if merged else issue.state.upper()


def _issue(call: Call, repository: Repository, issue: Issue, page: str = "issues") -> Fields:
    return {
        "id": node_id("Issue", issue.id),
        "author": actor(call, issue.author),
        "body": issue.body or "",
        "number": issue.number,
        "title": issue.title,
        "url": f"{View.of(call).html(repository)}/{page}/{issue.number}",
    }


def _pull(call: Call, repository: Repository, issue: Issue) -> Fields:
    pull = issue.pull_request
    assert pull is not None  # noqa: S101 - callers have pull requests
    return {
        **_issue(call, repository, issue, "pull"),
        "id": node_id("PullRequest", issue.id),
        "autoMergeRequest": _auto_merge(call, pull),
        "baseRefName": pull.base_branch,
        "createdAt": timestamp(issue.created_at),
        "headRefName": pull.head_branch,
        "headRefOid": View.of(call).head(pull),
        "isCrossRepository": call.store.repository(pull.head_repository) is not repository,
        "isDraft": pull.draft,
        "labels": lambda _info, **wanted: labels_and_rules.labels_of_issue(
            call, repository, issue, **wanted
        ),
        "mergeable": lambda _info: MERGEABLE[
            check_mergeability(call.store, repository, issue, pull).mergeable
        ],
    }


def _auto_merge(call: Call, pull: PullRequest) -> Fields | None:
    """Return GraphQL's `AutoMergeRequest`."""
    if pull.auto_merge is None:
        return None
    enabled_by = actor(call, pull.auto_merge.identity.login)
    return {"enabledBy": enabled_by, "mergeMethod": pull.auto_merge.method.upper()}
