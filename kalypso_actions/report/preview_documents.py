"""The JSON output of preview, which is also the artifact that a later job comments from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import BaseModel, Field

from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.report.chain_document import ChainDocument
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.documents import Document, Entries, Where

CommentState = Literal["written", "pending", "none"]
"""`written` by this run, `pending` if another job must comment (this token may not), or `none`."""


class ArrivingCommitEntry(Document):
    """A commit of main, and the first line of its message."""

    commit: str
    subject: str


class ArrivalEntry(Document):
    """The content that arrives in an environment with the change.

    `has` is the environment's commit of main ("" for none). `commits` is the number of earlier
    commits of main that arrive together with the change (null if unknown), and `newest` are the
    last of these. `after` are the environments that get the change before this one (none: this one
    is first). `comparison` is null if only the change arrives; it does not repeat findings of the
    change.
    """

    has: str
    commits: int | None
    newest: Entries[ArrivingCommitEntry] = ()
    is_first: bool
    after: Entries[str]
    comparison: ComparisonEntry | None


class PreviewEnvironmentEntry(Document):
    """An environment; `compared` is false if one side cannot be read.

    `added` means that the change adds its Environment object, `removed` that it deletes this
    object; the GitOps branch stays as it is. `blocked` means that nothing arrives before people fix
    new or known problems: until then, ci promotes nothing, or schedule proposes nothing (with
    `on-failure: keep`, nothing for failing assignments). `failure` describes a failed deployment,
    by the status of the commit that the environment has. `arrival` is null for a change of the
    environment's own branch, which arrives at once.
    """

    environment: str
    compared: bool
    added: bool = False
    removed: bool = False
    blocked: bool = False
    failure: str = ""
    change: ComparisonEntry
    arrival: ArrivalEntry | None


class PreviewDocument(ChainDocument):
    """The output of `kalypso preview --output json`; its problems and warnings are new.

    `branch` gets the change. It leads from the commit `base` to `head`, the merge of
    `pull_request`; `head_commit` is the head of the pull request. If nothing is `compared`,
    `problems` say why. `settings` are changed files from which previews take their settings.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "assignments-added": "The number of assignments that the change adds.",
        "assignments-removed": "The number of assignments that the change removes.",
        "files-changed": "The number of files of GitOps trees that the change changes.",
        "problems": "The number of new problems.",
    }

    schema_name: str = Field("kalypso.preview/v1", alias="schema")
    branch: str = ""
    base: str = ""
    head: str = ""
    pull_request: int | None = None
    head_commit: str = ""
    compared: bool = True
    comment: CommentState = "none"
    assignments_added: int = 0
    assignments_removed: int = 0
    files_changed: int = 0
    problems_known: int = 0
    warnings_known: int = 0
    settings: Entries[str] = ()
    environments: Entries[PreviewEnvironmentEntry] = ()

    def outputs(self) -> Mapping[str, str]:
        """Return the outputs, with the number of problems."""
        return {**super().outputs(), "problems": str(len(self.problems))}


class PreviewCommentDocument(ChainDocument):
    """The output of `kalypso preview-comment --output json`.

    `reason` says why nothing was written.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "pull-request-number": "The number of the pull request that has the comment.",
    }

    schema_name: str = Field("kalypso.preview-comment/v1", alias="schema")
    pull_request_number: int | None = None
    action: Literal["created", "updated", "unchanged", ""] = ""
    reason: str = ""


def without_links(document: PreviewDocument) -> PreviewDocument:
    """Return the document without links, except those to commits of the control plane.

    The author of the document may have chosen the servers of the links.
    """
    names = ("base", "head", "head_commit")
    commits = {name: getattr(document, name) for name in names}
    plain = _plain(document)
    assert isinstance(plain, PreviewDocument)  # noqa: S101 - copies have the type of the original
    update = {name: commit if is_commit_id(commit) else "" for name, commit in commits.items()}
    return plain.model_copy(update=update)


def _plain(value: object) -> object:
    """Return a copy whose places name no commit, because a place with a commit becomes a link."""
    if isinstance(value, Where):
        return value.model_copy(update={"commit": ""})
    if isinstance(value, BaseModel):
        fields = {name: _plain(getattr(value, name)) for name in type(value).model_fields}
        return value.model_copy(update=fields)
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value
