"""A runner of workflow files, for the events of a sandbox.

    runner = WorkflowRunner(sandbox, clock, variables, secrets, folder, execute)
    for run in runner.pending_runs():
        runner.run(run)

`execute` runs one step of a job; the demo's runs Kalypso's command in this process.
"""
