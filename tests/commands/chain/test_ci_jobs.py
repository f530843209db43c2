"""`kalypso ci` in its jobs: after pushes, for pull requests, with few permissions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kalypso_actions.commands.ci import ci
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.chain import CiInputs
from kalypso_sandbox import Fault
from kalypso_sandbox.store import Permissions
from tests.commands.chain import documents
from tests.commands.chain.ci_runs import PUSH, cd, document, problems, run
from tests.commands.chain.killing import is_killed
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Job, Organisation

CONTEXT = "kalypso / ci"
BAD_TEMPLATE = documents.template("flux", "name: {{ .ConfigData.SIZE | atoi | div 1 0 }}\n")


@pytest.mark.parametrize(
    ("job", "start_cd", "started"),
    [
        (PUSH, "false", False),
        (Job("push", "refs/heads/wip"), "auto", False),
        (Job("push", repository=GITOPS), "auto", False),
        (Job("merge_group", "refs/heads/gh-readonly-queue/main/pr-1"), "auto", False),
        (Job("workflow_dispatch"), "true", True),
    ],
)
def test_when_cd_is_started(acme: Organisation, job: Job, start_cd: str, started: bool) -> None:
    commit = acme.commit({"notes.txt": "1"})
    result = run(acme, job=job, commit=commit, start_cd=start_cd, control_plane=CONTROL_PLANE)
    assert acme.dispatches() == ([cd(commit)] if started else [])
    assert document(result).environments == (("dev",) if started else ())
    assert acme.statuses(commit)[CONTEXT][0] == "success"


def pull_request(
    acme: Organisation, files: dict[str, str | bytes | None], branch: str = "wip"
) -> tuple[Job, str]:
    """Open a pull request with these files; return the job that GitHub runs, and its head."""
    acme.reset(branch, acme.head("main"))
    head = acme.commit(files, branch)
    number = acme.pull(branch)
    acme.ask("GET", f"{CONTROL_PLANE}/pulls/{number}")  # GitHub makes the test merge
    merge = acme.sandbox.git(CONTROL_PLANE).refs()[f"refs/pull/{number}/merge"]
    payload = {"number": number, "pull_request": {"number": number, "head": {"sha": head}}}
    return Job("pull_request", f"refs/pull/{number}/merge", merge, payload=payload), head


def test_a_pull_request_is_only_checked(acme: Organisation) -> None:
    job, head = pull_request(acme, {"templates/flux.yaml": BAD_TEMPLATE})
    result = run(acme, job=job)
    assert result.failed
    assert document(result).commit == job.commit
    assert acme.statuses(head) == {CONTEXT: ("failure", "2 problems")}
    assert acme.statuses(job.commit) == {}
    good, head = pull_request(acme, {"notes.txt": "1"}, "good")
    assert not run(acme, job=good).failed
    assert acme.statuses(head)[CONTEXT][0] == "success"
    assert acme.dispatches() == []


@pytest.mark.parametrize(
    ("scope", "advice"),
    [
        ("read", "the permissions contents: read and statuses: read"),
        ("write", "the permission statuses: write, in "),
    ],
)
def test_a_token_that_may_not_post(acme: Organisation, scope: str, advice: str) -> None:
    """Jobs for pull requests from forks have such a token."""
    job, head = pull_request(acme, {"notes.txt": "1"})
    permissions: Permissions = {"contents": "read"}
    if scope == "write":
        permissions["statuses"] = "read"
    token = acme.sandbox.create_token("actions", permissions, owner="acme")
    result = run(acme, job=job, token=token)
    assert not result.failed
    assert acme.statuses(head) == {}
    (warning,) = result.document.warnings
    assert warning.advice.startswith(f"give the token {advice}")


def test_without_a_job_around_it(acme: Organisation) -> None:
    commit = acme.commit({"notes.txt": "1"})
    result = acme.run(ci, CiInputs, control_plane=CONTROL_PLANE, variables={"GITHUB_ACTIONS": ""})
    assert document(result).commit == commit
    assert acme.statuses(commit)[CONTEXT][0] == "success"
    assert acme.dispatches() == []


def test_given_first_environments(acme: Organisation) -> None:
    commit = acme.commit({"notes.txt": "1"})
    assert document(run(acme, first_environments="stage")).environments == ("stage",)
    assert acme.dispatches() == [cd(commit, "stage")]
    with pytest.raises(UsageError, match="there is no Environment 'prod' on main"):
        run(acme, first_environments="prod")
    assert acme.statuses(commit)[CONTEXT][0] == "failure"


def test_an_environment_that_nothing_leads_to_is_a_note(acme: Organisation) -> None:
    """A variable may name it: there is no warning, and the page folds the note."""
    dev = documents.environment(acme.url(), "dev", first=True)
    commit = acme.commit({".environments/dev.yaml": dev})
    result = run(acme)
    (note,) = result.document.notes
    assert note.message.startswith("no other Environment names 'stage' as next")
    assert (result.failed, result.document.warnings) == (False, ())
    assert "<summary>1 note</summary>" in result.summary
    assert "kalypso\\.io\\/next\\-environment" in result.summary
    assert acme.statuses(commit)[CONTEXT] == ("success", "4 assignments in 2 environments")
    assert run(acme, first_environments="dev,stage").document.notes == ()


@pytest.mark.parametrize("verbose", [True, False])
def test_notes_are_counted_and_shown_with_verbose(acme: Organisation, *, verbose: bool) -> None:
    acme.commit({".environments/dev.yaml": documents.environment(acme.url(), "dev")})
    command = [sys.executable, "-m", "kalypso_actions", "ci"]
    environment = acme.job_environment(PUSH) | {"GITHUB_TOKEN": acme.token}
    done = subprocess.run(
        [*command, "--verbose"] if verbose else command,
        env={"PYTHONPATH": str(Path(__file__).parents[3]), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ("1 note: --verbose shows more" in done.stderr) is not verbose
    assert ("note .environments/stage.yaml:1:1 " in done.stderr) is verbose


def test_no_first_environment_is_a_problem_of_main(acme: Organisation) -> None:
    acme.commit(
        {
            ".environments/dev.yaml": documents.environment(acme.url(), "west").replace(
                "branch: west", "branch: dev"
            ),
            ".environments/stage.yaml": documents.environment(acme.url(), "east").replace(
                "branch: east", "branch: stage"
            ),
        }
    )
    (problem,) = problems(run(acme))
    assert problem.startswith("the first environment is ambiguous: it may be any of ")
    assert not run(acme, start_cd="false").failed


def test_a_cd_that_cannot_be_started_keeps_no_other_from_it(acme: Organisation) -> None:
    files = {
        f".environments/{name}.yaml": documents.environment(acme.url(), name, first=True)
        for name in ("dev", "stage")
    }
    commit = acme.commit(files)
    template = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches"
    with (
        acme.sandbox.faults.on(Fault("POST", template, "status", count=4)),
        pytest.raises(KalypsoError, match=r"the workflow cd\.yaml cannot be started"),
    ):
        run(acme)
    assert acme.dispatches() == [cd(commit, "stage")]


def test_a_commit_that_does_not_exist(acme: Organisation) -> None:
    with pytest.raises(KalypsoError, match=r"No commit found for SHA: e+ \(check the commit's id"):
        run(acme, commit="e" * 40)


@pytest.mark.parametrize("writes", range(4))
def test_killed_and_run_again(acme: Organisation, writes: int) -> None:
    commit = acme.commit({"notes.txt": "1"})
    assert is_killed(writes, lambda: run(acme))
    run(acme)
    checked, waits = "4 assignments in 2 environments", "Waiting: cd"
    posted = {CONTEXT: ("success", checked), "dev environment": ("pending", waits)}
    assert acme.statuses(commit) == posted
    assert acme.status_history(commit) == [(CONTEXT, checked), ("dev environment", waits)]
    assert set(map(str, acme.dispatches())) == {str(cd(commit))}
