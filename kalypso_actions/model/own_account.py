"""The account that writes for Kalypso.

An issue, comment or pull request is ours if this account is its author.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

JOBS: Final = "github-actions[bot]"
"""The account of `GITHUB_TOKEN`, which all workflows of a repository share."""


MARK: Final = "<!-- kalypso:v1 "
"""The beginning of the hidden first line of our texts."""


def is_bot(login: str) -> bool:
    """Whether a login belongs to an App or to jobs: logins of people have no brackets."""
    return login.endswith("[bot]")


@dataclass(frozen=True, slots=True)
class Identity:
    """Our login, and the `former` logins of earlier tokens; comparisons ignore case."""

    login: str
    former: frozenset[str] = frozenset()

    def wrote(self, author: str, *, is_marked: bool = True) -> bool:
        """Whether Kalypso wrote a text by `author`.

        `is_marked` says whether the text has a label or a marker of ours. It matters only for the
        account that jobs share, because other workflows use that account too.
        """
        return _same(author, self.login) and _is_kalypso(author, is_marked)

    def formerly_wrote(self, author: str, *, is_marked: bool = True) -> bool:
        """Whether Kalypso wrote a text with an earlier token; see `wrote`."""
        return (
            not _same(author, self.login)
            and any(_same(author, login) for login in self.former)
            and _is_kalypso(author, is_marked)
        )

    def is_of_chain(self, author: str) -> bool:
        """Whether a status by this author counts.

        Other commands of the same chain may use a job's token. Such a token posts statuses only in
        its own repository, and the form of a record marks its status as ours.
        """
        return any(_same(author, login) for login in (self.login, JOBS, *self.former))

    def is_own(self, author: str) -> bool:
        """Whether this account, or one before it, posted a status; that of jobs does not count.

        Every workflow of a repository may post with that account, in any branch.
        """
        logins = (self.login, *self.former)
        return any(_same(author, login) for login in logins if not _same(login, JOBS))

    def may_be_of_chain(self, author: str) -> bool:
        """Whether a status by this author may count for another command of the chain.

        A job cannot know the login of the App that the other commands use. No person can take a
        login that ends like an App's.
        """
        is_app = author.lower().endswith("[bot]")
        return self.is_of_chain(author) or (is_app and _same(self.login, JOBS))


def is_marked(text: str) -> bool:
    """Whether the first line of a text is our marker."""
    return text.startswith(MARK)


def _is_kalypso(author: str, is_marked: bool) -> bool:
    return is_marked or not _same(author, JOBS)


def _same(login: str, other: str) -> bool:
    return bool(login) and login.lower() == other.lower()
