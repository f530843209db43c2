"""A mass removal needs permission before anything is written."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.commands.schedule.earlier_proposals import EarlierProposals
from kalypso_actions.gitops.merge_history import after_force_push
from tests.breaks import breaks, turned
from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, SHOP, Organisation
from tests.commands.chain.proposals import (
    FLUX,
    OWN,
    TRACKING,
    actions,
    change_main,
    configure,
    edit_gitops,
    messages,
    promote,
    run,
    run_schedule,
    settle,
)
from tests.commands.chain.shop_targets import TARGETS, fill


@pytest.fixture
def full(acme: Organisation) -> Organisation:
    """Acme with sixteen assignments in the GitOps branch."""
    fill(acme, TARGETS)
    settle(acme)
    return acme


def refused(acme: Organisation, **given: Any) -> str:
    """Return the page of a run that the mass removal stops before it writes."""
    acme.forget()
    done = run_schedule(acme, **given)
    assert done.failed
    assert acme.writes() == []
    return done.summary


def test_it_is_refused_and_listed(full: Organisation) -> None:
    fill(full, TARGETS[:4])
    summary = refused(full)
    assert "8 of 16 assignments would be removed" in summary.replace("\\", "")
    for number in range(4, 8):
        assert f"- `large/shop-web-{number}`\n" in summary
    assert "run schedule with `allow_removals` set" in summary
    document = run_schedule(full).document
    assert [problem.advice for problem in document.problems] == [
        "if that is wanted, run schedule with allow-removals"
    ]
    assert not any("would be removed" in warning.message for warning in document.warnings)


def test_a_placement_that_drops_most_of_the_fleet_is_refused(full: Organisation) -> None:
    placement = (
        "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"
        "metadata: {name: few}\nspec: {numberOfClusters: 1}\n"
    )
    named = "{name: everywhere, annotations: {kalypso.io/placement: few}}"
    policy = documents.policy().replace("{name: everywhere}", named)
    full.commit({"policy.yaml": policy, ".github/kalypso/few.yaml": placement}, "dev")
    summary = refused(full, scheduler="placement")
    assert "8 of 16 assignments would be removed" in summary.replace("\\", "")
    assert actions(run(full, scheduler="placement", allow_removals="true")) == [(2, "created")]


def test_the_person_who_allows_it_is_named(full: Organisation) -> None:
    fill(full, TARGETS[:4])
    document = run(full, allow_removals="true")
    assert actions(document) == [(2, "created")]
    assert "8 of 16 assignments would be removed" in messages(document)[0]
    (pull,) = full.pulls()
    assert "**8 of 16 assignments are removed.** somebody allows it." in pull["body"]
    # The next run, without permission, leaves the proposal as it is.
    full.forget()
    assert actions(run(full)) == [(2, "unchanged")]
    assert full.writes() == []
    # Further changes need permission again.
    configure(full, REGION="north")
    refused(full)
    full.merge(2)
    assert actions(run(full)) == [(3, "created")]


def test_how_much_is_too_much(full: Organisation) -> None:
    fill(full, TARGETS[:5])
    assert run_schedule(full, max_removal_percent="30").failed
    assert not run_schedule(full, max_removal_percent="40").failed


def undo(acme: Organisation, merge: str) -> None:
    """Revert a merge as a person: restore the tree of its first parent."""
    git = acme.sandbox.git(GITOPS)
    parent = acme.ask("GET", f"{GITOPS}/git/commits/{merge}")["parents"][0]["sha"]
    before, after = git.files(parent), git.files(merge)
    changes: dict[str, str | None] = {
        path: before[path].decode() if path in before else None
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }
    edit_gitops(acme, changes)


def test_closed_content_is_not_proposed(acme: Organisation) -> None:
    run(acme)
    acme.close(1)
    acme.forget()
    done = run_schedule(acme)
    assert not done.failed
    assert done.document.outputs()["pull-requests"] == "[]"
    (warning,) = done.document.warnings
    assert warning.message == (
        "nothing is proposed: #1 with the same content was closed without merging"
    )
    assert "schedule does not repeat proposals that people have closed or reverted." in done.summary
    assert acme.writes() == []
    # Other content is proposed, and the same content only with force.
    assert actions(run(acme, force="true")) == [(2, "created")]
    # A forced proposal stays open.
    assert actions(run(acme)) == [(2, "unchanged")]
    acme.close(2)
    configure(acme, REGION="north")
    assert actions(run(acme)) == [(3, "created")]


def test_reverted_content_is_not_proposed(acme: Organisation) -> None:
    settle(acme)
    configure(acme, REGION="north")
    (pull,) = run(acme).pull_requests
    merge = acme.merge(pull.number)
    undo(acme, merge)
    acme.forget()
    document = run(acme)
    assert messages(document) == [
        "nothing is proposed: #2 with the same content was undone after its merge"
    ]
    assert acme.writes() == []
    assert actions(run(acme, force="true")) == [(3, "created")]
    acme.merge(3)
    assert actions(run(acme)) == []


UNDONE = "nothing is proposed: #{} with the same content was undone after its merge"


@breaks(
    "a branch that people forced back gets the content again",
    turned(EarlierProposals._is_forced_back, '{"behind", "diverged"}', "set()"),
)
@pytest.mark.parametrize("merges", [1, 2])
@pytest.mark.parametrize("then", ["nothing", "a commit of others"])
def test_a_branch_that_people_forced_back(acme: Organisation, merges: int, then: str) -> None:
    settle(acme)
    before = acme.head("dev", GITOPS)
    for region in ("north", "south")[:merges]:
        configure(acme, REGION=region)
        (pull,) = run(acme).pull_requests
        acme.merge(pull.number)
    acme.reset("dev", before, GITOPS)
    if then != "nothing":
        edit_gitops(acme, {"README.md": "by hand\n"})
    acme.forget()
    assert messages(run(acme, auto_merge="always")) == [UNDONE.format(pull.number)]
    assert acme.writes() == []
    # Other content with some of it is proposed, but not merged automatically.
    configure(acme, REGION="south" if merges == 1 else "west", SIZE="1")
    document = run(acme, auto_merge="always")
    assert actions(document) == [(pull.number + 1, "created")]
    # People's merge brings everything back.
    acme.merge(pull.number + 1)
    assert actions(run(acme)) == []


def test_force_after_a_branch_was_forced_back(acme: Organisation) -> None:
    settle(acme)
    before = acme.head("dev", GITOPS)
    configure(acme, REGION="north")
    acme.merge(run(acme).pull_requests[0].number)
    acme.reset("dev", before, GITOPS)
    assert actions(run(acme, force="true")) == [(3, "created")]


@breaks(
    "what people took away before a promotion stays away",
    turned(
        EarlierProposals._history,
        "self._promoted_commit(files) == proposed.promoted_commit",
        "True",
    ),
    case="False",
)
@pytest.mark.parametrize("kept", [True, False])
def test_another_commit_of_main_after_a_branch_was_forced_back(
    acme: Organisation, kept: bool
) -> None:
    """People promoted again: what they removed before does not count."""
    settle(acme)
    before = acme.head("dev", GITOPS)
    configure(acme, REGION="north")
    acme.merge(run(acme).pull_requests[0].number)
    acme.reset("dev", before, GITOPS)
    if not kept:
        promote(acme, change_main(acme))
    document = run(acme, auto_merge="always")
    assert actions(document) == ([] if kept else [(3, "created")])
    assert not any("proposes again" in message for message in messages(document))


@breaks(
    "a rewritten branch is not as our last merge left it",
    turned(after_force_push, "not gone", "False"),
)
def test_a_rewritten_branch_with_the_same_content(acme: Organisation) -> None:
    settle(acme)
    before = acme.head("dev", GITOPS)
    configure(acme, REGION="north")
    acme.merge(run(acme).pull_requests[0].number)
    files: dict[str, str | None] = {**acme.files("dev", GITOPS)}
    acme.reset("dev", before, GITOPS)
    edit_gitops(acme, files)
    assert actions(run(acme)) == []
    configure(acme, REGION="south")
    assert actions(run(acme, auto_merge="always")) == [(3, "merged")]


@breaks(
    "a branch without a tracking file does not begin anew",
    turned(after_force_push, "base.promoted_commit is None", "False"),
    case="tracking",
)
@pytest.mark.parametrize("how", ["no commit in common", "no tracking file"])
def test_a_branch_that_begins_anew(acme: Organisation, how: str) -> None:
    begun = acme.head("dev", GITOPS)
    settle(acme)
    if how == "no tracking file":
        acme.reset("dev", begun, GITOPS)
    else:
        git = acme.sandbox.git(GITOPS)
        acme.reset("dev", None, GITOPS)
        git.commit_files("dev", {TRACKING: b"0" * 40}, "Begin", acme.sandbox._person())
    assert actions(run(acme)) == [(2, "created")]


def test_a_closed_pull_request_with_commits_of_people(acme: Organisation) -> None:
    """The whole pull request counts, not only its last commit."""
    settle(acme)
    configure(acme, REGION="north")
    run(acme)
    edit_gitops(acme, {"large/shop-web/notes.txt": "?"}, OWN)
    acme.close(2)
    assert messages(run(acme)) == [
        "nothing is proposed: #2 with the same content was closed without merging"
    ]


def test_our_withdrawal_is_no_rejection_and_hides_none(acme: Organisation) -> None:
    run(acme)
    acme.close(1)  # the rejection
    path = "workload/shop.yaml"
    text = acme.files("main", SHOP)[path]
    acme.commit({path: text.replace("shop-manifests", "shop-other")}, repository=SHOP)
    assert actions(run(acme)) == [(2, "created")]
    # People rejected the present tree, and the open pull request has another one.
    acme.commit({path: text}, repository=SHOP)
    document = run(acme)
    assert actions(document) == [(2, "withdrawn")]
    assert "#1 with the same content was closed without merging" in messages(document)[0]
    assert "was rejected: #1 with the same content" in acme.comments(2)[0]
    acme.forget()
    assert "#1 with the same content" in messages(run(acme))[0]
    assert acme.writes() == []


def test_a_setting_that_is_changed_again_asks_for_a_proposal(acme: Organisation) -> None:
    run(acme)
    acme.close(1)
    configure(acme, REGION="north")
    configure(acme, REGION="west")
    document = run(acme)
    assert actions(document) == [(2, "created")]
    assert messages(document) == ["the pull request proposes again what people removed: #1"]
    assert (
        "**This pull request proposes again what people removed:** #1." in acme.pulls()[0]["body"]
    )


def test_a_pull_request_without_its_commits_is_no_rejection(acme: Organisation) -> None:
    """The GitOps repository was recreated from a copy of its branch."""
    settle(acme)
    pull = acme.sandbox.repository(GITOPS).issues[1].pull_request
    assert pull
    pull.merge_commit = "0" * 40
    edit_gitops(acme, {FLUX: "by hand\n"})
    assert actions(run(acme)) == [(2, "created")]


def test_little_is_read_if_nothing_was_removed(acme_over_http: Organisation) -> None:
    """schedule reads one page of pull requests and the branch's history, no commit, no event."""
    acme = acme_over_http
    settle(acme)
    for region in ("north", "south"):
        configure(acme, REGION=region)
        (pull,) = run(acme).pull_requests
        acme.merge(pull.number)
    configure(acme, REGION="east")
    acme.forget()
    assert actions(run(acme, auto_merge="always")) == [(4, "merged")]
    requests = [
        f"{exchange.method} {exchange.path.partition('?')[0]}" for exchange in acme.sandbox.traffic
    ]
    (closed,) = (
        place
        for place, exchange in enumerate(acme.sandbox.traffic)
        if "state=closed" in exchange.path
    )
    assert requests[closed + 1 : closed + 3] == [
        f"GET /{GITOPS}/info/refs",
        f"POST /{GITOPS}/git-upload-pack",
    ]
    assert not [each for each in requests if "/git/commits/" in each or each.endswith("/events")]
