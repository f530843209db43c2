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
    issues,
    labels,
    overviews,
    pages,
    proposal_overviews,
    pull_requests,
    refs,
    registered_heads,
    repositories,
    settings,
    statuses,
    viewer,
    workflows,
)
from kalypso_actions.model.github import RegisteredPath
from tests.github_api import call_sequences as sequences
from tests.github_api.call_sequences import FLEET, MARK
from tests.github_api.populated_sandbox import Scene


class ClientCall(NamedTuple):
    """A call to GitHub, and every endpoint that it uses."""

    act: Callable[[GitHub, Scene], object]
    endpoints: frozenset[str]


def _call(act: Callable[[GitHub, Scene], object], *endpoints: str) -> ClientCall:
    return ClientCall(
        act, frozenset(endpoint.replace("R", "/repos/{owner}/{repo}") for endpoint in endpoints)
    )


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
        sequences.ensure_comment,
        *_COMMENTS,
        "PATCH R/issues/comments/{comment_id}",
        "DELETE R/issues/comments/{comment_id}",
        "POST /graphql",
    ),
    "comments.delete_of_other_bots": _call(sequences.outdated, _COMMENTS[0], "POST /graphql"),
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
        sequences.positions,
        "GET R/compare/{basehead}",
    ),
    "commits.relation": _call(
        sequences.relations,
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
    "pages.is_public": _call(
        lambda github, _: pages.is_public(github, FLEET), "GET R", "GET R/pages"
    ),
    "git_data.create_commit": _call(
        sequences.create_commit,
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
        sequences.ensure_issue,
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
    "labels.names": _call(lambda github, _: labels.names(github, FLEET), "GET R/labels"),
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
        lambda github, scene: labels.remove(github, FLEET, sequences.labelled(scene), "bug"),
        "GET R/issues/{issue_number}/labels",
        "DELETE R/issues/{issue_number}/labels/{name}",
    ),
    "merging.merge": _call(
        sequences.merge, "GET R/pulls/{pull_number}", "PUT R/pulls/{pull_number}/merge"
    ),
    "merging.merge_as_allowed": _call(
        sequences.merge_as_allowed,
        "GET R/pulls/{pull_number}",
        "PUT R/pulls/{pull_number}/merge",
    ),
    "auto_merges.merge_when_allowed": _call(
        sequences.merge_when_allowed,
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
    "overviews.read": _call(
        lambda github, scene: overviews.read(
            github,
            FLEET,
            branches=["main", "nowhere"],
            commits=[scene.first, "e" * 40, "no id"],
            label="kalypso-failure",
        ),
        "POST /graphql",
    ),
    "proposal_overviews.read": _call(
        lambda github, scene: [
            scene.pull(),
            *(
                proposal_overviews.read(github, FLEET, head=head, base=base, commit=commit)
                for head, base, commit in (
                    ("feature", "main", scene.second),
                    ("a", "protected", "e" * 40),
                    ("a", "nowhere", None),
                )
            ),
        ],
        "POST /graphql",
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
        sequences.ensure_pull_request,
        "GET R/pulls",
        "POST R/pulls",
        _PULL[1],
        _LABELS[1],
        "POST /graphql",
    ),
    "pull_requests.set_texts": _call(sequences.set_texts, *_PULL),
    "pull_requests.close": _call(
        sequences.close_pull_request, *_PULL, *_LABELS, *_COMMENTS, "POST /graphql"
    ),
    "refs.create": _call(
        lambda github, scene: refs.create(github, FLEET, scene.name(), scene.first),
        "GET R/git/ref/{ref}",
        "GET R",
        "POST R/git/refs",
    ),
    "refs.update": _call(
        sequences.update,
        "GET R/git/ref/{ref}",
        "GET R",
        "POST R/git/refs",
        "PATCH R/git/refs/{ref}",
    ),
    "refs.move": _call(sequences.move, "GET R/git/ref/{ref}", "GET R", "POST /graphql"),
    "refs.delete": _call(
        sequences.create_and_delete,
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
    "statuses.post": _call(sequences.post_status, "POST /graphql", "POST R/statuses/{sha}"),
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
