"""The notifiers of the GitOps repository and of the configs, which may only start workflows."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.commands.app.notify import app_notify
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.app import AppNotifyInputs
from kalypso_actions.report.application_document import AppNotifyDocument
from tests.commands.app.shop import CONFIGS, GITOPS, SOURCE, Application

AFTER = "1" * 40


def notify(web: Application, repository: str, branch: str = "dev", **given: Any) -> CommandResult:
    """Run app-notify after a push, by a token that may start workflows of the source alone."""
    after = given.pop("after", AFTER)
    payload = {
        "ref": f"refs/heads/{branch}",
        "before": "2" * 40,
        "after": after,
        "repository": {"default_branch": "dev"},
    }
    notifier = web.acme.sandbox.create_token(
        "user", {"actions": "write", "metadata": "read"}, repositories=[SOURCE], owner="acme"
    )
    return web.run(
        app_notify,
        AppNotifyInputs,
        event="push",
        ref=f"refs/heads/{branch}",
        repository=repository,
        payload=payload,
        source_repository=SOURCE,
        **{"token": notifier, **given},
    )


@pytest.mark.parametrize(
    ("repository", "pushed", "workflow", "inputs"),
    [
        (GITOPS, "gitops", "post-deployment.yml", {"environment": "dev", "commit_id": AFTER}),
        (CONFIGS, "configs", "deploy.yml", {"environment": "dev"}),
    ],
)
@pytest.mark.parametrize("branch", ["dev", "d2"])
def test_a_push_starts_the_workflow_of_its_repository(
    web: Application,
    repository: str,
    pushed: str,
    workflow: str,
    inputs: dict[str, str],
    branch: str,
) -> None:
    document = notify(web, repository, branch, pushed=pushed).document
    (started,) = web.acme.dispatches()
    assert (started.repository, started.workflow, started.ref) == (SOURCE, workflow, "main")
    assert started.inputs == {**inputs, "environment": branch}
    assert document.outputs()["environment"] == branch
    assert not any("may read" in line for line in web.acme.logged)


@pytest.mark.parametrize(
    ("branch", "given", "reason"),
    [
        ("main", {}, "main is no environment of acme/web-gitops"),
        ("kalypso/dev", {}, "no environment can have the branch kalypso/dev"),
        ("dev", {"after": "0" * 40}, "the branch dev was deleted"),
    ],
)
def test_other_pushes_start_nothing(
    web: Application, branch: str, given: dict[str, str], reason: str
) -> None:
    document = notify(web, GITOPS, branch, **given).document
    assert isinstance(document, AppNotifyDocument)
    assert reason in document.reason
    assert web.acme.dispatches() == []


def test_a_job_without_a_notifier_leaves_it_to_poll(web: Application) -> None:
    token = web.acme.sandbox.create_token("actions", {"contents": "read"}, repositories=[GITOPS])
    result = notify(web, GITOPS, token=token, job_token=token)
    assert "poll finds the push later" in result.summary
    assert web.acme.dispatches() == []


def test_a_token_that_reaches_more_is_a_warning(web: Application) -> None:
    notify(web, GITOPS, token=web.acme.token)
    assert any(line.startswith("the token may read acme/web ") for line in web.acme.logged)
    assert len(web.acme.dispatches()) == 1


def test_a_dry_run_starts_nothing(web: Application) -> None:
    (entry,) = notify(web, GITOPS, dry_run="true").document.writes
    assert entry.kind == "start workflow"
    assert web.acme.dispatches() == []
