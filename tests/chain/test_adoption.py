"""Kalypso replaces upstream's operator."""

from __future__ import annotations

from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import Layout
from tests.chain.run_lines import FROM_DEV
from tests.commands.chain.organisation import CLUSTER_TYPES, GITOPS, SHOP

BRANCH = "deployment/2026-02-28-23-59-59"
README = "This folder contains deployment targets scheduled on the cluster type"


def adopted(chain: Chain) -> int:
    """Write upstream's tree to both branches, open its pull request into dev, return its number."""
    commit = chain.has("dev")
    tree: dict[str, str | bytes | None] = {".github/tracking/Promoted_Commit_Id": commit}
    for name in CLUSTER_TYPES:
        tree[f"{name}/README.md"] = README
        for target in ("shop-web", "gone-web"):
            tree[f"{name}/{target}/reconciler.yaml"] = "kind: GitRepository\n"
            tree[f"{name}/{target}/namespace.yaml"] = "kind: Namespace\n"
            tree[f"{name}/{target}/config.yaml"] = "kind: ConfigMap\n"
    for name in ("dev", "stage"):
        chain.acme.commit(tree, name, GITOPS)
    chain.acme.reset(BRANCH, chain.acme.head("dev", GITOPS), GITOPS)
    chain.acme.commit({"large/shop-web/namespace.yaml": "kind: Other\n"}, BRANCH, GITOPS)
    number = chain.acme.pull(BRANCH, "dev", GITOPS)
    chain.forget_what_is_due()
    return number


def test_an_upstream_control_plane_is_adopted(open_chain: OpenChain) -> None:
    chain = open_chain(Layout(), at_rest=False)
    number = adopted(chain)
    chain.start("schedule", environment="dev")
    assert chain.run_everything() == ["schedule dev: created"]
    theirs, ours = chain.pull_requests("dev")
    assert (theirs["number"], theirs["head"]["ref"]) == (number, BRANCH)
    assert f"#{number}" in ours["body"]
    outcome = chain.done[-1].outcome
    assert any(f"#{number}" in warning.message for warning in outcome.document.warnings)
    chain.acme.merge(ours["number"])
    assert chain.run_everything() == [
        "notify: tells of dev",
        "check-promote dev: compliant, starts stage",  # nobody has said that it is deployed
        "cd stage: unchanged",
        "schedule stage: created",
    ]
    files = chain.acme.files("dev", GITOPS)
    assert not any("gone-web" in path or path.endswith("/config.yaml") for path in files)
    assert chain.acme.comments(number) == []
    assert chain.acme.head(BRANCH, GITOPS)
    chain.acme.close(number)
    assert chain.statuses("dev") == {chain.has("dev"): "Deployed"}
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    assert chain.run_everything() == [*FROM_DEV[:-1], "schedule stage: updated, promoted"]
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")


def test_write_access_to_an_adopted_branch_promotes_nothing(open_chain: OpenChain) -> None:
    """Its tree has no `sources.json`, and no commit has a status that could contradict."""
    chain = open_chain(Layout(), at_rest=False)
    adopted(chain)
    before = chain.has("stage")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything(but={"cd"})
    chain.acme.commit({".github/tracking/Promoted_Commit_Id": commit}, "dev", GITOPS)
    told = chain.run_everything(but={"cd"})
    assert told == ["notify: tells of dev", "check-promote dev: compliant"]
    assert (chain.waiting, chain.has("stage")) == (["cd dev"], before)
    assert (chain.status(commit, "dev"), chain.status(commit, "stage")) == ("Waiting: cd", "")


def test_no_folder_is_deleted_while_its_owner_is_unknown(open_chain: OpenChain) -> None:
    """Without `sources.json`, any folder may belong to the unreadable registration."""
    chain = open_chain(Layout(), at_rest=False)
    adopted(chain)
    chain.acme.commit({"workload/shop.yaml": "kind: ["}, repository=SHOP)
    chain.start("schedule", environment="dev")
    chain.run_everything()
    chain.settle()
    kept = {f"{name}/{target}" for name in CLUSTER_TYPES for target in ("shop-web", "gone-web")}
    files = chain.acme.files("dev", GITOPS)
    assert {path.rpartition("/")[0] for path in files if path.count("/") == 2} >= kept
