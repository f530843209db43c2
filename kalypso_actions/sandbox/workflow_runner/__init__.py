"""A runner of workflow files, for the events of a sandbox.

runs             run what events have started, as GitHub Actions would
workflow_files   which workflows an event starts
expressions      `${{ }}` in them
machine          what a job gets: its token, its variables
job_log          the log of a step
clock            time that passes at once
"""
