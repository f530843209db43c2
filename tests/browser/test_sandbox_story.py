"""The trial of the README, by clicks alone: a commit reaches both environments, and what stops it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.browsing import violations
from tests.commands.served_program import started

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(os.name == "nt", reason="Windows ends no program by a signal"),
]

WAIT = 240_000
"""Milliseconds for a promotion, which takes some seconds on a machine that does nothing else."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("trial")
    with started(folder / "trial", "--sample", "--run", "--speed", "30") as document:
        yield document["page"].rstrip("/")


class Person:
    """Somebody at a browser, who types no address but the printed one."""

    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        page.set_default_timeout(WAIT)
        page.goto(url)

    def card(self, environment: str) -> Any:
        """Return the card of an environment on the first page."""
        self.page.get_by_role("link", name="Pipeline", exact=True).click()
        return self.page.locator(f"#environment-{environment}")

    def waits(self, environment: str, text: str) -> None:
        """Look at the first page until an environment says this."""
        self.card(environment).filter(has_text=text).wait_for()

    def merge(self, environment: str, what: str = "promote") -> None:
        """Follow the pull request that waits for people and does `what`, and merge it."""
        waiting = self.card(environment).get_by_role("link", name=re.compile(f"review .*: {what}"))
        waiting.first.click()
        self.page.get_by_role("button", name="Merge", exact=True).click()
        self.page.get_by_text("merged by somebody").first.wait_for()

    def edit(self, branch: str, file: str, old: str, new: str, message: str) -> None:
        """Change a text of a file of the control plane on its branch."""
        page = self.page
        page.get_by_role("link", name="control-plane", exact=True).first.click()
        page.locator("section:has(#branches)").get_by_role("link", name=branch, exact=True).click()
        for part in file.split("/")[:-1]:
            page.get_by_role("link", name=f"{part}/", exact=True).click()
        page.locator(".files").get_by_role("link", name=file.rpartition("/")[2]).click()
        page.get_by_role("link", name="Edit", exact=True).click()
        text = page.get_by_role("textbox", name=file)
        content = text.input_value()
        assert old in content
        text.fill(content.replace(old, new))
        page.get_by_label("Commit message").fill(message)
        page.get_by_label(f"Commit to {branch}").check()
        page.get_by_role("button", name="Save").click()
        page.get_by_role("heading", name=message).wait_for()


def test_a_commit_reaches_both_environments_by_clicks(page: Any, url: str) -> None:
    person = Person(page, url)
    for environment in ("dev", "stage"):
        person.merge(environment)
        person.waits(environment, "Deployed")
    assert "5/5" in person.card("dev").inner_text()
    assert "3/3" in person.card("stage").inner_text()
    assert violations(page) == []


def test_a_failing_cluster_stops_a_commit_until_a_correction(page: Any, url: str) -> None:
    person = Person(page, url)
    person.edit("main", "config/common.yaml", '"64"', '"512"', "A larger cache")
    person.merge("dev")
    person.waits("dev", "Failed to deploy")
    card = person.card("dev").inner_text()
    assert "4/5" in card
    assert "failed: dev-drone-2 (drone)" in card
    page.get_by_role("link", name="Clusters", exact=True).click()
    drone = page.locator("li").filter(has=page.get_by_role("heading", name="dev-drone-2"))
    assert "✗ failing" in drone.inner_text()
    stage = person.card("stage").inner_text()
    assert "waits for an environment: dev, until" in stage
    assert "review and merge" not in stage
    person.edit("main", "config/common.yaml", '"512"', '"96"', "A smaller cache")
    for environment in ("dev", "stage"):
        person.merge(environment)
        person.waits(environment, "Deployed")
        assert "A smaller cache" in person.card(environment).inner_text()


def test_an_environment_goes_back_and_is_held(page: Any, url: str) -> None:
    person = Person(page, url)
    page.get_by_role("link", name="control-plane", exact=True).first.click()
    page.get_by_role("link", name="Actions", exact=True).click()
    page.get_by_role("link", name="Rollback", exact=True).click()
    page.get_by_label("environment", exact=True).fill("stage")
    page.get_by_label("reason").fill("the pages are slow")
    page.get_by_role("button", name="Run", exact=True).click()
    person.waits("stage", "the pages are slow")
    person.merge("stage", "roll back")
    person.waits("stage", "Deployed")
    card = person.card("stage").inner_text()
    assert "release the hold by somebody: rolled back from" in card
    assert "A smaller cache" not in card
    assert "‖ Deployed, held" in page.locator("#drawing svg text").all_text_contents()
    person.card("stage").get_by_role("link", name="release the hold").click()
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("Commit to stage").check()
    page.get_by_role("button", name="Delete the file").click()
    person.card("stage").get_by_role("link", name="Hold stage").wait_for()


def test_a_person_holds_an_environment_by_clicks(page: Any, url: str) -> None:
    person = Person(page, url)
    person.card("dev").get_by_role("link", name="Hold dev").click()
    text = page.get_by_label("Content")
    text.fill(text.input_value().replace("say why", "an incident"))
    page.get_by_label("Commit to dev").check()
    page.get_by_role("button", name="Save").click()
    person.waits("dev", "release the hold by somebody: an incident")
    assert "Hold dev" not in person.card("dev").inner_text()
    assert violations(page) == []
