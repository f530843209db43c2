"""People roll back: the chain does not bring the commit back."""

from __future__ import annotations

import pytest

from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import Layout
from tests.chain.run_lines import TO_DEV
from tests.commands.chain.documents import gitops_repo
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS

DIAMOND = Layout(environments={"dev": "qa,perf", "qa": "stage", "perf": "stage", "stage": ""})
BASE = "base-repo.yaml"


def back(chain: Chain, environment: str, commit: str) -> None:
    """Roll an environment back by cd as a person."""
    chain.start("cd", environment=environment, promoted_commit_id=commit, allow_rollback="true")
    assert chain.run_everything()[0] == f"cd {environment}: written"
    assert chain.has(environment) == commit


def start_cd(chain: Chain, environment: str, commit: str, promoted_from: str) -> list[str]:
    """Start cd with `promoted_from`, as the chain does; return its result."""
    chain.start(
        "cd",
        environment=environment,
        promoted_commit_id=commit,
        promoted_from=promoted_from,
    )
    return chain.run_everything()


def headline(chain: Chain) -> str:
    """Return the headline of the newest run of cd."""
    newest = next(run for run in reversed(chain.done) if run.command == "cd")
    (line,) = (line for line in newest.lines if " is superseded in " in line)
    return line


def test_an_old_ci_run_does_not_undo_a_rollback(chain: Chain) -> None:
    first = chain.has("dev")
    commit = chain.merge_to_main(RELEASE="one")
    assert chain.run_everything() == TO_DEV
    back(chain, "dev", first)
    chain.settle()
    chain.run_again("ci")
    assert chain.run_everything() == ["ci: checked, starts dev", "cd dev: superseded"]
    assert headline(chain) == (
        f"{commit[:7]} is superseded in dev: dev was rolled back to {first[:7]}; start cd by "
        f"hand, without promoted-from, to bring {commit[:7]} back."
    )
    chain.expect("dev", first, RELEASE="zero")
    assert chain.status(commit, "dev") == f"Rolled back to {first[:7]}"


def test_no_commit_returns_that_a_rollback_undid(chain: Chain) -> None:
    first = chain.has("dev")
    older = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    old_ci = next(run.run for run in chain.done if run.command == "ci")
    newer = chain.merge_to_main(RELEASE="two")
    chain.run_everything()
    back(chain, "dev", first)
    assert chain.run(old_ci) == ["ci: checked, starts dev"]
    assert chain.run_everything() == ["cd dev: superseded"]
    assert start_cd(chain, "dev", newer, "ci") == ["cd dev: superseded"]
    assert start_cd(chain, "dev", older, "stage") == ["cd dev: superseded"]
    assert chain.has("dev") == first
    beyond = chain.merge_to_main(RELEASE="three")
    chain.settle()
    chain.expect_everywhere(beyond, RELEASE="three")


def test_the_second_way_through_a_diamond(open_chain: OpenChain) -> None:
    chain = open_chain(DIAMOND)
    first = chain.has("stage")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    for name in ("dev", "qa", "stage"):
        chain.merge_pull_request(name)
        chain.run_everything()
    assert chain.status(commit, "stage") == "Deployed"
    back(chain, "stage", first)
    chain.merge_pull_request("stage")
    chain.run_everything()
    chain.merge_pull_request("perf")
    assert chain.run_everything() == [
        "notify: tells of perf",
        "check-promote perf: compliant, starts stage",
        "cd stage: superseded",
    ]
    chain.expect("stage", first, RELEASE="zero")
    chain.expect("perf", commit, RELEASE="one")


def test_a_branch_that_was_cut_from_another_environments(chain: Chain) -> None:
    """Commits that dev named do not count as rollbacks of stage."""
    older = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    newer = chain.merge_to_main(RELEASE="two")
    chain.run_everything()
    acme = chain.acme
    acme.reset("stage", acme.head("dev"))
    own = gitops_repo(acme.url(GITOPS), "stage")
    text = acme.files("dev")[BASE].replace(newer, older)
    acme.commit({"gitops-repo.yaml": own, BASE: text}, "stage")
    chain.forget_what_is_due()
    assert start_cd(chain, "stage", newer, "dev")[0] == "cd stage: written"
    back(chain, "stage", older)
    assert start_cd(chain, "stage", newer, "dev") == ["cd stage: superseded"]


def test_a_merge_of_another_environments_branch_is_a_write(chain: Chain) -> None:
    first = chain.has("stage")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    acme = chain.acme
    # Both branches made the same change to the file, so that the merge does not conflict.
    text = acme.files("stage")[BASE]
    acme.reset("merged", acme.head("stage"))
    acme.commit({BASE: text.replace(first, commit)}, "merged")
    acme.merge(acme.pull("merged", "stage"), CONTROL_PLANE)
    chain.forget_what_is_due()
    assert chain.has("stage") == commit
    back(chain, "stage", first)
    assert start_cd(chain, "stage", commit, "dev") == ["cd stage: superseded"]


def test_people_bring_back_an_undone_commit(chain: Chain) -> None:
    first = chain.has("dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    back(chain, "dev", first)
    assert start_cd(chain, "dev", commit, "ci") == ["cd dev: superseded"]
    chain.start("cd", environment="dev", promoted_commit_id=commit)
    assert chain.run_everything()[0] == "cd dev: written"
    assert start_cd(chain, "dev", commit, "ci")[0] == "cd dev: unchanged"
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")


@pytest.mark.parametrize("path", [BASE, "flux/main.yaml"])
def test_a_rollback_by_hand(chain: Chain, path: str) -> None:
    """Somebody edits the file, or moves it too; later edits do not hide the rollback."""
    first = chain.has("dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    text = chain.acme.files("dev")[BASE].replace(commit, first)
    chain.acme.commit({BASE: None, path: text} if path != BASE else {BASE: text}, "dev")
    chain.acme.commit({path: f"# ours\n{text}"}, "dev")
    chain.run_everything()
    chain.run_again("ci")
    assert chain.run_everything() == ["ci: checked, starts dev", "cd dev: superseded"]
    assert first in chain.acme.files("dev")[path]


def test_a_rollback_by_pull_requests(open_chain: OpenChain) -> None:
    chain = open_chain(Layout(inputs={"cd": {"mode": "pull-request"}}))
    first = chain.has("dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev", CONTROL_PLANE)
    chain.run_everything()
    chain.start("cd", environment="dev", promoted_commit_id=first, allow_rollback="true")
    chain.run_everything()
    chain.merge_pull_request("dev", CONTROL_PLANE)
    chain.run_everything()
    assert start_cd(chain, "dev", commit, "ci") == ["cd dev: superseded"]
    assert chain.pull_requests("dev", CONTROL_PLANE) == []
    assert chain.status(commit, "dev") == f"Rolled back to {first[:7]}"
    chain.start("cd", environment="dev", promoted_commit_id=commit)
    assert chain.run_everything() == ["cd dev: proposed"]
    # A person proposed it again: a second start of the chain does not withdraw it.
    assert start_cd(chain, "dev", commit, "ci") == ["cd dev: proposed"]
    number = chain.open_pull_request("dev", CONTROL_PLANE)["number"]
    assert chain.status(commit, "dev") == f"Waiting for #{number}"


# Rollbacks during a promotion


def test_a_commit_is_withdrawn_while_cd_waits_for_an_approval(chain: Chain) -> None:
    first = chain.has("dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    assert chain.run_everything(but={"cd stage"})[-1] == (
        "check-promote dev: compliant, starts stage"
    )
    chain.start("cd", environment="dev", promoted_commit_id=first, allow_rollback="true")
    assert chain.run_everything(but={"cd stage"})[0] == "cd dev: written"
    assert chain.waiting == ["cd stage"]
    assert chain.run_everything() == ["cd stage: superseded"]
    assert headline(chain) == (
        f"{commit[:7]} is superseded in stage: base-repo.yaml of dev, which it comes from, "
        f"names {first[:7]}."
    )
    assert chain.has("stage") == first
    assert chain.status(commit, "stage") == f"Rolled back to {first[:7]}"


def test_the_rollback_is_not_merged_yet_and_the_clusters_comply(chain: Chain) -> None:
    first = chain.has("dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    assert chain.run_everything(but={"check-promote"}) == ["notify: tells of dev"]
    chain.start("cd", environment="dev", promoted_commit_id=first, allow_rollback="true")
    chain.run_everything(but={"check-promote"})
    # The notifier names no commit, and base-repo.yaml names the one before: this merge promotes none.
    assert chain.run_everything() == ["check-promote dev: compliant"]
    assert (chain.tracks("dev"), chain.has("stage")) == (commit, first)
    assert chain.status(commit, "dev") == f"Rolled back to {first[:7]}"
