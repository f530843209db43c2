"""`kalypso check-promote` and clusters that follow the GitOps repository by another URL."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_sandbox.faults import Fault
from tests.commands.chain.organisation import GITOPS, Organisation
from tests.commands.chain.promotions import check, document, main_commit, merge, verdict

pytestmark = pytest.mark.usefixtures("azure")

OTHER = "https://git.acme.example/acme/gitops"


def follow(acme: Organisation, name: str, url: str, path: str = "./drone", **more: str) -> None:
    """Let a cluster of dev follow the GitOps branch at another URL."""
    acme.cluster("dev", name, repository=url, paths=[path], **more)


def test_the_clusters_of_a_former_name_count(acme: Organisation) -> None:
    """GitHub redirects git from the former name; without it, nobody sees them."""
    acme.sandbox.repository(GITOPS).former_names.append("acme/fleet")
    former = f"{acme.sandbox.url}/acme/fleet.git"
    follow(acme, "drone", former)
    commit = main_commit(acme)
    outcome = check(acme, merge(acme, commit), commit)
    assert document(outcome).clusters == {"compliant": 2}
    assert (verdict(outcome), document(outcome).warnings) == ("compliant", ())
    follow(acme, "drone", former, behaviour="fail")
    assert verdict(check(acme, merge(acme, commit, config="2"), missing="warn")) == "failed"


@pytest.mark.parametrize("name", ["acme/fleet", "oldacme/fleet"])
@pytest.mark.parametrize("auth", ["token", "app"])
def test_a_former_name_may_have_another_owner(
    acme: Organisation, app: dict[str, str], name: str, auth: str
) -> None:
    """The App is installed for the present owner alone."""
    acme.sandbox.repository(GITOPS).former_names.append(name)
    follow(acme, "late", f"{acme.sandbox.url}/{name}", behaviour="fail")
    follow(acme, "other", f"{acme.sandbox.url}/elsewhere/fleet", behaviour="fail")
    commit = main_commit(acme)
    credential: dict[str, Any] = app if auth == "app" else {}
    outcome = check(acme, merge(acme, commit), commit, **credential)
    assert verdict(outcome) == "failed"
    assert document(outcome).clusters == {"compliant": 2, "failed": 1}


def test_a_rate_limit_is_no_answer_about_a_name(acme: Organisation) -> None:
    acme.sandbox.repository(GITOPS).former_names.append("acme/fleet")
    follow(acme, "late", f"{acme.sandbox.url}/acme/fleet", behaviour="fail")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    limit = Fault("GET", "/repos/acme/fleet", "secondary", retry_after=3600)
    with acme.sandbox.faults.on(limit), pytest.raises(KalypsoError, match="secondary rate limit"):
        check(acme, merged, commit)
    assert verdict(check(acme, merged, commit)) == "failed"


def test_a_refusal_holds_for_one_look(acme: Organisation) -> None:
    acme.sandbox.repository(GITOPS).former_names.append("acme/fleet")
    follow(acme, "late", f"{acme.sandbox.url}/acme/fleet", behaviour="fail")
    acme.cluster("dev", "drone", delay=300)
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with acme.sandbox.faults.on(Fault("GET", "/repos/acme/fleet", "status", status=403)):
        assert verdict(check(acme, merged, commit)) == "failed"


def test_too_many_repositories_could_have_been_this_one(acme: Organisation) -> None:
    for number in range(51):
        follow(acme, f"other-{number}", f"{acme.sandbox.url}/acme/a-{number}")
        follow(acme, f"elsewhere-{number}", f"{OTHER}-{number}")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with pytest.raises(KalypsoError, match="follow 51 other repositories"):
        check(acme, merged, commit)
    assert not any("/acme/a-" in exchange.path for exchange in acme.sandbox.traffic)
    assert acme.dispatches() == []


def test_clusters_of_another_host_or_repository_are_named(acme: Organisation) -> None:
    password = OTHER.replace("https://", "https://user:secret@")
    follow(acme, "drone", password)
    for number in range(10):
        follow(acme, f"other-{number}", f"{acme.sandbox.url}/acme/shop")
    follow(acme, "elsewhere", OTHER, "./monitoring")
    follow(acme, "whole", OTHER, "./")
    acme.cluster("dev", "branch", repository=OTHER, branch="main", paths=["./drone"])
    commit = main_commit(acme)
    outcome = check(acme, merge(acme, commit), commit, timeout="2m")
    assert (verdict(outcome), document(outcome).missing) == ("timed-out", ("drone",))
    (warning,) = document(outcome).warnings
    assert warning.message.startswith(
        "12 clusters follow the branch 'dev' of another repository by a path that holds a cluster "
        "type without a cluster: dev-drone (git.acme.example/acme/gitops), dev-other-0 ("
    )
    assert warning.message.endswith("acme/shop) and 2 more")
    assert "elsewhere" not in warning.message
    assert "secret" not in outcome.summary
    assert warning.advice.endswith(f"follow {acme.url(GITOPS)}")
    assert "12 clusters follow" in outcome.summary


@pytest.mark.parametrize("auth", ["token", "app"])
def test_the_gitops_repository_by_its_new_name(
    acme: Organisation, app: dict[str, str], auth: str
) -> None:
    """The GitOpsRepo still has the former name, which GitHub redirects."""
    commit = main_commit(acme)
    merged = merge(acme, commit)
    acme.sandbox.rename_repository(GITOPS, "drones")
    credential: dict[str, Any] = app if auth == "app" else {}
    for name in ("acme/drones", "ACME/Drones", GITOPS):
        outcome = check(acme, merged, commit, gitops_repository=name, **credential)
        assert verdict(outcome) == "compliant"


def test_the_gitops_repository_by_its_former_name(acme: Organisation) -> None:
    """The GitOpsRepo has the new name; a workflow file may have the former one."""
    acme.sandbox.repository(GITOPS).former_names.append("acme/fleet")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    assert verdict(check(acme, merged, commit, gitops_repository="acme/fleet")) == "compliant"


@pytest.mark.parametrize("taken", ["acme/fleet", "acme/unknown"])
def test_a_former_name_that_somebody_else_has_taken(acme: Organisation, taken: str) -> None:
    """GitHub then redirects no longer."""
    if taken == "acme/fleet":
        acme.sandbox.create_repository(taken, {"README.md": ""})
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with pytest.raises(UsageError, match=f"{taken} is no GitOps repository of the environment"):
        check(acme, merged, commit, gitops_repository=taken)


def test_a_rate_limit_is_no_answer_about_the_given_name(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    limit = Fault("GET", "/repos/acme/fleet", "secondary", retry_after=3600)
    with acme.sandbox.faults.on(limit), pytest.raises(KalypsoError, match="secondary rate limit"):
        check(acme, merged, commit, gitops_repository="acme/fleet")
