"""A commit of main that an environment has, and that the environment before it has never had."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from kalypso_actions.commands.rollback import rollback
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.base_history import passed_commits
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.status import status
from kalypso_actions.inputs.chain import RollbackInputs, StatusInputs
from kalypso_actions.model.promotion_policy import POLICY_FILE
from kalypso_actions.report.status_document import StatusDocument
from tests.breaks import breaks, turned
from tests.commands.chain import cd_runs, documents, previews
from tests.commands.chain.findings import Finding, found, local, of_chain
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation

CODE = "base-commit-ahead"
HELD = (
    "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: stage}\n"
    "spec: {holds: [{reason: fair, by: alice}]}\n"
)


def write(acme: Organisation, branch: str, commit: str) -> None:
    """Write a commit of main into base-repo.yaml by hand."""
    acme.commit(edited(acme, branch, commit), branch)


def edited(acme: Organisation, branch: str, commit: str) -> dict[str, str]:
    text = acme.files(branch)["base-repo.yaml"]
    return {"base-repo.yaml": re.sub(r"commit: \w+", f"commit: {commit}", text)}


def said_by_status(acme: Organisation) -> dict[str, Any]:
    read: list[StatusDocument] = []

    def command(inputs: StatusInputs, context: CommandContext) -> CommandResult:
        read.append(status(inputs, context))
        return CommandResult(read[0], "")  # type: ignore[arg-type]  # it has no summary

    acme.run(command, StatusInputs)
    document: dict[str, Any] = json.loads(read[0].to_json())
    return document


def told(acme: Organisation) -> dict[str, list[Finding]]:
    """Return what the commands that see all environments say of such commits."""
    documents = {
        "validate": [local(acme, "validate")],
        "a URL": [local(acme, "validate", "--control-plane", acme.url())],
        "status": [said_by_status(acme)],
        "report": [local(acme, "report", "--out", acme.folder / "report")],
    }
    return {
        name: [item for item in found(*each) if item[0] == CODE] for name, each in documents.items()
    }


@breaks("a commit that was never in dev is told", turned(passed_commits, "not before", "True"))
def test_a_commit_that_a_person_writes(acme: Organisation) -> None:
    older, newer = acme.head("main") or "", cd_runs.change_main(acme)
    number = previews.propose(acme, edited(acme, "stage", newer), base="stage")
    text = acme.files("change", CONTROL_PLANE)["base-repo.yaml"]
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "commit:" in each)
    message = (
        f"BaseRepo 'main' names the commit {newer[:7]}, which has never been in dev, the "
        f"environment before this one: dev names {older[:7]}, which is older"
    )
    expected = [(CODE, f"base-repo.yaml:{line}", message)]
    preview = previews.run(acme)
    assert [each for each in of_chain(preview.document) if each[0] == CODE] == expected
    assert not preview.failed  # nothing breaks: it is a warning
    acme.merge(number, CONTROL_PLANE)
    for command, each in told(acme).items():
        assert each == expected, command
    cd_runs.bring(acme, newer)
    assert not any(told(acme).values())


def around_dev(acme: Organisation) -> bool:
    """A person starts cd for stage alone."""
    cd_runs.run(acme, cd_runs.change_main(acme), environment="stage")
    return True


def rolled_back_with_a_hold(acme: Organisation) -> bool:
    cd_runs.promote(acme, "older")
    newer = cd_runs.promote(acme, "newer")
    cd_runs.bring(acme, newer, "stage")
    acme.run(rollback, RollbackInputs, environment="dev")
    assert cd_runs.has(acme) != newer
    return False


def taken_back_by_hand(acme: Organisation) -> bool:
    older = acme.head("main") or ""
    cd_runs.bring(acme, cd_runs.promote(acme, "newer"), "stage")
    write(acme, "dev", older)
    return False


def passed_over(acme: Organisation) -> bool:
    """dev has had a newer commit only, and was taken back; stage got the one between."""
    older, between = acme.head("main") or "", cd_runs.change_main(acme)
    cd_runs.promote(acme, "newer")
    write(acme, "dev", older)
    write(acme, "stage", between)
    return False


def with_override(acme: Organisation, **inputs: str) -> bool:
    acme.commit({POLICY_FILE: HELD}, "stage")
    newer = cd_runs.change_main(acme)
    cd_runs.run(acme, newer, environment="stage", override="dev is down", **inputs)
    return False


def with_override_by_pull_request(acme: Organisation) -> bool:
    with_override(acme, mode="pull-request")
    (pull,) = acme.pulls(CONTROL_PLANE)
    acme.merge(pull["number"], CONTROL_PLANE)
    return False


def only_one_of_two_before(acme: Organisation) -> bool:
    """Commits come to stage from dev, and from qa."""
    newer = cd_runs.change_main(acme)
    qa = {**acme.files("dev"), **edited(acme, "dev", newer)}
    qa["gitops-repo.yaml"] = qa["gitops-repo.yaml"].replace("branch: dev", "branch: qa")
    acme.commit(qa, "qa")
    acme.commit(
        {
            ".environments/qa.yaml": documents.environment(
                acme.url(), "qa", next_environment="stage", first=True
            )
        }
    )
    write(acme, "stage", newer)
    return False


def first(acme: Organisation) -> bool:
    """stage gets each commit at once; that has a warning of its own."""
    text = documents.environment(acme.url(), "stage", first=True)
    newer = acme.commit({".environments/stage.yaml": text})
    write(acme, "stage", newer)
    return False


def nothing_in_dev(acme: Organisation) -> bool:
    acme.commit({"base-repo.yaml": None}, "dev")
    write(acme, "stage", cd_runs.change_main(acme))
    return False


def off_main(acme: Organisation) -> bool:
    """Another finding says that the commit is not on main."""
    acme.reset("other", acme.head("main"))
    write(acme, "stage", acme.commit({"notes.txt": "a try"}, "other"))
    return False


STORIES = (
    around_dev,
    rolled_back_with_a_hold,
    taken_back_by_hand,
    passed_over,
    with_override,
    with_override_by_pull_request,
    only_one_of_two_before,
    first,
    nothing_in_dev,
    off_main,
)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_stories(acme: Organisation, story: Callable[[Organisation], bool]) -> None:
    is_told = story(acme)
    each = told(acme)
    assert {name: bool(found) for name, found in each.items()} == dict.fromkeys(each, is_told)


def test_a_branch_of_the_clone_that_is_behind(acme: Organisation) -> None:
    """The remote branch may have the promotion that the clone's own branch lacks."""
    behind = acme.head("dev") or ""
    newer = cd_runs.promote(acme, "newer")
    cd_runs.bring(acme, newer, "stage")
    codes = [code for code, *_ in found(local(acme, "validate", before=("branch", "dev", behind)))]
    assert codes == ["branch-behind"]
