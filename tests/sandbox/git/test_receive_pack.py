"""Pushes by git: refs and events, refusals in GitHub's words, faults; the lines of its protocol."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_sandbox import Fault, Sandbox
from kalypso_sandbox.faults import FaultKind
from kalypso_sandbox.git.receive_pack import FLUSH, MAX_DATA, ProtocolError, band, line, section
from kalypso_sandbox.store import BranchRule
from tests.git_repositories import git
from tests.sandbox.served_sandbox import FLEET, Clone, ask, clone, user


@pytest.fixture
def copy(sandbox: Sandbox, tmp_path: Path) -> Clone:
    return clone(sandbox, tmp_path)


def refs(sandbox: Sandbox) -> dict[str, str]:
    return {
        name.removeprefix("refs/"): commit for name, commit in sandbox.git(FLEET).refs().items()
    }


def pushed(sandbox: Sandbox) -> list[str]:
    return [event.ref for event in sandbox.store.events if event.name == "push"]


def packs(sandbox: Sandbox) -> int:
    return len(list((sandbox.git(FLEET).git_dir / "objects" / "pack").glob("*")))


def test_branches_and_tags_move(sandbox: Sandbox, copy: Clone) -> None:
    first = refs(sandbox)["heads/main"]
    second = copy.commit(a="1")
    copy.run("tag", "-m", "one", "v1")
    assert copy.push("HEAD:main", f"{first}:refs/heads/feat/a", "v1")[0] == 0
    tag = copy.run("rev-parse", "v1")
    assert refs(sandbox) == {"heads/main": second, "heads/feat/a": first, "tags/v1": tag}
    assert copy.push("+HEAD:feat/a", f"+{first}:main")[0] == 0
    assert copy.push(":feat/a", ":v1")[0] == 0
    assert refs(sandbox) == {"heads/main": first}
    assert sorted(pushed(sandbox)) == [
        *["refs/heads/feat/a"] * 3,
        *["refs/heads/main"] * 2,
        *["refs/tags/v1"] * 2,
    ]
    git(sandbox.git(FLEET).git_dir, "fsck", "--strict", "--connectivity-only")


def test_a_shallow_clone_without_files_pushes(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.commit(FLEET, {"a": "1"})
    copy = clone(sandbox, tmp_path, "--depth=1", "--filter=blob:none")
    made = copy.commit(b="2")
    assert copy.push("HEAD:main")[0] == 0
    assert refs(sandbox)["heads/main"] == made
    assert set(sandbox.git(FLEET).files("main")) == {"README.md", "a", "b"}


def test_a_push_that_is_only_tried(sandbox: Sandbox, copy: Clone) -> None:
    copy.commit(a="1")
    before = refs(sandbox)
    assert copy.push("--dry-run", "HEAD:main")[0] == 0
    assert (refs(sandbox), pushed(sandbox)) == (before, [])


def test_many_files_in_pieces(sandbox: Sandbox, copy: Clone) -> None:
    """git sends a push beyond its buffer in pieces, after a request for permission alone."""
    copy.run("config", "http.postBuffer", "65536")
    made = copy.commit(**{f"f{number}": str(number**200) * 20 for number in range(300)})
    assert copy.push("HEAD:main")[0] == 0
    assert refs(sandbox)["heads/main"] == made


@pytest.mark.parametrize(
    ("kind", "made"), [("lost", True), ("cut", False), ("refused", False), ("raced", False)]
)
def test_a_fault_meets_what_is_pushed_in_pieces(
    sandbox: Sandbox, copy: Clone, kind: FaultKind, made: bool
) -> None:
    """The fault does not hit the preceding request for permission."""
    copy.run("config", "http.postBuffer", "65536")
    commit = copy.commit(**{f"f{number}": os.urandom(999).hex() for number in range(300)})
    with sandbox.faults.on(Fault("POST", "git", kind)):
        assert copy.push("HEAD:feat")[0] == 1
    assert (refs(sandbox).get("heads/feat") == commit) is made
    met = [exchange.fault for exchange in sandbox.traffic.of("POST", "git")]
    assert met[-2:] == ["", kind]


PROTECTED = (
    "remote: error: GH006: Protected branch update failed for refs/heads/main.",
    "remote: - Changes must be made through a pull request.",
    "(protected branch hook declined)",
)


def test_a_protected_branch(sandbox: Sandbox, copy: Clone) -> None:
    sandbox.repository(FLEET).rules.append(BranchRule(pattern="main", required_reviews=1))
    made = copy.commit(a="1")
    status, words = copy.push("HEAD:main", "HEAD:other")
    assert status == 1
    assert [path for path in PROTECTED if path not in words] == []
    assert refs(sandbox)["heads/other"] == made, "each branch by itself"
    assert refs(sandbox)["heads/main"] != made
    status, words = copy.push("--atomic", "HEAD:main", "HEAD:third")
    assert "HEAD:refs/heads/third\t[remote rejected] (atomic push failure)" in words
    assert "heads/third" not in refs(sandbox)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["HEAD:refs/pull/1/head"], "(deny updating a hidden ref)"),
        ([":main"], "(refusing to delete the current branch: refs/heads/main)"),
        (["HEAD:refs/heads/main/below"], "(failed to update ref)"),
        (["HEAD^{tree}:refs/heads/tree"], "(failed to update ref)"),
        (["+HEAD:refs/heads/kept"], "- Cannot force-push to this branch"),
        ([":refs/heads/kept"], "- Cannot delete this branch"),
    ],
)
def test_refs_that_stay_as_they_are(
    sandbox: Sandbox, tmp_path: Path, arguments: list[str], words: str
) -> None:
    sandbox.repository(FLEET).rules.append(BranchRule(pattern="kept"))
    sandbox.git(FLEET).update_ref("refs/heads/kept", sandbox.commit(FLEET, {"a": "1"}), None)
    copy = clone(sandbox, tmp_path, "--no-tags")
    copy.run("checkout", "--quiet", "-B", "mine", "HEAD^")
    before, events, stored = refs(sandbox), pushed(sandbox), packs(sandbox)
    copy.commit(b="2")
    status, message = copy.push(*arguments)
    assert status == 1 and words in message
    assert (refs(sandbox), pushed(sandbox)) == (before, events)
    assert packs(sandbox) == stored, "nothing of what was refused is kept"


def test_workflows_need_a_permission_of_their_own(sandbox: Sandbox, tmp_path: Path) -> None:
    token = sandbox.create_token("actions", {"contents": "write"}, repositories=[FLEET])
    copy = clone(sandbox, tmp_path, token=token)
    copy.commit(**{".github/workflows/ci.yaml": "on: push\n"})
    status, words = copy.push("HEAD:feat")
    assert status == 1
    refusal = "refusing to allow a GitHub App to create or update workflow "
    assert f"({refusal}`.github/workflows/ci.yaml` without `workflows` permission)" in words


def test_large_files(sandbox: Sandbox, copy: Clone) -> None:
    sandbox.state.max_file_size = 1 << 20
    copy.commit(**{"data/big": "1" * (3 << 19), "small": "1" * (1 << 20)})
    copy.run("rm", "--quiet", "data/big")
    copy.commit(a="1")
    status, words = copy.push("HEAD:main", "HEAD:other")
    assert status == 1
    assert words.count("(pre-receive hook declined)") == 2, "it is in the history of both"
    exceeds = (
        "remote: error: File data/big is 1.50 MB; this exceeds GitHub's file size limit of 1.00 MB"
    )
    assert exceeds in words and "GH001" in words and "small" not in words
    assert packs(sandbox) == 0


def test_objects_that_lack_others(sandbox: Sandbox, copy: Clone) -> None:
    """From a shallow clone, git sends a commit without its parent, which the server lacks."""
    copy.commit(a="1")
    made = copy.commit(b="1")
    (copy.folder / ".git" / "shallow").write_text(f"{made}\n")
    status, words = copy.push("HEAD:feat")
    assert status == 1
    assert "unpacker error" in words
    assert "heads/feat" not in refs(sandbox)


@pytest.mark.parametrize(
    ("kind", "succeeds", "made", "words"),
    [
        ("refused", False, False, "(pre-receive hook declined)"),
        ("dropped", False, False, "error: RPC failed"),
        ("cut", False, False, "error: RPC failed"),
        ("status", False, False, "returned error: 502"),
        ("too-many", False, False, "returned error: 429"),
        ("lost", False, True, "error: RPC failed"),
        ("truncated", False, True, "hung up unexpectedly"),
        ("doubled", False, True, "reference already exists"),
        ("slow", True, True, "[new branch]"),
    ],
)
def test_the_head_of_a_new_branch_after_a_fault(
    sandbox: Sandbox, copy: Clone, kind: FaultKind, succeeds: bool, made: bool, words: str
) -> None:
    commit = copy.commit(a="1")
    with sandbox.faults.on(Fault("POST", "git", kind)):
        status, message = copy.push("HEAD:feat")
    assert (status == 0) is succeeds
    assert words in message
    assert refs(sandbox).get("heads/feat") == (commit if made else None)
    assert pushed(sandbox) == (["refs/heads/feat"] if made else [])
    assert copy.push("HEAD:feat")[0] == 0, "it is over"
    assert refs(sandbox)["heads/feat"] == commit


@pytest.mark.parametrize("branch", ["main", "feat"])
def test_somebody_else_is_first(sandbox: Sandbox, copy: Clone, branch: str) -> None:
    commit = copy.commit(a="1")
    with sandbox.faults.on(Fault("*", "git", "raced")):
        status, message = copy.push(f"HEAD:{branch}")
    assert status == 1
    assert "cannot lock ref" in message and "(failed to update ref)" in message
    head = sandbox.git(FLEET).commit(branch)
    assert (head.author.name, head.id != commit) == ("somebody-else", True)
    assert pushed(sandbox) == [f"refs/heads/{branch}"]
    assert copy.push(f"+HEAD:{branch}")[0] == 0


def test_a_deleted_branch_closes_its_pull_request(sandbox: Sandbox, tmp_path: Path) -> None:
    ours = clone(sandbox, tmp_path)
    ours.run("switch", "--quiet", "-c", "side")
    ours.commit(a="1")
    assert ours.push("side")[0] == 0
    token = user(sandbox)
    body = {"title": "t", "head": "side", "base": "main"}
    opened = ask(sandbox, "POST", f"/repos/{FLEET}/pulls", by=token, json=body)
    assert ours.push("--delete", "side")[0] == 0
    issue = sandbox.repository(FLEET).issues[opened.json()["number"]]
    assert [(event.event, event.actor) for event in issue.events] == [
        ("closed", "somebody"),
        ("head_ref_deleted", "somebody"),
    ]


@pytest.mark.parametrize(("classic", "code"), [(False, "GH013"), (True, "GH006")])
def test_an_unsigned_commit_is_refused(
    sandbox: Sandbox, copy: Clone, classic: bool, code: str
) -> None:
    before = refs(sandbox)["heads/main"]
    rule = BranchRule(pattern="main", classic=classic, required_signatures=True)
    with sandbox.lock:
        sandbox.repository(FLEET).rules.append(rule)
    copy.commit(a="1")
    status, output = copy.push("HEAD:main")
    assert status != 0
    assert code in output and "Commits must have verified signatures." in output
    assert refs(sandbox)["heads/main"] == before


@given(st.lists(st.binary(max_size=50)), st.binary(max_size=50))
def test_lines_are_read_as_they_were_written(contents: list[bytes], rest: bytes) -> None:
    written = b"".join(map(line, contents)) + FLUSH
    assert section(written + rest, 0) == (contents, len(written))


@given(st.text("0123456789aF+x", max_size=60))
def test_what_is_read_accounts_for_every_byte(text: str) -> None:
    content = text.encode()
    try:
        lines, end = section(content, 0)
    except ProtocolError:
        return
    assert sum(len(line) + 4 for line in lines) + len(FLUSH) == end <= len(content)
    assert content[end - 4 : end] == FLUSH


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"0",
        b"000",
        b"0005",
        b"0008abc",
        b"0001",
        b"0003abc",
        b"+005a0000",
        b"-001",
        b"zzzz",
        b"0005a",
    ],
)
def test_no_lines(content: bytes) -> None:
    with pytest.raises(ProtocolError):
        section(content, 0)


def test_a_band_is_cut_into_lines() -> None:
    content = b"x" * (MAX_DATA + 1)
    lines, _ = section(band(2, content) + FLUSH, 0)
    assert lines == [b"\x02" + b"x" * MAX_DATA, b"\x02x"]
    assert band(1, b"") == b""
