"""Remove from a preview what would become a link: its author may have chosen the server."""

from __future__ import annotations

from pydantic import BaseModel

from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.report.documents import Where
from kalypso_actions.report.preview_documents import PreviewDocument


def without_links(document: PreviewDocument) -> PreviewDocument:
    """Return a document of which no text is a link, except to commits of the control plane."""
    names = ("base", "head", "head_commit")
    commits = {name: getattr(document, name) for name in names}
    plain = _plain(document)
    assert isinstance(plain, PreviewDocument)  # noqa: S101 - copies have the type of the original
    update = {name: commit if is_commit_id(commit) else "" for name, commit in commits.items()}
    return plain.model_copy(update=update)


def _plain(value: object) -> object:
    """Return a copy in which no place names a commit: pages of files are links by commit."""
    if isinstance(value, Where):
        return value.model_copy(update={"commit": ""})
    if isinstance(value, BaseModel):
        fields = {name: _plain(getattr(value, name)) for name in type(value).model_fields}
        return value.model_copy(update=fields)
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value
