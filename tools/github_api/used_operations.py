"""The part of GitHub's API that the clients and the sandbox use.

`R` stands for `/repos/{owner}/{repo}`. Paths are written as GitHub's OpenAPI description does.
"""

from __future__ import annotations

_REPOSITORY = "/repos/{owner}/{repo}"

_LISTED = """
GET     R
POST    /orgs/{org}/repos

GET     R/git/ref/{ref}
POST    R/git/refs
PATCH   R/git/refs/{ref}
DELETE  R/git/refs/{ref}
GET     R/branches/{branch}
GET     R/rules/branches/{branch}
GET     R/git/commits/{commit_sha}
POST    R/git/blobs
POST    R/git/trees
POST    R/git/commits
GET     R/compare/{basehead}

POST    R/statuses/{sha}
GET     R/commits/{ref}/statuses
GET     R/commits/{ref}/check-runs

GET     R/pulls
POST    R/pulls
GET     R/pulls/{pull_number}
PATCH   R/pulls/{pull_number}
PUT     R/pulls/{pull_number}/merge
GET     R/pulls/{pull_number}/files

GET     R/issues
POST    R/issues
GET     R/issues/{issue_number}
PATCH   R/issues/{issue_number}
GET     R/issues/{issue_number}/comments
POST    R/issues/{issue_number}/comments
GET     R/issues/{issue_number}/events
PATCH   R/issues/comments/{comment_id}
DELETE  R/issues/comments/{comment_id}

GET     R/labels
POST    R/labels
GET     R/labels/{name}
DELETE  R/labels/{name}
GET     R/issues/{issue_number}/labels
POST    R/issues/{issue_number}/labels
DELETE  R/issues/{issue_number}/labels/{name}

GET     R/actions/workflows
POST    R/actions/workflows/{workflow_id}/dispatches
GET     R/actions/workflows/{workflow_id}/runs
POST    R/dispatches

GET     R/pages

GET     R/environments
PUT     R/environments/{environment_name}
GET     R/environments/{environment_name}/variables
POST    R/environments/{environment_name}/variables
GET     R/environments/{environment_name}/variables/{name}
GET     R/environments/{environment_name}/secrets
GET     R/actions/secrets
GET     R/actions/organization-secrets
GET     R/actions/organization-variables
GET     R/actions/permissions
GET     R/actions/permissions/workflow
GET     R/actions/variables
POST    R/actions/variables

GET     /app/installations
GET     /orgs/{org}/installation
GET     /users/{username}/installation
GET     R/installation
POST    /app/installations/{installation_id}/access_tokens
GET     /rate_limit
GET     /user
"""

OPERATIONS: tuple[tuple[str, str], ...] = tuple(
    (method, _REPOSITORY + path[1:] if path.startswith("R") else path)
    for method, path in map(str.split, filter(None, _LISTED.splitlines()))
)
"""Method and path of each operation."""

WEBHOOKS = (
    "merge-group-checks-requested",
    "push",
    "pull-request-closed",
    "pull-request-edited",
    "pull-request-labeled",
    "pull-request-opened",
    "pull-request-reopened",
    "pull-request-synchronize",
    "pull-request-unlabeled",
    "repository-dispatch-sample.collected",
    "workflow-dispatch",
    "workflow-run-completed",
)
"""Events whose payloads are described: the event's name and its action."""

GRAPHQL_TYPES = (
    "Query",
    "Mutation",
    "UpdateRefsPayload",
    "EnablePullRequestAutoMergePayload",
    "DisablePullRequestAutoMergePayload",
    "AutoMergeRequest",
    "Actor",
    "Bot",
    "User",
    "Repository",
    "Issue",
    "IssueConnection",
    "PullRequest",
    "PullRequestCommit",
    "PullRequestCommitConnection",
    "PullRequestConnection",
    "GitActor",
    "Ref",
    "RefConnection",
    "RefUpdateRule",
    "RepositoryRule",
    "RepositoryRuleConnection",
    "Label",
    "LabelConnection",
    "GitObject",
    "Commit",
    "CommitConnection",
    "CommitHistoryConnection",
    "Status",
    "StatusContext",
    "Tree",
    "TreeEntry",
    "Blob",
    "Tag",
    "Node",
    "PageInfo",
    "RateLimit",
)
"""Types of the GraphQL schema; of their fields, those that lead to these types or to scalars."""
