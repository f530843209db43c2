"""GitHub in the sandbox: one module for each part of its API.

Importing this fills the table of endpoints.
"""

from kalypso_actions.sandbox.github import (
    actions_settings,
    apps,
    branches,
    comments,
    commits,
    contents,
    dispatches,
    environments,
    git_data,
    graphql,
    issues,
    labels,
    merges,
    pull_requests,
    rate_limits,
    references,
    repositories,
    reviews,
    secrets,
    statuses,
    variables,
    workflows,
)

__all__ = [
    "actions_settings",
    "apps",
    "branches",
    "comments",
    "commits",
    "contents",
    "dispatches",
    "environments",
    "git_data",
    "graphql",
    "issues",
    "labels",
    "merges",
    "pull_requests",
    "rate_limits",
    "references",
    "repositories",
    "reviews",
    "secrets",
    "statuses",
    "variables",
    "workflows",
]
