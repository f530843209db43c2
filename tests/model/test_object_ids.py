"""Git's ids of blobs and commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_actions.model.object_ids import blob_id
from tests.git_repositories import git, repository


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\x00\xff\r\n"])
def test_blob_ids_are_gits(tmp_path: Path, content: bytes) -> None:
    assert blob_id(content) == git(tmp_path, "hash-object", "--stdin", stdin=content)


def test_blob_ids_of_sha256_repositories(tmp_path: Path) -> None:
    path = repository(tmp_path / "repository", object_format="sha256")
    assert blob_id(b"hello\n", "sha256") == git(path, "hash-object", "--stdin", stdin=b"hello\n")
