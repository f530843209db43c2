"""Compare rendered files with the tree of a GitOps branch, and decide what to propose.

changes = compute_changes(desired_tree, base_tree)
proposed = propose(changes, base_tree, environment, promoted_commit)
decide(proposed, open_proposal, restrictions, force=False)
"""
