"""A reading of some kinds finds all their objects, in whatever way a file names the kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.commands.shared.reading.document_reader import read_documents
from kalypso_actions.model.documents import Reading

KIND = "GitOpsRepo"
API = "apiVersion: scheduler.kalypso.io/v1alpha1"
OTHERS = f"{API}\nkind: ClusterType\nmetadata: {{name: x}}\n"


def read(path: Path, content: bytes, *kinds: str) -> Reading:
    (path / "a.yaml").write_bytes(content)
    return read_documents(
        FolderFiles(path), repository="r", branch="b", path=".", kustomize=None, kinds=kinds
    )


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(f"{API}\nkind: GitOpsRepo\n".encode(), id="plain"),
        pytest.param(f"{OTHERS}---\n{API}\nkind: 'GitOpsRepo'\n".encode(), id="second document"),
        pytest.param(f'{API}\nkind: "\\x47itOpsRepo"\n'.encode(), id="escape"),
        pytest.param(f'{API}\nkind: "GitOps\\\n  Repo"\n'.encode(), id="folded"),
        pytest.param(f"{API}\nkind: !!binary R2l0T3BzUmVwbw==\n".encode(), id="binary"),
        pytest.param(
            b"%TAG !b! tag:yaml.org,2002:bin\n---\n"
            + f"{API}\nkind: !b!ary R2l0T3BzUmVwbw==\n".encode(),
            id="binary by another name",
        ),
        pytest.param(f"{API}\nname: &kind GitOpsRepo\nkind: *kind\n".encode(), id="alias"),
        pytest.param(
            f"{API}\nkind: List\nitems: [{{{API}, kind: GitOpsRepo}}]\n".encode(),
            id="list",
        ),
        pytest.param(f"{API}\nkind: GitOpsRepo\n".encode("utf-16"), id="UTF-16"),
    ],
)
def test_a_file_that_names_the_kind_is_parsed(tmp_path: Path, content: bytes) -> None:
    documents = read(tmp_path, content, KIND, "BaseRepo").documents
    assert documents == read(tmp_path, content).documents
    assert KIND in {document.kind for document in documents}


def test_other_files_are_not_parsed(tmp_path: Path) -> None:
    assert read(tmp_path, OTHERS.encode()).documents
    assert read(tmp_path, OTHERS.encode(), KIND).documents == ()
    assert read(tmp_path, b"{").problems
    assert read(tmp_path, b"{", KIND).problems == ()
