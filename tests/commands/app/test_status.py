"""What people see of an application's environments."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from kalypso_actions.commands.app.status import app_status
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.app import AppStatusInputs
from kalypso_actions.report.app_status_document import AppStatusDocument, print_app_status
from tests.commands.app.shop import CONFIGS, GITOPS, SOURCE, Application


def status(web: Application, **given: Any) -> AppStatusDocument:
    read: list[AppStatusDocument] = []

    def command(inputs: AppStatusInputs, context: Any) -> CommandResult:
        read.append(app_status(inputs, context))
        return CommandResult(read[0], "")  # type: ignore[arg-type]  # nobody reads this result

    places: dict[str, Any] = {"configs_repository": CONFIGS, "gitops_repository": GITOPS}
    web.run(command, AppStatusInputs, **{**places, **given})
    return read[0]


def waits(web: Application, environment: str = "dev") -> list[tuple[str, str]]:
    (entry,) = status(web, environments=environment).environments
    return [(each.waits_for, each.text) for each in entry.waits_for]


def test_the_way_of_a_commit(web: Application) -> None:
    assert waits(web) == []
    commit = web.released("1")
    assert waits(web) == [("a run", "of app-deploy with 1")]
    web.deploy()
    assert waits(web) == [("people", "merge or close #1 with 1")]
    merge = web.merge_open()
    assert waits(web) == [("a run", "of app-check, which waits for the clusters")]
    body = {"state": "success", "context": "dev", "description": f"Deployed 1: {merge}"}
    web.acme.ask("POST", f"{SOURCE}/statuses/{commit}", body)
    document = status(web)
    assert [(each.environment, each.version) for each in document.environments] == [
        ("dev", "1"),
        ("dev-red", ""),
        ("stage", ""),
    ]
    assert document.environments[0].since is not None
    assert waits(web) == []
    web.acme.commit({"asia/values.yaml": ""}, "dev", CONFIGS)
    assert waits(web) == [("a run", "of app-deploy with 1")]
    shown = StringIO()
    print_app_status(Console(file=shown, width=200), document)
    assert (
        f"dev          1        {commit[:7]}  2026-03-01 12:00 UTC  Deployed 1" in shown.getvalue()
    )


def test_what_people_have_to_do(web: Application) -> None:
    web.released("1")
    web.deploy(scan="false")
    assert waits(web) == []  # the only commit is refused, so there is nothing to deploy
    second = web.push()
    web.acme.commit({".github/tracking/Promoted_Commit_Id": second}, "dev", GITOPS)
    text = "deploy: Kalypso did not propose the commit that the branch names"
    assert waits(web) == [("people", text)]
    (problem,) = status(web, environments="missing").problems
    assert "has no branch 'missing'" in problem.message
