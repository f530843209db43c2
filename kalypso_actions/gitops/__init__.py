"""Rendered files × the existing tree → the proposed tree and its changes.

provenance.py     .github/tracking/sources.json
proposal.py       what a run wants to stand in the tree
keeping.py        what stays as it is, because it is not known what there should be
own_files.py      which files of a tree are ours
changes.py        the proposal held against the existing tree
digest.py         the mark by which a proposal is known again
history.py        what stands in a branch, held against an earlier proposal
branches.py       what our branches are called
decision.py       what becomes of a proposal: a pull request, another state of one, or none
"""

from kalypso_actions.gitops.branches import own_branches
from kalypso_actions.gitops.changes import compute_changes, mass_removal
from kalypso_actions.gitops.decision import Decision, Earlier, Proposed, decide
from kalypso_actions.gitops.digest import digest, digest_of, with_trailer
from kalypso_actions.gitops.history import (
    changes_under,
    fits,
    kept_files,
    only_tracks,
    stands,
    tracked_commit,
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

__all__ = [
    "Decision",
    "Earlier",
    "Keeper",
    "Kept",
    "PreviousSources",
    "Proposal",
    "Proposed",
    "SourcesFile",
    "changes_own",
    "changes_under",
    "compute_changes",
    "contradicts",
    "decide",
    "digest",
    "digest_of",
    "fits",
    "gitops_folder",
    "is_of_another",
    "kept_files",
    "mass_removal",
    "only_tracks",
    "own_branches",
    "previous_sources",
    "read_sources",
    "sources_file",
    "stands",
    "tracked_commit",
    "tree_files",
    "with_trailer",
]
