"""What a push to a GitOps branch means, and whether the repositories confirm a request.

The tracking file before and after the push decides; labels and searches do not. Anyone may dispatch
check-promote, so it looks up the facts, and this module compares them with its inputs:

    the commit of the GitOps branch      lies on the branch
    its tracking file                    names the promoted commit
    sources.json of the same tree        names it as well, if the file exists
    the promoted commit                  lies on the control plane's main
    BaseRepo main of the environment     names it, or has named it before
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.model.github import ON_BRANCH, CommitStatus, Relation
from kalypso_actions.model.kinds import MAIN_BASE_REPO
from kalypso_actions.promotion.statuses import has_ended, is_deployed, is_open


@dataclass(frozen=True, slots=True)
class PromotionRequest:
    """What a run of check-promote is asked for; anyone may dispatch it.

    `promoted_commit` is None for a configuration change, and before a run has found out what a
    merge is. Empty fields have a default: the only GitOps `repository`, the `next_environments` as
    annotated, and `started_at` as now.
    """

    environment: str
    promoted_commit: str | None
    gitops_commit: str
    repository: str = ""
    next_environments: tuple[str, ...] = ()
    started_at: str = ""


def claimed_start(text: str) -> datetime:
    """Return the time of the input started-at. Raises UsageError unless it has an offset."""
    given: datetime | None
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        given = None
    if given is None or given.tzinfo is None:
        raise UsageError(
            f"started-at: {text!r} is not a time with an offset",
            advice="leave it empty: only a run that continues another one's waiting has it",
        )
    return given


def waiting_start(claimed: datetime, *, merged: datetime, now: datetime) -> datetime:
    """Return the time at which an earlier run claims to have begun to wait for a merge.

    Anyone may dispatch a run with an early time, which would end the waiting at once, as a failure.
    """
    return min(max(claimed, merged), now)


def branch_problem(
    request: PromotionRequest,
    branch: str,
    head: Relation | None,
    promoted_commit: str | None,
    where: Location,
    *,
    contradiction: str = "",
) -> Problem | None:
    """Return how a GitOps branch of the repository `where` contradicts the request.

    `head` is the relation of the branch's head to the GitOps commit: None if the branch, or the
    commit in its repository, does not exist. `promoted_commit` is the one that the tracking file of
    the GitOps commit names. `contradiction` is the path of its `sources.json` if this file names
    another commit of main or no commit.
    """
    gitops_commit = request.gitops_commit[:7]
    if head not in ON_BRANCH:
        return Problem(
            f"the commit {gitops_commit} does not lie on the branch {branch!r}",
            where,
            "give the merged commit of the GitOps branch as gitops-commit",
        )
    requested = request.promoted_commit
    if requested is None:
        return None
    if requested == promoted_commit:
        return _sources_problem(request, requested, where, contradiction)
    tracked = promoted_commit[:7] if promoted_commit else "no commit"
    return Problem(
        f"the tracking file of the commit {gitops_commit} names {tracked}, not {requested[:7]}",
        where,
        "give the commit that it names as promoted-commit, or none for a configuration change",
    )


def _sources_problem(
    request: PromotionRequest, promoted_commit: str, where: Location, path: str
) -> Problem | None:
    """Compare `sources.json`, which upstream and people do not update with the tracking file."""
    if not path:
        return None
    return Problem(
        f"the tracking file of the commit {request.gitops_commit[:7]} names {promoted_commit[:7]}, "
        "but by this file the tree was made of another commit",
        Location(where.repository, path),
        f"run schedule for {request.environment}, and merge its pull request",
    )


def environment_problem(
    request: PromotionRequest, *, ever_named: bool, branch: str, where: Location
) -> Problem | None:
    """Return how the environment's branch of the control plane, at `where`, contradicts a request.

    `ever_named`: BaseRepo main on the branch names the promoted commit, or has named it before.
    """
    if request.promoted_commit is None or ever_named:
        return None
    return Problem(
        f"the BaseRepo {MAIN_BASE_REPO!r} on the branch {branch!r} never named the commit "
        f"{request.promoted_commit[:7]}",
        where,
        f"promote it to {request.environment}: start cd, or approve or merge what waits there; a "
        "tracking file written by hand promotes nothing",
    )


def main_problem(
    request: PromotionRequest, main: Relation | None, where: Location
) -> Problem | None:
    """Return how main contradicts the request; `main` is the relation of main to the commit."""
    if request.promoted_commit is None or main in ON_BRANCH:
        return None
    return Problem(
        f"the promoted commit {request.promoted_commit[:7]} does not lie on main",
        where,
        "promote commits of main only",
    )


@dataclass(frozen=True, slots=True)
class Merge:
    """The meaning of a merge, and the commit of main that it promotes ("" for none).

    promotion       the tracking file names another commit
    continuation    it names the same commit, which is not deployed yet: a correction goes on
    configuration   something else changed
    revert          the tracking file went back, but not by CD: nothing is promoted
    unknown         check-promote finds out
    """

    kind: Literal["promotion", "continuation", "configuration", "revert", "unknown"]
    promoted_commit: str = ""


def meaning_of_push(
    before: str | None,
    after: str | None,
    *,
    goes_back: bool,
    environment_commit: str | None,
    latest: CommitStatus | None,
) -> Merge:
    """Return the meaning of a change of the tracking file.

    `before` and `after` are the promoted commits that the file names, None without a file.
    `goes_back`: `after` is an ancestor of `before`. `environment_commit` is the promoted commit
    that base-repo.yaml names; CD writes a rollback there first. `latest` is the status of `after`
    for the environment.
    """
    if after is None:
        return Merge("configuration" if before is None else "revert")
    if before == after:
        return Merge("continuation", after) if is_open(latest) else Merge("configuration")
    if goes_back and environment_commit != after:
        return Merge("revert")
    return Merge("promotion", after)


def meaning_of_state(
    tracked: str | None, *, environment_commit: str | None, latest: CommitStatus | None
) -> Merge:
    """Return the meaning of a merge of which nobody has told the change of the tracking file.

    `tracked` is the promoted commit that the file names after the merge. `environment_commit` and
    `latest` are as in `meaning_of_push`. A commit that its environment has left, or that was
    deployed before, is not promoted again: a promotion of the present commit goes on.
    """
    if tracked is None or is_deployed(latest):
        return Merge("configuration")
    if tracked == environment_commit:
        return Merge("promotion", tracked)
    if is_open(latest) and not has_ended(latest):
        return Merge("promotion", tracked)
    return Merge("revert", tracked)


def most_important(meanings: Iterable[Merge]) -> Merge | None:
    """Return the meaning that counts if a push changes several trees of an environment."""
    order = ("promotion", "continuation", "revert", "configuration")
    return min(meanings, key=lambda merge: order.index(merge.kind), default=None)
