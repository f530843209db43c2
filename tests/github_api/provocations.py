"""For every endpoint of the sandbox and every status that it gives: a request that gets it.

What all endpoints have in common (a wrong token, a missing permission, a hidden or renamed
repository) is not listed here: `test_sandbox_answers` derives those requests.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

Json = Any


class Provocation(NamedTuple):
    """A request to `scene.Scene`, and the status that it is to get."""

    status: int
    method: str
    path: str
    body: Json = None
    who: str = "owner"


_NOWHERE: Final = "0" * 40
_LONG: Final = "x" * 70_000

_REFS: Final = (
    Provocation(200, "GET", "git/ref/heads/main"),
    Provocation(200, "GET", "git/ref/heads/{branch}"),
    Provocation(404, "GET", "git/ref/heads/nowhere"),
    Provocation(409, "GET", "/repos/acme/empty/git/ref/heads/main"),
    Provocation(200, "GET", "git/matching-refs/heads/ma"),
    Provocation(200, "GET", "git/matching-refs/heads/nowhere"),
    Provocation(409, "GET", "/repos/acme/empty/git/matching-refs/heads/main"),
    Provocation(201, "POST", "git/refs", {"ref": "refs/heads/a/b/{name}", "sha": "{first}"}),
    Provocation(201, "POST", "git/refs", {"ref": "refs/tags/{name}", "sha": "{first}"}),
    Provocation(422, "POST", "git/refs", {"ref": "refs/heads/main", "sha": "{first}"}),
    Provocation(422, "POST", "git/refs", {"ref": "refs/heads/{name}", "sha": _NOWHERE}),
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

_COMMITS: Final = (
    Provocation(200, "GET", "git/commits/{second}"),
    Provocation(404, "GET", f"git/commits/{_NOWHERE}"),
    Provocation(409, "GET", f"/repos/acme/empty/git/commits/{_NOWHERE}"),
    Provocation(200, "GET", "commits/{second}"),
    Provocation(200, "GET", "commits/main"),
    Provocation(200, "GET", "commits/{root}"),
    Provocation(422, "GET", f"commits/{_NOWHERE}"),
    Provocation(409, "GET", "/repos/acme/empty/commits/main"),
    Provocation(200, "GET", "commits/{second}/pulls"),
    Provocation(200, "GET", "commits/{branch_of_pull}/pulls"),
    Provocation(422, "GET", f"commits/{_NOWHERE}/pulls"),
    Provocation(409, "GET", "/repos/acme/empty/commits/main/pulls"),
    Provocation(200, "GET", "compare/{first}...{second}"),
    Provocation(200, "GET", "compare/main...{branch}"),
    Provocation(200, "GET", "compare/{second}...{first}?per_page=1&page=1"),
    Provocation(404, "GET", "compare/main...nowhere"),
    Provocation(404, "GET", "compare/main...{unrelated}"),
    Provocation(200, "GET", "contents/README.md"),
    Provocation(200, "GET", "contents/docs?ref={first}"),
    Provocation(404, "GET", "contents/nothing"),
    Provocation(404, "GET", "contents/README.md?ref=nowhere"),
)

_STATUSES: Final = (
    Provocation(201, "POST", "statuses/{second}", {"state": "success"}),
    Provocation(
        201,
        "POST",
        "statuses/{second}",
        {"state": "pending", "context": "k", "description": "d", "target_url": "https://a.b/c"},
    ),
    Provocation(422, "POST", f"statuses/{_NOWHERE}", {"state": "success"}),
    Provocation(422, "POST", "statuses/{second}", {"state": "skipped"}),
    Provocation(422, "POST", "statuses/{second}", {"state": "error", "description": "d" * 141}),
    Provocation(422, "POST", "statuses/{second}", {"state": "error", "target_url": "ftp://a"}),
    Provocation(200, "GET", "commits/{second}/status"),
    Provocation(200, "GET", "commits/{first}/status"),
    Provocation(404, "GET", "commits/nowhere/status"),
    Provocation(200, "GET", "commits/{second}/statuses"),
    Provocation(404, "GET", "commits/nowhere/statuses"),
)

_PULL_REQUESTS: Final = (
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
        422, "POST", "pulls", {"title": "t", "head": "{branch}", "base": "main", "body": _LONG}
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
    Provocation(409, "PUT", "pulls/{pull}/merge", {"sha": _NOWHERE}),
    Provocation(422, "PUT", "pulls/{pull}/merge", {"merge_method": "octopus"}),
    Provocation(403, "PUT", "pulls/{workflows_pull}/merge", {}, "job"),
    Provocation(404, "PUT", "pulls/9999/merge", {}),
    Provocation(200, "GET", "pulls/{pull}/files"),
    Provocation(404, "GET", "pulls/9999/files"),
)

_ISSUES: Final = (
    Provocation(200, "GET", "issues?state=all&per_page=2&page=2"),
    Provocation(200, "GET", "issues?labels=bug&creator=somebody&direction=asc&sort=comments"),
    Provocation(201, "POST", "issues", {"title": "t"}),
    Provocation(201, "POST", "issues", {"title": "t", "body": "b", "labels": ["bug", "new"]}),
    Provocation(422, "POST", "issues", {"title": " "}),
    Provocation(422, "POST", "issues", {"body": "b"}),
    Provocation(422, "POST", "issues", {"title": "t", "body": _LONG}),
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
    Provocation(422, "POST", "issues/{issue}/comments", {"body": _LONG}),
    Provocation(404, "POST", "issues/9999/comments", {"body": "c"}),
    Provocation(200, "GET", "issues/{issue_of_comment}/comments"),
    Provocation(404, "GET", "issues/9999/comments"),
    Provocation(200, "GET", "issues/comments/{comment}"),
    Provocation(404, "GET", "issues/comments/1"),
    Provocation(200, "PATCH", "issues/comments/{comment}", {"body": "other"}),
    Provocation(422, "PATCH", "issues/comments/{comment}", {"body": _LONG}),
    Provocation(404, "PATCH", "issues/comments/1", {"body": "other"}),
    Provocation(204, "DELETE", "issues/comments/{comment}"),
    Provocation(404, "DELETE", "issues/comments/1"),
)

_LABELS: Final = (
    Provocation(200, "GET", "labels"),
    Provocation(201, "POST", "labels", {"name": "{name}"}),
    Provocation(201, "POST", "labels", {"name": "{name}", "color": "BADA55", "description": "d"}),
    Provocation(422, "POST", "labels", {"name": "{label}"}),
    Provocation(422, "POST", "labels", {"name": "{name}", "color": "#fff"}),
    Provocation(422, "POST", "labels", {"color": "ffffff"}),
    Provocation(200, "GET", "labels/{label}"),
    Provocation(404, "GET", "labels/nothing"),
    Provocation(200, "PATCH", "labels/{label}", {"new_name": "{name}", "description": "d"}),
    Provocation(422, "PATCH", "labels/{label}", {"new_name": "{label}"}),
    Provocation(404, "PATCH", "labels/nothing", {"color": "ffffff"}),
    Provocation(204, "DELETE", "labels/{label}"),
    Provocation(404, "DELETE", "labels/nothing"),
    Provocation(200, "GET", "issues/{issue}/labels"),
    Provocation(404, "GET", "issues/9999/labels"),
    Provocation(200, "POST", "issues/{issue}/labels", {"labels": ["a", "b"]}),
    Provocation(200, "POST", "issues/{pull}/labels", ["a", "b"]),
    Provocation(422, "POST", "issues/{issue}/labels", {"labels": [1]}),
    Provocation(404, "POST", "issues/9999/labels", {"labels": ["a"]}),
    Provocation(200, "PUT", "issues/{issue}/labels", {"labels": ["c"]}),
    Provocation(422, "PUT", "issues/{issue}/labels", {"labels": [1]}),
    Provocation(404, "PUT", "issues/9999/labels", {"labels": ["c"]}),
    Provocation(200, "DELETE", "issues/{issue}/labels/bug"),
    Provocation(404, "DELETE", "issues/{issue}/labels/nothing"),
    Provocation(204, "DELETE", "issues/{issue}/labels"),
    Provocation(404, "DELETE", "issues/9999/labels"),
)

_DISPATCHES: Final = "actions/workflows/poll.yaml/dispatches"
_INPUTS: Final = {"commit": "{first}", "size": "small"}

_ACTIONS: Final = (
    Provocation(200, "GET", "actions/workflows"),
    Provocation(200, "GET", "actions/workflows/poll.yaml"),
    Provocation(404, "GET", "actions/workflows/nothing.yaml"),
    Provocation(204, "POST", _DISPATCHES, {"ref": "main", "inputs": _INPUTS}),
    Provocation(
        200, "POST", _DISPATCHES, {"ref": "main", "inputs": _INPUTS, "return_run_details": True}
    ),
    Provocation(422, "POST", _DISPATCHES, {"ref": "nowhere", "inputs": _INPUTS}),
    Provocation(422, "POST", _DISPATCHES, {"ref": "main"}),
    Provocation(422, "POST", _DISPATCHES, {"ref": "main", "inputs": {**_INPUTS, "other": "1"}}),
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

_ENVIRONMENTS: Final = (
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
    Provocation(422, "PATCH", "environments/{environment}/variables/NEXT", {"value": _LONG}),
    Provocation(200, "GET", "actions/variables?per_page=1"),
    Provocation(201, "POST", "actions/variables", {"name": "V_{plain}", "value": ""}),
    Provocation(409, "POST", "actions/variables", {"name": "{variable}", "value": "1"}),
    Provocation(422, "POST", "actions/variables", {"name": "GITHUB_A", "value": "1"}),
    Provocation(200, "GET", "actions/variables/{variable}"),
    Provocation(404, "GET", "actions/variables/NOTHING"),
    Provocation(204, "PATCH", "actions/variables/{variable}", {"value": "2"}),
    Provocation(404, "PATCH", "actions/variables/NOTHING", {"value": "2"}),
    Provocation(422, "PATCH", "actions/variables/{variable}", {"value": _LONG}),
)

_REPOSITORIES: Final = (
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

_APPS: Final = (
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

_GRAPHQL: Final = tuple(
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
    *_REFS,
    *_COMMITS,
    *_STATUSES,
    *_PULL_REQUESTS,
    *_ISSUES,
    *_LABELS,
    *_ACTIONS,
    *_ENVIRONMENTS,
    *_REPOSITORIES,
    *_APPS,
    *_GRAPHQL,
)

ON_SERVER: Final = (
    Provocation(200, "GET", "/repos/acme/fleet"),
    Provocation(204, "POST", _DISPATCHES, {"ref": "main", "inputs": _INPUTS}),
    Provocation(
        400, "POST", _DISPATCHES, {"ref": "main", "inputs": _INPUTS, "return_run_details": True}
    ),
    Provocation(
        422,
        "POST",
        _DISPATCHES,
        {"ref": "main", "inputs": {**_INPUTS, **dict.fromkeys("abcdefghi", "1")}},
    ),
    Provocation(201, "POST", "/orgs/acme/repos", {"name": "{name}", "visibility": "internal"}),
    Provocation(200, "GET", "/installation/repositories", None, "installation"),
    Provocation(404, "GET", "/rate_limit"),
)
"""What GitHub Enterprise Server answers, where it may differ."""
