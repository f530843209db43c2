"""Remove the links from a preview, because its author may have chosen their server."""

from __future__ import annotations

from pydantic import BaseModel

from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.report.documents import Where
from kalypso_actions.report.preview_documents import PreviewDocument


def without_links(document: PreviewDocument) -> PreviewDocument:
    """Return the document without links, except those to commits of the control plane."""
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
