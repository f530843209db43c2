"""schedule does not repeat content that people removed, whichever merge brought it."""

from __future__ import annotations

from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import Layout
from tests.commands.chain.organisation import GITOPS, SHOP

ALWAYS = Layout(inputs={"schedule": {"auto-merge": "always"}})
CONFIG = "large/shop-web/platform-config.yaml"
TRACKING = ".github/tracking/Promoted_Commit_Id"


def warnings(chain: Chain) -> list[str]:
    """Return the messages of the newest step."""
    return [warning.message for warning in chain.done[-1].outcome.document.warnings]


def schedule(chain: Chain, **inputs: str) -> list[str]:
    """Start schedule for dev as a person; return a line for each step."""
    chain.start("schedule", environment="dev", **inputs)
    return chain.run_everything(but={"check-promote", "notify"})


def undo(chain: Chain, merge: str, *, keep: str = "") -> str:
    """Revert one merge into dev as a person.

    Files that a later merge changed as well get their earlier text back. In these files, `keep`
    replaces the region `west`, as if the later merge had set it.
    """
    git = chain.acme.sandbox.git(GITOPS)
    with chain.acme.sandbox.lock:
        before = git.files(git.commit(merge).parents[0])
        after, now = git.files(merge), git.files("dev")
    changes: dict[str, str | bytes | None] = {}
    for path in before.keys() | after.keys():
        is_later = path.endswith("sources.json") and now.get(path) != after.get(path)
        if before.get(path) != after.get(path) and not is_later:
            content = before.get(path)
            if content and keep and now.get(path) != after.get(path):
                content = content.replace(b"west", keep.encode())
            changes[path] = content
    return chain.acme.commit(changes, "dev", GITOPS)


def promoted(chain: Chain, release: str = "one") -> tuple[str, str]:
    """Promote a commit of main to dev; return the commit and the merge."""
    commit = chain.merge_to_main(RELEASE=release)
    chain.run_everything(but={"check-promote", "notify"})
    if chain.pull_requests("dev"):
        merge = chain.merge_pull_request("dev")
    else:
        merge = chain.acme.head("dev", GITOPS) or ""
    chain.run_everything()
    return commit, merge


def configured(chain: Chain, region: str) -> str:
    """Configure dev and merge the proposal; return the merge."""
    chain.configure("dev", REGION=region)
    chain.run_everything(but={"check-promote", "notify"})
    if chain.pull_requests("dev"):
        chain.merge_pull_request("dev")
    chain.run_everything()
    return chain.acme.head("dev", GITOPS) or ""


def numbers(chain: Chain) -> list[int]:
    return [pull_request["number"] for pull_request in chain.pull_requests("dev", state="all")]


def test_reverted_content_is_not_merged_automatically(open_chain: OpenChain) -> None:
    chain = open_chain(ALWAYS)
    _, merge = promoted(chain)
    configured(chain, "north")
    undo(chain, merge, keep="north")
    head = chain.acme.head("dev", GITOPS)
    for _ in range(2):
        assert schedule(chain) == ["schedule dev: unchanged"]
        assert chain.acme.head("dev", GITOPS) == head
    assert schedule(chain, force="true") == ["schedule dev: created, promoted"]
    assert chain.acme.head("dev", GITOPS) == head


def test_another_setting_brings_back_what_was_reverted_and_says_so(open_chain: OpenChain) -> None:
    chain = open_chain(ALWAYS)
    commit, merge = promoted(chain)
    number = numbers(chain)[-1]
    undo(chain, merge)
    chain.configure("dev", REGION="north")
    chain.run_everything()
    pull = chain.open_pull_request("dev")
    assert f"**This pull request proposes again what people removed:** #{number}." in pull["body"]
    assert warnings(chain) == [
        f"#{pull['number']} is not merged automatically: it proposes again what people removed: "
        f"#{number}",
        f"the pull request proposes again what people removed: #{number}",
    ]
    chain.settle()
    chain.expect("dev", commit, RELEASE="one", REGION="north")


def test_an_unread_document_does_not_ask_for_a_proposal(chain: Chain) -> None:
    merge = configured(chain, "north")
    undo(chain, merge)
    chain.acme.commit({"README.md": "Dev.\n", ".github/dependabot.yaml": "version: 2\n"}, "dev")
    schedule(chain)
    assert chain.pull_requests("dev") == []


def test_a_workload_that_comes_back_after_others_is_refused(chain: Chain) -> None:
    """Merges in between do not matter; a workload's own revert removes nothing."""
    url = f"{chain.acme.sandbox.url}/acme/shop-manifests"
    files = chain.acme.files("main", SHOP)
    path = "workload/shop.yaml"
    second = files[path].replace("shop-manifests", "shop-second")
    third = files[path].replace("shop-manifests", "shop-third")
    assert url in files[path]

    def deliver(text: str) -> str:
        chain.acme.commit({path: text}, repository=SHOP)
        schedule(chain)
        return chain.merge_pull_request("dev") if chain.pull_requests("dev") else ""

    merge = deliver(second)
    assert deliver(third)
    assert deliver(second)  # its own revert
    merge = chain.acme.head("dev", GITOPS) or ""
    undo(chain, merge)
    assert deliver(second) == ""
    fourth = deliver(files[path].replace("shop-manifests", "shop-fourth"))
    assert fourth
    assert deliver(second) == ""
    assert any("undone after its merge" in warning for warning in warnings(chain))


def test_a_promotion_by_a_person_after_the_revert(chain: Chain) -> None:
    """cd to another commit and back counts as a changed input."""
    older = chain.has("dev")
    newer, merge = promoted(chain)
    undo(chain, merge)
    assert schedule(chain) == ["schedule dev: unchanged"]
    chain.start("cd", environment="dev", promoted_commit_id=older, allow_rollback="true")
    chain.run_everything()
    assert chain.pull_requests("dev") == []
    chain.start("cd", environment="dev", promoted_commit_id=newer)
    assert chain.run_everything() == ["cd dev: written", "schedule dev: created, promoted"]


def test_manual_changes_are_not_merged_over(open_chain: OpenChain) -> None:
    """A change of another setting is proposed together with the repair of a manual change."""
    chain = open_chain(ALWAYS)
    configured(chain, "north")
    by_hand = chain.acme.files("dev", GITOPS)[CONFIG].replace("north", "nowhere")
    chain.acme.commit({CONFIG: by_hand}, "dev", GITOPS)
    assert schedule(chain) == ["schedule dev: unchanged"]
    assert schedule(chain, force="true") == ["schedule dev: created"]
    chain.merge_pull_request("dev")
    chain.run_everything()
    assert chain.config("dev")["large/shop-web"]["REGION"] == "north"
    assert configured(chain, "south")
    assert chain.pull_requests("dev") == []
