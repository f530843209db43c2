"""The commits of a repository that one side has and the other lacks."""

from __future__ import annotations

import dataclasses
from typing import Final

from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.differences import CommitRange

MOST_COMMITS: Final = 100


def commit_range(
    repositories: Repositories, place: str, url: str, name: str, base: str, head: str
) -> CommitRange:
    """Return the commits of the repository at `url`, read from `place`, a URL or a path.

    If they cannot be read, their number is unknown.
    """
    is_page = url.startswith(("https://", "http://"))
    page = url.removesuffix("/").removesuffix(".git") if is_page else ""
    known = CommitRange(url, name, base, head, f"{page}/compare/{base}...{head}" if page else "")
    if base == head:
        return dataclasses.replace(known, total=0)
    total, behind = (repositories.distance(place, *sides) for sides in ((base, head), (head, base)))
    if total is None:
        # GitHub compares commits only with their ancestors.
        return dataclasses.replace(known, total=None if behind is None else 0, behind=behind or 0)
    try:
        commits = repositories.commits_after(place, base, head, MOST_COMMITS)
    except KalypsoError:
        return dataclasses.replace(known, total=total, behind=behind or 0)
    return dataclasses.replace(
        known,
        total=total,
        behind=behind or 0,
        commits=tuple(
            item._replace(url=f"{page}/commit/{item.commit}" if page else "") for item in commits
        ),
    )
