"""Git's ids of blobs and commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_actions.model.object_ids import blob_id
from tests.git_repositories import git


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\x00\xff\r\n"])
def test_blob_ids_are_gits(tmp_path: Path, content: bytes) -> None:
    assert blob_id(content) == git(tmp_path, "hash-object", "--stdin", stdin=content)
