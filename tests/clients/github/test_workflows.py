from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.clients.github import GitHubError, GitHubServer, workflows
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.github import WorkflowRun
from tests.clients.github.scripted_github import LOST, REPOSITORY, Step, conversation, refusal

POST = "POST /actions/workflows/cd.yaml/dispatches"
STARTED: Step = (POST, 204, None)
RUN: Step = (
    POST,
    200,
    {
        "workflow_run_id": 42,
        "run_url": "https://api.github.com/repos/acme/fleet/actions/runs/42",
        "html_url": "https://github.com/acme/fleet/actions/runs/42",
    },
)
UNKNOWN = refusal('Invalid request.\n\n"return_run_details" is not a permitted key.')
ENTERPRISE = GitHubServer("https://ghes.example/api/v3", "https://ghes.example")

PLAIN = {"ref": "main", "inputs": {"environment": "dev"}}
ASKING = {**PLAIN, "return_run_details": True}


def dispatch(github: Any, inputs: dict[str, str] | None = None) -> WorkflowRun | None:
    return workflows.dispatch(
        github, REPOSITORY, "cd.yaml", ref="main", inputs=inputs or {"environment": "dev"}
    )


def test_the_run_is_named_where_the_server_names_it() -> None:
    with conversation(RUN) as recorded:
        assert dispatch(recorded.github) == WorkflowRun(
            42, "https://github.com/acme/fleet/actions/runs/42"
        )
        assert recorded.bodies("POST") == [ASKING]


def test_a_server_that_ignores_the_question_is_asked_again() -> None:
    with conversation(STARTED, RUN) as recorded:
        assert dispatch(recorded.github) is None
        assert dispatch(recorded.github) is not None
        assert recorded.bodies("POST") == [ASKING, ASKING]


@pytest.mark.parametrize(
    ("status", "body"), [(400, UNKNOWN), (422, UNKNOWN), (400, refusal("Bad Request"))]
)
def test_a_server_that_refuses_the_question_is_not_asked_again(status: int, body: Any) -> None:
    steps: list[Step] = [(POST, status, body), STARTED, STARTED]
    with conversation(*steps, server=ENTERPRISE) as recorded:
        assert dispatch(recorded.github) is None
        assert dispatch(recorded.github) is None
        assert recorded.bodies("POST") == [ASKING, PLAIN, PLAIN]


def test_a_dispatch_that_fails_without_the_question_leaves_it_open() -> None:
    bad = refusal("Bad Request")
    with conversation((POST, 400, bad), (POST, 400, bad), RUN) as recorded:
        with pytest.raises(GitHubError, match="Bad Request"):
            dispatch(recorded.github)
        assert dispatch(recorded.github) is not None


@pytest.mark.parametrize(("status", "times"), [(LOST, 1), (502, 1), (500, 1)])
def test_a_start_that_may_have_happened_is_not_repeated(status: Any, times: int) -> None:
    with conversation(*[(POST, status, None)] * times) as recorded:
        with pytest.raises(GitHubError) as caught:
            dispatch(recorded.github)
        assert recorded.slept == []
    assert caught.value.uncertain
    assert "may have been started" in caught.value.problem.advice


def test_a_start_that_did_not_happen_is_repeated() -> None:
    with conversation((POST, 429, refusal("too many requests")), RUN) as recorded:
        assert dispatch(recorded.github) is not None


@pytest.mark.parametrize(
    ("status", "message", "advice"),
    [
        (404, "Not Found", "commit .github/workflows/cd.yaml to the default branch of acme/fleet"),
        (
            422,
            "Workflow does not have 'workflow_dispatch' trigger",
            "add `on: workflow_dispatch` to .github/workflows/cd.yaml on the branch main",
        ),
        (422, 'Unexpected inputs provided: ["environment"]', "declare these inputs in .github"),
        (422, "Required input 'commit' not provided", "compare the inputs of .github/workflows"),
        (422, "No ref found for: main", "create the branch main in acme/fleet"),
        (
            422,
            "Cannot trigger a 'workflow_dispatch' on a disabled workflow",
            "enable the workflow cd.yaml",
        ),
    ],
)
def test_a_refusal_says_which_file_needs_what(status: int, message: str, advice: str) -> None:
    refused: Step = (POST, status, refusal(message))
    with conversation(refused) as recorded, pytest.raises(GitHubError) as caught:
        dispatch(recorded.github)
    problem = caught.value.problem
    assert problem.message.startswith("the workflow cd.yaml cannot be started on main")
    assert message in problem.message
    assert advice in problem.advice


@pytest.mark.parametrize(
    ("server", "inputs", "message"),
    [
        (GitHubServer(), {str(n): "" for n in range(26)}, "26 inputs.* accepts 25: 0, 1, 2"),
        (ENTERPRISE, {str(n): "" for n in range(11)}, "11 inputs.* accepts 10"),
        (GitHubServer(), {"a": "x" * 65_535}, "have 65544 characters"),
    ],
)
def test_inputs_that_github_does_not_take_are_not_sent(
    server: GitHubServer, inputs: dict[str, str], message: str
) -> None:
    with (
        conversation(server=server) as recorded,
        pytest.raises(KalypsoError, match=message) as caught,
    ):
        dispatch(recorded.github, inputs)
    assert str(caught.value.problem.where) == "acme/fleet: .github/workflows/cd.yaml"


@pytest.mark.parametrize(
    ("server", "inputs"),
    [
        (GitHubServer(), {str(n): "" for n in range(25)}),
        (ENTERPRISE, {str(n): "" for n in range(10)}),
        (GitHubServer(), {"a": "x" * 65_526}),
    ],
)
def test_as_many_inputs_as_github_takes(server: GitHubServer, inputs: dict[str, str]) -> None:
    with conversation(RUN, server=server) as recorded:
        dispatch(recorded.github, inputs)
        assert recorded.bodies("POST")[0]["inputs"] == inputs
