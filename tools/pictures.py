"""Take the pictures of the README from the sample of the sandbox, in light and dark.

python -m tools.pictures

It needs the packages and the Chromium of `make browser`. A commit has reached `dev`, a change of
its configuration is proposed, and `stage` waits for people.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from tests.browser.browsing import chromium
from tests.commands.served_program import started

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "pictures"
WIDTH: Final = 860
"""The width of a README's text on GitHub, about."""

MARGIN: Final = 12

WAIT: Final = 300_000
FILE: Final = "/acme/control-plane/edit/dev/config/environment.yaml"
CHANGE: Final = "  ENVIRONMENT: dev\n  LOG_LEVEL: debug\n"


def main() -> int:
    """Play the beginning of a trial, and take the pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        trial = Path(folder) / "trial"
        with started(trial, "--sample", "--run", "--speed", "30") as document:
            url = document["page"].rstrip("/")
            page = browser.new_page(viewport={"width": WIDTH, "height": 1200})
            page.set_default_timeout(WAIT)
            preview = play(page, url)
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                page.goto(url)
                page.locator("#environment-stage a", has_text="promote").first.wait_for()
                page.wait_for_timeout(2000)
                take(page.locator("#drawing"), f"pipeline-{theme}")
                page.goto(preview)
                comment = page.locator("article.comment", has_text="Kalypso preview")
                take(comment, f"preview-{theme}")
    return 0


def take(part: Any, name: str) -> None:
    """Take a picture of a part of a page, with some space around it."""
    box = part.bounding_box()
    clip = {"x": box["x"] - MARGIN, "y": box["y"] - MARGIN}
    clip |= {"width": box["width"] + 2 * MARGIN, "height": box["height"] + 2 * MARGIN}
    part.page.screenshot(path=FOLDER / f"{name}.png", clip=clip, full_page=True)


def play(page: Any, url: str) -> str:
    """Merge what waits for people in dev, propose a change, and return the page with a preview."""
    page.goto(url)
    page.get_by_role("link", name=re.compile("review .*: promote")).first.click()
    page.get_by_role("button", name="Merge", exact=True).click()
    page.get_by_text("merged by somebody").first.wait_for()
    page.goto(url)
    page.locator("#environment-dev").filter(has_text="Deployed").wait_for()
    page.locator("#environment-stage a", has_text="promote").first.wait_for()
    page.goto(url + FILE)
    text = page.locator("textarea[name=text]")
    text.fill(text.input_value().replace("  ENVIRONMENT: dev\n", CHANGE))
    page.get_by_label("Commit message").fill("Log more")
    page.get_by_role("button", name="Save").click()
    page.locator("article.comment", has_text="Kalypso preview").wait_for()
    return str(page.url)


if __name__ == "__main__":
    sys.exit(main())
