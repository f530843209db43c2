"""Links between pages lead to existing files and headings; the test needs no network."""

from __future__ import annotations

import pytest

from tests.docs.pages import ROOT, Page, pages, slug_of


@pytest.mark.parametrize("page", pages(), ids=str)
def test_links_lead_somewhere(page: Page) -> None:
    assert [link for link in page.links() if not leads_somewhere(page, link)] == []


def leads_somewhere(page: Page, link: str) -> bool:
    if "://" in link or link.startswith("mailto:"):
        return True
    name, _, anchor = link.partition("#")
    target = (page.path.parent / name).resolve() if name else page.path
    if not target.is_relative_to(ROOT) or not target.exists():
        return False
    return not anchor or (target.suffix == ".md" and anchor in Page(target).anchors())


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Exit codes", "exit-codes"),
        ("`kalypso render`, and more", "kalypso-render-and-more"),
        ("What [GitHub](https://github.com) gives", "what-github-gives"),
        ("GHES & proxies", "ghes--proxies"),
    ],
)
def test_anchors_are_those_of_github(heading: str, slug: str) -> None:
    assert slug_of(heading) == slug


@pytest.mark.parametrize("link", ["nowhere.md", "#no-such-heading", "../../outside.md"])
def test_a_link_to_nothing_is_found(link: str) -> None:
    assert not leads_somewhere(Page(ROOT / "README.md"), link)
