"""The sandbox's pages in headless Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.browsing import violations
from tests.sandbox.api_client import hub
from tests.sandbox.hostile_repository import HOSTILE, fill
from tests.sandbox.served_sandbox import FLEET

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("sandbox")
    with hub(folder) as github:
        number = fill(github)
        github.made("POST", f"issues/{number}/comments", {"body": f"**Told** {HOSTILE}"})
        yield f"{github.sandbox.url}/{FLEET}"


PAGES = (
    "/",
    "/{}",
    "/{}/branches",
    "/{}/blob/main/README.md?plain=1",
    "/{}/edit/main/README.md",
    "/{}/commits",
    "/{}/commit/main",
    "/{}/compare/main",
    "/{}/pulls",
    "/{}/pull/1",
    "/{}/issues",
    "/{}/actions/workflows/a.yaml",
    "/{}/settings/environments",
)


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible_and_fit_a_telephone(themed: Any, url: str, path: str) -> None:
    themed.goto(url.removesuffix(f"/{FLEET}") + path.format(FLEET))
    assert violations(themed) == []
    themed.set_viewport_size({"width": 380, "height": 800})
    assert violations(themed) == []
    assert themed.evaluate("document.documentElement.scrollWidth") <= 380


def test_a_pull_request_changes_while_a_person_types(page: Any, url: str) -> None:
    page.goto(f"{url}/pull/1")
    assert HOSTILE in page.inner_text("h1")
    assert page.locator("main script, img").count() == 0
    page.fill("#comment textarea", "half a sentence")
    other = page.context.browser.new_page()
    other.goto(f"{url}/pull/1")
    other.fill("#comment textarea", "Said elsewhere")
    other.click("#comment button")
    page.wait_for_selector("text=Said elsewhere")
    assert page.input_value("#comment textarea") == "half a sentence"
    assert page.evaluate("document.activeElement.name") == "body"
    summary = page.locator("details.file summary").first
    summary.click()
    other.fill("#comment textarea", "And more")
    other.click("#comment button")
    page.wait_for_selector("text=And more")
    assert page.locator("details.file").first.get_attribute("open") is None
    other.close()


def tab_to(page: Any, wanted: str) -> None:
    """Press the tabulator until the element with this text, or of this name, has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        script = "[document.activeElement.innerText, document.activeElement.name]"
        if wanted in page.evaluate(script):
            return
    raise AssertionError(f"the tabulator does not reach {wanted}")


def test_a_file_is_edited_by_the_keyboard_alone(page: Any, url: str) -> None:
    page.goto(f"{url}/blob/main/README.md")
    page.keyboard.press("Tab")
    assert page.inner_text(":focus") == "Skip to the content"
    page.keyboard.press("Enter")
    tab_to(page, "Edit")
    page.keyboard.press("Enter")
    page.wait_for_selector("form.edit")
    tab_to(page, "text")
    page.keyboard.press("Control+End")
    page.keyboard.type("More by keys")
    tab_to(page, "Save")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=It can be merged.")
    assert "+More by keys" in page.inner_text("pre.diff")
    tab_to(page, "Merge")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=merged by somebody")
