"""The endpoints that each function of the clients uses, with a call that covers all of its paths.

`R` stands for `/repos/{owner}/{repo}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from kalypso_actions.clients.github import (
    GitHub,
    auto_merges,
    branches,
    comments,
    commits,
    environments,
    git_data,
    issues,
    labels,
    merging,
    pull_requests,
    refs,
    registered_heads,
    repositories,
    settings,
    statuses,
    viewer,
    workflows,
)
from kalypso_actions.model.github import CommitStatus, RegisteredPath
from tests.github_api.populated_sandbox import Scene

FLEET: Final = "acme/fleet"
MARK: Final = "<!-- mark -->"


class ClientCall(NamedTuple):
    """A call to GitHub, and every endpoint that it uses."""

    act: Callable[[GitHub, Scene], object]
    endpoints: frozenset[str]


def _call(act: Callable[[GitHub, Scene], object], *endpoints: str) -> ClientCall:
    return ClientCall(
        act, frozenset(endpoint.replace("R", "/repos/{owner}/{repo}") for endpoint in endpoints)
    )


def _ensure_comment(github: GitHub, scene: Scene) -> None:
    number = scene.issue()
    for body in ("first", "second"):
        comments.ensure(github, FLEET, number, MARK, body)
    for _ in range(2):
        scene.json("POST", f"issues/{number}/comments", {"body": f"{MARK}\ndoubled"})
    comments.ensure(github, FLEET, number, MARK, "second")


def _ensure_issue(github: GitHub, scene: Scene) -> None:
    title = scene.name()
    issue, _ = issues.ensure(github, FLEET, title=title, body="first", labels=["kalypso"])
    scene.json("PATCH", f"issues/{issue.number}", {"state": "closed"})
    issues.ensure(github, FLEET, title=title, body="second", labels=["kalypso"])
    scene.json("POST", "issues", {"title": title, "labels": ["kalypso"]})
    scene.json("PATCH", f"issues/{issue.number}", {"labels": []})
    issues.ensure(github, FLEET, title=title, body="second", labels=["kalypso"])


def _ensure_pull_request(github: GitHub, scene: Scene) -> None:
    head = scene.branch()
    for body in ("first", "second"):
        pull_requests.ensure(
            github, FLEET, head=head, base="main", title="t", body=body, labels=["kalypso"]
        )


def _set_texts(github: GitHub, scene: Scene) -> None:
    pull = pull_requests.get(github, FLEET, scene.pull())
    pull_requests.set_texts(github, FLEET, pull, "t", "another")


def _close_pull_request(github: GitHub, scene: Scene) -> None:
    pull_requests.close(
        github, FLEET, scene.pull(), mark=MARK, comment="why", labels=["superseded"]
    )


def _labelled(scene: Scene) -> int:
    number = scene.issue()
    scene.json("POST", f"issues/{number}/labels", {"labels": ["bug"]})
    return number


def _merge(github: GitHub, scene: Scene) -> None:
    for number in (scene.pull(), scene.clashing_pull()):
        head = pull_requests.get(github, FLEET, number).head_commit
        merging.merge(github, FLEET, number, head=head)


def _merge_as_allowed(github: GitHub, scene: Scene) -> None:
    number = scene.pull()
    head = pull_requests.get(github, FLEET, number).head_commit
    merging.merge_as_allowed(github, FLEET, number, head=head)


def _merge_when_allowed(github: GitHub, scene: Scene) -> None:
    number = scene.clashing_pull()
    head = pull_requests.get(github, FLEET, number).head_commit
    auto_merges.merge_when_allowed(github, FLEET, number, head=head)


def _create_and_delete(github: GitHub, scene: Scene) -> None:
    branch = scene.name()
    refs.create(github, FLEET, branch, scene.first)
    refs.delete(github, FLEET, branch, expected=scene.first)


def _update(github: GitHub, scene: Scene) -> None:
    branch = scene.name()
    refs.create(github, FLEET, branch, scene.first)
    refs.update(github, FLEET, branch, scene.second, expected=scene.first)


def _move(github: GitHub, scene: Scene) -> None:
    branch = scene.name()
    refs.move(github, FLEET, branch, scene.second, expected=None, fast_forward=False)
    refs.move(github, FLEET, branch, scene.first, expected=scene.second, fast_forward=False)


def _create_commit(github: GitHub, scene: Scene) -> None:
    changes = {"notes.txt": b"text", "logo.png": b"\x89\0", "README.md": None}
    git_data.create_commit(github, FLEET, parent=scene.second, changes=changes, message="m")


def _post_status(github: GitHub, scene: Scene) -> None:
    for url in ("", "https://example.com/run"):
        status = CommitStatus(scene.name(), "success", "d" * 200, url)
        statuses.post(github, FLEET, scene.second, status)


_COMMENTS: Final = ("GET R/issues/{issue_number}/comments", "POST R/issues/{issue_number}/comments")
_LABELS: Final = ("GET R/issues/{issue_number}/labels", "POST R/issues/{issue_number}/labels")
_ISSUE: Final = ("GET R/issues/{issue_number}", "PATCH R/issues/{issue_number}")
_PULL: Final = ("GET R/pulls/{pull_number}", "PATCH R/pulls/{pull_number}")

CALLS: Final = {
    "branches.head": _call(
        lambda github, _: [branches.head(github, FLEET, name) for name in ("main", "a/b")],
        "GET R/git/ref/{ref}",
    ),
    "comments.marked": _call(
        lambda github, scene: comments.marked(github, FLEET, scene.issue(), MARK),
        "GET R/issues/{issue_number}/comments",
    ),
    "comments.ensure": _call(
        _ensure_comment,
        *_COMMENTS,
        "PATCH R/issues/comments/{comment_id}",
        "DELETE R/issues/comments/{comment_id}",
        "POST /graphql",
    ),
    "commits.get": _call(
        lambda github, scene: commits.get(github, FLEET, scene.second),
        "GET R/git/commits/{commit_sha}",
    ),
    "commits.commits_after": _call(
        lambda github, scene: commits.commits_after(github, FLEET, scene.first, "main", 10),
        "GET R/compare/{basehead}",
    ),
    "commits.merge_base": _call(
        lambda github, scene: commits.merge_base(github, FLEET, scene.first, "main"),
        "GET R/compare/{basehead}",
    ),
    "commits.position": _call(
        lambda github, scene: [
            commits.position(github, FLEET, commit, "main") for commit in (scene.first, "e" * 40)
        ],
        "GET R/compare/{basehead}",
    ),
    "commits.relation": _call(
        lambda github, scene: [
            commits.relation(github, FLEET, scene.first, head) for head in ("main", "e" * 40)
        ],
        "GET R/compare/{basehead}",
    ),
    "branches.rules": _call(
        lambda github, _: [
            branches.rules(github, FLEET, name) for name in ("protected", "main", "nowhere")
        ],
        "GET R/rules/branches/{branch}",
        "GET R/branches/{branch}",
    ),
    "branches.requires_signatures": _call(
        lambda github, _: [
            branches.requires_signatures(github, FLEET, name) for name in ("protected", "main")
        ],
        "GET R/rules/branches/{branch}",
        "POST /graphql",
    ),
    "environments.names": _call(
        lambda github, _: environments.names(github, FLEET), "GET R/environments"
    ),
    "environments.variable": _call(
        lambda github, scene: environments.variable(github, FLEET, scene.environment(), "NEXT"),
        "GET R/environments/{environment_name}/variables/{name}",
    ),
    "git_data.create_commit": _call(
        _create_commit,
        "GET R/git/commits/{commit_sha}",
        "POST R/git/blobs",
        "POST R/git/trees",
        "POST R/git/commits",
    ),
    "registered_heads.read": _call(
        lambda github, _: registered_heads.read(
            github,
            [
                RegisteredPath(FLEET, "main", "docs"),
                RegisteredPath(FLEET, "main", "README.md"),
                RegisteredPath(FLEET, "nowhere", ""),
                RegisteredPath("acme/hidden", "main", "."),
            ],
        ),
        "POST /graphql",
    ),
    "issues.find_all": _call(
        lambda github, _: issues.find_all(github, FLEET, label="bug", state="all"), "GET R/issues"
    ),
    "issues.candidates": _call(
        lambda github, _: issues.candidates(github, FLEET, ["bug"]), "GET R/issues", "POST /graphql"
    ),
    "issues.ensure": _call(
        _ensure_issue,
        "GET R/issues",
        "POST R/issues",
        _ISSUE[1],
        *_LABELS,
        *_COMMENTS,
        "POST /graphql",
    ),
    "issues.events": _call(
        lambda github, scene: issues.events(github, FLEET, scene.issue()),
        "GET R/issues/{issue_number}/events",
    ),
    "issues.close": _call(
        lambda github, scene: issues.close(github, FLEET, scene.issue(), mark=MARK, comment="why"),
        *_ISSUE,
        *_COMMENTS,
        "POST /graphql",
    ),
    "labels.exists": _call(
        lambda github, _: labels.exists(github, FLEET, "nothing"), "GET R/labels/{name}", "GET R"
    ),
    "labels.ensure": _call(
        lambda github, scene: labels.ensure(github, FLEET, scene.name(), description="d"),
        "GET R/labels/{name}",
        "GET R",
        "POST R/labels",
    ),
    "labels.delete": _call(
        lambda github, scene: labels.delete(
            github, FLEET, scene.json("POST", "labels", {"name": scene.name()})["name"]
        ),
        "GET R/labels/{name}",
        "DELETE R/labels/{name}",
    ),
    "labels.add": _call(
        lambda github, scene: labels.add(github, FLEET, scene.issue(), ["new"]), *_LABELS
    ),
    "labels.remove": _call(
        lambda github, scene: labels.remove(github, FLEET, _labelled(scene), "bug"),
        "GET R/issues/{issue_number}/labels",
        "DELETE R/issues/{issue_number}/labels/{name}",
    ),
    "merging.merge": _call(_merge, "GET R/pulls/{pull_number}", "PUT R/pulls/{pull_number}/merge"),
    "merging.merge_as_allowed": _call(
        _merge_as_allowed, "GET R/pulls/{pull_number}", "PUT R/pulls/{pull_number}/merge"
    ),
    "auto_merges.merge_when_allowed": _call(
        _merge_when_allowed,
        "GET R/pulls/{pull_number}",
        "PUT R/pulls/{pull_number}/merge",
        "POST /graphql",
    ),
    "auto_merges.enable": _call(
        lambda github, scene: auto_merges.enable(github, FLEET, scene.pull(), head=scene.second),
        "GET R/pulls/{pull_number}",
        "POST /graphql",
    ),
    "auto_merges.disable": _call(
        lambda github, scene: auto_merges.disable(github, FLEET, scene.pull()),
        "GET R/pulls/{pull_number}",
    ),
    "pull_requests.find": _call(
        lambda github, _: pull_requests.find(github, FLEET, head="main", base="a", state="all"),
        "GET R/pulls",
    ),
    "pull_requests.newest_closed": _call(
        lambda github, scene: [
            scene.merged_pull(),
            pull_requests.newest_closed(github, FLEET, head="a", base="main", without="b"),
        ],
        "GET R/pulls",
    ),
    "pull_requests.closed_pages": _call(
        lambda github, scene: [
            scene.merged_pull(),
            *pull_requests.closed_pages(github, FLEET, head="a", base="main", without="b"),
        ],
        "GET R/pulls",
    ),
    "pull_requests.open_into": _call(
        lambda github, scene: [scene.pull(), pull_requests.open_into(github, FLEET, "main")],
        "GET R/pulls",
    ),
    "pull_requests.open_from": _call(
        lambda github, scene: [
            scene.pull(),
            pull_requests.open_from(github, FLEET, FLEET.partition("/")[0], "main"),
        ],
        "GET R/pulls",
    ),
    "pull_requests.changed_paths": _call(
        lambda github, scene: pull_requests.changed_paths(github, FLEET, scene.pull()),
        "GET R/pulls/{pull_number}/files",
    ),
    "pull_requests.get": _call(
        lambda github, scene: pull_requests.get(github, FLEET, scene.pull()),
        "GET R/pulls/{pull_number}",
    ),
    "pull_requests.with_head": _call(
        lambda github, scene: pull_requests.with_head(github, FLEET, scene.pull(), scene.first),
        "GET R/pulls/{pull_number}",
    ),
    "pull_requests.ensure": _call(
        _ensure_pull_request, "GET R/pulls", "POST R/pulls", _PULL[1], *_LABELS, "POST /graphql"
    ),
    "pull_requests.set_texts": _call(_set_texts, *_PULL),
    "pull_requests.close": _call(
        _close_pull_request, *_PULL, *_LABELS, *_COMMENTS, "POST /graphql"
    ),
    "refs.create": _call(
        lambda github, scene: refs.create(github, FLEET, scene.name(), scene.first),
        "GET R/git/ref/{ref}",
        "GET R",
        "POST R/git/refs",
    ),
    "refs.update": _call(
        _update,
        "GET R/git/ref/{ref}",
        "GET R",
        "POST R/git/refs",
        "PATCH R/git/refs/{ref}",
    ),
    "refs.move": _call(_move, "GET R/git/ref/{ref}", "GET R", "POST /graphql"),
    "refs.delete": _call(
        _create_and_delete,
        "GET R/git/ref/{ref}",
        "GET R",
        "POST R/git/refs",
        "DELETE R/git/refs/{ref}",
    ),
    "repositories.id_of_name": _call(
        lambda github, _: repositories.id_of_name(github, FLEET, FLEET), "GET R"
    ),
    "repositories.get": _call(lambda github, _: repositories.get(github, FLEET), "GET R"),
    "statuses.of_commits": _call(
        lambda github, scene: statuses.of_commits(
            github, FLEET, [scene.first, scene.second, "e" * 40]
        ),
        "POST /graphql",
    ),
    "statuses.of_history": _call(
        lambda github, _: [
            statuses.of_history(github, FLEET, name, 3) for name in ("main", "nowhere")
        ],
        "POST /graphql",
    ),
    "statuses.post": _call(_post_status, "POST /graphql", "POST R/statuses/{sha}"),
    "settings.of_repository": _call(
        lambda github, _: settings.of_repository(github, FLEET),
        "GET R/actions/secrets",
        "GET R/actions/organization-secrets",
        "GET R/actions/variables",
        "GET R/actions/organization-variables",
    ),
    "settings.of_environment": _call(
        lambda github, scene: settings.of_environment(github, FLEET, scene.environment()),
        "GET R/environments/{environment_name}/secrets",
        "GET R/environments/{environment_name}/variables",
    ),
    "settings.of_actions": _call(
        lambda github, _: settings.of_actions(github, FLEET),
        "GET R/actions/permissions",
        "GET R/actions/permissions/workflow",
    ),
    "pull_requests.is_own": _call(
        lambda github, scene: pull_requests.is_own(
            github, FLEET, pull_requests.get(github, FLEET, scene.pull())
        ),
        "GET R/pulls/{pull_number}",
        "POST /graphql",
    ),
    "viewer.identity": _call(lambda github, _: viewer.identity(github, FLEET), "POST /graphql"),
    "viewer.account": _call(lambda github, _: viewer.account(github, "acme"), "POST /graphql"),
    "workflows.states": _call(
        lambda github, _: workflows.states(github, FLEET), "GET R/actions/workflows"
    ),
    "workflows.unfinished": _call(
        lambda github, scene: [
            scene.run(),
            workflows.unfinished(github, FLEET, "poll.yaml"),
            workflows.unfinished(github, FLEET, "nothing.yaml"),
        ],
        "GET R/actions/workflows/{workflow_id}/runs",
    ),
    "workflows.dispatch": _call(
        lambda github, scene: workflows.dispatch(
            github, FLEET, "poll.yaml", ref="main", inputs={"commit": scene.first}
        ),
        "POST R/actions/workflows/{workflow_id}/dispatches",
    ),
}
"""Module and function -> what it asks."""

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
