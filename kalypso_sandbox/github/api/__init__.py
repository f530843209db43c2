"""The endpoints of GitHub's API, one module for each part of it.

Importing this package fills the table `kalypso_sandbox.github.endpoints.ENDPOINTS`.
"""

from kalypso_sandbox.github.api import (  # noqa: F401
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
from kalypso_sandbox.github.graphql import queries  # noqa: F401
