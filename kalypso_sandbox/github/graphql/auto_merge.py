"""The mutations that enable and disable a pull request's auto-merge.

https://docs.github.com/graphql/reference/mutations#enablepullrequestautomerge. The refusals:
peter-evans/enable-pull-request-automerge#343, AliceJump/ok-end-field#211, mmtk/mmtk-core#992.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graphql import GraphQLError, GraphQLResolveInfo

from kalypso_sandbox.github.endpoints import Call
from kalypso_sandbox.github.mergeability import check_mergeability
from kalypso_sandbox.github.payloads.view import View, node_id
from kalypso_sandbox.github.permissions import allowed, not_accessible, visible
from kalypso_sandbox.store import AutoMerge, Issue, PullRequest, Repository

Input = Mapping[str, Any]

MUTATIONS: Final = """
  enablePullRequestAutoMerge(
    input: EnablePullRequestAutoMergeInput!
  ): EnablePullRequestAutoMergePayload
  disablePullRequestAutoMerge(
    input: DisablePullRequestAutoMergeInput!
  ): DisablePullRequestAutoMergePayload
"""

TYPES: Final = """
enum PullRequestMergeMethod {
  MERGE
  REBASE
  SQUASH
}

input EnablePullRequestAutoMergeInput {
  authorEmail: String
  clientMutationId: String
  commitBody: String
  commitHeadline: String
  expectedHeadOid: GitObjectID
  mergeMethod: PullRequestMergeMethod = MERGE
  pullRequestId: ID!
}

type EnablePullRequestAutoMergePayload {
  clientMutationId: String
}

input DisablePullRequestAutoMergeInput {
  clientMutationId: String
  pullRequestId: ID!
}

type DisablePullRequestAutoMergePayload {
  clientMutationId: String
}

type AutoMergeRequest {
  enabledBy: Actor
  mergeMethod: PullRequestMergeMethod!
}
"""


def enable(info: GraphQLResolveInfo[Any], input: Input) -> Input:  # noqa: A002 (GitHub's)
    """Let GitHub merge a pull request as soon as its requirements are met."""
    call: Call = info.context
    repository, issue, pull_request = _pull_request(call, input["pullRequestId"])
    if not repository.allow_auto_merge:
        raise _refused("Auto merge is not allowed for this repository")
    if issue.state == "closed":
        raise _refused("Can't enable auto-merge for this pull request.")
    expected = input.get("expectedHeadOid")
    if expected is not None and expected != View.of(call).head(pull_request):
        raise _refused("Head branch is out of date. Review and try the merge again.")
    state = check_mergeability(call.store, repository, issue, pull_request).state
    if state != "blocked":
        raise _refused(f"Pull request Pull request is in {state} status")
    method = str(input.get("mergeMethod", "MERGE")).lower()
    pull_request.auto_merge = AutoMerge.model_validate(
        {"identity": call.identity, "method": method}
    )
    call.store.save()
    return {"clientMutationId": input.get("clientMutationId")}


def disable(info: GraphQLResolveInfo[Any], input: Input) -> Input:  # noqa: A002 (GitHub's)
    """Keep GitHub from merging a pull request."""
    call: Call = info.context
    _, issue, pull_request = _pull_request(call, input["pullRequestId"])
    if pull_request.auto_merge is None or issue.state == "closed":
        raise _refused("Can't disable auto-merge for this pull request.")
    pull_request.auto_merge = None
    call.store.save()
    return {"clientMutationId": input.get("clientMutationId")}


def _pull_request(call: Call, wanted: str) -> tuple[Repository, Issue, PullRequest]:
    for repository in call.store.repositories.values():
        for issue in repository.issues.values():
            if node_id("PullRequest", issue.id) != wanted or issue.pull_request is None:
                continue
            lags = call.store.lags(issue.created_at, call.identity)
            if lags or not visible(call.identity, repository):
                break
            for permission in ("contents: write", "pull_requests: write"):
                if not allowed(call.identity, [permission], repository):
                    message = not_accessible(call.identity)
                    raise GraphQLError(message, extensions={"type": "FORBIDDEN"})
            return repository, issue, issue.pull_request
    message = f"Could not resolve to a node with the global id of '{wanted}'"
    raise GraphQLError(message, extensions={"type": "NOT_FOUND"})


def _refused(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": "UNPROCESSABLE"})
