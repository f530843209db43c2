"""The calls of the clients about issues, labels and comments."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github import comments, issues, labels
from tests.github_api import call_sequences as sequences
from tests.github_api.call_sequences import FLEET, MARK
from tests.github_api.client_call import call

COMMENTS: Final = ("GET R/issues/{issue_number}/comments", "POST R/issues/{issue_number}/comments")
LABELS: Final = ("GET R/issues/{issue_number}/labels", "POST R/issues/{issue_number}/labels")
_ISSUE: Final = ("GET R/issues/{issue_number}", "PATCH R/issues/{issue_number}")

ISSUE_CALLS: Final = {
    "comments.marked": call(
        lambda github, scene: comments.marked(github, FLEET, scene.issue(), MARK),
        "GET R/issues/{issue_number}/comments",
    ),
    "comments.ensure": call(
        sequences.ensure_comment,
        *COMMENTS,
        "PATCH R/issues/comments/{comment_id}",
        "DELETE R/issues/comments/{comment_id}",
        "POST /graphql",
    ),
    "comments.delete_of_other_bots": call(sequences.outdated, COMMENTS[0], "POST /graphql"),
    "issues.find_all": call(
        lambda github, _: issues.find_all(github, FLEET, label="bug", state="all"), "GET R/issues"
    ),
    "issues.candidates": call(
        lambda github, _: issues.candidates(github, FLEET, ["bug"]), "GET R/issues", "POST /graphql"
    ),
    "issues.ensure": call(
        sequences.ensure_issue,
        "GET R/issues",
        "POST R/issues",
        _ISSUE[1],
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
        *_ISSUE,
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
        lambda github, scene: labels.remove(github, FLEET, sequences.labelled(scene), "bug"),
        "GET R/issues/{issue_number}/labels",
        "DELETE R/issues/{issue_number}/labels/{name}",
    ),
}
