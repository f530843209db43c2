"""Workflows, dispatches and repository dispatches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kalypso_sandbox.github.workflow_files import Input, parse
from tests.sandbox.api_client import ApiClient, hub

FILE = ".github/workflows/check.yaml"
DISPATCH = "actions/workflows/check.yaml/dispatches"
RUNS = "actions/workflows/check.yaml/runs"
CHECK = """\
name: Check
on:
  push:
  workflow_dispatch:
    inputs:
      commit: {required: true}
      timeout: {default: 30}
      size: {type: choice, options: [small, large]}
"""
TOO_MANY = "Invalid request.\n\nNo more than {} properties are allowed; {} were supplied."


def with_workflow(github: ApiClient, content: str = CHECK, branch: str = "main") -> str:
    return github.commit(branch, {FILE: content})


@pytest.mark.parametrize(
    ("content", "events"),
    [
        ("on: push", {"push"}),
        ("on: [push, workflow_dispatch]", {"push", "workflow_dispatch"}),
        ("on:\n  workflow_dispatch:\n", {"workflow_dispatch"}),
        ("'on': {push: {branches: [main]}}", {"push"}),
        ("jobs: {}", set()),
        ("on: 5", {"5"}),
        ("- a", set()),
        ("on: [", set()),
        ("", set()),
    ],
)
def test_the_triggers_of_a_workflow(content: str, events: set[str]) -> None:
    assert parse(FILE, content.encode()).triggers.keys() == events


def test_the_inputs_of_a_workflow() -> None:
    workflow = parse(FILE, CHECK.encode())
    assert workflow.name == "Check"
    assert workflow.inputs == {
        "commit": Input(required=True),
        "timeout": Input(default="30"),
        "size": Input(options=["small", "large"]),
    }


@pytest.mark.parametrize(
    ("run_name", "title"),
    [
        ("Take ${{ inputs.commit }} by ${{github.event_name}}", "Take abc by workflow_dispatch"),
        (">-\n  Take ${{ inputs.commit }}\n  now\n", "Take abc now"),
        ("${{ github.event.inputs.commit }}, ${{ inputs.size }}", "abc,"),
        ("${{ inputs.size }}", "Check"),
        ("${{ inputs.other }} ${{ a || b }}", "${{ inputs.other }} ${{ a || b }}"),
        ("", "Check"),
    ],
)
def test_the_title_of_a_run(github: ApiClient, run_name: str, title: str) -> None:
    with_workflow(github, f"{CHECK}run-name: {run_name}\n")
    body = {"ref": "main", "inputs": {"commit": "abc"}, "return_run_details": True}
    github.made("POST", DISPATCH, body)
    (run,) = github.made("GET", RUNS)["workflow_runs"]
    assert (run["name"], run["display_title"]) == ("Check", title)


def test_workflows_of_the_default_branch(github: ApiClient) -> None:
    with_workflow(github)
    github.commit("main", {".github/workflows/no.txt": "", ".github/workflows/b.yml": "on: push"})
    response = github.made("GET", "actions/workflows")
    assert [(workflow["path"], workflow["name"]) for workflow in response["workflows"]] == [
        (".github/workflows/b.yml", ".github/workflows/b.yml"),
        (FILE, "Check"),
    ]
    number = response["workflows"][1]["id"]
    assert github.made("GET", f"actions/workflows/{number}/runs") == github.made("GET", RUNS)


def test_a_run_is_started_and_named(github: ApiClient) -> None:
    commit = with_workflow(github)
    body = {"ref": "main", "inputs": {"commit": "abc"}, "return_run_details": True}
    response = github.made("POST", DISPATCH, body)
    (run,) = github.made("GET", RUNS)["workflow_runs"]
    assert run["id"] == response["workflow_run_id"]
    assert (run["url"], run["html_url"]) == (response["run_url"], response["html_url"])
    assert (run["head_branch"], run["head_sha"], run["path"]) == ("main", commit, FILE)
    assert (run["status"], run["conclusion"], run["run_number"]) == ("queued", None, 1)
    event = github.events("workflow_dispatch")[0]
    assert event.payload["inputs"] == {"commit": "abc", "timeout": "30", "size": ""}
    assert (event.payload["workflow"], event.ref, event.commit) == (FILE, "refs/heads/main", commit)


def test_a_run_is_named_only_on_request(github: ApiClient) -> None:
    with_workflow(github)
    answer = github.ask("POST", DISPATCH, {"ref": "main", "inputs": {"commit": "abc"}})
    assert (answer.status_code, answer.content) == (204, b"")
    assert len(github.repository.runs) == 1


def test_a_job_may_start_another(github: ApiClient) -> None:
    with_workflow(github)
    github.made("POST", DISPATCH, {"ref": "main", "inputs": {"commit": "a"}}, token=github.job)
    github.made("POST", "dispatches", {"event_type": "synced"}, token=github.job)
    assert [event.starts_workflows for event in github.events()[-2:]] == [True, True]


@pytest.mark.parametrize(
    ("ref", "inputs", "reason"),
    [
        ("nowhere", {}, "No ref found for: nowhere"),
        ("without", {}, "Workflow does not have 'workflow_dispatch' trigger"),
        ("quiet", {}, "Workflow does not have 'workflow_dispatch' trigger"),
        ("main", {}, "Required input 'commit' not provided"),
        ("main", {"commit": ""}, "Required input 'commit' not provided"),
        ("main", {"commit": "1", "x": "1", "y": "2"}, 'Unexpected inputs provided: ["x", "y"]'),
        ("main", {"commit": "1", "size": "huge"}, "Provided value 'huge' for input 'size' not in"),
        ("main", {"commit": ["1"]}, "Invalid request."),
        ("main", {"commit": "c" * 65_535}, "inputs are too large."),
        ("main", {str(number): "" for number in range(26)}, TOO_MANY.format(25, 26)),
    ],
)
def test_a_run_that_is_refused(
    github: ApiClient, ref: str, inputs: dict[str, Any], reason: str
) -> None:
    github.branch("without")
    with_workflow(github)
    github.branch("quiet", {FILE: "on: push\n"})
    missing = '422 Invalid request.\n\n"ref" wasn\'t supplied.'
    assert github.refused("POST", DISPATCH, {}) == missing
    body = {"ref": ref, "inputs": inputs}
    assert github.refused("POST", DISPATCH, body).startswith(f"422 {reason}")
    assert github.repository.runs == []
    assert github.events("workflow_dispatch") == []


def test_the_file_must_be_on_the_default_branch(github: ApiClient) -> None:
    github.branch("side")
    with_workflow(github, branch="side")
    body = {"ref": "side", "inputs": {"commit": "1"}}
    assert github.refused("POST", DISPATCH, body) == "404 Not Found"
    with_workflow(github, "on: push\n")
    github.made("POST", DISPATCH, body)


def test_other_values_become_texts(github: ApiClient) -> None:
    with_workflow(github)
    body = {"ref": "refs/heads/main", "inputs": {"commit": True, "timeout": 5}}
    github.made("POST", DISPATCH, body)
    assert github.repository.runs[0].inputs == {"commit": "true", "timeout": "5", "size": ""}


def test_an_enterprise_server_knows_no_details_and_fewer_inputs(tmp_path: Path) -> None:
    with hub(tmp_path, flavour="ghes") as github:
        with_workflow(github)
        body: dict[str, Any] = {"ref": "main", "inputs": {"commit": "1"}}
        refused = github.refused("POST", DISPATCH, {**body, "return_run_details": True})
        assert refused == '400 Invalid request.\n\n"return_run_details" is not a permitted key.'
        body["inputs"] |= {str(number): "" for number in range(10)}
        assert "No more than 10 properties are allowed" in github.refused("POST", DISPATCH, body)
        assert github.repository.runs == []


def test_runs_are_found(github: ApiClient) -> None:
    with_workflow(github)
    github.branch("side", at=github.head("main"))
    for ref in ("main", "side", "main"):
        github.made("POST", DISPATCH, {"ref": ref, "inputs": {"commit": "1"}})
    github.repository.runs[0].status = "completed"
    github.repository.runs[0].conclusion = "failure"
    ids = [run.id for run in github.repository.runs]

    def found(query: str) -> list[int]:
        runs = github.made("GET", f"{RUNS}?{query}")["workflow_runs"]
        return [ids.index(run["id"]) for run in runs]

    assert found("") == [2, 1, 0]
    assert found("branch=main&event=workflow_dispatch") == [2, 0]
    assert found("status=failure") == found("status=completed") == [0]
    assert found("status=in_progress") == []
    assert found("status=queued&actor=somebody") == [2, 1]
    assert found("head_sha=" + "0" * 40) == []


def test_a_repository_dispatch(github: ApiClient) -> None:
    payload = {"app": "a", "nested": {"list": [1]}}
    body = {"event_type": "kalypso-workload-changed", "client_payload": payload}
    github.made("POST", "dispatches", body)
    event = github.events("repository_dispatch")[0]
    assert event.payload["action"] == "kalypso-workload-changed"
    assert event.payload["client_payload"] == payload
    assert (event.ref, event.commit) == ("refs/heads/main", github.root)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"event_type": "e" * 101}, "Invalid request.\n\nevent_type is too long"),
        ({"client_payload": dict.fromkeys("abcdefghijk")}, TOO_MANY.format(10, 11)),
        ({"client_payload": []}, "Invalid request."),
        ({"client_payload": {"a": "b" * 65_535}}, "client_payload is"),
    ],
)
def test_invalid_repository_dispatches(
    github: ApiClient, body: dict[str, Any], reason: str
) -> None:
    missing = '422 Invalid request.\n\n"event_type" wasn\'t supplied.'
    assert github.refused("POST", "dispatches", {}) == missing
    refused = github.refused("POST", "dispatches", {"event_type": "e", **body})
    assert refused.startswith(f"422 {reason}")
    assert github.events() == []
