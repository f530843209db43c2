"""Reviews of pull requests."""

from __future__ import annotations

from kalypso_actions.sandbox.endpoints import Json
from kalypso_actions.sandbox.payloads import accounts
from kalypso_actions.sandbox.payloads.view import View, node_id, timestamp
from kalypso_actions.sandbox.store import Issue, Repository, Review


def review(view: View, repository: Repository, issue: Issue, one: Review) -> Json:
    """Return GitHub's `pull-request-review`."""
    url = f"{view.api(repository)}/pulls/{issue.number}"
    page = f"{view.html(repository)}/pull/{issue.number}#pullrequestreview-{one.id}"
    answer = {
        "id": one.id,
        "node_id": node_id("PullRequestReview", one.id),
        "user": accounts.simple(view, one.author),
        "body": one.body,
        "state": one.state,
        "html_url": page,
        "pull_request_url": url,
        "author_association": accounts.association(view, repository, one.author),
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "commit_id": one.commit,
    }
    if one.submitted_at:
        answer["submitted_at"] = timestamp(one.submitted_at)
    return answer
