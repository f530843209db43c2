"""The verdicts on all branches of an environment (`compliance.assessment`) → that of the run.

A promotion is a commit of main in an environment, which may have several GitOpsRepos. It is
complete when the branches of all of them name the commit and their clusters comply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kalypso_actions.model.github import Relation
from kalypso_actions.model.verdicts import FAILURES, GOES_ON, Verdict


@dataclass(frozen=True, slots=True)
class BranchVerdict:
    """The verdict on the clusters of one GitOps branch, and the reason.

    is_own  the run was started for this branch
    holds   the branch names the promoted commit (for a configuration change: the same as before)
    """

    name: str
    is_own: bool
    holds: bool
    verdict: Verdict = "waiting"
    reason: str = ""

    @property
    def complies(self) -> bool:
        """Whether the run need not wait for this branch."""
        return self.holds and self.verdict in GOES_ON


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The verdict of a run, and the reason in one line."""

    verdict: Verdict
    reason: str

    @property
    def is_failure(self) -> bool:
        """Whether the run fails."""
        return self.verdict in FAILURES

    @property
    def goes_on(self) -> bool:
        """Whether the commit goes on to the next environments."""
        return self.verdict in GOES_ON


@dataclass(frozen=True, slots=True)
class Superseded:
    """Another commit came to a branch: a newer one, or an older one came back.

    `by` is the commit that the branch names now; "" if it names none. `source` is the branch or
    file that names it.
    """

    by: str
    goes_back: bool
    source: str = "the branch"

    @property
    def reason(self) -> str:
        """The reason of the verdict `superseded`."""
        by = self.by[:7] or "none"
        if self.goes_back:
            return f"{self.source} went back: it names {by}"
        return f"{self.source} names {by} by now"


def holds(
    expected: str | None, promoted_commit: str | None, *, is_own: bool, contradicted: bool
) -> bool:
    """Return whether a branch that names `promoted_commit` holds the `expected` commit of main.

    `contradicted`: its `sources.json` names another commit. On the run's own branch, where
    the request was verified, a person may change the tracking file without `sources.json`.
    """
    return promoted_commit == expected and (is_own or not contradicted)


def superseded(
    expected: str | None, promoted_commit: str | None, relation: Relation | None, *, is_own: bool
) -> Superseded | None:
    """Return the commit that ends a promotion because a branch names `promoted_commit` now.

    `relation` is the relation of this commit to the expected one on main: None if main does not
    have it. The branch of another GitOpsRepo may still name an older commit, which decides nothing;
    only a descendant of the expected commit decides.
    """
    if promoted_commit == expected or (not is_own and relation != "ahead"):
        return None
    goes_back = promoted_commit is None or relation == "behind"
    return Superseded(promoted_commit or "", goes_back=goes_back)


def run_verdict(branches: Sequence[BranchVerdict], *, timed_out: bool) -> RunVerdict | None:
    """Return the verdict of a run; None while it is open.

    A branch that fails decides for the environment, whether or not it is the run's own. The run
    waits for other branches that hold the commit and do not comply yet. If only they do not comply
    when the time is up, this run does not fail, but the run of their own merge does.
    """
    for failure in ("failed", "none-targeted"):
        for branch in branches:
            if branch.holds and branch.verdict == failure:
                return RunVerdict(failure, _reasons([branch], branches))
    open_branches = [branch for branch in branches if branch.is_own and not branch.complies]
    if open_branches:
        return RunVerdict("timed-out", _reasons(open_branches, branches)) if timed_out else None
    without = [branch.name for branch in branches if not branch.holds]
    if without:
        return RunVerdict("waiting", f"{', '.join(without)} does not hold the commit yet")
    open_branches = [branch for branch in branches if not branch.complies]
    if open_branches:
        return RunVerdict("waiting", _reasons(open_branches, branches)) if timed_out else None
    if all(branch.verdict == "nothing-scheduled" for branch in branches):
        reason = "no deployment target is assigned to a cluster type"
        return RunVerdict("nothing-scheduled", reason)
    return RunVerdict("compliant", _reasons(branches, branches))


def _reasons(some: Sequence[BranchVerdict], branches: Sequence[BranchVerdict]) -> str:
    """Return the reasons of some branches, each with the branch's name if there are several."""
    if len(branches) == 1:
        return some[0].reason
    return "; ".join(f"{branch.name}: {branch.reason}" for branch in some)
