"""All calls of the clients, and every endpoint that they use."""

from __future__ import annotations

from typing import Final

from tests.github_api.branch_calls import BRANCH_CALLS
from tests.github_api.issue_calls import ISSUE_CALLS
from tests.github_api.pull_request_calls import PULL_REQUEST_CALLS
from tests.github_api.repository_calls import REPOSITORY_CALLS

CALLS: Final = REPOSITORY_CALLS | BRANCH_CALLS | ISSUE_CALLS | PULL_REQUEST_CALLS
"""Module and function -> its calls."""

APP_ENDPOINTS: Final = frozenset(
    {
        "GET /repos/{owner}/{repo}/installation",
        "GET /orgs/{org}/installation",
        "GET /users/{username}/installation",
        "POST /app/installations/{installation_id}/access_tokens",
    }
)
"""The further endpoints of an App's connection."""

CLIENT_ENDPOINTS: Final = APP_ENDPOINTS.union(*(call.endpoints for call in CALLS.values()))
"""Every endpoint that the clients use: no test may see a request to another one."""
