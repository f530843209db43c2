"""Wait until the clusters of an environment comply with a merge, then promote its commit.

command          the order of things: verify, watch, judge, go on
verify_request   hold the inputs against the repositories before anything is written
watch            read the clusters' reports again and again
followed_branch  a GitOps branch while its clusters are watched
status           the deployment status of the promoted commit
"""

from kalypso_actions.commands.check_promote.command import check_promote

__all__ = ["check_promote"]
