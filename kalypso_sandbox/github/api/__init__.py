"""GitHub in the sandbox: one module for each part of its API.

Importing this package fills the table of endpoints.
"""

from kalypso_sandbox.github import graphql
from kalypso_sandbox.github.api import (
    actions_settings,
    apps,
    branches,
    comments,
    commits,
    contents,
    dispatches,
    environments,
    git_data,
    issues,
    labels,
    merges,
    pages,
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
    "pages",
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
