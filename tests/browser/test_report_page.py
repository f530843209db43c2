"""The report in headless Chromium: filters, deep links, keyboard, accessibility."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.planning import fleet_report as collection
from tests.browser.browsing import violations
from tests.browser.reports import HOSTILE, PAGE, TITLE, environment, past, pipeline, written

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    fleets = environment("dev", 3, 12), environment("stage", 2, 11)
    folder = tmp_path_factory.mktemp("report")
    return written(folder, *fleets, shown=pipeline("dev", "stage"))


@pytest.fixture
def fleet(page: Any, url: str) -> Any:
    """The page of a fleet of two environments."""
    open_at(page, url)
    return page


def open_at(page: Any, url: str) -> None:
    page.goto(url)
    page.wait_for_selector("html[data-ready]")


def test_filters(fleet: Any) -> None:
    assert fleet.inner_text("#count") == "58 assignments of 12 targets"
    fleet.fill("#search", "team-3 type-2")
    assert fleet.inner_text("#count") == "2 assignments of 2 targets"
    fleet.fill("#search", "")
    fleet.select_option("#environment", "stage")
    assert fleet.inner_text("#count") == "22 assignments of 11 targets"
    fleet.select_option("#kind", "fails")
    assert fleet.inner_text("#count") == "11 assignments of 11 targets"
    fleet.select_option("#workspace", "team-0")
    assert fleet.inner_text("#count") == "2 assignments of 2 targets"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("note", "58 assignments of 12 targets"),
        ("note=large", "0 assignments of 0 targets"),
        ("url=https://LARGE.stage", "22 assignments of 11 targets"),
        ("1111111", "2 assignments of 1 target"),
        ("1111111 url=https://large.dev", "1 assignment of 1 target"),
    ],
    ids=["key", "no value", "value", "commit", "both"],
)
def test_the_search_knows_keys_values_and_commits(fleet: Any, words: str, found: str) -> None:
    fleet.fill("#search", words)
    assert fleet.inner_text("#count") == found


def test_targets_that_an_environment_lacks(fleet: Any) -> None:
    fleet.select_option("#kind", "missing")
    fleet.select_option("#environment", "stage")
    assert fleet.inner_text("#count") == "14 assignments of 12 targets"
    fleet.fill("#search", "app-t11 type-2")
    fleet.click("#matrix a >> text=no stage")
    assert fleet.inner_text("#detail-heading") == "app-t11 on type-2 in stage"
    command = "kalypso explain stage --target app-t11 --cluster-type type-2"
    command += " --control-plane acme/control-plane"
    assert fleet.inner_text("#detail pre") == command


def test_the_pipeline(fleet: Any) -> None:
    dev = fleet.inner_text("#pipeline > li >> nth=0")
    assert "Deploying 4/8 5 min ago" in dev
    assert f"ccccccc {HOSTILE} by Ana, 3 h ago" in dev
    assert "main is 2 commits ahead" in dev
    assert f"acme/gitops#7 {HOSTILE} by ana" in dev
    assert "waits for people: merge acme/gitops#7" in dev
    assert fleet.inner_text("#pipeline-note + ul") == "waits for people: merge acme/control-plane#8"
    assert (
        fleet.eval_on_selector_all("a", "links => links.map(each => each.protocol)").count(
            "javascript:"
        )
        == 0
    )
    assert fleet.get_attribute("#pipeline a", "href") == f"{PAGE}/pull/7"


def test_a_pipeline_that_is_not_known(page: Any, tmp_path: Path) -> None:
    open_at(page, written(tmp_path, environment("dev", 1, 1)))
    note = page.inner_text("#pipeline-note")
    assert "what waits for whom are not known: no token is given" in note


def test_problems_and_warnings(fleet: Any) -> None:
    findings = fleet.inner_text("#findings")
    assert f"problem a.yaml:3\n{HOSTILE}\n→ change it" in findings
    assert "warning all.yaml:4\nConfigMap 'all': TOKEN looks like a secret" in findings


def test_a_deep_link_and_back(fleet: Any, url: str) -> None:
    fleet.goto(f"{url}#/dev/type-1/app-t1")
    assert fleet.inner_text("#detail-heading") == "app-t1 on type-1 in dev"
    assert fleet.evaluate("document.activeElement.id") == "detail-heading"
    detail = fleet.inner_text("#detail")
    assert "large.yaml:2 (wins)" in detail
    assert "URL\thttps://large.dev.test\thttps://large.stage.test" in detail
    assert f"1111111\t{HOSTILE} 1\tAna, 1 day ago" in detail
    assert "policy all file.yaml:1\n✓ target workload = app" in detail
    fleet.click("summary >> nth=0")
    assert fleet.inner_text("#detail pre >> nth=0") == f"kind: dev\nnote: {HOSTILE}"
    link = fleet.get_attribute("#detail details a >> nth=0", "href")
    assert link == f"{PAGE}/blob/{'1' * 40}/type-1/app-t1/reconciler.yaml"
    fleet.keyboard.press("Escape")
    fleet.wait_for_selector("#detail", state="hidden")  # the page hears of the address later


def test_hostile_names_and_secrets(fleet: Any, url: str) -> None:
    fleet.goto(f"{url}#/dev/type-1/app-t1")
    assert fleet.inner_text("h1") == TITLE
    assert fleet.locator("img").count() == 0
    assert fleet.locator("script").count() == 2
    assert "t0ps3cret" not in fleet.evaluate("JSON.stringify(report)")


def test_keyboard(fleet: Any) -> None:
    fleet.keyboard.press("/")
    assert fleet.evaluate("document.activeElement.id") == "search"
    fleet.keyboard.type("app-t1 ")
    fleet.focus("#matrix a >> nth=0")
    fleet.keyboard.press("Enter")
    fleet.wait_for_selector("#detail:not([hidden])")


def test_no_violation_of_accessibility(themed: Any, url: str) -> None:
    open_at(themed, f"{url}#/dev/type-1/app-t1")
    themed.click("summary >> nth=0")
    assert violations(themed) == []
    themed.set_viewport_size({"width": 380, "height": 800})
    assert violations(themed) == []
    assert themed.evaluate("document.documentElement.scrollWidth") <= 380


def test_print(fleet: Any) -> None:
    fleet.emulate_media(media="print")
    assert fleet.is_hidden("#filters")
    assert fleet.is_visible("#matrix")
    colours = fleet.evaluate("[getComputedStyle(document.body)].map(s => [s.color, s.background])")
    assert colours[0][0] == "rgb(0, 0, 0)"
    assert "rgb(255, 255, 255)" in colours[0][1]


def test_a_large_fleet_is_by_workspace(
    page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "MOST_WITH_TEXTS", 5)
    open_at(page, written(tmp_path, environment("dev", 2, 12)))
    assert page.inner_text("#count") == "24 assignments of 7 workspaces"
    assert violations(page) == []
    page.click("#matrix button >> text=team-1")
    assert page.inner_text("#count") == "4 assignments of 2 targets"
    page.click("#matrix tr:has-text('app-t1') a >> nth=1")
    links = page.eval_on_selector_all("#detail a", "links => links.map(each => each.href)")
    assert f"{PAGE}/blob/{'1' * 40}/type-1/app-t1/reconciler.yaml" in links


def test_ten_thousand_assignments(page: Any, tmp_path: Path) -> None:
    address = written(tmp_path, environment("dev", 10, 500), environment("stage", 10, 500))
    assert (tmp_path / "index.html").stat().st_size < 15_000_000
    open_at(page, address)
    took = page.evaluate(
        """() => { const field = document.getElementById("search"); const start = performance.now();
        field.value = "team-3 t1"; field.dispatchEvent(new Event("input"));
        return performance.now() - start; }"""
    )
    assert page.inner_text("#count").endswith(" targets")
    assert took < 100


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report with a record: a cluster of type-1 failed in dev, and two of stage do not comply."""
    fleets = environment("dev", 3, 4), environment("stage", 2, 4)
    shown = pipeline("dev", "stage")
    return written(tmp_path_factory.mktemp("past"), *fleets, shown=shown, observed=past())


def test_the_past_at_the_keyboard(page: Any, recorded: str) -> None:
    open_at(page, recorded)
    drift = page.inner_text("#drift")
    assert drift.startswith("✗ failing stage-type-1-1 in stage since")
    assert "unreachable stage-type-1-2 in stage" in drift
    page.click("#timeline button >> text=type-1 (3)")
    assert page.inner_text("#timeline .line >> nth=3").startswith("dev-type-1-2")
    page.focus("#timeline .track >> nth=3")
    page.keyboard.press("Home")
    texts = []
    for _ in range(20):
        texts.append(page.inner_text("#told"))
        page.keyboard.press("ArrowRight")
    failing = [text for text in texts if "fails" in text]
    assert len(failing) == 1
    assert failing[0].startswith("dev-type-1-2 in dev: fails, from ")
    assert failing[0].endswith("for 5 hours; 6400000 was wanted")
    assert page.get_attribute("#timeline .track >> nth=3", "aria-valuetext") == texts[-1]


def test_delivery_is_drawn_and_told(page: Any, recorded: str) -> None:
    open_at(page, recorded)
    page.click("#delivery button >> text=dev")
    assert page.get_attribute("#delivery button >> text=dev", "aria-pressed") == "true"
    page.focus("[aria-label='Deployments a week']")
    page.keyboard.press("Home")
    assert page.inner_text("#told-case").endswith(": 6 deployments, 1 of them failed")
    assert page.locator("[aria-label='Deployments a week'] .hatch").count() > 0
    assert page.inner_text("#charts figure >> nth=0").split() == ["Lead", "time", "none", "yet"]
    page.click("summary >> text=Cases as a table")
    assert page.inner_text("#cases").count("✗ failed") == 1


def test_an_unfolded_cluster_type_keeps_the_focus(page: Any, recorded: str) -> None:
    open_at(page, recorded)
    of_stage = page.locator("#timeline button >> text=type-1 (3)").nth(1)
    of_stage.focus()
    page.keyboard.press("Enter")
    assert of_stage.get_attribute("aria-expanded") == "true"
    assert of_stage.evaluate("(button) => button === document.activeElement")


def test_the_past_in_cards_matrix_and_detail(page: Any, recorded: str) -> None:
    open_at(page, recorded)
    squares = page.locator(".cards > li >> nth=0").locator(".squares li > *")
    assert squares.count() == 6
    assert "failed, 9/9 clusters" in squares.nth(3).inner_text()
    assert "3/5 clusters, 1 not known, 1 fails" in page.inner_text(".cards > li >> nth=1")
    page.fill("#search", "app-t1 type-1")
    assert page.inner_text("#matrix tbody td >> nth=1") == "dev 1.5 3/3 ✓stage 1.5 2/2 ✓"
    page.select_option("#kind", "behind")
    assert page.inner_text("#count") == "0 assignments of 0 targets"
    page.goto(f"{recorded}#/dev/type-1/app-t1")
    table = page.inner_text("[aria-label='Table of versions over time']")
    assert "1.3\t312e330\t" in table
    assert table.count("\t3 ✓") == 6
    delivery = page.inner_text("#delivery")
    assert (
        "deployments\t1 promotion, 5 configuration\t1 promotion, 4 configuration, 1 correction"
        in (delivery)
    )
    assert "corrections and rollbacks\t0% (0 of 6)\t17% (1 of 6)" in delivery


def test_the_past_in_both_themes_on_paper_and_on_a_phone(themed: Any, recorded: str) -> None:
    open_at(themed, recorded)
    themed.click("#timeline button >> text=type-1 (3)")
    assert violations(themed) == []
    themed.set_viewport_size({"width": 380, "height": 800})
    themed.reload()
    themed.wait_for_selector("html[data-ready]")
    assert violations(themed) == []
    assert not themed.is_visible("#timeline")
    assert "✗ fails" in themed.inner_text("#timeline-table")
    assert themed.evaluate("document.documentElement.scrollWidth <= innerWidth")
