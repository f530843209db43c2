"""Whether the repositories say what check-promote was told: anybody's dispatch may claim anything.

What is looked up beforehand, and held against the claim here:

    the commit of the GitOps branch      lies on the branch
    its tracking file                    names the promoted commit
    sources.json of the same tree        names it as well, where there is one
    the promoted commit                  lies on the control plane's main
    BaseRepo main of the environment     names it, or has named it before
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.github import Relation
from kalypso_actions.model.kinds import MAIN_BASE_REPO

AFTER: Final[frozenset[Relation | None]] = frozenset({"identical", "ahead"})
"""How the head of a branch stands to a commit that lies on it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What check-promote was told; `promoted_commit` is None for a configuration change."""

    environment: str
    promoted_commit: str | None
    gitops_commit: str


def refuted_by_branch(
    claim: Claim,
    branch: str,
    head: Relation | None,
    tracked: str | None,
    where: Location,
    *,
    contradiction: str = "",
) -> Problem | None:
    """What is wrong with the claim by a GitOps branch, which stands at `where`.

    `head` is how the branch's head stands to the claimed commit: None where the branch, or the
    commit in its repository, does not exist. `tracked` is what the commit's tracking file names.
    `contradiction` is the path of its `sources.json` if that names another commit of main, or none.
    """
    short = claim.gitops_commit[:7]
    if head not in AFTER:
        return Problem(
            f"the commit {short} does not lie on the branch {branch!r}",
            where,
            "give the merged commit of the GitOps branch as gitops-commit",
        )
    promoted = claim.promoted_commit
    if promoted is None:
        return None
    if promoted == tracked:
        return _refuted_by_sources(claim, promoted, where, contradiction)
    named = tracked[:7] if tracked else "no commit"
    return Problem(
        f"the tracking file of the commit {short} names {named}, not {promoted[:7]}",
        where,
        "give the commit that it names as promoted-commit, or none for a configuration change",
    )


def _refuted_by_sources(claim: Claim, promoted: str, where: Location, path: str) -> Problem | None:
    """Upstream's pull requests, and people, write the tracking file alone."""
    if not path:
        return None
    return Problem(
        f"the tracking file of the commit {claim.gitops_commit[:7]} names {promoted[:7]}, but "
        "by this file the tree was made of another commit",
        Location(where.repository, path),
        f"run schedule for {claim.environment}, and merge its pull request",
    )


def refuted_by_base(claim: Claim, *, named: bool, branch: str, where: Location) -> Problem | None:
    """What is wrong with the claim by the environment's branch of the control plane, at `where`.

    `named`: BaseRepo main on the branch names the promoted commit, or has named it before.
    """
    promoted = claim.promoted_commit
    if promoted is None or named:
        return None
    return Problem(
        f"the BaseRepo {MAIN_BASE_REPO!r} on the branch {branch!r} never named the commit "
        f"{promoted[:7]}",
        where,
        f"promote it to {claim.environment}: start cd, or approve or merge what waits there; a "
        "tracking file written by hand promotes nothing",
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
