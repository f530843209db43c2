"""Environments that branch and join; several GitOps repositories of one environment."""

from __future__ import annotations

from tests.chain.conftest import OpenChain
from tests.chain.organisation import EDGE, Layout
from tests.commands.chain.organisation import GITOPS

FANNED_OUT = Layout(environments={"dev": "qa,perf", "qa": "stage", "perf": "stage", "stage": ""})
TWO_REPOSITORIES = Layout(gitops=(GITOPS, EDGE))


def test_environments_that_meet_again(open_chain: OpenChain) -> None:
    """The faster environment starts the common one; the slower one changes nothing there."""
    chain = open_chain(FANNED_OUT, at_rest=False)
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    lines = chain.run_everything()
    assert lines[1:4] == [
        "check-promote dev: compliant, starts qa, perf",
        "cd qa: written",
        "cd perf: written",
    ]
    chain.merge_pull_request("perf")
    assert chain.run_everything() == [
        "notify: tells of perf",
        "check-promote perf: compliant, starts stage",
        "cd stage: written",
        "schedule stage: created, promoted",
    ]
    chain.merge_pull_request("qa")
    assert chain.run_everything() == [
        "notify: tells of qa",
        "check-promote qa: compliant, starts stage",
        "cd stage: unchanged",
        "schedule stage: unchanged, promoted",
    ]
    chain.merge_pull_request("stage")
    assert chain.run_everything()[-1] == "check-promote stage: compliant"
    for name in FANNED_OUT.environments:
        chain.expect(name, commit, RELEASE="one")
        assert len(chain.pull_requests(name, state="all")) == 1


def test_an_older_commit_arrives_by_the_slower_way(open_chain: OpenChain) -> None:
    chain = open_chain(FANNED_OUT, at_rest=False)
    older = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    chain.run_everything()
    chain.slow_cluster("perf", "large", 600)
    newest = ""

    def overtake() -> None:
        nonlocal newest
        newest = chain.merge_to_main(RELEASE="two")
        for name in ("dev", "qa", "stage"):
            chain.run_everything()
            chain.merge_pull_request(name)
        chain.run_everything()

    chain.merge_pull_request("perf")
    chain.meanwhile(60, overtake)
    lines = chain.run_everything()
    assert lines[-3:] == [
        "check-promote stage: compliant",
        "check-promote perf: compliant, starts stage",
        "cd stage: superseded",
    ]
    chain.settle()
    chain.expect_everywhere(newest, RELEASE="two")
    assert chain.status(older, "stage") == f"Superseded by {newest[:7]}"


def test_one_of_two_gitops_repositories_is_merged_first(open_chain: OpenChain) -> None:
    chain = open_chain(TWO_REPOSITORIES)
    before = chain.has("stage")
    commit = chain.merge_to_main(RELEASE="one")
    assert chain.run_everything()[-1] == "schedule dev: created, created, promoted"
    chain.merge_pull_request("dev", EDGE)
    assert chain.run_everything() == ["notify: tells of dev", "check-promote dev: waiting"]
    assert chain.status(commit, "dev") == "Deploying"
    assert (chain.tracks("dev"), chain.has("stage")) == (before, before)
    chain.merge_pull_request("dev")
    assert chain.run_everything() == [
        "notify: tells of dev",
        "check-promote dev: compliant, starts stage",
        "cd stage: written",
        "schedule stage: created, created, promoted",
    ]
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")


def test_a_cluster_of_the_other_repository_fails(open_chain: OpenChain) -> None:
    chain = open_chain(TWO_REPOSITORIES)
    before = chain.has("stage")
    chain.break_cluster("edge-dev", "drone", "RELEASE: one")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev", EDGE)
    assert chain.run_everything() == ["notify: tells of dev", "check-promote dev: failed"]
    chain.merge_pull_request("dev")
    assert chain.run_everything() == ["notify: tells of dev", "check-promote dev: failed"]
    assert chain.status(commit, "dev").startswith("Failed to deploy: acme/edge")
    assert chain.has("stage") == before
    assert chain.status(commit, "stage") == ""
