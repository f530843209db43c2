"""A repository's settings for GitHub Actions.

https://docs.github.com/rest/actions/permissions
"""

from __future__ import annotations

from typing import Final

from kalypso_sandbox.github.endpoints import Answer, Call, Json, endpoint
from kalypso_sandbox.github.payloads.view import View

SETTINGS: Final = "/repos/{owner}/{repo}/actions/permissions"


@endpoint("GET", SETTINGS, "administration: read", statuses=(200,))
def read(call: Call) -> Answer:
    """Return whether workflows run, and which actions they may use."""
    repository = call.named_repository
    answer: Json = {"enabled": repository.actions_enabled, "sha_pinning_required": False}
    if repository.actions_enabled:
        answer["allowed_actions"] = repository.allowed_actions
    if repository.allowed_actions == "selected":
        url = f"{View.of(call).api(repository)}/actions/permissions/selected-actions"
        answer["selected_actions_url"] = url
    return Answer(200, answer)


@endpoint("GET", f"{SETTINGS}/workflow", "administration: read", statuses=(200,))
def read_of_jobs(call: Call) -> Answer:
    """Return the default permissions of GITHUB_TOKENs, and whether they may open pull requests."""
    answer = {
        "default_workflow_permissions": "read",
        "can_approve_pull_request_reviews": call.named_repository.actions_may_open_pull_requests,
    }
    return Answer(200, answer)
