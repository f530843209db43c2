"""The refusals of an endpoint that does not know of a write yet.

Reported in googleapis/release-please#2782, peter-evans/create-pull-request#4321 (new pull
requests), tanium/octobot#418 (new branches) and freed-project/freed#2023 (moved heads).
"""

from __future__ import annotations

from typing import Final

from kalypso_sandbox.github.endpoints import RefusedError, invalid

NO_NODE: Final = "Could not resolve to a node with the global id of the object."
ISSUE_NOT_FOUND: Final = {
    "resource": "Label",
    "code": "unprocessable",
    "field": "data",
    "message": "Issue not found",
}
HEAD_MODIFIED: Final = "Head branch was modified. Review and try the merge again."


def unknown_object(method: str, template: str) -> RefusedError:
    """Return the refusal for an object of a request; `template` is the endpoint's path."""
    match method, template.removeprefix("/repos/{owner}/{repo}"):
        case "POST", "/issues/{issue_number}/labels":
            return RefusedError(422, "Validation Failed", (ISSUE_NOT_FOUND,))
        case ("POST", "/issues/{issue_number}/comments") | ("PATCH", "/pulls/{pull_number}"):
            return RefusedError(422, NO_NODE)
        case "POST", "/pulls":
            return invalid("PullRequest", "head")
        case "PUT", "/pulls/{pull_number}/merge":
            return RefusedError(409, HEAD_MODIFIED)
        case "POST", "/statuses/{sha}":
            return RefusedError(422, "No commit found for SHA")
    return RefusedError(404, "Not Found")
