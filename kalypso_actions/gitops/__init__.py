"""Rendered files × the existing tree → the proposed tree and its changes.

provenance.py     .github/tracking/sources.json
proposal.py       what a run wants to stand in the tree
changes.py        the proposal held against the existing tree
"""

from kalypso_actions.gitops.changes import compute_changes, mass_removal
from kalypso_actions.gitops.proposal import Kept, Proposal, gitops_folder, tree_files
from kalypso_actions.gitops.provenance import (
    PreviousSources,
    SourcesFile,
    read_sources,
    sources_file,
)

__all__ = [
    "Kept",
    "PreviousSources",
    "Proposal",
    "SourcesFile",
    "compute_changes",
    "gitops_folder",
    "mass_removal",
    "read_sources",
    "sources_file",
    "tree_files",
]
