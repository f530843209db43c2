"""Merging pull requests.

https://docs.github.com/rest/pulls/pulls#merge-a-pull-request
"""

from __future__ import annotations

from kalypso_sandbox.github import branch_rules
from kalypso_sandbox.github.api import body_fields, lookups
from kalypso_sandbox.github.endpoints import Answer, Call, RefusedError, endpoint
from kalypso_sandbox.github.merging import NOT_MERGEABLE, perform_merge
from kalypso_sandbox.github.payloads.view import View
from kalypso_sandbox.lag import HEAD_MODIFIED
from kalypso_sandbox.store import Issue, PullRequest


@endpoint(
    "PUT",
    "/repos/{owner}/{repo}/pulls/{pull_number}/merge",
    "contents: write",
    statuses=(200, 403, 404, 405, 409, 422),
)
def merge_pull_request(call: Call) -> Answer:
    """Merge, if the head is the expected one and the rules of the base allow it."""
    issue, pull_request = lookups.pull_request(call)
    store, repository, body = call.store, call.named_repository, call.body
    method = body_fields.choice(call, "merge_method", ("merge", "squash", "rebase")) or "merge"
    title, message = (
        body_fields.text(body, "commit_title"),
        body_fields.text(body, "commit_message"),
    )
    _check(call, issue, pull_request, body_fields.text(body, "sha"))
    commit = perform_merge(
        store, repository, issue, pull_request, method, title or "", message or "", call.identity
    )
    answer = {"sha": commit, "merged": True, "message": "Pull Request successfully merged"}
    return Answer(200, answer)


def _check(call: Call, issue: Issue, pull_request: PullRequest, sha: str | None) -> None:
    if issue.state == "closed":
        raise RefusedError(405, NOT_MERGEABLE)
    if pull_request.draft:
        raise RefusedError(405, "Pull Request is still a draft")
    if sha is not None and sha != View.of(call).head(pull_request):
        raise RefusedError(409, HEAD_MODIFIED)
    reasons = branch_rules.merge_refusals(
        call.store, call.named_repository, pull_request, call.identity
    )
    if reasons:
        raise RefusedError(405, " ".join(reasons))
