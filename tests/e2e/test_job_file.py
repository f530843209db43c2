"""A workflow file with one of its jobs."""

from __future__ import annotations

import pytest
import yaml

from tests.e2e.job_file import alone

FILE = b"""\
on:
  workflow_dispatch:
    inputs:
      environment: {required: true, type: string}
permissions: {}
jobs:
  verify:
    runs-on: ubuntu-latest
    steps: [{run: "true"}]
  deploy:
    needs: verify
    if: needs.verify.outputs.waiting-for == ''
    environment: ${{ inputs.environment }}
    runs-on: ubuntu-latest
    steps: [{run: "echo $A", env: {A: "yes"}}]
"""


def test_all_of_the_file_stays_but_the_other_jobs() -> None:
    written = yaml.load(alone(FILE, "deploy"), yaml.BaseLoader)
    expected = yaml.load(FILE, yaml.BaseLoader)
    del expected["jobs"]["verify"], expected["jobs"]["deploy"]["needs"]
    del expected["jobs"]["deploy"]["if"]
    assert written == expected
    assert list(written) == list(expected)


def test_a_job_that_needs_outputs_of_another_is_refused() -> None:
    file = FILE.replace(b"echo $A", b"echo ${{ needs.verify.outputs.commit }}")
    with pytest.raises(ValueError, match="the job deploy uses outputs of others"):
        alone(file, "deploy")
    needs = {"verify": {"outputs": {"commit": "4c1f0d2"}, "result": "success"}}
    written = yaml.load(alone(file, "deploy", needs=needs), yaml.BaseLoader)
    assert written["jobs"]["deploy"]["steps"][0]["run"] == "echo 4c1f0d2"


def test_a_condition_on_the_event_stays() -> None:
    condition = "github.event_name == 'push'"
    file = FILE.replace(b"needs.verify.outputs.waiting-for == ''", condition.encode())
    written = yaml.load(alone(file, "deploy"), yaml.BaseLoader)
    assert written["jobs"]["deploy"]["if"] == condition
