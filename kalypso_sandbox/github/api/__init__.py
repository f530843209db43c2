"""The endpoints of GitHub's API, one module for each part of it.

Importing this package fills the table `kalypso_sandbox.github.endpoints.ENDPOINTS`.
"""

from kalypso_sandbox.github.api import (  # noqa: F401 - each fills the table
    apps,
    git_data,
    issues,
    pull_requests,
    repositories,
    workflows,
)
from kalypso_sandbox.github.graphql import query  # noqa: F401 - as above
