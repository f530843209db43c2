"""Our comments on issues and pull requests, identified by author and a marker in the first line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from github.IssueComment import IssueComment
from github.Repository import Repository

from kalypso_actions.clients.github import idempotent_writes, rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.model.github import Comment
from kalypso_actions.model.own_account import Identity, is_bot

REPLACED: Final = "<!-- kalypso:v1 kind=replaced -->"
"""The first line of the comment on an issue or a pull request of a former identity."""


def ensure(
    github: GitHub, repository: str, number: int, mark: str, body: str
) -> tuple[Comment, idempotent_writes.WriteResult]:
    """Create or update our comment that begins with the line `mark`.

    `number` is that of an issue or a pull request. Keep our oldest comment and delete the
    duplicates, which a repeated delivery may leave. Comments of others stay. Write nothing if a
    comment of a former identity has this text. Raises GitHubError.
    """
    text = idempotent_writes.truncate_body(f"{mark}\n{body}")
    identity = github.identity(repository)
    every = marked(github, repository, number, mark)
    for comment in every:
        if identity.formerly_wrote(comment.author) and idempotent_writes.same_text(
            comment.body, text
        ):
            return comment, "unchanged"
    comments = _ours(every, identity)
    created = not comments
    if created:
        new = _create(github, repository, number, mark, text)
        comments = _ours(marked(github, repository, number, mark), identity) or (new,)
    kept, *duplicates = comments
    for comment in duplicates:
        _delete(github, repository, number, mark, comment)
    if idempotent_writes.same_text(kept.body, text):
        return kept, "created" if created else "unchanged"
    updated = _update(github, repository, number, mark, kept, text)
    return updated, "created" if created else "updated"


def delete_of_other_bots(github: GitHub, repository: str, number: int, mark: str) -> None:
    """Delete other bots' comments that begin with the line `mark`. Raises GitHubError.

    An App and the job's own token may comment on the same pull request in turn.
    """
    identity = github.identity(repository)
    for comment in marked(github, repository, number, mark):
        if is_bot(comment.author) and not identity.wrote(comment.author):
            _delete(github, repository, number, mark, comment)


def marked(github: GitHub, repository: str, number: int, mark: str) -> tuple[Comment, ...]:
    """Return the comments whose first line is `mark`, oldest first. Raises GitHubError."""
    failure = f"the comments of #{number} cannot be read"
    comments = github.call(
        repository,
        failure,
        lambda target: [*map(_converted, rest.all_of(target.get_issue(number).get_comments()))],
    )
    comments.sort(key=lambda comment: comment.id)
    return tuple(comment for comment in comments if _first_line(comment.body) == mark.strip())


def _create(github: GitHub, repository: str, number: int, mark: str, text: str) -> Comment:
    identity = github.identity(repository)

    def find() -> Comment | None:
        return next(iter(_ours(marked(github, repository, number, mark), identity)), None)

    def write() -> Comment:
        return github.call(
            repository,
            f"#{number} cannot be commented on",
            lambda target: _converted(target.get_issue(number).create_comment(text)),
        )

    return idempotent_writes.write_verified(github, find, write)


def _update(
    github: GitHub, repository: str, number: int, mark: str, comment: Comment, text: str
) -> Comment:
    def find() -> Comment | None:
        for current in marked(github, repository, number, mark):
            if current.id == comment.id and idempotent_writes.same_text(current.body, text):
                return current
        return None

    def write() -> Comment:
        failure = f"the comment {comment.url} cannot be updated"

        def edit(target: Repository) -> Comment:
            edited = target.get_issue(number).get_comment(comment.id)
            edited.edit(text)
            return _converted(edited)

        return github.call(repository, failure, edit)

    return idempotent_writes.write_verified(github, find, write)


def _delete(github: GitHub, repository: str, number: int, mark: str, comment: Comment) -> None:
    def find() -> bool | None:
        left = {other.id for other in marked(github, repository, number, mark)}
        return None if comment.id in left else True

    def write() -> bool:
        failure = f"the outdated comment {comment.url} cannot be deleted"
        github.call(
            repository,
            failure,
            lambda target: target.get_issue(number).get_comment(comment.id).delete(),
        )
        return True

    idempotent_writes.write_verified(github, find, write)


def _ours(comments: Iterable[Comment], identity: Identity) -> tuple[Comment, ...]:
    return tuple(comment for comment in comments if identity.wrote(comment.author))


def _converted(comment: IssueComment) -> Comment:
    return Comment(
        id=comment.id,
        url=comment.html_url,
        body=comment.body or "",
        author=rest.login_of(comment.user),
    )


def _first_line(text: str) -> str:
    return text.partition("\n")[0].strip()
