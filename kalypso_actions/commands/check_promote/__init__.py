"""Wait until the clusters of an environment comply with a merge, then promote its commit.

command           the order of the steps: verify, watch, judge, promote
verify_request    compare the inputs with the repositories before the run writes anything
watch             read the branches and the clusters' reports repeatedly
followed_branch   one GitOps branch while the run waits for its clusters
deleted_clusters  clusters that no longer exist, although their reports still do
other_urls        clusters that follow a GitOps branch by another URL
branch_tree       the head of a GitOps branch, and the tree of a commit
status            the deployment status of the promoted commit
recorded_numbers  the numbers of clusters that `kalypso status` shows
progress_log      the log of the waiting: the changes since the last look
"""

from kalypso_actions.commands.check_promote.command import check_promote

__all__ = ["check_promote"]
