"""The sandbox's page in headless Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.browsing import violations
from tests.sandbox.api_client import hub
from tests.sandbox.hostile_repository import HOSTILE, fill

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("sandbox")
    with hub(folder) as github:
        fill(github)
        yield github.sandbox.page_url


def test_a_pull_request_with_its_diff(themed: Any, url: str) -> None:
    themed.goto(url)
    summary = themed.locator("summary")
    assert HOSTILE in summary.inner_text()
    summary.focus()
    themed.keyboard.press("Enter")
    assert themed.inner_text("details .added:has-text('alert(1)<')") == f"+{HOSTILE}"
    assert themed.locator("script, img").count() == 0
    assert violations(themed) == []
    themed.set_viewport_size({"width": 380, "height": 800})
    assert violations(themed) == []
    assert themed.evaluate("document.documentElement.scrollWidth") <= 380
