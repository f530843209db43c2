"""A runner of workflow files, for the events of a sandbox.

runs                 runs the workflows that events start, as GitHub Actions does
workflow_files       the workflows that an event starts
expressions          `${{ }}` in workflow files
runner_environment   the token and the variables of a job
job_log              the log of a step
artifacts            the artifacts of runs
clock                a clock that moves only when a program sleeps
"""
