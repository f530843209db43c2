"""The part of GitHub's GraphQL schema that the sandbox supports.

https://docs.github.com/graphql/reference
"""

from __future__ import annotations

from typing import Final

from kalypso_actions.sandbox.github.graphql import labels_and_rules

AUTO_MERGE: Final = """
  enablePullRequestAutoMerge(
    input: EnablePullRequestAutoMergeInput!
  ): EnablePullRequestAutoMergePayload
  disablePullRequestAutoMerge(
    input: DisablePullRequestAutoMergeInput!
  ): DisablePullRequestAutoMergePayload
"""

MUTATION: Final = (
    f"""
type Mutation {{
  updateRefs(input: UpdateRefsInput!): UpdateRefsPayload
{AUTO_MERGE}
}}
"""
    """

input UpdateRefsInput {
  clientMutationId: String
  refUpdates: [RefUpdate!]!
  repositoryId: ID!
}

input RefUpdate {
  afterOid: GitObjectID!
  beforeOid: GitObjectID
  force: Boolean = false
  name: GitRefname!
}

type UpdateRefsPayload {
  clientMutationId: String
}
"""
)
"""The features that a GitHub Enterprise Server may lack."""

NO_MUTATION: Final = f"type Mutation {{ {AUTO_MERGE} }}"

SCHEMA: Final = (
    MUTATION
    + labels_and_rules.TYPES
    + """
enum PullRequestMergeMethod {
  MERGE
  REBASE
  SQUASH
}

input EnablePullRequestAutoMergeInput {
  authorEmail: String
  clientMutationId: String
  commitBody: String
  commitHeadline: String
  expectedHeadOid: GitObjectID
  mergeMethod: PullRequestMergeMethod = MERGE
  pullRequestId: ID!
}

type EnablePullRequestAutoMergePayload {
  clientMutationId: String
}

input DisablePullRequestAutoMergeInput {
  clientMutationId: String
  pullRequestId: ID!
}

type DisablePullRequestAutoMergePayload {
  clientMutationId: String
}

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

type AutoMergeRequest {
  enabledBy: Actor
  mergeMethod: PullRequestMergeMethod!
}

enum MergeableState {
  CONFLICTING
  MERGEABLE
  UNKNOWN
}

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

enum StatusState {
  ERROR
  EXPECTED
  FAILURE
  PENDING
  SUCCESS
}

type Status implements Node {
  id: ID!
  state: StatusState!
  context(name: String!): StatusContext
  contexts: [StatusContext!]!
}

type StatusContext implements Node {
  id: ID!
  context: String!
  createdAt: DateTime!
  creator: Actor
  description: String
  state: StatusState!
  targetUrl: URI
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
