"""`kalypso poll`: which environments are scheduled because of what others have pushed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.commands.outcome import Outcome
from kalypso_actions.commands.poll import poll
from kalypso_actions.errors import UsageError
from kalypso_actions.gitops.provenance import SourceRevision
from kalypso_actions.inputs.chain import PollInputs
from kalypso_actions.report.chain_documents import PollDocument
from kalypso_actions.sandbox import Fault, Sandbox
from kalypso_actions.sandbox.world import Permissions
from tests.commands.chain import documents
from tests.commands.chain.promotions import merge
from tests.commands.chain.world import CONTROL_PLANE, GITOPS, SHOP, Dispatch, Organisation
from tests.git_repositories import git, programs

GRAPHQL = "/graphql"


def schedule(environment: str) -> Dispatch:
    return Dispatch("schedule.yaml", {"environment": environment})


def recorded(
    acme: Organisation,
    repository: str = SHOP,
    *,
    path: str = "workload",
    branch: str = "main",
    sandbox: Sandbox | None = None,
) -> SourceRevision:
    """What is written down of a repository that is read now."""
    sandbox = sandbox or acme.sandbox
    folder = sandbox.git(repository).git_dir
    tree = git(folder, "rev-parse", f"refs/heads/{branch}:{'' if path == '.' else path}")
    return SourceRevision(
        repository=f"{sandbox.url}/{repository}",
        branch=branch,
        path=path,
        commit=sandbox.git(repository).head(branch),
        tree=tree,
    )


def record(
    acme: Organisation,
    registrations: Mapping[str, SourceRevision] | None = None,
    *,
    environments: tuple[str, ...] = ("dev", "stage"),
    **more: Any,
) -> None:
    """The trees of the environments say what they were made of: by default, of shop."""
    made_of = {"shop": recorded(acme)} if registrations is None else registrations
    for name in environments:
        merge(acme, acme.head("main"), name, environment=name, registrations=made_of, **more)
    acme.forget()


def run(acme: Organisation, **inputs: Any) -> Outcome:
    return acme.run(poll, PollInputs, **inputs)


def document(outcome: Outcome) -> PollDocument:
    assert isinstance(outcome.document, PollDocument)
    return outcome.document


def asked(acme: Organisation, template: str) -> int:
    return len([one for one in acme.sandbox.traffic if one.template == template])


def push_to_shop(acme: Organisation, path: str = "workload/shop.yaml") -> None:
    acme.commit({path: documents.workload("shop", "https://x", ("dev",))}, repository=SHOP)


def test_nothing_has_moved(acme: Organisation) -> None:
    record(acme)
    outcome = run(acme)
    assert acme.dispatches() == []
    assert acme.writes() == []
    assert document(outcome) == PollDocument()
    assert outcome.summary == "## kalypso poll: nothing has moved"
    assert asked(acme, GRAPHQL) == 1


def test_a_registered_folder_that_has_moved(acme: Organisation) -> None:
    record(acme)
    push_to_shop(acme)
    outcome = run(acme)
    assert acme.dispatches() == [schedule("dev"), schedule("stage")]
    found = document(outcome)
    assert found.outputs() == {"environments": '["dev","stage"]'}
    assert found.moved == {"dev": ("shop",), "stage": ("shop",)}
    assert outcome.summary.startswith("## kalypso poll: started schedule for `dev`, `stage`\n")
    assert "| `dev` | `shop` | [schedule](" in outcome.summary
    assert asked(acme, GRAPHQL) == 1


def test_a_push_beside_the_registered_folder_is_none(acme: Organisation) -> None:
    record(acme)
    push_to_shop(acme, "src/main.py")
    run(acme)
    assert acme.dispatches() == []


def test_only_the_environments_that_are_named(acme: Organisation) -> None:
    record(acme)
    push_to_shop(acme)
    run(acme, environments="stage")
    assert acme.dispatches() == [schedule("stage")]
    with pytest.raises(UsageError, match="there is no Environment 'prod'"):
        run(acme, environments="dev,prod")


def test_only_the_environments_that_are_concerned(acme: Organisation) -> None:
    record(acme, environments=("dev",))
    push_to_shop(acme)
    record(acme, environments=("stage",))
    run(acme)
    assert acme.dispatches() == [schedule("dev")]


def test_several_that_have_moved_are_one_start(acme: Organisation) -> None:
    acme.sandbox.create_repository("acme/tea", {"workload/tea.yaml": "a: 1\n", "docs/x": "1"})
    tea, docs = recorded(acme, "acme/tea"), recorded(acme, "acme/tea", path="docs")
    record(acme, {"shop": recorded(acme), "tea": tea, "docs": docs}, environments=("dev",))
    push_to_shop(acme)
    acme.commit({"workload/tea.yaml": "a: 2\n"}, repository="acme/tea")
    outcome = run(acme, environments="dev")
    assert acme.dispatches() == [schedule("dev")]
    assert document(outcome).moved == {"dev": ("shop", "tea")}
    assert asked(acme, GRAPHQL) == 1


def test_a_folder_that_is_gone_has_moved(acme: Organisation) -> None:
    record(acme)
    acme.commit({"workload/shop.yaml": None, "x": "1"}, repository=SHOP)
    run(acme, environments="dev")
    assert acme.dispatches() == [schedule("dev")]


@pytest.mark.parametrize("written", ["", '{"schema": "other"}', "stage"])
def test_a_branch_that_does_not_say_what_it_was_made_of_is_scheduled(
    acme: Organisation, written: str
) -> None:
    record(acme)
    if written == "stage":
        merge(acme, acme.head("main"), environment="stage", config="2")
    else:
        acme.commit({".github/tracking/sources.json": written or None}, "dev", GITOPS)
    for _ in range(2):
        outcome = run(acme)
    assert acme.dispatches() == [schedule("dev")] * 2
    assert document(outcome).moved == {}
    assert "acme/gitops, branch dev does not say what it was made of" in outcome.summary.replace(
        "\\", ""
    )


def test_a_base_repository_that_floats(acme: Organisation) -> None:
    base = {"main": recorded(acme, CONTROL_PLANE, path="."), "extra": recorded(acme)}
    record(acme, base_repos=base)
    acme.commit({"notes.txt": "1"})
    push_to_shop(acme)
    # The commit is pinned in stage; in dev it is not.
    text = documents.base_repo(acme.url(), "").replace("  commit: \n", "")
    acme.commit({"base-repo.yaml": text}, "dev")
    outcome = run(acme)
    assert document(outcome).moved == {"dev": ("BaseRepo main", "shop"), "stage": ("shop",)}


def test_a_repository_that_cannot_be_read_stops_nobody_else(acme: Organisation) -> None:
    gone = recorded(acme).model_copy(update={"repository": acme.url("acme/gone")})
    absent = recorded(acme).model_copy(update={"branch": "absent"})
    record(acme, {"gone": gone, "absent": absent, "shop": recorded(acme)}, environments=("dev",))
    push_to_shop(acme)
    outcome = run(acme, environments="dev")
    assert acme.dispatches() == [schedule("dev")]
    assert not outcome.failed
    messages = [warning.message for warning in document(outcome).warnings]
    url = acme.sandbox.url
    assert [message.partition(": ")[0] for message in messages] == [
        f"it cannot be said whether {url}/acme/gone has moved",
        f"it cannot be said whether {url}/acme/shop has moved",
    ]
    assert messages[1].endswith("there is no branch 'absent'")


def test_what_was_never_read_has_moved_once_it_can_be(acme: Organisation) -> None:
    unread = recorded(acme).model_copy(update={"commit": None, "tree": None})
    record(acme, {"shop": unread}, environments=("dev",))
    run(acme, environments="dev")
    assert acme.dispatches() == [schedule("dev")]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("https://elsewhere.example/acme/shop", "not among those that may be read"),
        ("https://[acme/shop", "this is no URL"),
        ("ext::sh -c id", "not among those that may be read"),
    ],
)
def test_whoever_writes_into_a_gitops_repository_has_nothing_else_asked(
    acme: Organisation, url: str, message: str
) -> None:
    wrong = recorded(acme).model_copy(update={"repository": url})
    record(acme, {"shop": wrong}, environments=("dev",))
    outcome = run(acme, environments="dev")
    assert message in document(outcome).warnings[0].message
    assert acme.dispatches() == []
    assert asked(acme, GRAPHQL) == 0


def test_a_repository_on_another_server_is_asked_by_git(acme: Organisation, tmp_path: Path) -> None:
    with Sandbox(tmp_path / "other", programs(), now=acme.clock) as other:
        made = other.create_repository("acme/tea", {"workload/t.yaml": "a: 1\n"}, private=False)
        assert not made.private
        tea = recorded(acme, "acme/tea", sandbox=other)
        record(acme, {"tea": tea}, environments=("dev",))
        inputs = {"environments": "dev", "allowed_repositories": f"acme/*,{other.url}/*"}
        run(acme, **inputs)
        assert acme.dispatches() == []
        other.commit("acme/tea", {"docs/x": "1"})
        run(acme, **inputs)
        assert acme.dispatches() == []
        other.commit("acme/tea", {"workload/t.yaml": "a: 2\n"})
        assert document(run(acme, **inputs)).moved == {"dev": ("tea",)}
        assert acme.dispatches() == [schedule("dev")]
    assert asked(acme, GRAPHQL) == 0


def test_what_the_token_does_not_see_a_credential_for_git_may(acme: Organisation) -> None:
    record(acme)
    push_to_shop(acme)
    permissions: Permissions = {"actions": "write", "contents": "read"}
    token = acme.sandbox.create_token(
        "user", permissions, owner="acme", repositories=[CONTROL_PLANE, GITOPS]
    )
    assert document(run(acme, token=token)).moved == {}
    credentials = f"{acme.url(SHOP)}=x:{acme.token}"
    assert document(run(acme, token=token, git_credentials=credentials)).moved != {}


def test_an_environment_that_cannot_be_read(acme: Organisation) -> None:
    record(acme)
    push_to_shop(acme)
    acme.commit({"broken.yaml": "kind: [GitOpsRepo"}, "dev")
    outcome = run(acme)
    assert outcome.failed
    (problem,) = document(outcome).problems
    assert problem.message.startswith("environment dev: ")
    assert acme.dispatches() == [schedule("stage")]


def test_a_gitops_branch_that_does_not_exist(acme: Organisation) -> None:
    record(acme, environments=("stage",))
    acme.reset("dev", None, GITOPS)
    outcome = run(acme)
    assert outcome.failed
    message = "environment dev: acme/gitops has no branch 'dev'"
    assert [one.message for one in document(outcome).problems] == [message]
    assert acme.dispatches() == []


def test_a_start_that_fails_stops_no_other(acme: Organisation) -> None:
    record(acme)
    push_to_shop(acme)
    acme.sandbox.faults.add(Fault("POST", "*/dispatches", "status", count=4))
    outcome = run(acme)
    assert outcome.failed
    assert document(outcome).environments == ("stage",)
    assert document(outcome).moved == {"dev": ("shop",), "stage": ("shop",)}
    assert acme.dispatches() == [schedule("stage")]


def test_several_gitops_branches_of_an_environment(acme: Organisation) -> None:
    """One was merged after the other: what the newer says counts."""
    acme.sandbox.create_repository("acme/second", {"README.md": ""})
    repo = documents.gitops_repo(acme.url("acme/second"), "dev", "second")
    acme.commit({"second.yaml": repo}, "dev")
    record(acme, environments=("dev",), repository="acme/second")
    old = acme.head("main")
    push_to_shop(acme)
    new = acme.commit({"notes.txt": "1"})
    acme.commit({"base-repo.yaml": documents.base_repo(acme.url(), new)}, "dev")
    record(acme, environments=("dev",))
    assert old != new
    run(acme, environments="dev")
    assert acme.dispatches() == []
