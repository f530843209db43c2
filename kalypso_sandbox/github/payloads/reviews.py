"""Reviews of pull requests."""

from __future__ import annotations

from kalypso_sandbox.github.endpoints import Json
from kalypso_sandbox.github.payloads import accounts
from kalypso_sandbox.github.payloads.view import View, node_id, timestamp
from kalypso_sandbox.store import Issue, Repository, Review


def review(view: View, repository: Repository, issue: Issue, review: Review) -> Json:
    """Return GitHub's `pull-request-review`."""
    url = f"{view.api(repository)}/pulls/{issue.number}"
    page = f"{view.html(repository)}/pull/{issue.number}#pullrequestreview-{review.id}"
    answer = {
        "id": review.id,
        "node_id": node_id("PullRequestReview", review.id),
        "user": accounts.simple(view, review.author),
        "body": review.body,
        "state": review.state,
        "html_url": page,
        "pull_request_url": url,
        "author_association": accounts.association(view, repository, review.author),
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "commit_id": review.commit,
    }
    if review.submitted_at:
        answer["submitted_at"] = timestamp(review.submitted_at)
    return answer
