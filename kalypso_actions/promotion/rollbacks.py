"""Which commits an environment was rolled back from, and the one to which it can go back.

`segments` are the commits that an environment's branch has named, newest first, the present one
included. A new segment begins where the branch was cut from another environment's branch.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

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


def rollback_candidates(segments: Segments, main: Ancestry, without: str = "") -> Iterator[str]:
    """Yield the commits to which the environment can go back, the newest first, each once.

    These are the commits that it named before the present one, that nobody rolled back from, and
    that do not contain the commit `without`.
    """
    named = [commit for segment in segments for commit in segment]
    skipped = {*named[:1], *rolled_back_from(segments, main)}
    for commit in named:
        if commit and commit in main and commit not in skipped:
            skipped.add(commit)
            if without and main.contains(commit, without):
                continue
            yield commit


@dataclass(frozen=True, slots=True)
class RollbackFacts:
    """What is known about an environment before a rollback.

    `segments` are the commits that it has named. `last_good` is the newest candidate that was
    deployed there ("" for none), and `deployed` are those of the requested commits that were.
    `held_at` are the commits that holds of its policy let in.
    """

    environment: str
    segments: Segments
    main: Ancestry
    last_good: str = ""
    deployed: Collection[str] = ()
    held_at: Collection[str] = ()

    @property
    def _on_main(self) -> list[str]:
        named = (commit for segment in self.segments for commit in segment)
        return [commit for commit in named if commit and commit in self.main]

    @property
    def present(self) -> str:
        """The commit that the environment names now; "" for none."""
        return next((commit for segment in self.segments for commit in segment), None) or ""

    @property
    def has_earlier(self) -> bool:
        """Whether the environment has named another commit of main before."""
        return len(set(self._on_main)) > 1

    @property
    def is_rolled_back(self) -> bool:
        """Whether a rollback has brought the present commit, and its hold is still there."""
        before = self._on_main[1:2]
        is_back = bool(before) and not self.main.contains(self.present, before[0])
        return is_back and bool(self.present) and self.present in self.held_at

    @property
    def left(self) -> str:
        """The commit that a rollback leaves, or that the last one has left; "" for none."""
        if self.is_rolled_back:
            return self._on_main[1]
        return self.present


@dataclass(frozen=True, slots=True)
class RollbackDecision:
    """The decision about an environment.

    write      go back from `left` to `target`, and hold the environment there
    unchanged  the environment has gone back: repeat what a killed run may have left out
    present    the environment has the commit without a rollback, or that rollback is over
    nothing    the environment does not have the commit that is left
    refused    it cannot go back, for a `reason`
    """

    action: Literal["write", "unchanged", "present", "nothing", "refused"]
    target: str = ""
    left: str = ""
    reason: str = ""


def decide_rollback(facts: RollbackFacts, to: str) -> RollbackDecision:
    """Decide where an environment goes back, by default (`to` is "") to its last good commit."""
    name, main, present = facts.environment, facts.main, facts.present
    if facts.is_rolled_back and to in {"", present}:
        return RollbackDecision("unchanged", present, facts.left)
    if to and to == present:
        return RollbackDecision("present", present, present)
    target = to or facts.last_good
    reason = ""
    if not target:
        reason = (
            f"there is no commit to which {name} can go back: it had none before that was Deployed "
            "there, and that nobody rolled back from"
        )
    elif present in main and not main.contains(present, target):
        reason = f"{target[:7]} is not older than {present[:7]}, which {name} has"
    elif to and to not in facts.deployed:
        reason = f"{to[:7]} was never Deployed in {name}"
    if reason:
        return RollbackDecision("refused", left=present, reason=reason)
    return RollbackDecision("write", target, present)


def decide_rollback_behind(facts: RollbackFacts, left: str, target: str) -> RollbackDecision:
    """Decide about an environment behind the one that goes back from `left` to `target`.

    It goes to the same commit if that was deployed there; else to its own `last_good`, which must
    not contain the commit that is left.
    """
    if facts.is_rolled_back:
        return RollbackDecision("unchanged", facts.present, facts.left)
    if not facts.main.contains(facts.present, left):
        return RollbackDecision("nothing", left=facts.present)
    named = {commit for segment in facts.segments for commit in segment}
    return decide_rollback(facts, target if target in facts.deployed and target in named else "")
