"""The endpoints of GitHub's API, one module for each part of it.

Importing this package fills the table `kalypso_sandbox.github.endpoints.ENDPOINTS`.
"""

from kalypso_sandbox.github.api import (
    apps,
    commits,
    git_data,
    issues,
    labels,
    pull_requests,
    repositories,
    settings,
    workflows,
)
from kalypso_sandbox.github.graphql import queries

__all__ = [
    "apps",
    "commits",
    "git_data",
    "issues",
    "labels",
    "pull_requests",
    "queries",
    "repositories",
    "settings",
    "workflows",
]
