"""`kalypso preview`: compare the environments before and after a change, in a job or a clone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git import basic
from kalypso_actions.clients.git.urls import Authorize, no_credential
from kalypso_actions.clients.github import repositories
from kalypso_actions.commands.preview.deployments import failed_deployments
from kalypso_actions.commands.preview.environments import ComparedBranch, compare_branch
from kalypso_actions.commands.preview.publish import post_status, write_comment
from kalypso_actions.commands.preview.request import (
    PreviewRequest,
    request_of_clone,
    request_of_job,
)
from kalypso_actions.commands.preview.result import failed_preview, preview_result
from kalypso_actions.commands.preview.sides import ChangedBranch, SideReader
from kalypso_actions.commands.shared.context import CommandContext, visibility_of
from kalypso_actions.commands.shared.local_context import CurrentClone, LocalContext, uncommitted
from kalypso_actions.commands.shared.reading.document_reader import Reader, SharedReader
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.comparison import Mask
from kalypso_actions.comparison.differences import changed_settings
from kalypso_actions.comparison.masking import less_visible
from kalypso_actions.errors import KalypsoError, MissingExtraError, Problem, UsageError
from kalypso_actions.inputs.preview import PreviewInputs
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.differences import CommitSubject
from kalypso_actions.model.github import StatusState
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.preview_documents import PreviewDocument
from kalypso_actions.report.preview_markdown import (
    MARK,
    PreviewFacts,
    preview_comment,
    preview_headline,
    preview_summary,
)
from kalypso_actions.runner import write_files

MOST_COMMITS: Final = 10
"""The number of arriving commits of main that the document names."""


def preview(inputs: PreviewInputs, context: CommandContext) -> CommandResult:
    """Compare the environments before and after a change, and show the difference.

    preview writes the status of the pull request's head or the merge group, and one comment. New
    problems make it fail. Raises KalypsoError if the control plane cannot be read.
    """
    request = request_of_job(inputs, context)
    try:
        compared = _compare(inputs, context, request)
        hidden = _hidden(context, compared)
        reader = SharedReader(context.reader)
        failures = failed_deployments(context, compared)
        document, diffs = _result(inputs, request, compared, hidden, reader, failures)
    except MissingExtraError:  # the caller installs the extra, and calls preview again
        raise
    except KalypsoError as error:
        _publish_failure(inputs, context, request, error)
        raise
    return _publish(inputs, context, request, document, diffs)


def _publish_failure(
    inputs: PreviewInputs, context: CommandContext, request: PreviewRequest, error: KalypsoError
) -> None:
    """Replace the result of an older head; an error of GitHub must not hide `error`."""
    document = failed_preview(request, error.problems, Mask(inputs.mask))
    try:
        _publish(inputs, context, request, document, "")
    except KalypsoError as other:
        context.runtime.log(str(other.problem))


def _publish(
    inputs: PreviewInputs,
    context: CommandContext,
    request: PreviewRequest,
    document: PreviewDocument,
    diffs: str,
) -> CommandResult:
    """Post the status, comment, and write the files of the artifact. Raises KalypsoError."""
    headline = preview_headline(document)
    verdict: StatusState = "failure" if document.problems else "success"
    unposted = post_status(context, request, inputs.status_context, verdict, headline)
    facts = PreviewFacts(context.url(context.control_plane), context.runtime.job.run_url)
    warnings: tuple[Problem, ...] = ()
    if inputs.comment and (document.environments or document.problems):
        body = preview_comment(document, facts)
        state, warnings = write_comment(context, request, MARK, body)
        document = document.model_copy(update={"comment": state})
    new_warnings = ProblemEntry.all_of((*warnings, *unposted))
    document = document.model_copy(update={"warnings": (*document.warnings, *new_warnings)})
    _write(context.runtime.job.workspace, inputs, document, diffs)
    context.runtime.log(f"{headline}.")
    summary = preview_summary(document, facts)
    return CommandResult(document, summary, failed=bool(document.problems))


def preview_clone(inputs: PreviewInputs, context: LocalContext) -> PreviewDocument:
    """Compare the environments before and after a change in the current clone.

    Raises UsageError outside of a control plane's clone, KalypsoError if it cannot be read.
    """
    with context.reader(()) as local:
        clone = context.clone(local)
        if clone is None:
            raise UsageError(
                "the current folder is not a clone of a control plane",
                advice="change to a clone whose main has Environment objects",
            )
        request = request_of_clone(inputs, clone)
        change = request.change
        context.log(f"Comparing {change.head[:7]} with {change.base[:7]}, for {change.branch}.")
        reader = SharedReader(local)
        sides = SideReader(reader, change, inputs, with_base_trees=False)
        compared = compare_branch(sides, inputs, context.progress, lambda _: None)
        document, diffs = _result(inputs, request, compared, frozenset(), reader, {})
        notes = (*ProblemEntry.all_of(_uncommitted(clone, change.head)), *document.notes)
        document = document.model_copy(update={"notes": notes})
    _write(Path(), inputs, document, diffs)
    return document


def _uncommitted(clone: CurrentClone, head: str) -> Iterator[Problem]:
    """Yield a note on files that the head lacks, if it is checked out."""
    if head != clone.repository.checked_out_commit:
        return
    paths = uncommitted(clone.path, clone.repository)
    if paths:
        message = f"uncommitted changes are not compared: {abbreviated(paths, 1)}"
        yield Problem(message, advice="commit them on a branch of your own")


def _write(folder: Path, inputs: PreviewInputs, document: PreviewDocument, diffs: str) -> None:
    if inputs.out:
        files = {"preview.json": document.to_json() + "\n", "preview.diff": diffs}
        write_files(folder / inputs.out, files)


def _compare(
    inputs: PreviewInputs, context: CommandContext, request: PreviewRequest
) -> ComparedBranch:
    """Compare; use the job's own token for repositories that only the head registers."""
    others = _job_authorization(inputs, context)
    sides = SideReader(SharedReader(context.reader), request.change, inputs)

    def trust(urls: Collection[str]) -> None:
        context.trusted_repositories.restrict(urls, others)

    return compare_branch(sides, inputs, context.runtime.progress, trust)


def _job_authorization(inputs: PreviewInputs, context: CommandContext) -> Authorize:
    """Return the credentials of the job's own token, which are for this server only."""
    token = inputs.job_token.get_secret_value().strip()
    if not token:
        return no_credential
    header, server = basic("x-access-token", token), context.github.server
    return lambda url: header if server.owner(url) else ""


def _hidden(context: CommandContext, compared: ComparedBranch) -> frozenset[str]:
    """Return the URLs of compared repositories that are less visible than the control plane."""
    own = repositories.get(context.github, context.control_plane).visibility
    known = {context.url(context.control_plane): own}
    others = {url: known.get(url) or visibility_of(context, url) for url in compared.origins()}
    return less_visible(own, others)


def _result(
    inputs: PreviewInputs,
    request: PreviewRequest,
    compared: ComparedBranch,
    hidden: frozenset[str],
    reader: Reader,
    failures: Mapping[str, str],
) -> tuple[PreviewDocument, str]:
    change, opened = request.change, reader.repositories
    mask = Mask(inputs.mask, hidden)

    def distance(base: str, head: str) -> tuple[int | None, Sequence[CommitSubject]]:
        total = opened.distance(change.url, base, head)
        return total, opened.commits_after(change.url, base, head, MOST_COMMITS) if total else ()

    settings = _changed_settings(reader, change)
    return preview_result(request, compared, mask, distance, settings, failures)


def _changed_settings(reader: Reader, change: ChangedBranch) -> tuple[str, ...]:
    base, head = (
        reader.repositories.open(change.url, branch=change.branch, commit=commit).entries()
        for commit in (change.base, change.head)
    )
    return changed_settings(base, head)
