"""The sandbox's page for people."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest
from markupsafe import escape

from kalypso_sandbox import page
from tests.sandbox.api_client import ApiClient, hub
from tests.sandbox.hostile_repository import BRANCH, HOSTILE, WORKFLOW, fill
from tests.sandbox.served_sandbox import ask


def content(github: ApiClient, path: str = "/_sandbox/") -> str:
    answer = ask(github.sandbox, "GET", path)
    assert answer.ok, answer.text
    return answer.text


def test_every_text_is_shown_and_escaped(github: ApiClient) -> None:
    number = fill(github)
    text = content(github)
    assert f"#{number} {escape(HOSTILE)}" in text
    assert f"+{escape(HOSTILE)}</span>" in text
    assert f"{escape(BRANCH)} → main, by somebody" in text
    assert WORKFLOW in text
    assert '<span class="good">open</span>' in text
    assert '<td class="bad">failure</td>' in text
    assert not re.search(r"<(script|img)|<[^>]*\son\w+=", text)
    assert [text.count(f"</{each}>") for each in ("title", "style", "pre")] == [1, 1, 1]


def test_its_policy_allows_its_own_style_alone(github: ApiClient) -> None:
    answer = ask(github.sandbox, "GET", "/_sandbox")
    (style,) = re.findall("<style>(.*)</style>", answer.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'; ")
    assert "script-src" not in policy
    refused = [ask(github.sandbox, method, "/_sandbox/") for method in ("POST", "DELETE")]
    assert [each.status_code for each in refused] == [404, 404]
    assert {each.method for each in github.sandbox.traffic} == {"POST", "DELETE"}


def test_long_lists_and_diffs_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST", 1)
    monkeypatch.setattr(page, "MOST_LINES", 7)
    with hub(tmp_path) as github:
        for name in ("one", "two"):
            github.branch(name, {"a.md": "1\n2\n3\n"})
        github.propose("one")
        github.made("PUT", f"pulls/{github.propose('two')}/merge")
        text = content(github)
    assert "merged</span> #2 Take two" in text
    assert "Take one" not in text
    assert "1 older pull requests are not shown." in text
    assert "and 2 more lines" in text


def test_a_browser_that_follows_a_link_of_github_comes_to_the_page(github: ApiClient) -> None:
    name = github.repository.full_name

    def link(path: str, accept: str) -> tuple[int, str]:
        answer = ask(github.sandbox, "GET", path, headers={"Accept": accept})
        return answer.status_code, answer.headers.get("Location", "")

    for path in (f"/{name}", f"/{name}/pull/1", f"/{name}/blob/{'0' * 40}/a.md"):
        assert link(path, "text/html,*/*") == (302, f"/_sandbox/#{name}")
        assert link(path, "application/json") == (404, "")
    assert link("/acme/unknown/pull/1", "text/html") == (404, "")
    assert link("/", "text/html")[0] != 302
