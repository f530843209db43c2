"""A tracking file written by hand promotes nothing."""

from __future__ import annotations

import json

import pytest

from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE, SOURCES_FILE
from tests.chain.driver import Chain
from tests.chain.run_lines import FROM_DEV
from tests.commands.chain.organisation import GITOPS

FORGERIES = ["tracking file", "and sources.json", "without sources.json"]


def forge(chain: Chain, commit: str, how: str, branch: str = "dev") -> str:
    """Write a tracking file by hand; return the GitOps commit."""
    files: dict[str, str | bytes | None] = {PROMOTED_COMMIT_FILE: commit}
    if how == "and sources.json":
        sources = json.loads(chain.acme.files(branch, GITOPS)[SOURCES_FILE])
        sources["baseRepos"]["main"]["commit"] = commit
        files[SOURCES_FILE] = json.dumps(sources)
    elif how == "without sources.json":
        files[SOURCES_FILE] = None
    return chain.acme.commit(files, branch, GITOPS)


def claim(chain: Chain, commit: str, gitops_commit: str) -> list[str]:
    """Start check-promote as a person; return its result."""
    chain.start(
        "check-promote",
        environment="dev",
        promoted_commit_id=commit,
        commit_id=gitops_commit,
    )
    return chain.run_everything(but={"cd"})


def problem(chain: Chain) -> tuple[str, str]:
    """Return message and advice of the newest step's first problem."""
    first = chain.done[-1].outcome.document.problems[0]
    return first.message, first.advice


@pytest.mark.parametrize("how", FORGERIES)
def test_a_commit_that_still_waits_for_its_approval(chain: Chain, how: str) -> None:
    first = chain.has("dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything(but={"cd"})
    forged = forge(chain, commit, how)
    assert chain.run_everything(but={"cd"}) == [
        "notify: tells of dev",
        "check-promote dev: compliant",
    ]
    (warning,) = chain.done[-1].outcome.document.warnings
    assert warning.message == (
        f"the BaseRepo 'main' on the branch 'dev' never named the commit {commit[:7]}"
    )
    assert claim(chain, commit, forged) == ["check-promote dev: refused"]
    assert (chain.waiting, chain.has("stage")) == (["cd dev"], first)
    assert (chain.status(commit, "dev"), chain.status(commit, "stage")) == ("Waiting: cd", "")


def test_the_chain_continues_after_a_forgery(chain: Chain) -> None:
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything(but={"cd"})
    forge(chain, commit, "and sources.json")
    chain.run_everything(but={"cd"})
    assert chain.run_everything()[0] == "cd dev: written"
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")


def test_a_commit_that_the_tree_lacks(chain: Chain) -> None:
    """The commit's pull request is open, and somebody writes the tracking file by hand."""
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    forged = forge(chain, commit, "tracking file")
    chain.run_everything()
    assert chain.has("stage") != commit
    assert claim(chain, commit, forged) == ["check-promote dev: refused"]
    message, advice = problem(chain)
    assert "by this file the tree was made of another commit" in message
    assert advice == "run schedule for dev, and merge its pull request"
    assert chain.has("stage") != commit


@pytest.mark.slow
def test_an_upstream_merge_that_moved_the_tracking_file_alone(chain: Chain) -> None:
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    proposed = chain.acme.files("kalypso/dev", GITOPS)
    del proposed[SOURCES_FILE]
    merged = chain.acme.commit(proposed, "dev", GITOPS)
    assert chain.run_everything() == ["notify: tells of dev", "check-promote dev: refused"]
    assert claim(chain, commit, merged) == ["check-promote dev: refused"]
    chain.start("schedule", environment="dev")
    assert chain.run_everything() == ["schedule dev: updated"]
    chain.merge_pull_request("dev")
    assert chain.run_everything() == FROM_DEV
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")
    chain.start("schedule", environment="dev")
    assert chain.run_everything() == ["schedule dev: unchanged"]


def test_a_rightful_claim_of_an_older_commit(chain: Chain) -> None:
    older = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    merged = chain.merge_pull_request("dev")
    assert chain.run_everything() == FROM_DEV
    newer = chain.merge_to_main(RELEASE="two")
    chain.run_everything()
    # The newer commit is not merged yet, so the clusters have the claimed one.
    assert claim(chain, older, merged) == ["check-promote dev: compliant, starts stage"]
    assert chain.run_everything() == ["cd stage: unchanged", "schedule stage: unchanged, promoted"]
    chain.merge_pull_request("dev")
    chain.run_everything()
    assert claim(chain, older, merged) == ["check-promote dev: superseded"]
    chain.settle()
    chain.expect_everywhere(newer, RELEASE="two")
