"""Workflows, environments, repositories, Apps, GraphQL."""

from __future__ import annotations

from typing import Final

from tests.github_api.provocations.provocation import LONG, Provocation

DISPATCHES: Final = "actions/workflows/poll.yaml/dispatches"
INPUTS: Final = {"commit": "{first}", "size": "small"}

ACTIONS: Final = (
    Provocation(200, "GET", "actions/workflows"),
    Provocation(200, "GET", "actions/workflows/poll.yaml"),
    Provocation(404, "GET", "actions/workflows/nothing.yaml"),
    Provocation(204, "POST", DISPATCHES, {"ref": "main", "inputs": INPUTS}),
    Provocation(
        200, "POST", DISPATCHES, {"ref": "main", "inputs": INPUTS, "return_run_details": True}
    ),
    Provocation(422, "POST", DISPATCHES, {"ref": "nowhere", "inputs": INPUTS}),
    Provocation(422, "POST", DISPATCHES, {"ref": "main"}),
    Provocation(422, "POST", DISPATCHES, {"ref": "main", "inputs": {**INPUTS, "other": "1"}}),
    Provocation(422, "POST", "actions/workflows/quiet.yaml/dispatches", {"ref": "main"}),
    Provocation(404, "POST", "actions/workflows/nothing.yaml/dispatches", {"ref": "main"}),
    Provocation(200, "GET", "actions/runs?event=workflow_dispatch&branch=main&per_page=1"),
    Provocation(200, "GET", "actions/workflows/poll.yaml/runs?status=queued"),
    Provocation(404, "GET", "actions/workflows/nothing.yaml/runs"),
    Provocation(200, "GET", "actions/runs/{run}"),
    Provocation(404, "GET", "actions/runs/1"),
    Provocation(204, "POST", "dispatches", {"event_type": "e", "client_payload": {"a": [1]}}),
    Provocation(204, "POST", "dispatches", {"event_type": "e"}, "installation"),
    Provocation(422, "POST", "dispatches", {"event_type": "e" * 101}),
    Provocation(422, "POST", "dispatches", {"client_payload": {}}),
    Provocation(
        422,
        "POST",
        "dispatches",
        {"event_type": "e", "client_payload": dict.fromkeys("abcdefghijk", "1")},
    ),
)

PAGES: Final = (
    Provocation(404, "GET", "pages"),
    Provocation(201, "POST", "pages", {"build_type": "workflow"}),
    Provocation(409, "POST", "pages", {"build_type": "workflow"}),
    Provocation(200, "GET", "pages"),
)

ENVIRONMENTS: Final = (
    Provocation(200, "GET", "environments"),
    Provocation(200, "GET", "environments/{environment}"),
    Provocation(404, "GET", "environments/nothing"),
    Provocation(200, "PUT", "environments/a%2F{name}"),
    Provocation(200, "GET", "environments/{environment}/variables"),
    Provocation(404, "GET", "environments/nothing/variables"),
    Provocation(201, "POST", "environments/{environment}/variables", {"name": "A", "value": "1"}),
    Provocation(404, "POST", "environments/nothing/variables", {"name": "A", "value": "1"}),
    Provocation(
        409, "POST", "environments/{environment}/variables", {"name": "NEXT", "value": "1"}
    ),
    Provocation(422, "POST", "environments/{environment}/variables", {"name": "1-2", "value": "1"}),
    Provocation(200, "GET", "environments/{environment}/variables/NEXT"),
    Provocation(404, "GET", "environments/{environment}/variables/NOTHING"),
    Provocation(204, "PATCH", "environments/{environment}/variables/NEXT", {"value": "2"}),
    Provocation(404, "PATCH", "environments/{environment}/variables/NOTHING", {"value": "2"}),
    Provocation(422, "PATCH", "environments/{environment}/variables/NEXT", {"value": LONG}),
    Provocation(200, "GET", "actions/variables?per_page=1"),
    Provocation(201, "POST", "actions/variables", {"name": "V_{plain}", "value": ""}),
    Provocation(409, "POST", "actions/variables", {"name": "{variable}", "value": "1"}),
    Provocation(422, "POST", "actions/variables", {"name": "GITHUB_A", "value": "1"}),
    Provocation(200, "GET", "actions/variables/{variable}"),
    Provocation(404, "GET", "actions/variables/NOTHING"),
    Provocation(204, "PATCH", "actions/variables/{variable}", {"value": "2"}),
    Provocation(404, "PATCH", "actions/variables/NOTHING", {"value": "2"}),
    Provocation(422, "PATCH", "actions/variables/{variable}", {"value": LONG}),
)

SETTINGS: Final = (
    Provocation(200, "GET", "actions/secrets?per_page=1"),
    Provocation(200, "GET", "actions/organization-secrets"),
    Provocation(200, "GET", "actions/organization-variables"),
    Provocation(200, "GET", "environments/{environment}/secrets"),
    Provocation(404, "GET", "environments/nothing/secrets"),
    Provocation(200, "GET", "actions/permissions"),
    Provocation(200, "GET", "/repos/acme/moved/actions/permissions"),
    Provocation(200, "GET", "/repos/acme/archived/actions/permissions"),
    Provocation(200, "GET", "actions/permissions/workflow"),
)

REPOSITORIES: Final = (
    Provocation(200, "GET", "/repos/acme/fleet"),
    Provocation(200, "GET", "/repos/acme/empty"),
    Provocation(200, "GET", "/repos/acme/archived"),
    Provocation(201, "POST", "/user/repos", {"name": "{name}"}, "person"),
    Provocation(
        201, "POST", "/user/repos", {"name": "{name}", "private": True, "auto_init": True}, "person"
    ),
    Provocation(422, "POST", "/user/repos", {"name": "..."}, "person"),
    Provocation(403, "POST", "/user/repos", {"name": "{name}"}, "installation"),
    Provocation(201, "POST", "/orgs/acme/repos", {"name": "{name}"}),
    Provocation(422, "POST", "/orgs/acme/repos", {"name": "fleet"}),
    Provocation(404, "POST", "/orgs/nobody/repos", {"name": "{name}"}),
    Provocation(200, "GET", "/user"),
    Provocation(403, "GET", "/user", None, "job"),
    Provocation(200, "GET", "/rate_limit"),
)

_TOKENS: Final = "/app/installations/{installation_id}/access_tokens"

APPS: Final = (
    Provocation(200, "GET", "/app", None, "app"),
    Provocation(200, "GET", "/app/installations", None, "app"),
    Provocation(200, "GET", "/orgs/acme/installation", None, "app"),
    Provocation(404, "GET", "/orgs/nobody/installation", None, "app"),
    Provocation(200, "GET", "/users/somebody/installation", None, "app"),
    Provocation(404, "GET", "/users/nobody/installation", None, "app"),
    Provocation(200, "GET", "installation", None, "app"),
    Provocation(404, "GET", "/repos/acme/hidden/installation", None, "app"),
    Provocation(201, "POST", _TOKENS, None, "app"),
    Provocation(
        201,
        "POST",
        _TOKENS,
        {"repositories": ["fleet"], "permissions": {"contents": "read"}},
        "app",
    ),
    Provocation(422, "POST", _TOKENS, {"repositories": ["hidden"]}, "app"),
    Provocation(422, "POST", _TOKENS, {"permissions": {"members": "write"}}, "app"),
    Provocation(403, "POST", "/app/installations/{suspended_id}/access_tokens", None, "app"),
    Provocation(404, "POST", "/app/installations/1/access_tokens", None, "app"),
    Provocation(200, "GET", "/installation/repositories?per_page=1", None, "installation"),
    Provocation(403, "GET", "/installation/repositories"),
)

_QUERY: Final = """
query($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    defaultBranchRef { name target { oid ... on Commit { messageHeadline tree { oid } } } }
    object(expression: "main:docs") { __typename ... on Tree { oid } }
  }
  rateLimit { limit cost remaining resetAt }
}
"""

GRAPHQL: Final = tuple(
    Provocation(status, "POST", "/graphql", body)
    for status, body in (
        (200, {"query": _QUERY, "variables": {"owner": "acme", "name": "fleet"}}),
        (200, {"query": _QUERY, "variables": {"owner": "acme", "name": "hidden"}}),
        (200, {"query": _QUERY}),
        (200, {"query": "query { nothing }"}),
        (200, {"query": "query {"}),
        (400, {"variables": "none"}),
    )
)
