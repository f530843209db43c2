"""GitHub's auto-merge: it merges a proposal that schedule could not merge yet, and no other."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kalypso_sandbox.store import AutoMerge, BranchRule
from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import Layout
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS

DOCUMENT = {"docs/operations.md": "Call us.\n"}
"""A commit of main that changes no manifest."""


OF_APP = {
    "app-id": "${{ vars.KALYPSO_APP_ID }}",
    "app-private-key": "${{ secrets.KALYPSO_APP_PRIVATE_KEY }}",
}


def checked(open_chain: OpenChain, option: str, **inputs: Mapping[str, str]) -> Chain:
    """Open a chain whose GitOps branch of dev requires a check, and allows auto-merge."""
    chain = open_chain(Layout(inputs={"schedule": {"auto-merge": option}, **inputs}))
    with chain.acme.sandbox.lock:
        gitops = chain.acme.sandbox.repository(GITOPS)
        gitops.rules = [BranchRule(pattern="dev", required_contexts=["tests"])]
        gitops.allow_auto_merge = True
    return chain


@pytest.fixture
def always(open_chain: OpenChain) -> Chain:
    return checked(open_chain, "always")


def pass_check(chain: Chain) -> None:
    """Post the required status on the head of dev's proposal, wherever its pull request is."""
    head = chain.acme.head("kalypso/dev", GITOPS)
    body = {"state": "success", "context": "tests"}
    chain.acme.ask("POST", f"{GITOPS}/statuses/{head}", body)


def is_enabled(chain: Chain) -> bool:
    return chain.open_pull_request("dev")["auto_merge"] is not None


def test_github_merges_once_the_check_has_passed(always: Chain) -> None:
    commit = always.merge_to_main(RELEASE="one")
    always.run_everything()
    assert is_enabled(always)
    pass_check(always)
    assert always.pull_requests("dev") == []
    assert always.tracks("dev") == commit
    always.settle()
    always.expect_everywhere(commit, RELEASE="one")


def test_new_manifests_in_a_pull_request_that_only_tracked(open_chain: OpenChain) -> None:
    """The check passes right after the push, before schedule updates the description."""
    chain = checked(open_chain, "tracking-only")
    before = chain.tracks("dev")
    chain.merge_to_main(DOCUMENT)
    chain.run_everything()
    assert is_enabled(chain)
    chain.merge_to_main(RELEASE="one")
    chain.run_everything(but={"schedule"})
    passed = chain.at_write(
        lambda: pass_check(chain), path=f"*{GITOPS}*/git-receive-pack", after=True
    )
    chain.run_everything()
    passed.result(0)
    assert not is_enabled(chain)
    assert chain.tracks("dev") == before


def test_a_rollback(always: Chain) -> None:
    older = always.has("dev")
    always.merge_to_main(RELEASE="one")
    always.run_everything()
    number = always.open_pull_request("dev")["number"]
    always.start("cd", environment="dev", promoted_commit_id=older, allow_rollback="true")
    always.run_everything(but={"schedule"})
    passed = always.at_write(lambda: pass_check(always), path=f"*{GITOPS}/issues/*")
    always.run_everything()
    passed.result(0)
    assert not always.acme.ask("GET", f"{GITOPS}/pulls/{number}")["merged"]
    assert (always.has("dev"), always.tracks("dev")) == (older, older)


def test_a_rollback_by_the_app(open_chain: OpenChain) -> None:
    """cd turns auto-merge off itself, because schedule starts later."""
    chain = checked(open_chain, "always", cd=OF_APP)
    older = chain.has("dev")
    chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    number = chain.open_pull_request("dev")["number"]
    chain.start("cd", environment="dev", promoted_commit_id=older, allow_rollback="true")
    passed = chain.at_write(lambda: pass_check(chain), path=f"*{CONTROL_PLANE}*/git-receive-pack")
    chain.run_everything(but={"schedule"})
    passed.result(0)
    assert not chain.acme.ask("GET", f"{GITOPS}/pulls/{number}")["merged"]
    chain.run_everything()
    assert (chain.has("dev"), chain.tracks("dev")) == (older, older)


def test_auto_merge_of_a_person_ends_with_new_content(open_chain: OpenChain) -> None:
    chain = checked(open_chain, "none")
    chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    pull = chain.open_pull_request("dev")
    with chain.acme.sandbox.lock:
        issue = chain.acme.sandbox.repository(GITOPS).issues[pull["number"]]
        person = chain.acme.sandbox.store.tokens[chain.acme.token]
        assert issue.pull_request
        issue.pull_request.auto_merge = AutoMerge(identity=person, method="merge")
    chain.start("schedule", environment="dev")
    chain.run_everything()
    assert is_enabled(chain)
    chain.merge_to_main(RELEASE="two")
    chain.run_everything()
    assert not is_enabled(chain)
    (warning,) = chain.done[-1].outcome.document.warnings
    assert warning.message == (
        f"the auto-merge of #{pull['number']} is off: {person.login} enabled it for other content"
    )
