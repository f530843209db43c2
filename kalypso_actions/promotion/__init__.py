"""The rules by which a commit of main passes through the environments.

lifecycle        the states of a commit in an environment, and every event; all others follow it
environments     the first environments, and the next ones
base_branch      the promoted commit that an environment branch names
base_repo        the text of base-repo.yaml with another promoted commit
cd_decision      the decision of cd about a commit: write it, leave it, or refuse it
rollbacks        the commits that people have rolled back
regressions      the faults that a commit causes, apart from those that an environment had before
merges           the meaning of a push to a GitOps branch: a promotion, a continuation, or neither
requests         whether the repositories confirm the inputs of check-promote
run_verdict      the verdicts on all GitOps branches of an environment → that of the run, or none
statuses         the commit statuses, and when they are posted
starts           the workflows that a command starts
start_records    the statuses that record the start of a workflow
lost_starts      whether a recorded start was lost, and whether poll repeats it
schedule_runs    whether schedule has to run, and whether a run may end at once
schedule_inputs_digest  the digest of all inputs of a run of schedule
tree_records     the statuses that record the trees that schedule has written
arrival          the order in which a commit arrives in environments
pipeline         the state of each environment at one moment, and its waits
previewed_pull_requests  the pull request of a preview that could not comment
"""
