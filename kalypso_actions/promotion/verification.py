"""Whether the repositories say what check-promote was told: anybody's dispatch may claim anything.

What is looked up beforehand, and held against the claim here:

    the commit of the GitOps branch      lies on the branch
    its tracking file                    names the promoted commit
    the promoted commit                  lies on the control plane's main
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.github import Relation

AFTER: Final[frozenset[Relation | None]] = frozenset({"identical", "ahead"})
"""How the head of a branch stands to a commit that lies on it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What check-promote was told; `promoted_commit` is None for a configuration change."""

    environment: str
    promoted_commit: str | None
    gitops_commit: str


def refuted_by_branch(
    claim: Claim, branch: str, head: Relation | None, tracked: str | None, where: Location
) -> Problem | None:
    """What is wrong with the claim by a GitOps branch, which stands at `where`.

    `head` is how the branch's head stands to the claimed commit: None where the branch, or the
    commit in its repository, does not exist. `tracked` is what the commit's tracking file names.
    """
    short = claim.gitops_commit[:7]
    if head not in AFTER:
        return Problem(
            f"the commit {short} does not lie on the branch {branch!r}",
            where,
            "give the merged commit of the GitOps branch as gitops-commit",
        )
    promoted = claim.promoted_commit
    if promoted is None or promoted == tracked:
        return None
    named = tracked[:7] if tracked else "no commit"
    return Problem(
        f"the tracking file of the commit {short} names {named}, not {promoted[:7]}",
        where,
        "give the commit that it names as promoted-commit, or none for a configuration change",
    )


def refuted_by_main(claim: Claim, main: Relation | None, where: Location) -> Problem | None:
    """What is wrong with the claim by main, which stands so to the promoted commit."""
    if claim.promoted_commit is None or main in AFTER:
        return None
    return Problem(
        f"the promoted commit {claim.promoted_commit[:7]} does not lie on main",
        where,
        "promote commits of main only",
    )
