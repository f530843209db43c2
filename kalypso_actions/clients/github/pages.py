"""GitHub Pages of a repository."""

from __future__ import annotations

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub


def is_public(github: GitHub, repository: str) -> bool | None:
    """Return whether everybody may read the repository's site; None if GitHub does not say.

    A private repository's site is public, too, unless GitHub Enterprise Cloud restricts it
    (docs.github.com/pages/getting-started-with-github-pages/
    changing-the-visibility-of-your-github-pages-site). Return None for a repository without a
    site, too. Raises GitHubError.
    """
    site = rest.read_optional(github, repository, "GitHub Pages cannot be read", "/pages")
    answer = (site or {}).get("public")
    return answer if isinstance(answer, bool) else None
