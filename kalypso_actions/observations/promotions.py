"""The commits of main and their states in an environment, as a look found them → their lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from kalypso_actions.model.github import PullRequest
from kalypso_actions.observations.record import DesiredLine, PromotionLine

NEWEST: Final = 200
"""The commits of main that the record shows; its log has the older ones."""


def promotions_after(
    previous: Sequence[PromotionLine],
    seen: Sequence[PromotionLine],
    proposals: Iterable[PullRequest] = (),
    desired: Iterable[DesiredLine] = (),
) -> tuple[PromotionLine, ...]:
    """Return the lines of an environment after a look.

    `seen` are the newest commits of main, newest first, with what the look found; what earlier
    looks found stays. `proposals` belong to a commit by the `desired` period that they began.
    """
    known = {line.commit: line for line in previous}
    position = _positions(seen, known)
    lines = {
        line.commit: _merged(known.get(line.commit), line)._replace(position=position[line.commit])
        for line in seen
    }
    lines = {**known, **lines}
    for commit, proposal in _of_commits(proposals, desired, lines.values()).items():
        if commit in lines:
            lines[commit] = lines[commit]._replace(
                pull_request=proposal.url,
                proposed_at=proposal.created_at,
                merged_at=proposal.merged_at,
                merged_by=proposal.merged_by or lines[commit].merged_by,
            )
    newest = sorted(lines.values(), key=lambda line: (-line.position, line.commit))[:NEWEST]
    return tuple(sorted(newest))


def _positions(
    seen: Sequence[PromotionLine], known: Mapping[str, PromotionLine]
) -> Mapping[str, int]:
    """Return the place of each commit; after a rewrite, the new ones follow all that are known."""
    first = next((n for n, line in enumerate(seen) if line.commit in known), None)
    if first is None:
        top = max((line.position for line in known.values()), default=0) + len(seen)
    else:
        top = known[seen[first].commit].position + first
    return {line.commit: top - n for n, line in enumerate(seen)}


def _merged(known: PromotionLine | None, line: PromotionLine) -> PromotionLine:
    if known is None:
        return line

    def first(one: datetime | None, other: datetime | None) -> datetime | None:
        return min(filter(None, (one, other)), default=None)

    return line._replace(
        pull_request=known.pull_request,
        proposed_at=known.proposed_at,
        merged_at=known.merged_at,
        merged_by=known.merged_by,
        started_at=first(known.started_at, line.started_at),
        deployed_at=first(known.deployed_at, line.deployed_at),
        failed_at=first(known.failed_at, line.failed_at),
    )


def _of_commits(
    proposals: Iterable[PullRequest],
    desired: Iterable[DesiredLine],
    lines: Iterable[PromotionLine],
) -> Mapping[str, PullRequest]:
    """Return the pull request of each commit: of several, the first that was merged.

    One that is open belongs to the newest commit that the environment has taken up.
    """
    sources = {line.commit: line.source_commit for line in desired if not line.workload}
    found: dict[str, PullRequest] = {}
    for proposal in sorted(proposals, key=lambda each: each.created_at):
        if proposal.merged_at and sources.get(proposal.merge_commit):
            found.setdefault(sources[proposal.merge_commit], proposal)
        elif not proposal.merged_at:
            entered = [line for line in lines if line.state == "promoted"]
            if entered:
                found[max(entered, key=lambda line: line.position).commit] = proposal
    return found
