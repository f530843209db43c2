"""Pages of the browser; any message in the console fails the test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.browsing import chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page in the light theme."""
    yield from _page(browser, "light")


@pytest.fixture(params=["light", "dark"])
def themed(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page in both themes."""
    yield from _page(browser, request.param)


def _page(browser: Any, theme: str) -> Iterator[Any]:
    page = browser.new_page(color_scheme=theme)
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    yield page
    page.close()
    assert messages == []
