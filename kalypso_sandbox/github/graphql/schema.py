"""The part of GitHub's GraphQL schema that the sandbox supports.

Modules of one subject, such as `issues`, hold the types of that subject.
https://docs.github.com/graphql/reference
"""

from __future__ import annotations

from typing import Final

from kalypso_sandbox.github.graphql import (
    auto_merge,
    issues,
    labels_and_rules,
    ref_updates,
    statuses,
)

MUTATION: Final = (
    f"type Mutation {{ {ref_updates.MUTATION} {auto_merge.MUTATIONS} }}\n{ref_updates.TYPES}"
)
"""The features that a GitHub Enterprise Server may lack."""

NO_MUTATION: Final = f"type Mutation {{ {auto_merge.MUTATIONS} }}"

SCHEMA: Final = (
    MUTATION
    + auto_merge.TYPES
    + issues.TYPES
    + labels_and_rules.TYPES
    + statuses.TYPES
    + """
scalar DateTime
scalar GitObjectID
scalar GitRefname
scalar GitTimestamp
scalar URI

interface Node { id: ID! }

interface GitObject {
  id: ID!
  oid: GitObjectID!
  abbreviatedOid: String!
}

type Query {
  repository(owner: String!, name: String!, followRenames: Boolean = true): Repository
  rateLimit(dryRun: Boolean = false): RateLimit
  viewer: User!
}

interface Actor { login: String! }

type User implements Actor & Node {
  id: ID!
  databaseId: Int
  login: String!
}

type Bot implements Actor & Node {
  id: ID!
  databaseId: Int
  login: String!
}

type RateLimit {
  cost: Int!
  limit: Int!
  nodeCount: Int!
  remaining: Int!
  resetAt: DateTime!
  used: Int!
}

type Repository implements Node {
  id: ID!
  databaseId: Int
  name: String!
  nameWithOwner: String!
  isArchived: Boolean!
  isEmpty: Boolean!
  isPrivate: Boolean!
  url: URI!
  visibility: RepositoryVisibility!
  defaultBranchRef: Ref
  ref(qualifiedName: String!): Ref
  object(expression: String, oid: GitObjectID): GitObject
  issues(
    after: String
    before: String
    filterBy: IssueFilters
    first: Int
    labels: [String!]
    last: Int
    orderBy: IssueOrder
    states: [IssueState!]
  ): IssueConnection!
  pullRequests(
    after: String
    baseRefName: String
    before: String
    first: Int
    headRefName: String
    labels: [String!]
    last: Int
    orderBy: IssueOrder
    states: [PullRequestState!]
  ): PullRequestConnection!
  labels(
    after: String
    before: String
    first: Int
    last: Int
    orderBy: LabelOrder
    query: String
  ): LabelConnection
}

enum RepositoryVisibility { INTERNAL PRIVATE PUBLIC }

type Ref implements Node {
  id: ID!
  name: String!
  prefix: String!
  refUpdateRule: RefUpdateRule
  rules(
    after: String
    before: String
    first: Int
    last: Int
    orderBy: RepositoryRuleOrder
  ): RepositoryRuleConnection
  target: GitObject
}

type RefUpdateRule {
  requiresSignatures: Boolean!
}

type Commit implements GitObject & Node {
  id: ID!
  oid: GitObjectID!
  abbreviatedOid: String!
  author: GitActor
  committedDate: DateTime!
  message: String!
  messageHeadline: String!
  parents(after: String, before: String, first: Int, last: Int): CommitConnection!
  tree: Tree!
  status: Status
  history(
    after: String
    author: CommitAuthor
    before: String
    first: Int
    last: Int
    path: String
    since: GitTimestamp
    until: GitTimestamp
  ): CommitHistoryConnection!
}

input CommitAuthor {
  emails: [String!]
  id: ID
}

type GitActor {
  name: String
  user: User
}

type CommitConnection {
  nodes: [Commit]
  totalCount: Int!
}

type CommitHistoryConnection {
  nodes: [Commit]
  totalCount: Int!
}

type Tree implements GitObject & Node {
  id: ID!
  oid: GitObjectID!
  abbreviatedOid: String!
}

type Blob implements GitObject & Node {
  id: ID!
  oid: GitObjectID!
  abbreviatedOid: String!
}

type Tag implements GitObject & Node {
  id: ID!
  oid: GitObjectID!
  abbreviatedOid: String!
}
"""
)
