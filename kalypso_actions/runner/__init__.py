"""The interface to GitHub Actions' runner: annotations, outputs, step summary, masks.

workflow_commands  workflow commands on standard output: annotations and masks
files        the files that GITHUB_OUTPUT, GITHUB_STEP_SUMMARY and GITHUB_PATH name
job          the job's context: event, repository, ref, commit, attempt
runner       all of these as one object, which does nothing outside of GitHub Actions
"""

from kalypso_actions.runner.files import read_file, write_files
from kalypso_actions.runner.job import JobContext, read_job_context
from kalypso_actions.runner.runner import Runner

__all__ = ["JobContext", "Runner", "read_file", "read_job_context", "write_files"]
