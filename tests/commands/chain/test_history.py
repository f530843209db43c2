"""`kalypso history`: the commits of main that an environment has had."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from rich.console import Console

from kalypso_actions.commands.history import history as read_history
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import deployed_commits
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.chain import HistoryInputs
from kalypso_actions.report.history_document import HistoryDocument, print_history
from tests.breaks import breaks, turned
from tests.commands.chain import documents
from tests.commands.chain.cd_runs import DEV, bring, promote
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation


def history(acme: Organisation, name: str = "dev", **given: Any) -> HistoryDocument:
    read: list[HistoryDocument] = []

    def command(inputs: HistoryInputs, context: CommandContext) -> CommandResult:
        read.append(read_history(inputs, context))
        return CommandResult(read[0], "")  # type: ignore[arg-type]  # it has no summary

    acme.run(command, HistoryInputs, name=name, **given)
    return read[0]


def text(document: HistoryDocument) -> str:
    console = Console(width=160, record=True, file=None, highlight=False)
    with console.capture() as capture:
        print_history(console, document)
    return capture.get()


def test_what_an_environment_has_had(acme: Organisation) -> None:
    good, bad = promote(acme, "1"), promote(acme, "2")
    bring(acme, good, deployed=False)
    failing = promote(acme, "3", deployed=False)
    acme.status(failing, DEV, "Failed to deploy: 1 of 2 clusters", "failure")
    read = history(acme)
    shown = [
        (entry.commit, entry.verdict, entry.deployed, entry.rolled_back_to)
        for entry in read.periods[:4]
    ]
    assert shown == [
        (failing, "failed", False, ""),
        (good, "superseded", False, ""),
        (bad, "rolled back", True, good),
        (good, "superseded", False, ""),
    ]
    assert [entry.until for entry in read.periods] == [
        None,
        *(entry.since for entry in read.periods[:-1]),
    ]
    present = read.periods[0]
    assert (present.by, present.description) == ("somebody", "Failed to deploy: 1 of 2 clusters")
    assert present.environment_commit == acme.head("dev")
    assert (read.last_good, read.is_complete, read.branch) == (good, True, "dev")
    printed = text(read)
    assert f"rolled back to {good[:7]}, deployed before" in printed
    assert "failed  now" in printed
    assert printed.endswith(f"kalypso rollback dev goes back to {good}\n")


@breaks(
    "a rollback goes back to a commit that never worked",
    turned(deployed_commits, "is_deployed(latest)", "True"),
)
def test_the_last_good_commit_was_deployed_there(acme: Organisation) -> None:
    good = promote(acme, "1")
    elsewhere = promote(acme, "2", deployed=False)
    acme.status(elsewhere, "stage environment", "Deployed", "success")
    promote(acme, "3")
    assert history(acme).last_good == good


def test_a_status_by_anybody_proves_nothing(acme: Organisation) -> None:
    good, claimed = promote(acme, "1"), promote(acme, "2", deployed=False)
    promote(acme, "3")
    mallory = acme.sandbox.create_token("user", None, login="mallory", owner="acme")
    body = {"context": DEV, "description": "Deployed", "state": "success"}
    acme.ask("POST", f"{CONTROL_PLANE}/statuses/{claimed}", body, token=mallory)
    assert history(acme).last_good == good
    acme.status(claimed, DEV, "Superseded by another")
    assert history(acme).last_good == good


def test_since(acme: Organisation) -> None:
    promote(acme, "1")
    promote(acme, "2")
    newest = promote(acme, "3")
    since = (acme.clock() - timedelta(seconds=30)).isoformat()
    read = history(acme, since=since)
    assert (read.periods[0].commit, read.is_complete) == (newest, False)
    assert len(read.periods) < len(history(acme).periods)
    assert "--since names an earlier time" in text(read)


def test_environments_without_a_past(acme: Organisation) -> None:
    acme.commit({"base-repo.yaml": None}, "stage")
    acme.commit({".environments/new.yaml": documents.environment(acme.url(), "new")})
    assert "no commit to which stage can go back" in text(history(acme, "stage"))
    with pytest.raises(KalypsoError, match="'new' has no branch 'new' yet"):
        history(acme, "new")
    with pytest.raises(UsageError, match="there is no Environment 'prod'"):
        history(acme, "prod")
