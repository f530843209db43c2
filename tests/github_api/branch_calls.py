"""The calls of the clients about branches, commits and statuses."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github import branches, commits, overviews, statuses
from kalypso_actions.model.github import RegisteredPath
from tests.github_api import call_sequences as sequences
from tests.github_api.call_sequences import FLEET
from tests.github_api.client_call import call

BRANCH_CALLS: Final = {
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
        sequences.positions,
        "GET R/compare/{basehead}",
    ),
    "commits.relation": call(
        sequences.relations,
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
        sequences.create_commit,
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
        sequences.update,
        "GET R/git/ref/{ref}",
        "GET R",
        "POST R/git/refs",
        "PATCH R/git/refs/{ref}",
    ),
    "branches.move": call(sequences.move, "GET R/git/ref/{ref}", "GET R", "POST /graphql"),
    "branches.delete": call(
        sequences.create_and_delete,
        "GET R/git/ref/{ref}",
        "GET R",
        "POST R/git/refs",
        "DELETE R/git/refs/{ref}",
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
    "statuses.post": call(sequences.post_status, "POST /graphql", "POST R/statuses/{sha}"),
}
