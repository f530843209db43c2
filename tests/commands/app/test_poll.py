"""What poll repairs: lost starts, changes that nobody told, and killed runs."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import UsageError
from tests.commands.app.shop import CONFIGS, GITOPS, SOURCE, Application

DEPLOY, CHECK = "deploy.yml", "post-deployment.yml"
LOST, CHANGED = "the last start was lost", "the inputs have changed"


def test_a_lost_start_is_repeated_three_times(web: Application) -> None:
    commit = web.released("1")
    web.end_runs()
    assert web.poll() == []  # a run may still begin
    for attempt in (2, 3):
        web.wait()
        assert web.poll() == [(DEPLOY, "dev", LOST)]
        text = web.statuses(commit)["kalypso / deploy dev"][1]
        assert text == f"Starting, attempt {attempt}: ci"
        assert web.poll() == []  # this run is active
        web.end_runs()
    web.wait()
    assert web.poll() == []
    assert web.problems == [
        f"environment dev: 3 starts of deploy.yml for {commit[:7]} came to nothing"
    ]
    assert web.statuses(commit)["kalypso / deploy dev"] == ("failure", "Given up: ci")
    web.acme.commit({"asia/values.yaml": ""}, "dev", CONFIGS)
    assert (web.poll(), web.problems) == ([], [])
    web.release(commit, "1")  # the build runs again
    assert web.deployment().action == "create"
    assert web.poll() == []


def test_a_configuration_that_nobody_told(web: Application) -> None:
    commit = web.released("1")
    web.deploy()
    web.end_runs()
    web.merge_open()
    assert web.poll() == []
    web.acme.commit({"asia/values.yaml": ""}, "dev", CONFIGS)
    assert web.poll() == [(DEPLOY, "dev", CHANGED)]
    assert web.acme.dispatches()[-1].inputs == {"environment": "dev", "commit_id": commit}
    web.end_runs()
    web.deploy()
    assert web.poll() == []
    # Closed: nothing starts again.
    web.acme.close(web.pulls()[0]["number"], GITOPS)
    assert web.poll() == []


def test_a_merge_that_nobody_told(web: Application) -> None:
    commit = web.released("1")
    web.deploy()
    web.end_runs()
    merge = web.merge_open()
    assert web.poll() == []  # the notifier may still tell it
    web.wait()
    assert web.poll() == [(CHECK, "dev", "nobody has told the merge")]
    assert web.acme.dispatches()[-1].inputs == {
        "environment": "dev",
        "promoted_commit_id": commit,
        "commit_id": merge,
    }
    web.end_runs()
    for _ in range(2):
        web.wait()
        assert web.poll() == [(CHECK, "dev", LOST)]
        web.end_runs()
    web.wait()
    assert web.poll() == []
    assert web.problems == [
        f"environment dev: 3 starts of post-deployment.yml for {commit[:7]} came to nothing"
    ]


def test_a_check_that_was_killed_is_repeated(web: Application) -> None:
    commit = web.released("1")
    web.deploy()
    web.end_runs()
    merge = web.merge_open()
    status = {"state": "success", "context": "kalypso / check dev"}
    waiting = {"state": "pending", "context": "dev", "description": "Deploying"}
    path = f"{SOURCE}/statuses/{commit}"
    web.acme.ask("POST", path, {**status, "description": f"Received: {merge}"})
    web.acme.ask("POST", path, waiting)
    web.wait()
    assert web.poll() == [(CHECK, "dev", LOST)]
    web.end_runs()
    # After a verdict, nothing is left.
    web.acme.ask("POST", path, {**status, "description": f"Received: {merge}"})
    web.acme.ask(
        "POST", path, {**waiting, "state": "success", "description": f"Deployed 1: {merge}"}
    )
    web.wait()
    assert web.poll() == []


def test_a_branch_by_hand_starts_no_check(web: Application) -> None:
    commit = web.push()
    web.acme.commit({".github/tracking/Promoted_Commit_Id": commit}, "dev", GITOPS)
    web.wait()
    assert web.poll(environments="stage") == []
    assert web.poll(environments="dev") == []
    (problem,) = web.problems
    assert "no status 'kalypso / version'" in problem


def test_a_source_without_an_order_needs_the_environments(web: Application) -> None:
    web.push({".github/kalypso/environments.yaml": None})
    with pytest.raises(UsageError, match="no environment is known"):
        web.poll()
    assert web.poll(environments="dev") == []


def test_an_environment_that_cannot_be_read_keeps_no_other(web: Application) -> None:
    web.released("1")
    web.end_runs()
    web.wait()
    assert web.poll(environments="missing,dev") == [(DEPLOY, "dev", LOST)]
    (problem,) = web.problems
    assert problem.startswith("environment missing: acme/web-gitops has no branch 'missing'")
