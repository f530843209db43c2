"""`kalypso preview`: compare the environments before and after a change, in a job or a clone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path

from kalypso_actions.clients.github import GitHubError, repositories
from kalypso_actions.commands.preview.comparison import ComparedBranch, compare
from kalypso_actions.commands.preview.document import failed_preview, preview_result
from kalypso_actions.commands.preview.reading import (
    ChangedBranch,
    PreviewRequest,
    arriving_commits,
    failed_deployments,
    read_sides,
    request_of_clone,
    request_of_job,
    settings_of_change,
)
from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.context import CommandContext, visibility_of
from kalypso_actions.commands.shared.local_context import CurrentClone, LocalContext, uncommitted
from kalypso_actions.commands.shared.reading.document_reader import SharedReader
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.comparison import Mask
from kalypso_actions.comparison.masking import less_visible
from kalypso_actions.errors import KalypsoError, MissingExtraError, Problem, UsageError
from kalypso_actions.inputs.app import AppPreviewInputs
from kalypso_actions.inputs.chain import PreviewInputs, ShownPreviewInputs
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.writes import PostStatus, Write, WriteComment
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.preview_document import (
    MARK,
    PreviewDocument,
    PreviewFacts,
    preview_comment,
    preview_headline,
    preview_summary,
)
from kalypso_actions.runner import write_files

REFUSALS = frozenset({403, 404})
"""GitHub's answers to a token that may not write."""


def preview(inputs: PreviewInputs, context: CommandContext) -> CommandResult:
    """Compare the environments before and after a change, and show the difference.

    preview writes the status of the pull request's head or the merge group, and one comment. New
    problems make it fail. Raises KalypsoError if the control plane cannot be read.
    """
    request = request_of_job(inputs, context)
    compared = partial(_compared, inputs, context, request)
    return show_comparison(inputs, context, context.control_plane, request, compared)


def show_comparison(
    inputs: ShownPreviewInputs,
    context: CommandContext,
    repository: str,
    request: PreviewRequest,
    compared: Callable[[], tuple[PreviewDocument, str]],
) -> CommandResult:
    """Compare, and show the result or why there is none where the change is, in `repository`.

    Raises what `compared` raises.
    """
    try:
        document, diffs = compared()
    except MissingExtraError:  # the caller installs the extra, and calls preview again
        raise
    except KalypsoError as error:
        # The result of an older head must not stay; an error of GitHub must not hide this one.
        document = failed_preview(request, error.problems, Mask(inputs.mask))
        try:
            _show(inputs, context, repository, request, document, "")
        except KalypsoError as other:
            context.runtime.log(str(other.problem))
        raise
    document = document.strictly(strict=inputs.strict)
    return _show(inputs, context, repository, request, document, diffs)


def _compared(
    inputs: PreviewInputs, context: CommandContext, request: PreviewRequest
) -> tuple[PreviewDocument, str]:
    """Read, plan, and return the document and the diffs of all files.

    The job's own token reads the repositories that only the head registers.
    """
    change, reader = request.change, SharedReader(context.reader)
    others = context.authorization_of_job(inputs.job_token)

    def trust(urls: Collection[str]) -> None:
        context.trusted_repositories.restrict(urls, others)

    sides = read_sides(reader, change, inputs, trust)
    compared = compare(sides, inputs, context.runtime.progress, context.runtime.now())
    return preview_result(
        request,
        compared,
        Mask(inputs.mask, _hidden(context, compared)),
        arriving_commits(reader, change, compared.promoted),
        settings_of_change(reader, change),
        dict(failed_deployments(context, compared.promoted)),
    )


def _show(
    inputs: ShownPreviewInputs,
    context: CommandContext,
    repository: str,
    request: PreviewRequest,
    document: PreviewDocument,
    diffs: str,
) -> CommandResult:
    """Post the status, comment, and write the files of the artifact. Raises KalypsoError."""
    facts = PreviewFacts(context.url(repository), context.runtime.job.run_url)
    writes = preview_writes(inputs, repository, request, document, facts)
    workspace = context.runtime.job.workspace
    if inputs.dry_run:
        _write_files(workspace, inputs, document, diffs)
        name = "app preview" if isinstance(inputs, AppPreviewInputs) else "preview"
        return dry_run_result(name, document, writes, context)
    document = _carried_out(writes, repository, request, document, context)
    _write_files(workspace, inputs, document, diffs)
    context.runtime.log(f"{preview_headline(document)}.")
    summary = preview_summary(document, facts)
    return CommandResult(document, summary, failed=document.failed)


def preview_writes(
    inputs: ShownPreviewInputs,
    repository: str,
    request: PreviewRequest,
    document: PreviewDocument,
    facts: PreviewFacts,
) -> tuple[PostStatus | WriteComment, ...]:
    """Return the status of the request's commit, and the comment on its pull request."""
    writes: list[PostStatus | WriteComment] = []
    if request.status_commit and inputs.status_context:
        status = CommitStatus(
            inputs.status_context,
            "failure" if document.failed else "success",
            preview_headline(document),
            facts.run_url,
        )
        writes.append(PostStatus(repository, request.status_commit, status))
    has_content = document.environments or document.problems
    if inputs.comment and has_content and request.pull_request is not None:
        comment = WriteComment(
            repository,
            request.pull_request,
            MARK,
            preview_comment(document, facts),
            replaces_other_bots=True,
            only_at=request.head_commit,
        )
        writes.append(comment)
    return tuple(writes)


def _carried_out(
    writes: Iterable[Write],
    repository: str,
    request: PreviewRequest,
    document: PreviewDocument,
    context: CommandContext,
) -> PreviewDocument:
    """Carry out the writes, and return the document with what GitHub refuses to the token.

    A refused comment is pending, and a restricted token is expected to be refused. Raises
    GitHubError for another refusal.
    """
    if request.pull_request is not None and not request.is_restricted:
        # A restricted token may get 404 for other reasons.
        context.github.recent_writes.add_issue(repository, request.pull_request)
    warnings: list[Problem] = []
    for write in writes:
        is_comment = isinstance(write, WriteComment)
        try:
            carry_out([write], context)
        except GitHubError as error:
            if error.status not in REFUSALS:
                raise
            warnings += () if request.is_restricted else error.problems
            if is_comment:
                document = document.model_copy(update={"comment": "pending"})
        else:
            if is_comment:
                document = document.model_copy(update={"comment": "written"})
    update = {"warnings": (*document.warnings, *ProblemEntry.all_of(warnings))}
    return document.model_copy(update=update)


def _write_files(
    folder: Path, inputs: ShownPreviewInputs, document: PreviewDocument, diffs: str
) -> None:
    if inputs.out:
        files = {"preview.json": document.to_json() + "\n", "preview.diff": diffs}
        write_files(folder / inputs.out, files)


def _hidden(context: CommandContext, compared: ComparedBranch) -> frozenset[str]:
    """Return the URLs of compared repositories that are less visible than the control plane."""
    own = repositories.get(context.github, context.control_plane).visibility
    known = {context.url(context.control_plane): own}
    others = {url: known.get(url) or visibility_of(context, url) for url in compared.origins()}
    return less_visible(own, others)


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
        compared = compare(
            read_sides(reader, change, inputs, with_base_trees=False),
            inputs,
            context.progress,
            context.now,
        )
        document, diffs = preview_result(
            request,
            compared,
            Mask(inputs.mask),
            arriving_commits(reader, change, compared.promoted),
            settings_of_change(reader, change),
            {},
        )
        notes = (*ProblemEntry.all_of(_uncommitted(clone, change)), *document.notes)
        document = document.model_copy(update={"notes": notes}).strictly(strict=inputs.strict)
    _write_files(Path(), inputs, document, diffs)
    return document


def _uncommitted(clone: CurrentClone, change: ChangedBranch) -> Iterator[Problem]:
    """Yield a note on files that the head lacks, if it is checked out."""
    if change.head != clone.repository.checked_out_commit:
        return
    paths = uncommitted(clone.path, clone.repository)
    if paths:
        message = f"uncommitted changes are not compared: {abbreviated(paths, 1)}"
        yield Problem(message, advice="commit them on a branch of your own")
