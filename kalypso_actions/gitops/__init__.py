"""Compare rendered files with the tree of a GitOps branch, and decide what to propose.

desired_tree          the files that a run wants, and the folders that it leaves alone
provenance            `.github/tracking/sources.json`
placement_record      `.github/tracking/placements.json`
run_sources           the content of that file for a run
own_files             the files of a tree that belong to Kalypso
changes               the differences between the desired tree and the branch
mass_removals         the removal of many assignments at once
comparison            an earlier proposal compared with the branch
proposed_commit       the files and the message of the commit that proposes a tree
proposal_digest       the digest by which a later run recognizes a proposal
merge_history         the content that others removed after our merges
rejections            the content that people rejected
edits_since_proposal  whether somebody edited the sources of a tree since it was made
branches              the names of our branches
proposal_decision     open, update or close a pull request, or do nothing
"""

from kalypso_actions.gitops.branches import (
    duplicate_gitops_repos,
    may_be_own_branch,
    own_branches,
)
from kalypso_actions.gitops.changes import compute_changes
from kalypso_actions.gitops.comparison import (
    changed_content,
    changes_under,
    fits,
    only_tracks,
    preserved_files,
    tracked_commit,
    wanted_content,
)
from kalypso_actions.gitops.desired_tree import (
    DesiredTree,
    PreservedFolders,
    preserved_folders,
    tree_files,
)
from kalypso_actions.gitops.edits_since_proposal import environment_changed, sources_changed
from kalypso_actions.gitops.mass_removals import is_blocked, mass_removal
from kalypso_actions.gitops.merge_history import (
    MergeHistory,
    Rejection,
    read_merge_history,
    without_merges,
)
from kalypso_actions.gitops.own_files import changes_own, record_paths, touches
from kalypso_actions.gitops.placement_record import (
    assigned_cluster_types,
    placements_file,
    recorded_placements,
)
from kalypso_actions.gitops.proposal_decision import (
    OpenProposal,
    ProposalDecision,
    ProposedTree,
    auto_merge,
    decide,
    ends_auto_merge,
    propose,
    why_schedule,
)
from kalypso_actions.gitops.proposal_digest import digest, digest_of, with_trailer
from kalypso_actions.gitops.proposed_commit import commit_message, committed_files
from kalypso_actions.gitops.provenance import (
    InputsRecord,
    PreviousSources,
    SourcesFile,
    becomes_credible,
    contradicts,
    is_of_another,
    previous_sources,
    read_sources,
    sources_file,
    tree_id,
)
from kalypso_actions.gitops.rejections import (
    ClosedProposal,
    RejectedContent,
    Restrictions,
    closed_by_people,
    numbers,
    rejected_content,
)
from kalypso_actions.gitops.run_sources import run_sources

__all__ = [
    "ClosedProposal",
    "DesiredTree",
    "InputsRecord",
    "MergeHistory",
    "OpenProposal",
    "PreservedFolders",
    "PreviousSources",
    "ProposalDecision",
    "ProposedTree",
    "RejectedContent",
    "Rejection",
    "Restrictions",
    "SourcesFile",
    "assigned_cluster_types",
    "auto_merge",
    "becomes_credible",
    "changed_content",
    "changes_own",
    "changes_under",
    "closed_by_people",
    "commit_message",
    "committed_files",
    "compute_changes",
    "contradicts",
    "decide",
    "digest",
    "digest_of",
    "duplicate_gitops_repos",
    "ends_auto_merge",
    "environment_changed",
    "fits",
    "is_blocked",
    "is_of_another",
    "mass_removal",
    "may_be_own_branch",
    "numbers",
    "only_tracks",
    "own_branches",
    "placements_file",
    "preserved_files",
    "preserved_folders",
    "previous_sources",
    "propose",
    "read_merge_history",
    "read_sources",
    "record_paths",
    "recorded_placements",
    "rejected_content",
    "run_sources",
    "sources_changed",
    "sources_file",
    "touches",
    "tracked_commit",
    "tree_files",
    "tree_id",
    "wanted_content",
    "why_schedule",
    "with_trailer",
    "without_merges",
]
