"""sources.json: written the same way always, read with care."""

from __future__ import annotations

import json

import pytest

from kalypso_actions.gitops import SourcesFile, read_sources, sources_file
from kalypso_actions.gitops.provenance import SourceRevision

REVISION = SourceRevision(
    repository="https://git.test/ä", branch="main", path=".", commit="c", tree="t"
)
CONTENT = SourcesFile(
    version="1",
    environment="dev",
    options={"namespace-scheme": "current"},
    environment_branch=REVISION,
    base_repos={"main": REVISION},
    registrations={"b": REVISION, "a": REVISION},
    targets={"app-web": "a"},
)


def test_form() -> None:
    text = sources_file(CONTENT).decode()
    body = json.loads(text)
    assert body["schema"] == "kalypso.sources/v1"
    assert text.endswith("}\n")
    assert json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False) + "\n" == text
    assert "ä" in text


def test_read_back() -> None:
    previous = read_sources(sources_file(CONTENT), "dev")
    assert previous is not None
    assert previous.registrations["a"] == REVISION
    assert previous.targets == {"app-web": "a"}


def test_the_path_of_a_folder_need_not_be_utf8() -> None:
    odd = REVISION.model_copy(update={"repository": "/tmp/caf\udce9"})
    written = sources_file(CONTENT.model_copy(update={"environment_branch": odd}))
    assert json.loads(written)["environmentBranch"]["repository"] == "/tmp/caf\udce9"
    assert read_sources(written, "dev") is not None


def test_another_environments_file_says_nothing() -> None:
    assert read_sources(sources_file(CONTENT), "stage") is None


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"not json",
        b"[]",
        b"\xff\xfe",
        b'{"schema": "other/v1"}',
        b'{"schema": "kalypso.sources/v1", "environment": "dev", "targets": [1]}',
        b"[" * 100_000,
    ],
)
def test_anything_else_is_none(content: bytes | None) -> None:
    assert read_sources(content, "dev") is None
