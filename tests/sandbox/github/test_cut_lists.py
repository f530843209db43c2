"""Lists that GitHub cuts silently, and fields that events omit."""

from __future__ import annotations

import pytest

from kalypso_sandbox.github.api import commits, pull_requests
from tests.sandbox.github.api_client import ApiClient


def test_no_more_files_of_a_pull_request(
    github: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull_requests, "MAX_FILES", 3)
    github.branch("side", {f"file-{number}": "x" for number in range(5)})
    body = {"title": "t", "head": "side", "base": "main"}
    number = github.made("POST", "pulls", body)["number"]
    files = github.made("GET", f"pulls/{number}/files?per_page=100")
    assert [file["filename"] for file in files] == ["file-0", "file-1", "file-2"]


def test_no_more_entries_of_a_folder(github: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "MAX_ENTRIES", 3)
    github.commit("main", {f"many/{number}": "x" for number in range(5)})
    assert [entry["name"] for entry in github.made("GET", "contents/many")] == ["0", "1", "2"]


def test_a_push_does_not_name_its_files(github: ApiClient) -> None:
    github.commit("main", {"a.txt": "1"})
    (push,) = [event for event in github.events() if event.name == "push"]
    for commit in (*push.payload["commits"], push.payload["head_commit"]):
        assert not {"added", "modified", "removed"} & commit.keys()
