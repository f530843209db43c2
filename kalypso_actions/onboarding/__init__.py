"""Set up two repositories as a control plane and its GitOps repository.

plans = plan_branches(setup, states, starter, workflows, base_repo_text)   # `branches`
tasks = remaining_tasks(setup, facts, app_permissions)                     # `open_tasks`
"""
