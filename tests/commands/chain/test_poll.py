"""`kalypso poll`: schedule starts for environments with changed inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.errors import UsageError
from kalypso_actions.report.chain_document import PollDocument
from kalypso_sandbox import Fault, Sandbox
from kalypso_sandbox.store import Permissions
from tests.commands.chain import documents, proposals
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, SHOP, Dispatch, Organisation
from tests.commands.chain.polls import (
    asked,
    at_rest,
    document,
    end_runs,
    inputs_of,
    propose,
    push_to_shop,
    run,
)
from tests.git_repositories import programs

GRAPHQL = "/graphql"
RUNS = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs"
PULLS = "/repos/{owner}/{repo}/pulls"


def schedule(environment: str) -> Dispatch:
    return Dispatch("schedule.yaml", {"environment": environment})


def register(acme: Organisation, url: str, name: str = "tea", path: str = "workload") -> None:
    """Register one more application on the branch of dev."""
    text = documents.registration(name, url, path=path)
    acme.commit({f"registrations/{name}.yaml": text}, "dev")


def test_nothing_has_changed(acme: Organisation) -> None:
    at_rest(acme)
    result = run(acme)
    assert acme.dispatches() == []
    assert acme.writes() == acme.recorded() == []
    assert document(result) == PollDocument()
    assert result.summary == "## kalypso poll: nothing to start"


def test_the_requests_of_a_poll_at_rest(acme: Organisation) -> None:
    """Four queries: heads of folders, statuses of main's commits and of the others, the account."""
    at_rest(acme)
    run(acme)
    assert asked(acme, GRAPHQL) == 4
    assert asked(acme, PULLS) == 2
    assert asked(acme, RUNS) == 0


def test_an_environment_without_a_record_is_scheduled(acme: Organisation) -> None:
    result = run(acme)
    assert acme.dispatches() == [schedule("dev"), schedule("stage")]
    for name in ("dev", "stage"):
        digest = inputs_of(acme)[name].digest
        status = acme.records(acme.head(name) or "")[f"kalypso / schedule {name}"]
        assert status == ("success", f"Starting, attempt 1: {digest}")
    assert result.summary.startswith("## kalypso poll: started schedule for `dev`, `stage`\n")
    assert "| `dev` | the inputs have changed | [schedule\\.yaml](" in result.summary


def test_poll_and_schedule_agree(acme: Organisation) -> None:
    """poll computes the digest that schedule recorded, with or without a pull request."""
    for name in ("dev", "stage"):
        assert not proposals.run_schedule(acme, environment=name).failed
    assert document(run(acme)) == PollDocument()
    acme.merge(1)
    assert not proposals.run_schedule(acme, environment="dev").failed
    assert document(run(acme)) == PollDocument()
    assert acme.dispatches() == []


def test_a_registered_folder_that_has_changed(acme: Organisation) -> None:
    at_rest(acme)
    push_to_shop(acme)
    result = run(acme)
    assert acme.dispatches() == [schedule("dev"), schedule("stage")]
    assert document(result).outputs()["environments"] == '["dev","stage"]'
    assert asked(acme, GRAPHQL) == 8  # four queries before any status is posted


def test_only_the_environments_that_are_named(acme: Organisation) -> None:
    at_rest(acme)
    push_to_shop(acme)
    run(acme, environments="stage")
    assert acme.dispatches() == [schedule("stage")]
    with pytest.raises(UsageError, match="there is no Environment 'prod'"):
        run(acme, environments="dev,prod")


def test_a_folder_that_is_gone_has_changed(acme: Organisation) -> None:
    at_rest(acme)
    acme.commit({"workload/shop.yaml": None, "x": "1"}, repository=SHOP)
    run(acme, environments="dev")
    assert acme.dispatches() == [schedule("dev")]
    end_runs(acme)
    at_rest(acme)
    assert document(run(acme, environments="dev")) == PollDocument()


def test_a_new_folder_counts_as_changed(acme: Organisation) -> None:
    register(acme, acme.url("acme/tea"))
    at_rest(acme)
    (warning,) = document(run(acme)).warnings
    assert warning.message.startswith("it cannot be said whether ")
    assert acme.dispatches() == []
    acme.sandbox.create_repository("acme/tea", {"workload/tea.yaml": "a: 1\n"})
    run(acme)
    assert acme.dispatches() == [schedule("dev")]


@pytest.mark.parametrize(
    ("files", "branch", "repository", "starts"),
    [
        ({"notes.txt": "1"}, "dev", CONTROL_PLANE, True),
        ({"notes.txt": "1"}, "main", CONTROL_PLANE, False),
        ({"by-hand.txt": "1"}, "dev", GITOPS, True),
        ({"src/main.py": "1"}, "main", SHOP, False),
    ],
)
def test_which_pushes_start_schedule(
    acme: Organisation, files: dict[str, str], branch: str, repository: str, starts: bool
) -> None:
    at_rest(acme)
    acme.commit(dict(files), branch, repository)
    run(acme)
    assert acme.dispatches() == [schedule("dev")] * starts


@pytest.mark.parametrize("what", ["closed", "pushed to"])
def test_our_pull_request_that_has_changed(acme: Organisation, what: str) -> None:
    number = propose(acme)
    at_rest(acme)
    assert document(run(acme)) == PollDocument()
    if what == "closed":
        acme.close(number)
    else:
        acme.commit({"by-hand.txt": "1"}, "kalypso/dev", GITOPS)
    run(acme)
    assert acme.dispatches() == [schedule("dev")]


def test_other_pull_requests_are_no_input(acme: Organisation) -> None:
    at_rest(acme)
    acme.reset("deployment/1", acme.head("dev", GITOPS), GITOPS)
    acme.commit({"by-hand.txt": "1"}, "deployment/1", GITOPS)
    acme.pull("deployment/1", "dev", GITOPS)
    run(acme)
    assert acme.dispatches() == []


def test_a_base_repository_that_floats(acme: Organisation) -> None:
    """Stage names a commit of the repository; dev does not."""
    text = documents.base_repo(acme.url(), "").replace("  commit: \n", "")
    acme.commit({"base-repo.yaml": text}, "dev")
    at_rest(acme)
    acme.commit({"notes.txt": "1"})
    run(acme)
    assert acme.dispatches() == [schedule("dev")]


def test_an_unreadable_repository_stops_no_other(acme: Organisation) -> None:
    register(acme, acme.url("acme/gone"))
    at_rest(acme)
    push_to_shop(acme)
    result = run(acme, environments="dev")
    assert acme.dispatches() == [schedule("dev")]
    assert not result.failed
    (warning,) = document(result).warnings
    assert warning.message.startswith(
        f"it cannot be said whether {acme.url('acme/gone')} has moved: "
    )


def test_a_branch_that_is_gone_is_a_warning(acme: Organisation) -> None:
    text = documents.registration("tea", acme.url(SHOP)).replace("branch: main", "branch: absent")
    acme.commit({"registrations/tea.yaml": text}, "dev")
    (warning,) = document(run(acme)).warnings
    assert warning.message.endswith("there is no branch 'absent'")


@pytest.mark.parametrize(
    "url", ["https://elsewhere.example/acme/shop", "ext::sh -c id", "https://[acme/shop"]
)
def test_a_registration_of_what_may_not_be_read_is_never_asked(
    acme: Organisation, url: str
) -> None:
    register(acme, f"'{url}'")
    at_rest(acme)
    push_to_shop(acme)
    result = run(acme)
    result_document = document(result)
    said = " ".join(
        finding.message for finding in (*result_document.warnings, *result_document.problems)
    )
    assert "not among those that may be read" in said or "this is not the URL of" in said
    assert schedule("stage") in acme.dispatches()


def test_a_repository_on_another_server_is_asked_by_git(acme: Organisation, tmp_path: Path) -> None:
    with Sandbox(tmp_path / "other", programs(), now=acme.clock) as other:
        made = other.create_repository("acme/tea", {"workload/t.yaml": "a: 1\n"}, private=False)
        assert not made.private
        register(acme, f"{other.url}/acme/tea")
        inputs: Any = {"allowed_repositories": f"acme/*,{other.url}/**"}
        at_rest(acme, **inputs)
        run(acme, **inputs)
        other.commit("acme/tea", {"docs/x": "1"})
        run(acme, **inputs)
        assert acme.dispatches() == []
        other.commit("acme/tea", {"workload/t.yaml": "a: 2\n"})
        assert document(run(acme, **inputs)).environments == ("dev",)
        assert acme.dispatches() == [schedule("dev")]


def test_a_git_credential_may_read_what_the_token_cannot(
    acme_with_permissions: Organisation,
) -> None:
    acme = acme_with_permissions
    permissions: Permissions = {
        "actions": "write",
        "contents": "read",
        "pull_requests": "read",
        "statuses": "write",
    }
    token = acme.sandbox.create_token(
        "user", permissions, owner="acme", repositories=[CONTROL_PLANE, GITOPS]
    )
    at_rest(acme, token=token)
    assert document(run(acme, token=token)).environments == ()
    assert document(run(acme, token=token)).warnings
    credentials = f"{acme.url(SHOP)}=x:{acme.token}"
    result_document = document(run(acme, token=token, git_credentials=credentials))
    assert (result_document.environments, result_document.warnings) == (("dev", "stage"), ())


def test_an_environment_that_cannot_be_read(acme: Organisation) -> None:
    acme.commit({"broken.yaml": "kind: [GitOpsRepo"}, "dev")
    at_rest(acme)
    push_to_shop(acme)
    result = run(acme)
    assert result.failed
    (problem,) = document(result).problems
    assert problem.message.startswith("environment dev: ")
    assert acme.dispatches() == [schedule("stage")]


def test_a_gitops_branch_that_does_not_exist(acme: Organisation) -> None:
    acme.reset("dev", None, GITOPS)
    at_rest(acme)
    result = run(acme)
    assert result.failed
    message = "environment dev: acme/gitops has no branch 'dev'"
    assert [problem.message for problem in document(result).problems] == [message]
    assert acme.dispatches() == []


def test_a_start_that_fails_stops_no_other(acme: Organisation) -> None:
    at_rest(acme)
    push_to_shop(acme)
    acme.sandbox.faults.add(Fault("POST", "*/dispatches", "status", count=4))
    result = run(acme)
    assert result.failed
    assert document(result).environments == ("stage",)
    assert acme.dispatches() == [schedule("stage")]


def test_several_gitops_branches_of_an_environment(acme: Organisation) -> None:
    acme.sandbox.create_repository("acme/second", {"README.md": ""})
    acme.reset("dev", acme.head("main", "acme/second"), "acme/second")
    repo = documents.gitops_repo(acme.url("acme/second"), "dev", "second")
    acme.commit({"second.yaml": repo}, "dev")
    at_rest(acme)
    run(acme)
    assert acme.dispatches() == []
    acme.commit({"by-hand.txt": "1"}, "dev", "acme/second")
    run(acme)
    assert acme.dispatches() == [schedule("dev")]
