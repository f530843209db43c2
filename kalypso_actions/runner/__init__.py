"""The interface to GitHub Actions' runner: annotations, outputs, step summary, masks.

workflow_commands  workflow commands on standard output: annotations and masks
files        the files behind GITHUB_OUTPUT, GITHUB_STEP_SUMMARY and GITHUB_PATH
job          what the runner says of the job: event, repository, ref, commit, attempt
runner       all of it as one object, which is silent outside of GitHub Actions
"""

from kalypso_actions.runner.files import read_file, write_files
from kalypso_actions.runner.job import JobContext, read_job_context
from kalypso_actions.runner.runner import Runner

__all__ = ["JobContext", "Runner", "read_file", "read_job_context", "write_files"]
