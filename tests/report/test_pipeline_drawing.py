"""The drawing of the pipeline: where nodes stand, what arrows say, and hostile texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from kalypso_actions.report.hold_document import HoldEntry
from kalypso_actions.report.pipeline_drawing import pipeline_html
from kalypso_actions.report.status_document import (
    ClusterStateEntry,
    CommitViewEntry,
    EnvironmentStatusEntry,
    IssueEntry,
    StateEntry,
    StatusDocument,
    WaitEntry,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOSTILE = "</svg><script>alert(1)</script><img src=x onerror=alert(1)>"


def commit(letter: str, subject: str = "Change") -> CommitViewEntry:
    return CommitViewEntry(commit=letter * 40, subject=subject, author="Ana", committed_at=NOON)


def document(ways: Mapping[str, Sequence[str]], commits: str = "", **fields: Any) -> StatusDocument:
    """Return a pipeline of these environments; `commits` are letters for main and for each."""
    letters = commits or "a" * (len(ways) + 1)
    environments = tuple(
        EnvironmentStatusEntry.model_validate(
            {
                "environment": name,
                "branch": name,
                "commit": commit(letter),
                "ahead": 0,
                "state": StateEntry(text="Deployed", state="success", at=NOON),
                "next_environments": tuple(ends),
                "assignments": 1,
                "failing": 0,
                "degraded": 0,
                **fields,
            }
        )
        for (name, ends), letter in zip(ways.items(), letters[1:], strict=True)
    )
    return StatusDocument(
        control_plane="acme/plane", at=NOON, main=commit(letters[0]), environments=environments
    )


def places(html: str) -> dict[str, tuple[int, int]]:
    """Return the column and the row of each node."""
    found = re.findall(r'<text x="(\d+)" y="(\d+)" class="name"[^>]*>([^<]*)<', html)
    columns = sorted({int(x) for x, _, _ in found})
    rows = sorted({int(y) for _, y, _ in found})
    return {name: (columns.index(int(x)), rows.index(int(y))) for x, y, name in found}


@pytest.mark.parametrize(
    ("ways", "wanted"),
    [
        ({"dev": ["stage"], "stage": []}, {"main": (0, 0), "dev": (1, 0), "stage": (2, 0)}),
        (
            {"dev": ["perf", "stage"], "perf": ["stage"], "stage": []},
            {"main": (0, 0), "dev": (1, 0), "perf": (2, 0), "stage": (3, 0)},
        ),
        ({"a": [], "b": []}, {"main": (0, 0), "a": (1, 0), "b": (1, 1)}),
        ({"a": ["gone"]}, {"main": (0, 0), "a": (1, 0)}),
        ({"a": ["b"], "b": ["a"]}, {"main": (0, 0), "a": (2, 0), "b": (1, 0)}),
    ],
    ids=["chain", "join", "fork", "unknown", "circle"],
)
def test_each_environment_stands_behind_those_that_lead_to_it(
    ways: dict[str, list[str]], wanted: dict[str, tuple[int, int]]
) -> None:
    found = places(pipeline_html(document(ways)))
    if ways.get("b"):  # the order within a circle does not matter
        assert found.keys() == wanted.keys()
        return
    assert found == wanted


def test_an_arrow_moves_while_the_next_environment_lacks_the_commit() -> None:
    html = pipeline_html(document({"dev": ["stage"], "stage": []}, "bba"))
    arrows = re.findall(r'<g class="([a-z ]+)"><path d="M', html)
    assert arrows == ["dim", "warn moves"]


@pytest.mark.parametrize(
    ("clusters", "share", "widths"),
    [
        ({"compliant": 7, "failed": 1}, "7/8", {"good": 112.0, "bad": 16.0}),
        (
            {"compliant": 1, "progressing": 1, "missing": 2},
            "1/4",
            {"good": 32, "warn": 32, "bad": 64},
        ),
        ({"stale": 1}, "0/1", {"warn": 128}),
        ({}, "", {}),
        (None, "", {}),
    ],
)
def test_the_bar_of_the_clusters(
    clusters: dict[str, int] | None, share: str, widths: dict[str, float]
) -> None:
    html = pipeline_html(document({"dev": []}, clusters=clusters))
    found = re.findall(
        r'<g class="(\w+)"><rect x="[\d.]+" y="[\d.]+" width="([\d.]+)" height="8"', html
    )
    assert {name: float(width) for name, width in found} == widths
    assert re.findall(r'class="svg-text">([^<]*)<', html) == [share] * bool(share)
    assert ("clusters: none" in html) == (clusters == {})


HELD: dict[str, Any] = {
    "waiting_for": "hold by ann: audit",
    "holds": (HoldEntry(reason="audit", by="ann", until=None, at=""),),
    "waits": (WaitEntry(waits_for="people", text="release the hold by ann: audit", url=""),),
}


@pytest.mark.parametrize(
    ("fields", "look", "text"),
    [
        ({"clusters": {"compliant": 5}}, "good", "✓ Deployed"),
        ({"clusters": {"progressing": 5}}, "warn", "● 5 progressing"),
        ({"clusters": {"compliant": 4, "failed": 1}}, "bad", "✗ Deployed, 1 failed"),
        ({"failing": 6, "clusters": {"stale": 1}}, "bad", "✗ Deployed, 6 failing"),
        ({"waiting_for": "freeze: year end"}, "warn", "‖ Deployed, closed"),
        (HELD, "warn", "‖ Deployed, held"),
        (
            {**HELD, "state": StateEntry(text="Promoted", state="pending")},
            "warn",
            "‖ Promoted, held",
        ),
        (
            {
                "clusters": {"compliant": 4, "progressing": 1},
                "state": StateEntry(text="Deploying 4/5", state="pending"),
            },
            "warn",
            "● Deploying",
        ),
        (
            {
                "clusters": {"failed": 1},
                "state": StateEntry(text="Failed to deploy: web", state="failure"),
            },
            "bad",
            "✗ Failed to deploy: web",
        ),
    ],
)
def test_a_node_shows_what_is_so_now(fields: dict[str, Any], look: str, text: str) -> None:
    """The state is of the last promotion; clusters, problems and holds come later."""
    html = pipeline_html(document({"dev": []}, **fields))
    (node,) = re.findall(
        r'<g class="(\w+)"><rect[^>]*>\n<text[^>]*>dev<.*?13"[^>]*>([^<]*)<', html, re.DOTALL
    )
    assert node == (look, text)
    (card,) = re.findall(r'<p class="(\w+)"><span aria-hidden="true">', html)
    assert card == look


def test_clusters_run_the_commit_that_is_merged() -> None:
    """Between a promotion and its merge, their number is not that of the promoted commit."""
    branch = {"repository": "acme/g", "branch": "dev", "commit": "c" * 40, "assignments": 1}
    gitops = ({**branch, "promoted_commit": "b" * 40},)
    shown = document({"dev": []}, gitops=gitops, clusters={"compliant": 2, "failed": 1})
    html = pipeline_html(shown)
    assert re.findall(r'class="svg-text">([^<]*)<', html) == ["2/3 at bbbbbbb"]
    assert "1 failed at bbbbbbb" in html
    assert "comply with the merged tree, of <code>bbbbbbb</code>" in html
    merged = ({**branch, "promoted_commit": "a" * 40},)
    shown = document({"dev": []}, gitops=merged, clusters={"compliant": 3})
    assert "merged tree" not in pipeline_html(shown)


def test_a_held_environment() -> None:
    """Its box has dashes, nothing moves to it, and its card names the hold once."""
    html = pipeline_html(document({"dev": []}, "ab", **HELD), hold="kind: PromotionPolicy")
    assert html.count('stroke-dasharray="7 4"') == 1
    assert "moves" not in html
    assert html.count("audit") == 1


@pytest.mark.parametrize("branch", ["a/b", "a/new/b"])
@pytest.mark.parametrize("path", ["blob/{}/.github/kalypso/promotion.yaml", "new/{}?{}"])
def test_a_card_offers_a_hold(branch: str, path: str) -> None:
    url, file = "http://127.0.0.1:1/acme/plane", "filename=.github%2Fkalypso%2Fpromotion.yaml"
    fields = {"branch": branch, "policy_url": f"{url}/{path.format(branch, file)}"}
    html = pipeline_html(document({"dev": []}, **fields), hold="a: b")
    wanted = f"{url}/new/{branch}?{file}&amp;value=a%3A+b"
    assert f'<a href="{wanted}">Hold dev</a>' in html
    assert "Hold dev" not in pipeline_html(document({"dev": []}, **fields))
    assert "Hold dev" not in pipeline_html(document({"dev": []}, **fields, **HELD), hold="a: b")


def test_a_card_leads_to_failed_clusters_and_issues() -> None:
    cluster = ClusterStateEntry(name="a b", cluster_type="large", state="failed", reason="web")
    issues = tuple(
        IssueEntry(repository="acme/gitops", number=each, title="Bad", url=f"https://i/{each}")
        for each in range(1, 6)
    )
    state = StateEntry(text="Failed to deploy: a b: web", state="failure")
    shown = document({"dev": []}, state=state, not_compliant=(cluster,), issues=issues)
    html = pipeline_html(shown, clusters="/clusters")
    assert '<a href="/clusters#cluster-a%20b">a b</a> (large): web' in html
    assert html.count("web") == 1
    assert '<a href="https://i/3" rel="noreferrer">acme/gitops#3</a>' in html
    assert "https://i/4" not in html
    assert "and 2 more issues" in html


def test_links_lead_to_branches_and_commits_of_the_server() -> None:
    html = pipeline_html(document({"release/1 2": []}), server="http://127.0.0.1:1")
    assert 'href="http://127.0.0.1:1/acme/plane/tree/release/1%202"' in html
    assert f'href="http://127.0.0.1:1/acme/plane/commit/{"a" * 40}"' in html
    assert "href" not in pipeline_html(document({"dev": []}))


def test_texts_are_escaped_and_only_pages_are_linked() -> None:
    wait = WaitEntry(waits_for="people", text=HOSTILE, url="javascript:alert(1)")
    state = StateEntry(text=HOSTILE, state="pending", url="https://ci.test/1?a&b")
    shown = document({HOSTILE: []}, state=state, waits=(wait,), branch=HOSTILE)
    shown = shown.model_copy(update={"main": commit("a", HOSTILE), "ci": "failure"})
    html = pipeline_html(shown, server="http://127.0.0.1:1")
    assert not re.search(r"<(script|img)|javascript:|</svg>[^<]*<script", html)
    assert html.count("</svg>") == 1
    assert 'href="https://ci.test/1?a&amp;b"' in html


def test_a_pipeline_that_is_not_known_says_why() -> None:
    html = pipeline_html(StatusDocument())
    assert "are not known." in html
    assert "<svg" not in html
