"""Registered repositories that change, break and recover."""

from __future__ import annotations

from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import Layout
from tests.chain.run_lines import TO_DEV
from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, SHOP

BROKEN = {"workload/mine.yaml": documents.cluster_type("mine")}


def merges_are_looked_at_once(chain: Chain) -> None:
    """Poll after merges, which moved the GitOps branches: schedule runs once for each."""
    chain.start("poll")
    assert chain.run_everything() == [
        "poll: polled, starts dev, stage",
        "schedule dev: unchanged",
        "schedule stage: unchanged",
    ]
    chain.start("poll")
    assert chain.run_everything() == ["poll: polled"]


def test_a_workload_reaches_every_environment(chain: Chain) -> None:
    """Changes of applications are not promoted, only commits of the control plane."""
    commit = chain.has("dev")
    chain.start("poll")
    assert chain.run_everything() == ["poll: polled"]
    text = chain.acme.files("main", SHOP)["workload/shop.yaml"]
    chain.acme.commit(
        {"workload/shop.yaml": text.replace("shop-manifests", "shop-rewritten")}, repository=SHOP
    )
    chain.start("poll")
    assert chain.run_everything() == [
        "poll: polled, starts dev, stage",
        "schedule dev: created",
        "schedule stage: created",
    ]
    chain.merge_pull_request("stage")
    assert chain.run_everything() == [
        "notify: tells of stage",
        "check-promote stage: compliant",
    ]
    chain.settle()
    for name in ("dev", "stage"):
        chain.expect(name, commit)
        flux = chain.acme.files(name, GITOPS)["large/shop-web/reconciler.yaml"]
        assert "/acme/shop-rewritten" in flux
    merges_are_looked_at_once(chain)


def test_a_change_that_an_application_reverts_is_withdrawn(chain: Chain) -> None:
    """The branches do not show the change in between, but a pull request does."""
    commit = chain.has("dev")
    text = chain.acme.files("main", SHOP)["workload/shop.yaml"]
    chain.acme.commit({"workload/shop.yaml": text.replace("shop-manifests", "x")}, repository=SHOP)
    chain.start("poll")
    assert chain.run_everything()[1:] == ["schedule dev: created", "schedule stage: created"]
    chain.acme.commit({"workload/shop.yaml": text}, repository=SHOP)
    chain.start("poll")
    assert chain.run_everything() == [
        "poll: polled, starts dev, stage",
        "schedule dev: withdrawn",
        "schedule stage: withdrawn",
    ]
    chain.start("poll")
    assert chain.run_everything() == ["poll: polled"]
    chain.expect_everywhere(commit)


def test_a_registration_breaks_and_is_repaired(chain: Chain) -> None:
    """Meanwhile, a commit of main is promoted; the registration's folders stay unchanged."""
    chain.acme.commit(BROKEN, repository=SHOP)
    before = chain.acme.files("dev", GITOPS)
    chain.start("poll")
    assert chain.run_everything() == [
        "poll: polled, starts dev, stage",
        "schedule dev: unchanged",
        "schedule stage: unchanged",
    ]
    titles = [issue["title"] for issue in chain.acme.issues()]
    assert titles == [
        f"Can't read the workload registration shop in {name} environment"
        for name in ("dev", "stage")
    ]
    assert chain.acme.files("dev", GITOPS) == before
    commit = chain.merge_to_main(RELEASE="one")
    lines = chain.run_everything()
    assert lines[1:] == TO_DEV[1:]
    chain.settle()
    for name in ("dev", "stage"):
        assert (chain.tracks(name), chain.status(commit, name)) == (commit, "Deployed")
        assert set(chain.config(name)) == {"drone/shop-web", "large/shop-web"}
    assert [issue["title"] for issue in chain.acme.issues(state="all")] == titles
    chain.acme.commit(dict.fromkeys(BROKEN), repository=SHOP)
    chain.start("poll")
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")


def test_a_registration_that_could_never_be_read_is_repaired(chain: Chain) -> None:
    """`ci` fails for the commit that registers it, and only for that commit.

    `sources.json` names it without a commit, so that poll starts schedule later.
    """
    url = chain.acme.sandbox.url
    new = documents.registration("api", f"{url}/acme/api")
    registering = chain.merge_to_main({"registrations/api.yaml": new})
    chain.settle()
    assert (chain.has("dev"), chain.status(registering, "dev")) != (registering, "Deployed")
    commit = chain.merge_to_main({"README.md": "Another change, of another team.\n"})
    chain.settle()
    for name in ("dev", "stage"):
        assert (chain.tracks(name), chain.status(commit, name)) == (commit, "Deployed")
        assert set(chain.config(name)) == {"drone/shop-web", "large/shop-web"}
    merges_are_looked_at_once(chain)
    outcome = chain.done[-1].outcome
    assert "it cannot be said whether" in outcome.document.warnings[0].message
    workload = documents.workload("api", f"{url}/acme/api-manifests", ("dev", "stage"), "web")
    chain.acme.sandbox.create_repository("acme/api", {"workload/api.yaml": workload})
    chain.start("poll")
    chain.settle()
    for name in ("dev", "stage"):
        chain.expect(name, commit)
        assert "large/api-web" in chain.config(name)
    merges_are_looked_at_once(chain)


def test_a_mass_removal_waits_for_a_person(open_chain: OpenChain) -> None:
    names = tuple(f"type-{number}" for number in range(8))
    chain = open_chain(Layout(environments={"dev": ""}, cluster_types=names))
    commit, before = chain.has("dev"), chain.acme.files("dev", GITOPS)
    chain.acme.commit({"policy.yaml": documents.policy(size="type-0")}, "dev")
    assert chain.run_everything() == ["start-schedule: for dev", "schedule dev: failed"]
    assert chain.pull_requests("dev") == []
    assert chain.acme.files("dev", GITOPS) == before
    chain.start("schedule", environment="dev", allow_removals="true")
    assert chain.run_everything() == ["schedule dev: created"]
    assert "somebody" in chain.open_pull_request("dev")["body"]
    chain.settle()
    chain.expect("dev", commit)
    assert set(chain.config("dev")) == {"type-0/shop-web"}
