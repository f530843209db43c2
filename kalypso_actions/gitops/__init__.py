"""Rendered files × the existing tree → the proposed tree and its changes.

provenance.py     .github/tracking/sources.json
proposal.py       what a run wants to stand in the tree
keeping.py        what stays as it is, because it is not known what there should be
own_files.py      which files of a tree are ours
changes.py        the proposal held against the existing tree
digest.py         the mark by which a proposal is known again
history.py        what stands in a branch, held against an earlier proposal
taken_out.py      the content that people took out of a branch after our merges
closing.py        whether people have closed a pull request
rejections.py     the proposal held against what people took out or closed
wishes.py         whether people have changed the inputs of a tree since
branches.py       what our branches are called
decision.py       what becomes of a proposal: a pull request, another state of one, or none
"""

from kalypso_actions.gitops.branches import own_branches
from kalypso_actions.gitops.changes import compute_changes, mass_removal
from kalypso_actions.gitops.closing import closed_by_people
from kalypso_actions.gitops.decision import Decision, OpenProposal, Proposed, decide
from kalypso_actions.gitops.digest import digest, digest_of, with_trailer
from kalypso_actions.gitops.history import (
    changed_content,
    changes_under,
    fits,
    kept_files,
    only_tracks,
    tracked_commit,
    wanted_content,
)
from kalypso_actions.gitops.keeping import Keeper
from kalypso_actions.gitops.own_files import changes_own
from kalypso_actions.gitops.proposal import Kept, Proposal, gitops_folder, tree_files
from kalypso_actions.gitops.provenance import (
    PreviousSources,
    SourcesFile,
    contradicts,
    is_of_another,
    previous_sources,
    read_sources,
    sources_file,
)
from kalypso_actions.gitops.rejections import (
    ClosedProposal,
    Rejected,
    Verdict,
    numbers,
    rejected,
)
from kalypso_actions.gitops.taken_out import Past, Rejection, read_past, without_merges
from kalypso_actions.gitops.wishes import environment_changed, sources_changed

__all__ = [
    "ClosedProposal",
    "Decision",
    "Keeper",
    "Kept",
    "OpenProposal",
    "Past",
    "PreviousSources",
    "Proposal",
    "Proposed",
    "Rejected",
    "Rejection",
    "SourcesFile",
    "Verdict",
    "changed_content",
    "changes_own",
    "changes_under",
    "closed_by_people",
    "compute_changes",
    "contradicts",
    "decide",
    "digest",
    "digest_of",
    "environment_changed",
    "fits",
    "gitops_folder",
    "is_of_another",
    "kept_files",
    "mass_removal",
    "numbers",
    "only_tracks",
    "own_branches",
    "previous_sources",
    "read_past",
    "read_sources",
    "rejected",
    "sources_changed",
    "sources_file",
    "tracked_commit",
    "tree_files",
    "wanted_content",
    "with_trailer",
    "without_merges",
]
