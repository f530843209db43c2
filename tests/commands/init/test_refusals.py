"""Unreachable or read-only repositories, and impossible names."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from kalypso_actions.commands.init.repositories import open_repositories
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.local import InitInputs
from kalypso_sandbox.store import Permissions
from tests.commands.init.repositories import CONTROL_PLANE, GITOPS, Acme


def test_without_a_token_no_request_is_sent(acme: Acme) -> None:
    with pytest.raises(UsageError, match="no token is given") as caught:
        acme.init(token="")
    assert "GH_TOKEN" in caught.value.problem.advice
    assert list(acme.sandbox.traffic) == []


def test_a_repository_that_does_not_exist(acme: Acme) -> None:
    acme.sandbox.create_repository(CONTROL_PLANE)
    with pytest.raises(KalypsoError, match="the repository cannot be read") as caught:
        acme.init()
    where = caught.value.problem.where
    assert where
    assert where.repository == GITOPS
    assert caught.value.problem.advice.startswith("check that it exists, and that the token may")
    assert acme.branches() == {}


def test_an_archived_repository(acme: Acme) -> None:
    acme.create()
    with acme.sandbox.lock:
        acme.sandbox.repository(GITOPS).archived = True
    with pytest.raises(KalypsoError, match="the repository is archived"):
        acme.init()


READ: Permissions = {"contents": "read", "metadata": "read"}
NO_WORKFLOWS: Permissions = {"contents": "write", "metadata": "read"}


@pytest.mark.parametrize(
    ("permissions", "message"),
    [
        (READ, "the token may not write to the repository"),
        (NO_WORKFLOWS, "workflow"),
    ],
)
def test_a_token_that_may_not(acme: Acme, permissions: Permissions, message: str) -> None:
    acme.create({"README.md": "x"}, {"README.md": "x"})
    before = acme.state()
    token = acme.sandbox.create_token(permissions=permissions, owner="acme")
    with pytest.raises(KalypsoError, match=message) as caught:
        acme.init(token=token)
    assert caught.value.problem.advice
    assert acme.state() == before


def test_no_network(acme: Acme) -> None:
    nowhere = "http://127.0.0.1:9"
    acme.variables = {"GITHUB_SERVER_URL": nowhere, "GITHUB_API_URL": nowhere}
    with pytest.raises(KalypsoError, match="the repository cannot be read"):
        acme.init()


@pytest.mark.parametrize("name", ["main", "trunk"])
def test_an_environment_named_as_a_default_branch(acme: Acme, name: str) -> None:
    acme.sandbox.create_repository(CONTROL_PLANE)
    acme.sandbox.create_repository(GITOPS, default_branch="trunk")
    with pytest.raises(UsageError, match=f"cannot be named '{name}', like the default branch"):
        acme.init(environments=f"dev,{name}")
    assert acme.state() == {CONTROL_PLANE: {}, GITOPS: {}}


def test_an_environment_named_as_what_the_chain_takes_for_the_default_branch(acme: Acme) -> None:
    acme.create(default_branch="trunk")
    with pytest.raises(UsageError, match="cannot be named 'main', like the default branch"):
        acme.init(environments="dev,main")


def test_ids_and_kind_of_the_owner_come_from_github(acme: Acme) -> None:
    acme.create()
    acme.sandbox.create_app("acme")  # makes the owner an organization
    inputs = InitInputs(
        control_plane=CONTROL_PLANE, gitops=GITOPS, token=SecretStr(acme.token), yes=True
    )
    with open_repositories(inputs, acme.runtime()) as repositories:
        facts = repositories.facts
    with acme.sandbox.lock:
        repository = acme.sandbox.repository(CONTROL_PLANE)
        owner = acme.sandbox.store.account("acme")
    assert facts is not None
    assert (facts.owner_id, facts.id, facts.created_at) == (
        owner.id,
        repository.id,
        repository.created_at,
    )
    assert facts.is_organization


def test_one_repository_by_two_names(acme: Acme) -> None:
    acme.create()
    acme.sandbox.rename_repository(GITOPS, "manifests")
    document = acme.init()
    assert document.gitops == "acme/manifests"
    assert f"repo: {acme.url}/acme/manifests\n" in acme.files("dev")["gitops-repo.yaml"]
    with pytest.raises(UsageError, match="is the control plane itself"):
        acme.init(control_plane="acme/manifests", gitops=GITOPS)
