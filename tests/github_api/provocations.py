"""For every endpoint of the sandbox and every status that it gives: a request that gets it.

The list omits cases that all endpoints share (a wrong token, a missing permission, a hidden or
renamed repository): `test_sandbox_answers` derives those requests.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

Json = Any


class Provocation(NamedTuple):
    """A request by `populated_sandbox.Scene.request`, and its expected status."""

    status: int
    method: str
    path: str
    body: Json = None
    who: str = "owner"


NOWHERE: Final = "0" * 40
LONG: Final = "x" * 70_000

REFS: Final = (
    Provocation(200, "GET", "git/ref/heads/main"),
    Provocation(200, "GET", "git/ref/heads/{branch}"),
    Provocation(404, "GET", "git/ref/heads/nowhere"),
    Provocation(409, "GET", "/repos/acme/empty/git/ref/heads/main"),
    Provocation(201, "POST", "git/refs", {"ref": "refs/heads/a/b/{name}", "sha": "{first}"}),
    Provocation(201, "POST", "git/refs", {"ref": "refs/tags/{name}", "sha": "{first}"}),
    Provocation(422, "POST", "git/refs", {"ref": "refs/heads/main", "sha": "{first}"}),
    Provocation(422, "POST", "git/refs", {"ref": "refs/heads/{name}", "sha": NOWHERE}),
    Provocation(422, "POST", "git/refs", {"ref": "main", "sha": "{first}"}),
    Provocation(422, "POST", "git/refs", {"sha": "{first}"}),
    Provocation(403, "POST", "git/refs", {"ref": "refs/heads/{name}", "sha": "{workflows}"}, "job"),
    Provocation(
        409, "POST", "/repos/acme/empty/git/refs", {"ref": "refs/heads/a", "sha": "{first}"}
    ),
    Provocation(200, "PATCH", "git/refs/heads/{branch}", {"sha": "{second}", "force": True}),
    Provocation(422, "PATCH", "git/refs/heads/{branch}", {"sha": "{second}"}),
    Provocation(422, "PATCH", "git/refs/heads/{protected}", {"sha": "{second}"}),
    Provocation(422, "PATCH", "git/refs/heads/nowhere", {"sha": "{second}"}),
    Provocation(
        403, "PATCH", "git/refs/heads/{branch}", {"sha": "{workflows}", "force": True}, "job"
    ),
    Provocation(409, "PATCH", "/repos/acme/empty/git/refs/heads/main", {"sha": "{second}"}),
    Provocation(204, "DELETE", "git/refs/heads/{branch}"),
    Provocation(422, "DELETE", "git/refs/heads/nowhere"),
    Provocation(422, "DELETE", "git/refs/heads/main"),
    Provocation(409, "DELETE", "/repos/acme/empty/git/refs/heads/main"),
    Provocation(200, "GET", "branches/main"),
    Provocation(200, "GET", "branches/{protected}"),
    Provocation(404, "GET", "branches/nowhere"),
    Provocation(200, "GET", "rules/branches/{protected}"),
    Provocation(200, "GET", "rules/branches/main"),
)

COMMITS: Final = (
    Provocation(200, "GET", "git/commits/{second}"),
    Provocation(404, "GET", f"git/commits/{NOWHERE}"),
    Provocation(409, "GET", f"/repos/acme/empty/git/commits/{NOWHERE}"),
    Provocation(201, "POST", "git/blobs", {"content": "b25l", "encoding": "base64"}),
    Provocation(201, "POST", "git/blobs", {"content": "one"}),
    Provocation(422, "POST", "git/blobs", {"content": "one", "encoding": "utf-16"}),
    Provocation(409, "POST", "/repos/acme/empty/git/blobs", {"content": "one"}),
    Provocation(
        201,
        "POST",
        "git/trees",
        {
            "base_tree": "{second}",
            "tree": [
                {"path": "a/b.txt", "mode": "100644", "type": "blob", "content": "one"},
                {"path": "README.md", "mode": "100644", "type": "blob", "sha": None},
            ],
        },
    ),
    Provocation(
        422,
        "POST",
        "git/trees",
        {
            "base_tree": "{second}",
            "tree": [{"path": "nothing", "mode": "100644", "type": "blob", "sha": None}],
        },
    ),
    Provocation(422, "POST", "git/trees", {"tree": []}),
    Provocation(404, "POST", "git/trees", {"base_tree": NOWHERE, "tree": []}),
    Provocation(409, "POST", "/repos/acme/empty/git/trees", {"tree": []}),
    Provocation(
        201,
        "POST",
        "git/commits",
        {"message": "m", "tree": "{tree}", "parents": ["{second}"]},
        "installation",
    ),
    Provocation(
        201,
        "POST",
        "git/commits",
        {
            "message": "m",
            "tree": "{tree}",
            "author": {"name": "n", "email": "e@f.gh", "date": "2026-01-02T03:04:05Z"},
        },
    ),
    Provocation(422, "POST", "git/commits", {"message": "m", "tree": NOWHERE}),
    Provocation(
        422, "POST", "git/commits", {"message": "m", "tree": "{tree}", "parents": [NOWHERE]}
    ),
    Provocation(409, "POST", "/repos/acme/empty/git/commits", {"message": "m", "tree": NOWHERE}),
    Provocation(200, "GET", "compare/{first}...{second}"),
    Provocation(200, "GET", "compare/main...{branch}"),
    Provocation(200, "GET", "compare/{second}...{first}?per_page=1&page=1"),
    Provocation(404, "GET", "compare/main...nowhere"),
    Provocation(404, "GET", "compare/main...{unrelated}"),
)

STATUSES: Final = (
    Provocation(201, "POST", "statuses/{second}", {"state": "success"}),
    Provocation(
        201,
        "POST",
        "statuses/{second}",
        {"state": "pending", "context": "k", "description": "d", "target_url": "https://a.b/c"},
    ),
    Provocation(422, "POST", f"statuses/{NOWHERE}", {"state": "success"}),
    Provocation(422, "POST", "statuses/{second}", {"state": "skipped"}),
    Provocation(422, "POST", "statuses/{second}", {"state": "error", "description": "d" * 141}),
    Provocation(422, "POST", "statuses/{second}", {"state": "error", "target_url": "ftp://a"}),
    Provocation(200, "GET", "commits/{second}/statuses"),
    Provocation(404, "GET", "commits/nowhere/statuses"),
    Provocation(200, "GET", "commits/{second}/check-runs?check_name=smoke&filter=latest"),
)


PULL_REQUESTS: Final = (
    Provocation(200, "GET", "pulls?state=all&per_page=1"),
    Provocation(200, "GET", "pulls?state=closed&head=acme:main&base=main&sort=updated"),
    Provocation(201, "POST", "pulls", {"title": "t", "head": "{branch}", "base": "main"}),
    Provocation(
        201,
        "POST",
        "pulls",
        {"title": "t", "head": "acme:{branch}", "base": "main", "body": "b", "draft": True},
    ),
    Provocation(422, "POST", "pulls", {"title": "t", "head": "{branch}", "base": "nowhere"}),
    Provocation(422, "POST", "pulls", {"title": "t", "head": "main", "base": "main"}),
    Provocation(422, "POST", "pulls", {"title": "t", "head": "{branch_of_pull}", "base": "main"}),
    Provocation(
        422, "POST", "pulls", {"title": "t", "head": "{branch}", "base": "main", "body": LONG}
    ),
    Provocation(422, "POST", "pulls", {"title": 1, "head": "main", "base": "main"}),
    Provocation(
        403, "POST", "/repos/acme/moved/pulls", {"title": "t", "head": "a", "base": "main"}, "job"
    ),
    Provocation(200, "GET", "pulls/{pull}"),
    Provocation(200, "GET", "pulls/{merged_pull}"),
    Provocation(200, "GET", "pulls/{clashing_pull}"),
    Provocation(200, "GET", "pulls/{blocked_pull}"),
    Provocation(404, "GET", "pulls/{issue}"),
    Provocation(200, "PATCH", "pulls/{pull}", {"title": "other", "body": ""}),
    Provocation(200, "PATCH", "pulls/{pull}", {"state": "closed"}),
    Provocation(200, "PATCH", "pulls/{pull}", {"base": "{protected}"}),
    Provocation(422, "PATCH", "pulls/{merged_pull}", {"state": "open"}),
    Provocation(422, "PATCH", "pulls/{pull}", {"state": "merged"}),
    Provocation(404, "PATCH", "pulls/9999", {"title": "other"}),
    Provocation(200, "PUT", "pulls/{pull}/merge", {}),
    Provocation(200, "PUT", "pulls/{pull}/merge", {"merge_method": "squash", "commit_title": "c"}),
    Provocation(200, "PUT", "pulls/{pull}/merge", {"merge_method": "rebase"}),
    Provocation(405, "PUT", "pulls/{clashing_pull}/merge", {}),
    Provocation(405, "PUT", "pulls/{blocked_pull}/merge", {}),
    Provocation(405, "PUT", "pulls/{merged_pull}/merge", {}),
    Provocation(409, "PUT", "pulls/{pull}/merge", {"sha": NOWHERE}),
    Provocation(422, "PUT", "pulls/{pull}/merge", {"merge_method": "octopus"}),
    Provocation(403, "PUT", "pulls/{workflows_pull}/merge", {}, "job"),
    Provocation(404, "PUT", "pulls/9999/merge", {}),
    Provocation(200, "GET", "pulls/{pull}/files"),
    Provocation(404, "GET", "pulls/9999/files"),
)

ISSUES: Final = (
    Provocation(200, "GET", "issues?state=all&per_page=2&page=2"),
    Provocation(200, "GET", "issues?labels=bug&creator=somebody&direction=asc&sort=comments"),
    Provocation(201, "POST", "issues", {"title": "t"}),
    Provocation(201, "POST", "issues", {"title": "t", "body": "b", "labels": ["bug", "new"]}),
    Provocation(422, "POST", "issues", {"title": " "}),
    Provocation(422, "POST", "issues", {"body": "b"}),
    Provocation(422, "POST", "issues", {"title": "t", "body": LONG}),
    Provocation(200, "GET", "issues/{issue}"),
    Provocation(200, "GET", "issues/{pull}"),
    Provocation(200, "GET", "issues/{merged_pull}"),
    Provocation(404, "GET", "issues/9999"),
    Provocation(200, "PATCH", "issues/{issue}", {"title": "other", "body": None, "labels": []}),
    Provocation(200, "PATCH", "issues/{issue}", {"state": "closed", "state_reason": "duplicate"}),
    Provocation(422, "PATCH", "issues/{issue}", {"state": "done"}),
    Provocation(404, "PATCH", "issues/9999", {"title": "other"}),
    Provocation(201, "POST", "issues/{issue}/comments", {"body": "c"}),
    Provocation(422, "POST", "issues/{issue}/comments", {"body": ""}),
    Provocation(422, "POST", "issues/{issue}/comments", {"body": LONG}),
    Provocation(404, "POST", "issues/9999/comments", {"body": "c"}),
    Provocation(200, "GET", "issues/{issue_of_comment}/comments"),
    Provocation(404, "GET", "issues/9999/comments"),
    Provocation(200, "GET", "issues/{eventful_issue}/events"),
    Provocation(200, "GET", "issues/{eventful_pull}/events?per_page=2"),
    Provocation(200, "GET", "issues/{eventful_pull}/events?per_page=2&page=2"),
    Provocation(404, "GET", "issues/9999/events"),
    Provocation(200, "PATCH", "issues/comments/{comment}", {"body": "other"}),
    Provocation(422, "PATCH", "issues/comments/{comment}", {"body": LONG}),
    Provocation(404, "PATCH", "issues/comments/1", {"body": "other"}),
    Provocation(204, "DELETE", "issues/comments/{comment}"),
    Provocation(404, "DELETE", "issues/comments/1"),
)

LABELS: Final = (
    Provocation(200, "GET", "labels"),
    Provocation(201, "POST", "labels", {"name": "{name}"}),
    Provocation(201, "POST", "labels", {"name": "{name}", "color": "BADA55", "description": "d"}),
    Provocation(422, "POST", "labels", {"name": "{label}"}),
    Provocation(422, "POST", "labels", {"name": "{name}", "color": "#fff"}),
    Provocation(422, "POST", "labels", {"color": "ffffff"}),
    Provocation(200, "GET", "labels/{label}"),
    Provocation(404, "GET", "labels/nothing"),
    Provocation(204, "DELETE", "labels/{label}"),
    Provocation(404, "DELETE", "labels/nothing"),
    Provocation(200, "GET", "issues/{issue}/labels"),
    Provocation(404, "GET", "issues/9999/labels"),
    Provocation(200, "POST", "issues/{issue}/labels", {"labels": ["a", "b"]}),
    Provocation(200, "POST", "issues/{pull}/labels", ["a", "b"]),
    Provocation(422, "POST", "issues/{issue}/labels", {"labels": [1]}),
    Provocation(404, "POST", "issues/9999/labels", {"labels": ["a"]}),
    Provocation(200, "DELETE", "issues/{issue}/labels/bug"),
    Provocation(404, "DELETE", "issues/{issue}/labels/nothing"),
)


DISPATCHES: Final = "actions/workflows/poll.yaml/dispatches"
INPUTS: Final = {"commit": "{first}", "size": "small"}

ACTIONS: Final = (
    Provocation(200, "GET", "actions/workflows"),
    Provocation(204, "POST", DISPATCHES, {"ref": "main", "inputs": INPUTS}),
    Provocation(
        200, "POST", DISPATCHES, {"ref": "main", "inputs": INPUTS, "return_run_details": True}
    ),
    Provocation(422, "POST", DISPATCHES, {"ref": "nowhere", "inputs": INPUTS}),
    Provocation(422, "POST", DISPATCHES, {"ref": "main"}),
    Provocation(422, "POST", DISPATCHES, {"ref": "main", "inputs": {**INPUTS, "other": "1"}}),
    Provocation(422, "POST", "actions/workflows/quiet.yaml/dispatches", {"ref": "main"}),
    Provocation(404, "POST", "actions/workflows/nothing.yaml/dispatches", {"ref": "main"}),
    Provocation(200, "GET", "actions/workflows/poll.yaml/runs?status=queued"),
    Provocation(404, "GET", "actions/workflows/nothing.yaml/runs"),
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
    Provocation(200, "GET", "/repos/acme/moved/pages"),
)

ENVIRONMENTS: Final = (
    Provocation(200, "GET", "environments"),
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
    Provocation(200, "GET", "actions/variables?per_page=1"),
    Provocation(201, "POST", "actions/variables", {"name": "THIRD", "value": "1"}),
    Provocation(409, "POST", "actions/variables", {"name": "FIRST", "value": "1"}),
    Provocation(422, "POST", "actions/variables", {"name": "1-2", "value": "1"}),
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
    Provocation(201, "POST", "/orgs/acme/repos", {"name": "{name}"}),
    Provocation(422, "POST", "/orgs/acme/repos", {"name": "fleet"}),
    Provocation(404, "POST", "/orgs/nobody/repos", {"name": "{name}"}),
    Provocation(200, "GET", "/rate_limit"),
    Provocation(200, "GET", "/user"),
)

_TOKENS: Final = "/app/installations/{installation_id}/access_tokens"

APPS: Final = (
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


PROVOCATIONS: Final = (
    *REFS,
    *COMMITS,
    *STATUSES,
    *PULL_REQUESTS,
    *ISSUES,
    *LABELS,
    *ACTIONS,
    *PAGES,
    *ENVIRONMENTS,
    *SETTINGS,
    *REPOSITORIES,
    *APPS,
    *GRAPHQL,
)

ON_SERVER: Final = (
    Provocation(200, "GET", "/repos/acme/fleet"),
    Provocation(204, "POST", DISPATCHES, {"ref": "main", "inputs": INPUTS}),
    Provocation(
        400, "POST", DISPATCHES, {"ref": "main", "inputs": INPUTS, "return_run_details": True}
    ),
    Provocation(
        422,
        "POST",
        DISPATCHES,
        {"ref": "main", "inputs": {**INPUTS, **dict.fromkeys("abcdefghi", "1")}},
    ),
    Provocation(201, "POST", "/orgs/acme/repos", {"name": "{name}", "visibility": "internal"}),
    Provocation(404, "GET", "/rate_limit"),
)
