"""`kalypso preview-comment`: comment on a pull request of a fork, from the artifact of its preview.

The job that made the artifact ran content of the fork: everything in it may be forged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from kalypso_actions.clients.github import pull_requests
from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.inputs.chain import PreviewCommentInputs
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.writes import WriteComment
from kalypso_actions.report import markdown, preview_document
from kalypso_actions.report.preview_document import (
    MARK,
    PreviewCommentDocument,
    PreviewDocument,
    PreviewFacts,
    without_links,
)
from kalypso_actions.runner import read_file

MOST_BYTES: Final = 128 * 1024 * 1024
"""The most bytes of an artifact's document; 100,000 changed files have 36 MB."""


def preview_comment(inputs: PreviewCommentInputs, context: CommandContext) -> CommandResult:
    """Comment on the pull request of a preview whose token could not.

    The pull request must be the only open one with the head of the run. Raises KalypsoError for an
    artifact that is no preview, GitHubError.
    """
    run = _run(context)
    document = _read(context.runtime.job.workspace / inputs.file)
    if document is None:
        return _result(reason="the run has no artifact with a preview")
    if document.comment != "pending":
        return _result(reason="the preview has commented itself, or nobody wants a comment")
    pull = _pull_request(context, run)
    if pull is None:
        return _result(reason="no pull request, or more than one, is open with the run's head")
    document = document.model_copy(
        update={
            "branch": pull.base_branch,
            "pull_request": pull.number,
            "head_commit": pull.head_commit,
        }
    )
    url = context.url(context.control_plane)
    facts = PreviewFacts(url, str(run["html_url"]), is_of_author=True)
    body = preview_document.preview_comment(document, facts)
    write = WriteComment(context.control_plane, pull.number, MARK, body, replaces_other_bots=True)
    if inputs.dry_run:
        planned = PreviewCommentDocument(pull_request_number=pull.number)
        return dry_run_result("preview-comment", planned, [write], context)
    ((_, action),) = carry_out([write], context).comments
    context.runtime.log(f"#{pull.number}: the comment is {action}.")
    return _result(PreviewCommentDocument(pull_request_number=pull.number, action=action))


def _run(context: CommandContext) -> Mapping[str, Any]:
    """Return the run whose end started this one. Raises UsageError for another event."""
    job = context.runtime.job
    run = job.event.get("workflow_run")
    is_own = job.repository.lower() == context.control_plane.lower()
    if job.event_name != "workflow_run" or not isinstance(run, Mapping) or not is_own:
        raise UsageError(
            "this command runs in the control plane, after a run of the workflow of previews",
            advice="start it by the event workflow_run",
        )
    return run


def _read(file: Path) -> PreviewDocument | None:
    """Return the preview without links; None if there is no file. Raises KalypsoError."""
    content = read_file(file, MOST_BYTES)
    if content is None:
        return None
    try:
        document = PreviewDocument.model_validate_json(content)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, fault["loc"]))
        message = f"the file is not the document of a preview: {place}: {fault['msg']}"
        raise KalypsoError(message, Location(str(file))) from None
    return without_links(document)


def _pull_request(context: CommandContext, run: Mapping[str, Any]) -> PullRequest | None:
    """Return the run's pull request: the payload of a fork's run names none.

    GitHub finds no pull request of a fork by its commit, either.
    """
    head = run.get("head_repository") or {}
    if run.get("event") != "pull_request" or not head:
        return None
    branch, commit = str(run["head_branch"]), str(run["head_sha"])
    owner = str(head["owner"]["login"])
    pulls = pull_requests.open_from(context.github, context.control_plane, owner, branch)
    return previewed_pull_request(
        pulls, head_repository=str(head["full_name"]), head_branch=branch, head_commit=commit
    )


def _result(document: PreviewCommentDocument | None = None, reason: str = "") -> CommandResult:
    document = document or PreviewCommentDocument(reason=reason)
    number = document.pull_request_number
    text = f"commented on #{number}" if number else f"no comment: {reason}"
    return CommandResult(document, f"## kalypso preview-comment: {markdown.text(text)}")


def previewed_pull_request(
    pulls: Iterable[PullRequest], *, head_repository: str, head_branch: str, head_commit: str
) -> PullRequest | None:
    """Return the only open pull request with the head that a run of a fork names.

    The run does not name its pull request, and a fork controls the content of its artifact. None if
    no pull request or several have the head, or if its branch has moved.
    """
    matching = [
        pull
        for pull in pulls
        if pull.state == "open"
        and pull.head_repository.lower() == head_repository.lower()
        and (pull.head_branch, pull.head_commit) == (head_branch, head_commit)
    ]
    return matching[0] if len(matching) == 1 else None
