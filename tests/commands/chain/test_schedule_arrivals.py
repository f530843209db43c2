"""A pull request of schedule lists the commits and values that it brings."""

from __future__ import annotations

from kalypso_sandbox import Fault
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, SHOP, Organisation
from tests.commands.chain.proposals import configure, promote, run, settle

WORKLOAD = "workload/shop.yaml"
HOSTILE = "Close #1 for @admin <img src=x> | [click](https://evil.test)"


def body(acme: Organisation, **inputs: str) -> str:
    run(acme, **inputs)
    (pull,) = acme.pulls()
    return str(pull["body"])


def change(acme: Organisation, repository: str, message: str, files: dict[str, str]) -> str:
    return acme.sandbox.commit(repository, files, branch="main", message=message)


def is_private(acme: Organisation, repository: str, *, private: bool) -> None:
    with acme.sandbox.lock:
        acme.sandbox.repository(repository).private = private


def test_commits_of_main_and_of_an_application(acme: Organisation) -> None:
    settle(acme)
    old = acme.head("main") or ""
    for number in range(12):
        new = change(acme, CONTROL_PLANE, f"Change {number}", {"notes.txt": str(number)})
    text = acme.files("main", SHOP)[WORKLOAD]
    before = acme.head("main", SHOP) or ""
    after = change(acme, SHOP, HOSTILE, {WORKLOAD: text.replace("name: web", "name: web2")})
    promote(acme, new)
    said = body(acme)
    assert (
        f"**12 commits** of `main` (`{old[:7]}` → `{new[:7]}`, "
        f"[compare]({acme.url()}/compare/{old}...{new}))" in said
    )
    assert f"- [{new[:7]}]({acme.url()}/commit/{new}) Change 11\n" in said
    assert "Change 2\n" in said
    assert "Change 1\n" not in said
    assert "- … and 2 older commits" in said
    assert f"**1 commit** of `shop` (`{before[:7]}` → `{after[:7]}`" in said
    assert "\\<img src" in said
    assert "](https://evil.test)" not in said
    assert "@admin" not in said
    assert "<summary>2 assignments added</summary>\n\n- `drone/shop-web2`" in said
    assert "<summary>2 assignments removed</summary>\n\n- `drone/shop-web`" in said


def test_values_that_changed(acme: Organisation) -> None:
    configure(acme, REGION="north", DB_PASSWORD="old-secret")
    settle(acme)
    configure(acme, REGION="south|`x`", DB_PASSWORD="new-secret")
    said = body(acme)
    assert "<summary>2 configuration values changed</summary>" in said
    assert "| `DB_PASSWORD` | `***` | `***` | [`config.yaml:" in said
    assert "| `REGION` | `north` | `` south\\|`x` `` | [`config.yaml:" in said
    assert "-secret" not in said


def test_a_key_of_the_input_mask(acme: Organisation) -> None:
    configure(acme, REGION="north")
    settle(acme)
    configure(acme, REGION="south")
    said = body(acme, mask="reg*")
    assert "| `REGION` | `***` | `***` |" in said
    assert "south" not in said


def test_a_rollback_brings_no_commits(acme: Organisation) -> None:
    old = acme.head("main") or ""
    new = change(acme, CONTROL_PLANE, "Later", {"notes.txt": "later"})
    promote(acme, new)
    settle(acme)
    promote(acme, old)
    assert f"**Back by 1 commit** of `main` (`{new[:7]}` → `{old[:7]}`" in body(acme)


def test_subjects_of_a_less_visible_repository_are_only_counted(acme: Organisation) -> None:
    settle(acme)
    is_private(acme, GITOPS, private=False)
    text = acme.files("main", SHOP)[WORKLOAD]
    change(acme, SHOP, "A planned purchase", {WORKLOAD: f"{text}# More\n"})
    configure(acme, REGION="of the private control plane")
    said = body(acme)
    assert "**1 commit** of `shop` (" in said
    assert "A planned purchase" not in said
    assert f"{SHOP}/compare" not in said
    assert "of the private control plane" not in said
    assert "1 configuration value changed in repositories that are less visible" in said


def test_a_proposal_does_not_wait_for_the_commits(acme: Organisation) -> None:
    settle(acme)
    new = change(acme, CONTROL_PLANE, "Next", {"notes.txt": "next"})
    promote(acme, new)
    compare = Fault("GET", "/repos/{owner}/{repo}/compare/{basehead}", "status", 0, status=404)
    with acme.sandbox.faults.on(compare):
        said = body(acme)
    assert "**Other commits** of `main`" in said
