"""The labels of a repository, and the rules of its branches, in GraphQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from graphql import GraphQLError

from kalypso_sandbox.github import branch_rules
from kalypso_sandbox.github.api.branches import rule_parts
from kalypso_sandbox.github.endpoints import Call
from kalypso_sandbox.github.graphql.paging import check_supported, first_page
from kalypso_sandbox.github.payloads.view import node_id
from kalypso_sandbox.github.permissions import allowed, not_accessible
from kalypso_sandbox.store import Issue, Repository

TYPES: Final = """
input LabelOrder {
  direction: OrderDirection!
  field: LabelOrderField!
}

enum LabelOrderField {
  CREATED_AT
  NAME
}

type LabelConnection {
  nodes: [Label]
  totalCount: Int!
}

type Label implements Node {
  id: ID!
  name: String!
}

input RepositoryRuleOrder {
  direction: OrderDirection!
  field: RepositoryRuleOrderField!
}

enum RepositoryRuleOrderField {
  CREATED_AT
  TYPE
  UPDATED_AT
}

type RepositoryRuleConnection {
  nodes: [RepositoryRule]
  totalCount: Int!
}

type RepositoryRule implements Node {
  id: ID!
  type: RepositoryRuleType!
}

enum RepositoryRuleType {
  DELETION
  NON_FAST_FORWARD
  PULL_REQUEST
  REQUIRED_SIGNATURES
  REQUIRED_STATUS_CHECKS
  UPDATE
}
"""

Fields = Mapping[str, Any]


def labels(call: Call, repository: Repository, first: int | None = None, **others: Any) -> Fields:
    """Return GraphQL's `LabelConnection` of a repository: the first page."""
    check_supported(others)
    return _connection(call, repository, repository.labels, first)


def labels_of_issue(
    call: Call,
    repository: Repository,
    issue: Issue,
    first: int | None = None,
    orderBy: object = None,  # noqa: ARG001, N803 (GitHub's, the order in which they were added)
    **others: Any,
) -> Fields:
    """Return GraphQL's `LabelConnection` of an issue or a pull request: the first page."""
    check_supported(others)
    return _connection(call, repository, issue.labels, first)


def _connection(
    call: Call, repository: Repository, keys: Iterable[str], first: int | None
) -> Fields:
    if not allowed(call.identity, ["issues: read", "pull_requests: read"], repository):
        raise GraphQLError(not_accessible(call.identity), extensions={"type": "FORBIDDEN"})
    nodes = [
        {"id": node_id("Label", label.id), "name": label.name}
        for label in map(repository.labels.__getitem__, keys)
    ]
    return {"totalCount": len(nodes), "nodes": nodes[: first_page(first, "labels")]}


def rules(repository: Repository, branch: str, first: int | None = None, **others: Any) -> Fields:
    """Return GraphQL's `RepositoryRuleConnection`: the rules of rulesets for a branch."""
    check_supported(others)
    nodes = [
        {
            "id": node_id("RepositoryRule", f"{repository.id}:{branch}:{part['type']}"),
            "type": part["type"].upper(),
        }
        for rule in branch_rules.rules_for_branch(repository, branch)
        if not rule.classic
        for part in rule_parts(rule)
    ]
    return {"totalCount": len(nodes), "nodes": nodes[: first_page(first, "rules")]}
