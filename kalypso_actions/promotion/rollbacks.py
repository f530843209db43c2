"""Which commits an environment was rolled back from, and the one to which it can go back.

`segments` are the commits that an environment's branch has named, newest first, the present one
included. A new segment begins where the branch was cut from another environment's branch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from kalypso_actions.model.history import Ancestry

Segments = Sequence[Sequence[str | None]]


def rolled_back_from(segments: Segments, main: Ancestry) -> frozenset[str]:
    """Return the commits of main that people ever rolled the environment back from.

    A rollback also leaves the commits between the one that it leaves and its target. Commits that
    are not on main do not count, and neither does the commit with which a new branch begins.
    """
    left: set[str] = set()
    for segment in segments:
        commits = [commit for commit in segment if commit in main and commit]
        for place, (after, before) in enumerate(itertools.pairwise(commits)):
            if main.contains(after, before):
                continue
            left.update(
                commit
                for commit in commits[place + 1 :]
                if main.contains(before, commit) and not main.contains(after, commit)
            )
    return frozenset(left)


def rollback_candidates(segments: Segments, main: Ancestry) -> Iterator[str]:
    """Yield the commits to which the environment can go back, the newest first, each once.

    These are the commits that it named before the present one, and that nobody rolled back from.
    """
    named = [commit for segment in segments for commit in segment]
    skipped = {*named[:1], *rolled_back_from(segments, main)}
    for commit in named:
        if commit and commit in main and commit not in skipped:
            skipped.add(commit)
            yield commit
