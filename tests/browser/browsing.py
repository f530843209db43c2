"""Headless Chromium, and axe in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

OPTIONS = ["--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the machine's Chromium, or the one that playwright has installed."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - `make browser` installs it

    path = os.environ.get("KALYPSO_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", *OPTIONS])
        yield browser
        browser.close()


def violations(page: Any) -> list[str]:
    """Return the rules of accessibility that a page breaks."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - as above

    return [each["id"] for each in Axe().run(page).response["violations"]]
