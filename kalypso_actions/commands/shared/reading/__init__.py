"""Read everything that one run needs, once.

repositories          open repositories: given paths first, then the network
allowed_repositories  the repositories that a job may read
revision_reader       the documents of one revision
files_by_kind         the files that may hold objects of some kinds
document_reader       the documents of several repositories at once
environments          the Environment objects of main
control_plane         an environment branch with its base repositories
gathering             everything that an environment branch refers to
registrations         the registered repositories
registered_workloads  the registered repositories of given branches, as far as they can be read
rendered_registrations  a plan with the registrations that render
registration_faults   whether failing assignments are the fault of their registration
given_sources         warnings of a --source that replaces nothing
base_tree             the tree of a GitOps branch
gitops_state          a GitOps branch, our branch, and the commits of our proposals
past_proposals        our closed and merged pull requests
base_file             the file with the commit of main that an environment has
main_position         how far main is ahead of an environment
base_history          the commits of main that an environment had
"""
