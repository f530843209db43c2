"""Promotions of main's commits through the environments."""

from __future__ import annotations

import pytest

from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import Layout
from tests.chain.run_lines import FROM_DEV, IN_STAGE, TO_DEV
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS


def test_a_commit_goes_through_all_environments(chain: Chain) -> None:
    commit = chain.merge_to_main(RELEASE="one")
    assert chain.run_everything() == TO_DEV
    chain.merge_pull_request("dev")
    assert chain.run_everything() == FROM_DEV
    chain.merge_pull_request("stage")
    assert chain.run_everything() == IN_STAGE
    chain.expect("dev", commit, RELEASE="one", REGION="west")
    chain.expect("stage", commit, RELEASE="one", REGION="west")
    assert chain.acme.statuses(commit)["dev environment"] == ("success", "Deployed")
    assert chain.acme.statuses(commit)["stage environment"] == ("success", "Deployed")


@pytest.mark.parametrize("started", ["before", "after"])
def test_a_configuration_merge_before_the_clusters_have_synced(chain: Chain, started: str) -> None:
    """The commit is promoted although its clusters never ran exactly its merge."""
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.slow_cluster("dev", "large", 300)
    chain.wait(300)  # the cluster complies with the previous merge

    def configuration() -> None:
        chain.configure("dev", REGION="north")
        assert chain.run_everything(but={"check-promote", "notify"}) == [
            "start-schedule: for dev",
            "schedule dev: created",
        ]
        chain.merge_pull_request("dev")
        if started == "before":
            assert chain.run_everything(but={"check-promote"}) == ["notify: tells of dev"]

    chain.merge_pull_request("dev")
    chain.meanwhile(120, configuration)
    lines = chain.run_everything()
    assert lines[0] == FROM_DEV[0]
    waiting = next(run for run in chain.done if run.command == "check-promote")
    assert any(line.endswith("progressing 1") for line in waiting.lines)
    first = lines.index("check-promote dev: compliant, starts stage")
    # The run for the second merge begins after the commit is deployed: a configuration change.
    rest = [
        *([] if started == "before" else ["notify: tells of dev"]),
        "cd stage: written",
        "check-promote dev: compliant",
        "schedule stage: created, promoted",
    ]
    assert sorted(lines[first + 1 :]) == sorted(rest)
    chain.merge_pull_request("stage")
    assert chain.run_everything() == IN_STAGE
    chain.expect("dev", commit, RELEASE="one", REGION="north")
    chain.expect("stage", commit, RELEASE="one", REGION="west")
    assert len(chain.pull_requests("stage", state="all")) == 2  # with that of the opening
    history = chain.acme.status_history(commit)
    told_of_dev = [text for context, text in history if context == "dev environment"]
    assert told_of_dev == ["Waiting: cd", "Promoted", "Deploying", "Deployed"]


def test_a_failure_and_its_correction_by_configuration(chain: Chain) -> None:
    chain.break_cluster("dev", "large", "RELEASE: one")
    before = chain.has("stage")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    assert chain.run_everything() == ["notify: tells of dev", "check-promote dev: failed"]
    assert chain.acme.statuses(commit)["dev environment"] == (
        "failure",
        "Failed to deploy: dev-large: HealthCheckFailed: RELEASE: one is too much",
    )
    assert (chain.has("stage"), chain.status(commit, "stage")) == (before, "")
    chain.configure("dev", REGION="west", RELEASE="mended")
    assert chain.run_everything() == ["start-schedule: for dev", "schedule dev: created"]
    chain.merge_pull_request("dev")
    assert chain.run_everything() == FROM_DEV
    chain.merge_pull_request("stage")
    assert chain.run_everything() == IN_STAGE
    chain.expect("dev", commit, RELEASE="mended")
    chain.expect("stage", commit, RELEASE="one")


def test_a_newer_commit_overtakes_what_is_proposed(chain: Chain) -> None:
    older = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    number = chain.open_pull_request("dev")["number"]
    newer = chain.merge_to_main(RELEASE="two")
    assert chain.run_everything()[-1] == "schedule dev: updated, promoted"
    assert chain.open_pull_request("dev")["number"] == number
    chain.merge_pull_request("dev")
    assert chain.run_everything() == FROM_DEV
    chain.merge_pull_request("stage")
    chain.run_everything()
    chain.expect_everywhere(newer, RELEASE="two")
    assert chain.status(older, "dev") == f"Superseded by {newer[:7]}"
    assert older not in chain.statuses("stage")


def test_a_newer_commit_overtakes_what_clusters_are_syncing(chain: Chain) -> None:
    older = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.slow_cluster("dev", "drone", 300)

    def overtake() -> None:
        chain.merge_to_main(RELEASE="two")
        chain.run_everything(but={"check-promote", "notify"})
        chain.merge_pull_request("dev")

    chain.merge_pull_request("dev")
    chain.meanwhile(60, overtake)
    lines = chain.run_everything()
    assert "check-promote dev: superseded" in lines
    assert lines[-4:] == FROM_DEV
    newer = chain.has("dev")
    assert newer != older
    chain.merge_pull_request("stage")
    chain.run_everything()
    chain.expect_everywhere(newer, RELEASE="two")
    assert chain.status(older, "dev") == f"Superseded by {newer[:7]}"
    assert older not in chain.statuses("stage")


def test_a_commit_without_changed_manifests_needs_no_person(open_chain: OpenChain) -> None:
    """The push of the merge and schedule both start check-promote: the second run changes nothing."""
    chain = open_chain(Layout(inputs={"schedule": {"auto-merge": "tracking-only"}}))
    commit = chain.merge_to_main({"docs/operations.md": "Call us.\n"})
    lines = chain.run_everything()
    assert lines[:3] == [*TO_DEV[:2], "schedule dev: merged, promoted"]
    assert lines.count("schedule stage: merged, promoted") == 1
    chain.expect_everywhere(commit, RELEASE="zero")
    changed = chain.merge_to_main(RELEASE="one")
    assert chain.run_everything() == TO_DEV
    chain.open_pull_request("dev")
    assert chain.status(changed, "dev") == "Promoted"


def test_cd_by_pull_request(open_chain: OpenChain) -> None:
    chain = open_chain(Layout(inputs={"cd": {"mode": "pull-request"}}))
    before = chain.has("dev")
    older = chain.merge_to_main(RELEASE="one")
    assert chain.run_everything() == ["ci: checked, starts dev", "cd dev: proposed"]
    number = chain.open_pull_request("dev", CONTROL_PLANE)["number"]
    assert chain.status(older, "dev") == f"Waiting for #{number}"
    assert (chain.has("dev"), chain.pull_requests("dev")) == (before, [])
    commit = chain.merge_to_main(RELEASE="two")
    assert chain.run_everything() == ["ci: checked, starts dev", "cd dev: proposed"]
    assert chain.open_pull_request("dev", CONTROL_PLANE)["number"] == number
    assert chain.status(older, "dev") == f"Superseded by {commit[:7]}"
    chain.merge_pull_request("dev", CONTROL_PLANE)
    assert chain.run_everything() == [
        "start-schedule: for dev",
        "schedule dev: created, promoted",
    ]
    chain.merge_pull_request("dev")
    assert chain.run_everything() == [*FROM_DEV[:2], "cd stage: proposed"]
    chain.merge_pull_request("stage", CONTROL_PLANE)
    chain.run_everything()
    chain.merge_pull_request("stage")
    assert chain.run_everything() == IN_STAGE
    for name in ("dev", "stage"):
        chain.expect(name, commit, RELEASE="two")
        assert chain.pull_requests(name, CONTROL_PLANE) == []


@pytest.mark.parametrize("merged_by", ["people", "schedule"])
@pytest.mark.parametrize(
    ("subject", "shown"),
    [
        pytest.param("Fix it [skip ci]", "Fix it (skip ci)", id="skip ci"),
        pytest.param("[no ci] [actions skip]", "(no ci) (actions skip)", id="its kin"),
        pytest.param("Fix\n\n\nskip-checks: true", "Fix", id="a trailer"),
        pytest.param("skip-checks: true", "skip-checks true", id="a trailer as the subject"),
        pytest.param("Fixes #1, GH-1", "Fixes no. 1, GH 1", id="an issue"),
        pytest.param("Closes acme/gitops#1", "Closes acme/gitops no. 1", id="another repository's"),
        pytest.param("Thank @octocat", "Thank octocat", id="a person"),
        pytest.param("a\x1b[2Jb\u202ec", "a (2Jb c", id="control characters"),
        pytest.param("long " * 99, "long long", id="a long one"),
    ],
)
def test_no_subject_of_a_commit_does_harm(
    open_chain: OpenChain, subject: str, shown: str, merged_by: str
) -> None:
    """A merge whose message has `[skip ci]` would silence notify."""
    auto_merge = {"auto-merge": "always"} if merged_by == "schedule" else {}
    chain = open_chain(Layout(inputs={"schedule": auto_merge}))
    files = {"release.yaml": documents.config_map("base", RELEASE="one")}
    commit = chain.acme.sandbox.commit(CONTROL_PLANE, files, message=subject)
    chain.start("cd", promoted_commit_id=commit, environment="dev")  # ci may skip the commit
    chain.run_everything(but={"check-promote", "notify"})
    if merged_by == "people":
        chain.merge_pull_request("dev")
    (pull,) = [each for each in chain.pull_requests("dev", state="closed") if each["merged_at"]][
        -1:
    ]
    assert pull["title"].startswith(f'dev: promote {commit[:7]} "{shown}')
    assert len(pull["title"]) <= 200
    merge = chain.acme.ask("GET", f"{GITOPS}/git/commits/{chain.acme.head('dev', GITOPS)}")
    assert pull["title"] in merge["message"]
    assert "notify: tells of dev" in chain.run_everything()
    chain.expect("dev", commit, RELEASE="one")
