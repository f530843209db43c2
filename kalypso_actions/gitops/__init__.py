"""Rendered files × the existing tree → the proposed tree and its changes.

provenance.py     .github/tracking/sources.json
proposal.py       what a run wants to stand in the tree
changes.py        the proposal held against the existing tree
digest.py         the mark by which a proposal is known again
decision.py       what becomes of a proposal: a pull request, another state of one, or none
"""

from kalypso_actions.gitops.changes import compute_changes, mass_removal
from kalypso_actions.gitops.decision import Decision, Earlier, Proposed, decide
from kalypso_actions.gitops.digest import digest, digest_of, with_trailer
from kalypso_actions.gitops.proposal import Kept, Proposal, gitops_folder, tree_files
from kalypso_actions.gitops.provenance import (
    PreviousSources,
    SourcesFile,
    read_sources,
    sources_file,
)

__all__ = [
    "Decision",
    "Earlier",
    "Kept",
    "PreviousSources",
    "Proposal",
    "Proposed",
    "SourcesFile",
    "compute_changes",
    "decide",
    "digest",
    "digest_of",
    "gitops_folder",
    "mass_removal",
    "read_sources",
    "sources_file",
    "tree_files",
    "with_trailer",
]
