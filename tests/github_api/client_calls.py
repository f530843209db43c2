"""All calls of the clients, and every endpoint that they use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from kalypso_actions.clients.github import (
    GitHub,
    branches,
    comments,
    commits,
    issues,
    labels,
    merging,
    overviews,
    pull_requests,
    repositories,
    statuses,
    workflows,
)
from kalypso_actions.model.github import CommitStatus, RegisteredPath
from tests.github_api.populated_sandbox import Scene


class ClientCall(NamedTuple):
    """A call to GitHub, and every endpoint that it uses."""

    act: Callable[[GitHub, Scene], object]
    endpoints: frozenset[str]


def call(act: Callable[[GitHub, Scene], object], *endpoints: str) -> ClientCall:
    return ClientCall(
        act, frozenset(endpoint.replace("R", "/repos/{owner}/{repo}") for endpoint in endpoints)
    )


FLEET: Final = "acme/fleet"
MARK: Final = "<!-- mark -->"
COMMENTS: Final = ("GET R/issues/{issue_number}/comments", "POST R/issues/{issue_number}/comments")
LABELS: Final = ("GET R/issues/{issue_number}/labels", "POST R/issues/{issue_number}/labels")
ISSUE: Final = ("GET R/issues/{issue_number}", "PATCH R/issues/{issue_number}")
PULL: Final = ("GET R/pulls/{pull_number}", "PATCH R/pulls/{pull_number}")


def ensure_comment(github: GitHub, scene: Scene) -> None:
    number = scene.issue()
    for body in ("first", "second"):
        comments.ensure(github, FLEET, number, MARK, body)
    for _ in range(2):
        scene.json("POST", f"issues/{number}/comments", {"body": f"{MARK}\ndoubled"})
    comments.ensure(github, FLEET, number, MARK, "second")


def outdated(github: GitHub, scene: Scene) -> None:
    comments.delete_of_other_bots(github, FLEET, scene.issue(), MARK)


def ensure_issue(github: GitHub, scene: Scene) -> None:
    title = scene.name()
    issue, _ = issues.ensure(github, FLEET, title=title, body="first", labels=["kalypso"])
    scene.json("PATCH", f"issues/{issue.number}", {"state": "closed"})
    issues.ensure(github, FLEET, title=title, body="second", labels=["kalypso"])
    scene.json("POST", "issues", {"title": title, "labels": ["kalypso"]})
    scene.json("PATCH", f"issues/{issue.number}", {"labels": []})
    issues.ensure(github, FLEET, title=title, body="second", labels=["kalypso"])


def ensure_pull_request(github: GitHub, scene: Scene) -> None:
    head = scene.branch()
    for body in ("first", "second"):
        pull_requests.ensure(
            github, FLEET, head=head, base="main", title="t", body=body, labels=["kalypso"]
        )


def set_texts(github: GitHub, scene: Scene) -> None:
    pull = pull_requests.get(github, FLEET, scene.pull())
    pull_requests.set_texts(github, FLEET, pull, "t", "another")


def close_pull_request(github: GitHub, scene: Scene) -> None:
    pull_requests.close(
        github, FLEET, scene.pull(), mark=MARK, comment="why", labels=["superseded"]
    )


def labelled(scene: Scene) -> int:
    number = scene.issue()
    scene.json("POST", f"issues/{number}/labels", {"labels": ["bug"]})
    return number


def merge(github: GitHub, scene: Scene) -> None:
    for number in (scene.pull(), scene.clashing_pull()):
        head = pull_requests.get(github, FLEET, number).head_commit
        merging.merge(github, FLEET, number, head=head)


def merge_as_allowed(github: GitHub, scene: Scene) -> None:
    number = scene.pull()
    head = pull_requests.get(github, FLEET, number).head_commit
    merging.merge_as_allowed(github, FLEET, number, head=head)


def merge_when_allowed(github: GitHub, scene: Scene) -> None:
    number = scene.clashing_pull()
    head = pull_requests.get(github, FLEET, number).head_commit
    merging.merge_when_allowed(github, FLEET, number, head=head)


def create_and_delete(github: GitHub, scene: Scene) -> None:
    branch = scene.name()
    branches.create(github, FLEET, branch, scene.first)
    branches.delete(github, FLEET, branch, expected=scene.first)


def update(github: GitHub, scene: Scene) -> None:
    branch = scene.name()
    branches.create(github, FLEET, branch, scene.first)
    branches.update(github, FLEET, branch, scene.second, expected=scene.first)


def move(github: GitHub, scene: Scene) -> None:
    branch = scene.name()
    branches.move(github, FLEET, branch, scene.second, expected=None, fast_forward=False)
    branches.move(github, FLEET, branch, scene.first, expected=scene.second, fast_forward=False)


def create_commit(github: GitHub, scene: Scene) -> None:
    changes = {"notes.txt": b"text", "logo.png": b"\x89\0", "README.md": None}
    commits.create(github, FLEET, parent=scene.second, changes=changes, message="m")


def post_status(github: GitHub, scene: Scene) -> None:
    for url in ("", "https://example.com/run"):
        status = CommitStatus(scene.name(), "success", "d" * 200, url)
        statuses.post(github, FLEET, scene.second, status)


def positions(github: GitHub, scene: Scene) -> None:
    for commit in (scene.first, "e" * 40):
        commits.position(github, FLEET, commit, "main")


def relations(github: GitHub, scene: Scene) -> None:
    for head in ("main", "e" * 40):
        commits.relation(github, FLEET, scene.first, head)


CALLS: Final = {
    "repositories.environments": call(
        lambda github, _: repositories.environments(github, FLEET), "GET R/environments"
    ),
    "repositories.variable": call(
        lambda github, scene: repositories.variable(github, FLEET, scene.environment(), "NEXT"),
        "GET R/environments/{environment_name}/variables/{name}",
    ),
    "repositories.site_is_public": call(
        lambda github, _: repositories.site_is_public(github, FLEET), "GET R", "GET R/pages"
    ),
    "overviews.read": call(
        lambda github, scene: overviews.read(
            github,
            FLEET,
            branches=["main", "nowhere"],
            commits=[scene.first, "e" * 40, "no id"],
            label="kalypso-failure",
        ),
        "POST /graphql",
    ),
    "overviews.commit_views": call(
        lambda github, scene: overviews.commit_views(github, FLEET, [scene.first, "e" * 40, "no"]),
        "POST /graphql",
    ),
    "repositories.id_of_name": call(
        lambda github, _: repositories.id_of_name(github, FLEET, FLEET), "GET R"
    ),
    "repositories.is_same": call(
        lambda github, _: repositories.is_same(github, FLEET, FLEET), "GET R"
    ),
    "repositories.get": call(lambda github, _: repositories.get(github, FLEET), "GET R"),
    "repositories.settings": call(
        lambda github, _: repositories.settings(github, FLEET),
        "GET R/actions/secrets",
        "GET R/actions/organization-secrets",
        "GET R/actions/variables",
        "GET R/actions/organization-variables",
    ),
    "repositories.settings_of_environment": call(
        lambda github, scene: repositories.settings_of_environment(
            github, FLEET, scene.environment()
        ),
        "GET R/environments/{environment_name}/secrets",
        "GET R/environments/{environment_name}/variables",
    ),
    "repositories.settings_of_actions": call(
        lambda github, _: repositories.settings_of_actions(github, FLEET),
        "GET R/actions/permissions",
        "GET R/actions/permissions/workflow",
    ),
    "connection.identity": call(lambda github, _: github.identity(FLEET), "POST /graphql"),
    "connection.account": call(lambda github, _: github.account("acme"), "POST /graphql"),
    "workflows.states": call(
        lambda github, _: workflows.states(github, FLEET), "GET R/actions/workflows"
    ),
    "workflows.unfinished": call(
        lambda github, scene: [
            scene.run(),
            workflows.unfinished(github, FLEET, "poll.yaml"),
            workflows.unfinished(github, FLEET, "nothing.yaml"),
        ],
        "GET R/actions/workflows/{workflow_id}/runs",
    ),
    "workflows.newest_unfinished": call(
        lambda github, scene: [
            scene.run(),
            workflows.newest_unfinished(github, FLEET, "poll.yaml"),
            workflows.newest_unfinished(github, FLEET, "nothing.yaml"),
        ],
        "GET R/actions/workflows/{workflow_id}/runs",
    ),
    "workflows.conclusion": call(
        lambda github, scene: [
            scene.run(),
            workflows.conclusion(github, FLEET, "poll.yaml", 1),
        ],
        "GET R/actions/workflows/{workflow_id}/runs",
    ),
    "workflows.dispatch": call(
        lambda github, scene: workflows.dispatch(
            github, FLEET, "poll.yaml", ref="main", inputs={"commit": scene.first}
        ),
        "POST R/actions/workflows/{workflow_id}/dispatches",
    ),
    "branches.head": call(
        lambda github, _: [branches.head(github, FLEET, name) for name in ("main", "a/b")],
        "GET R/git/ref/{ref}",
    ),
    "commits.get": call(
        lambda github, scene: commits.get(github, FLEET, scene.second),
        "GET R/git/commits/{commit_sha}",
    ),
    "commits.commits_after": call(
        lambda github, scene: commits.commits_after(github, FLEET, scene.first, "main", 10),
        "GET R/compare/{basehead}",
    ),
    "commits.merge_base": call(
        lambda github, scene: commits.merge_base(github, FLEET, scene.first, "main"),
        "GET R/compare/{basehead}",
    ),
    "commits.position": call(
        positions,
        "GET R/compare/{basehead}",
    ),
    "commits.relation": call(
        relations,
        "GET R/compare/{basehead}",
    ),
    "branches.rules": call(
        lambda github, _: [
            branches.rules(github, FLEET, name) for name in ("protected", "main", "nowhere")
        ],
        "GET R/rules/branches/{branch}",
        "GET R/branches/{branch}",
    ),
    "branches.requires_signatures": call(
        lambda github, _: [
            branches.requires_signatures(github, FLEET, name) for name in ("protected", "main")
        ],
        "GET R/rules/branches/{branch}",
        "POST /graphql",
    ),
    "commits.create": call(
        create_commit,
        "GET R/git/commits/{commit_sha}",
        "POST R/git/blobs",
        "POST R/git/trees",
        "POST R/git/commits",
    ),
    "overviews.read_registered_heads": call(
        lambda github, _: overviews.read_registered_heads(
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
    "branches.create": call(
        lambda github, scene: branches.create(github, FLEET, scene.name(), scene.first),
        "GET R/git/ref/{ref}",
        "GET R",
        "POST R/git/refs",
    ),
    "branches.update": call(
        update,
        "GET R/git/ref/{ref}",
        "GET R",
        "POST R/git/refs",
        "PATCH R/git/refs/{ref}",
    ),
    "branches.move": call(move, "GET R/git/ref/{ref}", "GET R", "POST /graphql"),
    "branches.delete": call(
        create_and_delete,
        "GET R/git/ref/{ref}",
        "GET R",
        "POST R/git/refs",
        "DELETE R/git/refs/{ref}",
    ),
    "commits.check_runs": call(
        lambda github, scene: commits.check_runs(github, FLEET, scene.first, "smoke"),
        "GET R/commits/{ref}/check-runs",
    ),
    "pull_requests.labels_of_commits": call(
        lambda github, scene: pull_requests.labels_of_commits(
            github, FLEET, [scene.first, scene.second, "e" * 40], "main"
        ),
        "POST /graphql",
    ),
    "statuses.history": call(
        lambda github, scene: statuses.history(github, FLEET, scene.first),
        "GET R/commits/{ref}/statuses",
    ),
    "statuses.of_commits": call(
        lambda github, scene: statuses.of_commits(
            github, FLEET, [scene.first, scene.second, "e" * 40]
        ),
        "POST /graphql",
    ),
    "statuses.of_history": call(
        lambda github, _: [
            statuses.of_history(github, FLEET, name, 3) for name in ("main", "nowhere")
        ],
        "POST /graphql",
    ),
    "statuses.post": call(post_status, "POST /graphql", "POST R/statuses/{sha}"),
    "comments.marked": call(
        lambda github, scene: comments.marked(github, FLEET, scene.issue(), MARK),
        "GET R/issues/{issue_number}/comments",
    ),
    "comments.ensure": call(
        ensure_comment,
        *COMMENTS,
        "PATCH R/issues/comments/{comment_id}",
        "DELETE R/issues/comments/{comment_id}",
        "POST /graphql",
    ),
    "comments.delete_of_other_bots": call(outdated, COMMENTS[0], "POST /graphql"),
    "issues.find_all": call(
        lambda github, _: issues.find_all(github, FLEET, label="bug", state="all"), "GET R/issues"
    ),
    "issues.candidates": call(
        lambda github, _: issues.candidates(github, FLEET, ["bug"]), "GET R/issues", "POST /graphql"
    ),
    "issues.ensure": call(
        ensure_issue,
        "GET R/issues",
        "POST R/issues",
        ISSUE[1],
        *LABELS,
        *COMMENTS,
        "POST /graphql",
    ),
    "issues.events": call(
        lambda github, scene: issues.events(github, FLEET, scene.issue()),
        "GET R/issues/{issue_number}/events",
    ),
    "issues.close": call(
        lambda github, scene: issues.close(github, FLEET, scene.issue(), mark=MARK, comment="why"),
        *ISSUE,
        *COMMENTS,
        "POST /graphql",
    ),
    "labels.names": call(lambda github, _: labels.names(github, FLEET), "GET R/labels"),
    "labels.exists": call(
        lambda github, _: labels.exists(github, FLEET, "nothing"), "GET R/labels/{name}", "GET R"
    ),
    "labels.ensure": call(
        lambda github, scene: labels.ensure(github, FLEET, scene.name(), description="d"),
        "GET R/labels/{name}",
        "GET R",
        "POST R/labels",
    ),
    "labels.delete": call(
        lambda github, scene: labels.delete(
            github, FLEET, scene.json("POST", "labels", {"name": scene.name()})["name"]
        ),
        "GET R/labels/{name}",
        "DELETE R/labels/{name}",
    ),
    "labels.add": call(
        lambda github, scene: labels.add(github, FLEET, scene.issue(), ["new"]), *LABELS
    ),
    "labels.remove": call(
        lambda github, scene: labels.remove(github, FLEET, labelled(scene), "bug"),
        "GET R/issues/{issue_number}/labels",
        "DELETE R/issues/{issue_number}/labels/{name}",
    ),
    "merging.merge": call(merge, "GET R/pulls/{pull_number}", "PUT R/pulls/{pull_number}/merge"),
    "merging.merge_as_allowed": call(
        merge_as_allowed,
        "GET R/pulls/{pull_number}",
        "PUT R/pulls/{pull_number}/merge",
    ),
    "merging.merge_when_allowed": call(
        merge_when_allowed,
        "GET R/pulls/{pull_number}",
        "PUT R/pulls/{pull_number}/merge",
        "POST /graphql",
    ),
    "merging.enable_auto_merge": call(
        lambda github, scene: merging.enable_auto_merge(
            github, FLEET, scene.pull(), head=scene.second
        ),
        "GET R/pulls/{pull_number}",
        "POST /graphql",
    ),
    "merging.disable_auto_merge": call(
        lambda github, scene: merging.disable_auto_merge(github, FLEET, scene.pull()),
        "GET R/pulls/{pull_number}",
    ),
    "overviews.read_proposal": call(
        lambda github, scene: [
            scene.pull(),
            *(
                overviews.read_proposal(github, FLEET, head=head, base=base, commit=commit)
                for head, base, commit in (
                    ("feature", "main", scene.second),
                    ("a", "protected", "e" * 40),
                    ("a", "nowhere", None),
                )
            ),
        ],
        "POST /graphql",
    ),
    "pull_requests.find": call(
        lambda github, _: pull_requests.find(github, FLEET, head="main", base="a", state="all"),
        "GET R/pulls",
    ),
    "pull_requests.newest_closed": call(
        lambda github, scene: [
            scene.merged_pull(),
            pull_requests.newest_closed(github, FLEET, head="a", base="main", without="b"),
        ],
        "GET R/pulls",
    ),
    "pull_requests.closed_pages": call(
        lambda github, scene: [
            scene.merged_pull(),
            *pull_requests.closed_pages(github, FLEET, head="a", base="main", without="b"),
        ],
        "GET R/pulls",
    ),
    "pull_requests.open_into": call(
        lambda github, scene: [scene.pull(), pull_requests.open_into(github, FLEET, "main")],
        "GET R/pulls",
    ),
    "pull_requests.open_from": call(
        lambda github, scene: [
            scene.pull(),
            pull_requests.open_from(github, FLEET, FLEET.partition("/")[0], "main"),
        ],
        "GET R/pulls",
    ),
    "pull_requests.changed_paths": call(
        lambda github, scene: pull_requests.changed_paths(github, FLEET, scene.pull()),
        "GET R/pulls/{pull_number}/files",
    ),
    "pull_requests.get": call(
        lambda github, scene: pull_requests.get(github, FLEET, scene.pull()),
        "GET R/pulls/{pull_number}",
    ),
    "pull_requests.with_head": call(
        lambda github, scene: pull_requests.with_head(github, FLEET, scene.pull(), scene.first),
        "GET R/pulls/{pull_number}",
    ),
    "pull_requests.ensure": call(
        ensure_pull_request,
        "GET R/pulls",
        "POST R/pulls",
        PULL[1],
        LABELS[1],
        "POST /graphql",
    ),
    "pull_requests.set_texts": call(set_texts, *PULL),
    "pull_requests.close": call(close_pull_request, *PULL, *LABELS, *COMMENTS, "POST /graphql"),
    "pull_requests.is_own": call(
        lambda github, scene: pull_requests.is_own(
            github, FLEET, pull_requests.get(github, FLEET, scene.pull())
        ),
        "GET R/pulls/{pull_number}",
        "POST /graphql",
    ),
}
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
