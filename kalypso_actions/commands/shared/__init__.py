"""Modules that several commands share.

context               clients, clock and log of a command of the promotion chain
run                   run a command as in a job: inputs in, outputs and summary out
extras                extras that a job installs when a command first needs one
result                document, page and failure of a command
local_context         the readers of a command on a person's machine
current_clone         the clone of a control plane that contains the current folder
control_plane_place   the control plane that diff reads
trusted_repositories  the repositories that a run reads with its own credentials
repository_visibility whether GitHub shows a repository to everybody
hook                  a command of the user before or after a deployment
dispatch              start workflows, and record each start
own_statuses          the statuses of a commit that the chain has posted
labels                labels of our issues and pull requests
environment_branch    an environment's branch: read it, write another promoted commit
environment_reading   read the branch of the environment that a person names
own_branch            an environment's own branch, to plan it with any commit of main
environment_history   the promoted commits that an environment has had
gitops_branches       the GitOps branches of an environment
gitops_trees          their trees at a commit, and their promoted commits
base_trees            the same branches, as far as they can be read
tree_records          the ids of the trees that schedule has written
branch_writes         write commits to branches, by git or by GitHub
local_commits         commit to a branch of a repository on this machine
auto_merge            disable GitHub's auto-merge of our pull requests
file_diffs            the diffs of a comparison's files
schedule_inputs       the inputs of schedule as they are now: heads, tree ids, open pull requests
cluster_reports       the source of cluster reports that the inputs choose
azure_resource_graph  ours: Azure Resource Graph
workflow_templates    the workflows that people copy into their repositories
"""
