"""`kalypso cd` in the mode `pull-request`: one pull request for each environment."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.commands.cd import cd
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.report.chain_document import CdDocument
from kalypso_sandbox.store import BranchRule
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, Dispatch, Organisation

DEV = "dev environment"
OURS = "kalypso/promote/dev"


def run(acme: Organisation, commit: str, **inputs: Any) -> CommandResult:
    given = {"environment": "dev", "mode": "pull-request", "commit": commit, **inputs}
    return acme.run(cd, CdInputs, **given)


def action(result: CommandResult) -> str:
    assert isinstance(result.document, CdDocument)
    return result.document.action


def change_main(acme: Organisation, text: str = "a change") -> str:
    return acme.commit({"notes.txt": text})


def proposed(acme: Organisation) -> str:
    """Return the whole proposed file."""
    return acme.files(OURS)["base-repo.yaml"]


def test_a_commit_is_proposed(acme: Organisation) -> None:
    old, new = acme.head("main"), change_main(acme)
    before = acme.head("dev")
    assert old
    result = run(acme, new, promoted_from="ci")
    (pull,) = acme.pulls(CONTROL_PLANE)
    assert (pull["head"]["ref"], pull["base"]["ref"]) == (OURS, "dev")
    assert pull["title"] == f"dev: promote {new[:7]}"
    assert pull["body"].startswith("<!-- kalypso:v1 kind=promotion environment=dev -->\n")
    assert f"/compare/{old}...{new}" in pull["body"]
    assert result.document.outputs() == {
        "changed": "true",
        "environment-commit": "",
        "pull-request-number": str(pull["number"]),
        "pull-request-url": pull["html_url"],
        "waiting-for": "",
    }
    assert proposed(acme) == documents.base_repo(acme.url(), new)
    assert acme.sandbox.git(CONTROL_PLANE).commit(OURS).parents == (before,)
    assert acme.head("dev") == before
    assert acme.statuses(new) == {DEV: ("pending", f"Waiting for #{pull['number']}")}
    assert acme.statuses(old) == {}
    assert acme.dispatches() == []
    assert f"/pull/{pull['number']})" in result.summary
    assert "**Next:** review and merge" in result.summary


def test_run_again_it_changes_nothing(acme: Organisation) -> None:
    new = change_main(acme)
    run(acme, new)
    acme.clock.sleep(60)
    acme.forget()
    result = run(acme, new)
    assert action(result) == "proposed"
    assert result.document.outputs()["changed"] == "false"
    assert acme.writes() == []


def test_an_older_commit_does_not_take_the_place_of_a_newer_one(acme: Organisation) -> None:
    older, newer = change_main(acme, "1"), change_main(acme, "2")
    run(acme, newer)
    result = run(acme, older, promoted_from="ci")
    assert action(result) == "superseded"
    assert f"or will soon have, [{newer[:7]}]" in result.summary
    assert proposed(acme) == documents.base_repo(acme.url(), newer)
    assert acme.statuses(older) == {DEV: ("pending", f"Superseded by {newer[:7]}")}
    with pytest.raises(UsageError, match="is older than"):
        run(acme, older)
    assert action(run(acme, older, allow_rollback="true")) == "proposed"
    assert proposed(acme) == documents.base_repo(acme.url(), older)
    assert acme.statuses(newer) == {DEV: ("pending", f"Rolled back to {older[:7]}")}


def test_once_merged_the_environment_has_it(acme: Organisation) -> None:
    old, new = acme.head("main"), change_main(acme)
    assert old
    run(acme, new)
    (pull,) = acme.pulls(CONTROL_PLANE)
    acme.merge(pull["number"], CONTROL_PLANE)
    result = run(acme, new)
    assert action(result) == "unchanged"
    assert acme.statuses(new) == {DEV: ("pending", "Promoted")}
    assert acme.statuses(old) == {DEV: ("pending", f"Superseded by {new[:7]}")}
    given = {"environment": "dev", "force": "true"}
    assert acme.dispatches() == [Dispatch("schedule.yaml", given)]
    next_one = change_main(acme, "next")
    run(acme, next_one)
    (second,) = acme.pulls(CONTROL_PLANE)
    assert second["number"] != pull["number"]
    assert acme.statuses(new) == {DEV: ("pending", "Promoted")}


def test_a_change_of_the_environment_beside_it_leaves_the_proposal_alone(
    acme: Organisation,
) -> None:
    new = change_main(acme)
    run(acme, new)
    before = acme.head(OURS)
    acme.commit({"config.yaml": documents.config_map(REGION="east")}, "dev")
    run(acme, new)
    assert acme.head(OURS) == before
    (pull,) = acme.pulls(CONTROL_PLANE)
    acme.merge(pull["number"], CONTROL_PLANE)
    assert "east" in acme.files("dev")["config.yaml"]


def test_a_proposal_that_could_not_be_merged_is_made_again(acme: Organisation) -> None:
    middle, new = change_main(acme, "1"), change_main(acme, "2")
    run(acme, new)
    run(acme, middle, mode="commit")
    run(acme, new)
    (pull,) = acme.pulls(CONTROL_PLANE)
    acme.merge(pull["number"], CONTROL_PLANE)
    assert acme.files("dev")["base-repo.yaml"] == documents.base_repo(acme.url(), new)


def closed(acme: Organisation, commit: str) -> int:
    """Propose a commit and close the pull request as a person; return its number."""
    run(acme, commit, promoted_from="ci")
    (pull,) = acme.pulls(CONTROL_PLANE)
    acme.close(pull["number"], CONTROL_PLANE)
    acme.forget()
    return int(pull["number"])


def test_a_proposal_that_people_closed_is_proposed_again_by_people_alone(
    acme: Organisation,
) -> None:
    new = change_main(acme)
    number = closed(acme, new)
    result = run(acme, new, promoted_from="ci", pre_deployment="exit 1")
    assert (action(result), result.failed) == ("rejected", False)
    assert acme.writes() == []
    assert result.document.outputs() == {
        "changed": "false",
        "environment-commit": "",
        "pull-request-number": str(number),
        "pull-request-url": f"{acme.url()}/pull/{number}",
        "waiting-for": "",
    }
    (warning,) = result.document.warnings
    assert warning.message == (
        f"nothing is proposed: #{number} with the same commit was closed without merging"
    )
    assert warning.advice == (
        "to propose it again, start cd by hand, without promoted-from; a newer commit of main is "
        "proposed by itself"
    )
    assert f"## kalypso cd: {new[:7]} was rejected for dev" in result.summary
    assert acme.statuses(new) == {DEV: ("pending", f"Waiting for #{number}")}
    assert action(run(acme, new)) == "proposed"
    (again,) = acme.pulls(CONTROL_PLANE)
    assert again["number"] != number
    assert acme.statuses(new) == {DEV: ("pending", f"Waiting for #{again['number']}")}
    acme.forget()
    assert action(run(acme, new, promoted_from="ci")) == "proposed"
    assert acme.writes() == []


def test_a_proposal_that_people_closed_and_opened_again(acme: Organisation) -> None:
    new = change_main(acme)
    number = closed(acme, new)
    acme.ask("PATCH", f"{CONTROL_PLANE}/pulls/{number}", {"state": "open"})
    acme.forget()
    assert action(run(acme, new, promoted_from="ci")) == "proposed"
    assert acme.writes() == []


def test_a_withdrawn_proposal_is_not_rejected(acme: Organisation) -> None:
    before, new = acme.head("dev"), change_main(acme)
    run(acme, new)
    acme.clock.sleep(1)  # otherwise the new commit would be the same as the proposal's
    run(acme, new, mode="commit")
    run(acme, new)
    assert acme.pulls(CONTROL_PLANE) == []
    acme.reset("dev", before)  # after a rollback cd would not propose it again
    assert action(run(acme, new, promoted_from="ci")) == "proposed"


def test_a_protected_branch_with_the_token_of_a_job(acme: Organisation) -> None:
    """The environment's branch has workflow files, which such a token cannot change."""
    acme.commit({".github/workflows/schedule.yaml": documents.workflow()}, "dev")
    with acme.sandbox.lock:
        acme.sandbox.repository(CONTROL_PLANE).rules.append(
            BranchRule(pattern="dev", required_reviews=1, restrict_pushes=True)
        )
    token = acme.sandbox.create_token("actions", owner="acme", repositories=[CONTROL_PLANE])
    new = change_main(acme)
    assert action(run(acme, new, token=token)) == "proposed"
    assert proposed(acme) == documents.base_repo(acme.url(), new)
