"""The rules that decide, from values alone, which action a proposed tree needs.

People have the last word: Kalypso does not propose a tree again that they rejected.
`commands.schedule.reading` reads the values from GitHub.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from kalypso_actions.gitops.proposed_commit import only_tracks, tracked_commit, tree_digest
from kalypso_actions.gitops.provenance import contradicts, is_of_another
from kalypso_actions.gitops.rejections import Restrictions
from kalypso_actions.model.tree import BaseTree, TreeChanges

Action = Literal["none", "withdraw", "create", "update", "leave", "stop", "wait"]

READY: Final = frozenset({"clean", "unstable", "has_hooks"})
"""The merge states in which GitHub can merge a pull request.

https://docs.github.com/graphql/reference/enums#mergestatestatus
"""


@dataclass(frozen=True, slots=True)
class ProposedTree:
    """The tree that this run proposes for one GitOps branch.

    `has_changes`: the tree differs from the branch in more than `sources.json`. `is_promotion`: the
    tree names another promoted commit than the branch, which names `branch_promoted_commit` now.
    """

    digest: str
    has_changes: bool
    promoted_commit: str | None
    branch_promoted_commit: str | None
    is_promotion: bool = False

    @property
    def continues(self) -> bool:
        """Whether the branch names the commit of main already that the tree names."""
        return self.promoted_commit == self.branch_promoted_commit


@dataclass(frozen=True, slots=True)
class OpenProposal:
    """The proposal on our branch. It `fits` if the GitOps branch has not changed the same files.

    `parent` is the commit of the GitOps branch below it, "" for a merge commit.
    """

    digest: str | None
    promoted_commit: str | None
    fits: bool = True
    parent: str = ""


@dataclass(frozen=True, slots=True)
class ProposalDecision:
    """The action and its reason. For `again` and `hold` see `Restrictions`.

    none      no difference, no open pull request
    withdraw  no difference any more: close our open pull request
    create    open a pull request
    update    give our open pull request the new tree
    leave     our open pull request proposes exactly this tree
    stop      people rejected exactly this tree: close a pull request that proposes another one
    wait      a freeze or hold: propose nothing, and leave our open pull request as it is
    """

    action: Action
    reason: str = ""
    again: tuple[int, ...] = ()
    hold: str = ""


def held(decision: ProposalDecision, reason: str, *, force: bool) -> ProposalDecision:
    """Return the decision while a freeze or hold of the environment applies, for this reason.

    Nothing is proposed without `force`, which only people give, and nothing is merged
    automatically.
    """
    if not reason:
        return decision
    if decision.action in {"create", "update"} and not force:
        return ProposalDecision("wait", reason, decision.again, reason)
    return replace(decision, hold=decision.hold or reason)


def propose(
    changes: TreeChanges, base: BaseTree, environment: str, promoted_commit: str | None
) -> ProposedTree:
    """Return the proposal that `changes` make for the branch with the tree `base`."""
    branch_promoted_commit = tracked_commit(base.promoted_commit)
    # A branch that was cut from another environment's branch still names the commit of that
    # environment.
    is_new = is_of_another(base.sources, environment)
    # check-promote does not believe a tracking file that disagrees with `sources.json`.
    is_incomplete = branch_promoted_commit == promoted_commit is not None and contradicts(
        base.sources, environment, promoted_commit
    )
    changed = bool(changes.added or changes.modified or changes.deleted)
    differs = is_new or base.promoted_commit != (promoted_commit or "").encode()
    return ProposedTree(
        digest=tree_digest(changes, base),
        has_changes=changed or is_new or is_incomplete,
        promoted_commit=promoted_commit or branch_promoted_commit,
        branch_promoted_commit=branch_promoted_commit,
        is_promotion=promoted_commit is not None and differs,
    )


def decide(
    proposal: ProposedTree,
    open_proposal: OpenProposal | None,
    restrictions: Restrictions,
    *,
    force: bool,
) -> ProposalDecision:
    """Decide what to do about a proposal. With `force`, propose rejected content again."""
    if not proposal.has_changes:
        action: Action = "withdraw" if open_proposal else "none"
        return ProposalDecision(action, "the branch has all of this already")
    is_open = open_proposal is not None and (
        (open_proposal.digest, open_proposal.promoted_commit)
        == (proposal.digest, proposal.promoted_commit)
    )
    again, hold = restrictions.again, restrictions.hold
    # If a rejected tree is open, somebody reopened or forced it.
    if restrictions.rejected and not (force or is_open):
        return ProposalDecision("stop", restrictions.rejected, again, hold)
    if open_proposal is None:
        return ProposalDecision("create", "", again, hold)
    if is_open and open_proposal.fits:
        return ProposalDecision("leave", "nothing has changed since", again, hold)
    return ProposalDecision("update", "", again, hold)


def auto_merge(
    option: Literal["none", "tracking-only", "always"], changes: TreeChanges, folder: str
) -> str:
    """Return the option if it asks for an automatic merge of `changes`; "" otherwise."""
    is_asked = option == "always" or (option == "tracking-only" and only_tracks(changes, folder))
    return option if is_asked else ""


def ends_auto_merge(decision: ProposalDecision | None, *, merges: bool, is_own: bool) -> bool:
    """Whether schedule must disable GitHub's auto-merge of our open pull request.

    `decision` is about this pull request (None: the environment is blocked). `merges`: schedule
    would merge the pull request. GitHub keeps auto-merge enabled after later pushes, but must not
    merge new content or content that schedule would not merge. An auto-merge that people enabled
    (not `is_own`) ends when the content differs from the content that they saw.
    """
    if decision is not None and decision.action != "leave":
        return True
    return is_own and not (decision is not None and merges)


def why_schedule(
    *,
    base_head: str,
    mergeable: bool | None,
    merge_state: str,
    auto_merge: bool,
    tried: tuple[str, str] | None,
) -> str:
    """Return the reason to process an open pull request again; "" without one.

    `base_head` is the head of the pull request's base branch. `auto_merge`: schedule merges the
    pull request. `tried` is the head of the base branch at the last refused merge, and the merge
    state then: schedule tries each state once. GitHub returns None for `mergeable` until it knows.
    """
    is_tried = tried is not None and tried[0] == base_head
    if mergeable is False:
        return "" if is_tried else "conflicts with its branch"
    if not auto_merge:
        return ""
    if tried is None or not is_tried:
        return "is ready for a merge"
    is_ready, was_ready = merge_state in READY, tried[1] in READY
    return "can be merged now" if is_ready and not was_ready else ""
