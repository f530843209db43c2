"""Modules that several commands share.

context               clients, clock and log of a command of the promotion chain
run                   run a command as in a job: inputs in, outputs and summary out
extras                extras that a job installs when a command first needs one
result                document, page and failure of a command
local                 the readers of a command on a person's machine
hook                  a command of the user before or after a deployment
dispatch              start workflows, and record each start
labels                labels of our issues and pull requests
environment_branch    an environment's branch: read it, write another promoted commit
environment_history   the promoted commits that an environment has had
gitops_branches       the GitOps branches of an environment, and their promoted commits
schedule_inputs       the inputs of schedule as they are now: heads, tree ids, open pull requests
cluster_reports       the source of cluster reports that the inputs choose
workflow_templates    the workflows that people copy into their repositories
"""
