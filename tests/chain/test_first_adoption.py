"""Kalypso adopts a tree of upstream's while a registered repository is missing."""

from __future__ import annotations

from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import Layout
from tests.commands.chain import documents
from tests.commands.chain.organisation import CLUSTER_TYPES, GITOPS

README = "This folder contains deployment targets scheduled on the cluster type"
FOLDERS = {
    "drone/shop-web": True,  # delivered and assigned
    "old/shop-web": False,  # its cluster type is gone
    "large/shop-web": True,
    "drone/lost-web": True,  # perhaps a target of the missing repository
    "large/lost-web": True,
}


def adopted(chain: Chain) -> None:
    """Write upstream's tree, and register a missing repository beside `shop`."""
    tree: dict[str, str | bytes | None] = {
        ".github/tracking/Promoted_Commit_Id": chain.has("dev"),
        "old/README.md": README,
        **{f"{name}/README.md": README for name in CLUSTER_TYPES},
    }
    for folder in FOLDERS:
        tree[f"{folder}/reconciler.yaml"] = "kind: GitRepository\n"
        tree[f"{folder}/namespace.yaml"] = "kind: Namespace\n"
    chain.acme.commit(tree, "dev", GITOPS)
    url = f"{chain.acme.sandbox.url}/acme/gone-manifests"
    chain.acme.commit({"workload/gone.yaml": documents.registration("gone", url)}, "dev")
    chain.forget_what_is_due()


def folders(chain: Chain) -> set[str]:
    """Return the target folders of dev."""
    files = chain.acme.files("dev", GITOPS)
    return {path.rpartition("/")[0] for path in files if path.endswith("/namespace.yaml")}


def unassigned(chain: Chain) -> None:
    """Remove the policy that selects the cluster type drone."""
    chain.acme.commit({"policy.yaml": documents.policy(size="large")}, "dev")


def test_targets_of_a_readable_registration_are_known(open_chain: OpenChain) -> None:
    chain = open_chain(Layout(), at_rest=False)
    adopted(chain)
    chain.start("schedule", environment="dev")
    chain.run_everything()
    chain.settle()
    assert folders(chain) == {folder for folder, stays in FOLDERS.items() if stays}


def test_an_unassigned_target_is_deleted(open_chain: OpenChain) -> None:
    chain = open_chain(Layout(), at_rest=False)
    adopted(chain)
    unassigned(chain)
    chain.start("schedule", environment="dev")
    chain.run_everything()
    chain.settle()
    assert folders(chain) == {"large/shop-web", "drone/lost-web", "large/lost-web"}
