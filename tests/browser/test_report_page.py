"""The report in headless Chromium: filters, deep links, keyboard, accessibility."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.commands.report.page_parts import page_parts
from kalypso_actions.comparison import Mask
from kalypso_actions.fleet_report import ReportCollection
from kalypso_actions.model.kinds import Fleet
from kalypso_actions.report.page import report_page
from tests.builders import cluster_type, config_map, fleet, policy, selector, target
from tests.plans import plan

pytestmark = pytest.mark.browser

CHROMIUM = os.environ.get("KALYPSO_CHROMIUM") or shutil.which("chromium")
OPTIONS = ["--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOSTILE = "<img src=x onerror=alert(1)>"


def environment(name: str, size: int, targets: int) -> Fleet:
    return fleet(
        environment=name,
        cluster_types=[cluster_type(f"type-{n}") for n in range(size)],
        targets=[
            target(f"t{n}", workload="app", workspace=f"team-{n % 7}", environment=name)
            for n in range(targets)
        ],
        policies=[policy("all", targets=selector(workload="app"))],
        config_maps=[config_map("all", {"URL": f"https://{name}.test", "NOTE": HOSTILE})],
    )


def written(folder: Path, *fleets: Fleet) -> str:
    """Write the page of a report, and return its URL."""
    report = ReportCollection(Mask())
    for each in fleets:
        report.add(plan(each), None)
    data = report.document("Fleet </script>", NOON).to_json()
    (folder / "index.html").write_text(
        report_page("Fleet </script>", data, page_parts()), encoding="utf-8"
    )
    return (folder / "index.html").as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - `make browser` installs it

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", *OPTIONS]
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    fleets = environment("dev", 3, 12), environment("stage", 2, 11)
    return written(tmp_path_factory.mktemp("report"), *fleets)


@pytest.fixture(params=["light", "dark"])
def page(browser: Any, url: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The page in both themes; any message of the console fails the test."""
    opened = browser.new_page(color_scheme=request.param)
    messages: list[str] = []
    opened.on("console", lambda message: messages.append(message.text))
    opened.on("pageerror", lambda error: messages.append(str(error)))
    open_at(opened, url)
    yield opened
    opened.close()
    assert messages == []


def open_at(page: Any, url: str) -> None:
    page.goto(url)
    page.wait_for_selector("html[data-ready]")


def violations(page: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - as above

    return [each["id"] for each in Axe().run(page).response["violations"]]


def test_filters(page: Any) -> None:
    assert page.inner_text("#count") == "58 assignments of 12 targets"
    page.fill("#search", "team-3 type-2")
    assert page.inner_text("#count") == "2 assignments of 2 targets"
    page.fill("#search", "")
    page.select_option("#environment", "stage")
    assert page.inner_text("#count") == "22 assignments of 11 targets"
    page.select_option("#kind", "fails")
    assert page.inner_text("#count") == "0 assignments of 0 targets"


def test_a_deep_link_and_back(page: Any, url: str) -> None:
    page.goto(f"{url}#/dev/type-0/app-t1")
    assert page.inner_text("#detail-heading") == "app-t1 on type-0 in dev"
    assert page.evaluate("document.activeElement.id") == "detail-heading"
    assert "https://stage.test" in page.inner_text("#detail")
    assert HOSTILE in page.inner_text("#detail")
    assert page.locator("#detail img").count() == 0
    page.click("summary >> nth=0")
    assert page.is_visible("#detail pre >> nth=0")
    assert violations(page) == []
    page.keyboard.press("Escape")
    assert page.is_hidden("#detail")


def test_keyboard(page: Any) -> None:
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("app-t1 ")
    page.focus("#matrix a >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_selector("#detail:not([hidden])")


def test_no_violation_of_accessibility(page: Any) -> None:
    assert violations(page) == []
    page.set_viewport_size({"width": 380, "height": 800})
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_ten_thousand_assignments(browser: Any, tmp_path: Path) -> None:
    address = written(tmp_path, environment("dev", 10, 500), environment("stage", 10, 500))
    assert (tmp_path / "index.html").stat().st_size < 15_000_000
    opened = browser.new_page()
    open_at(opened, address)
    took = opened.evaluate(
        """() => { const field = document.getElementById("search"); const start = performance.now();
        field.value = "team-3 t1"; field.dispatchEvent(new Event("input"));
        return performance.now() - start; }"""
    )
    assert opened.inner_text("#count").endswith(" targets")
    assert took < 100
    opened.close()
