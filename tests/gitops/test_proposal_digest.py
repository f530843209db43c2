from __future__ import annotations

import hashlib
import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.gitops.proposed_commit import commit_message, digest, digest_of
from kalypso_actions.model.object_ids import blob_id
from tests.breaks import breaks, turned
from tests.builders import entry
from tests.git_repositories import git, repository

FILES = {
    "large/README.md": b"text",
    "large/web/reconciler.yaml": b"a: 1\n",
    ".github/tracking/Promoted_Commit_Id": b"0" * 40,
    ".github/tracking/sources.json": b"{}\n",
}


def test_the_digest_is_the_hash_of_gits_list(tmp_path: Path) -> None:
    """Anybody can check the digest by `git ls-tree -r`."""
    repository(tmp_path / "r")
    for path, content in FILES.items():
        file = tmp_path / "r" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    git(tmp_path / "r", "add", "--all")
    listed = git(tmp_path / "r", "ls-files", "--stage", "--full-name").splitlines()
    lines = []
    for line in listed:
        fields, _, path = line.partition("\t")
        mode, blob, _stage = fields.split()
        if not path.startswith(".github/tracking/"):
            lines.append(f"{mode} {blob} {path}\n")
    expected = hashlib.sha256(
        "".join(sorted(lines, key=lambda line: line.split(" ", 2)[2])).encode()
    )
    assert digest(FILES, "") == f"v1:{expected.hexdigest()}"


def test_tracking_files_do_not_change_the_digest() -> None:
    moved = FILES | {".github/tracking/Promoted_Commit_Id": b"1" * 40}
    assert digest(moved, "") == digest(FILES, "")
    assert digest({f"fleet/{path}": content for path, content in moved.items()}, "fleet") == digest(
        {f"fleet/{path}": content for path, content in FILES.items()}, "fleet"
    )
    assert digest(FILES | {"large/web/namespace.yaml": b""}, "") != digest(FILES, "")
    # If the tree lies in a folder, the root's tracking files are normal content.
    assert digest(moved, "fleet") != digest(FILES, "fleet")


@given(st.permutations(sorted(FILES)))
def test_the_order_of_files_makes_no_difference(order: list[str]) -> None:
    assert digest({path: FILES[path] for path in order}, "") == digest(FILES, "")


@breaks(
    "preserved files do not count in a digest",
    turned(
        "kalypso_actions.gitops.proposed_commit.digest",
        "{entry.path: f'{entry.mode} {entry.object_id}' for entry in preserved}",
        "{}",
    ),
)
def test_preserved_files_count() -> None:
    path, content = "large/web/reconciler.yaml", FILES["large/web/reconciler.yaml"]
    others = {name: text for name, text in FILES.items() if name != path}
    preserved = entry(path, blob_id(content))
    assert digest(others, "", [preserved]) == digest(FILES, "")
    assert digest(others, "", [entry(path, blob_id(content), "100755")]) != digest(FILES, "")
    assert digest(FILES, "", [entry(path, blob_id(b"old"))]) == digest(FILES, "")


def test_names_that_are_not_utf_8() -> None:
    odd = {os.fsdecode(b"large/\xff/reconciler.yaml"): b""}
    assert digest(odd, "") != digest({}, "")


def test_the_trailer_of_a_commit() -> None:
    value = digest(FILES, "")
    message = commit_message(value)
    assert message == f"Kalypso Scheduler commit\n\nKalypso-Digest: {value}\n"
    assert digest_of(message) == value
    assert digest_of("Kalypso-Digest: v1:abc") is None
    assert digest_of(f"The Kalypso-Digest: {value}") is None
    other = "v1:" + "0" * 64
    assert digest_of(f"Kalypso-Digest: {other}\n\n{message}") == value
