"""Clusters on a page: the worst first, and no more than a page holds."""

from __future__ import annotations

import pytest

from kalypso_actions.report.chain_documents import CheckPromoteDocument, ClusterEntry, Verdict
from kalypso_actions.report.check_promote_page import PageFacts, check_promote_page
from kalypso_actions.report.clusters import MOST_ROWS, clusters_section

FACTS = PageFacts("https://github.com/acme/fleet")


def cluster(name: str, state: str = "compliant", cluster_type: str = "drone") -> ClusterEntry:
    return ClusterEntry(
        id=f"/subscriptions/s/{name}",
        cluster_type=cluster_type,
        state=state,
        reason="" if state == "compliant" else f"why {name}",
        revision="a" * 40,
    )


def test_tables_of_cluster_types_and_clusters() -> None:
    section = clusters_section(
        [
            cluster("a"),
            cluster("b", "failed"),
            cluster("c", "compliant", "large"),
            cluster("d", "stale", ""),
        ],
        ["lamp"],
    )
    assert section.splitlines() == [
        "### Clusters",
        "",
        "| cluster type | clusters | compliant | stale | failed |",
        "| --- | --- | --- | --- | --- |",
        "| none of ours | 1 |  | 1 |  |",
        "| `drone` | 2 | 1 |  | 1 |",
        "| `lamp` | 0 |  |  |  |",
        "| `large` | 1 | 1 |  |  |",
        "",
        "| cluster | cluster type | state | commit | why |",
        "| --- | --- | --- | --- | --- |",
        "| `b` | `drone` | failed | `aaaaaaa` | why b |",
        "| `d` |  | stale | `aaaaaaa` | why d |",
        "| `a` | `drone` | compliant | `aaaaaaa` |  |",
        "| `c` | `large` | compliant | `aaaaaaa` |  |",
    ]


def test_nothing_to_show() -> None:
    assert clusters_section([], []) == ""
    assert clusters_section([], ["lamp"]).count("\n| ") == 3


def test_many_clusters() -> None:
    many = [cluster(f"c{number}") for number in range(MOST_ROWS + 5)]
    section = clusters_section([*many, cluster("bad", "failed")], [])
    assert "<summary>306 clusters</summary>" in section
    assert section.count("`drone` | ") == MOST_ROWS + 1
    assert "… and 6 more" in section
    assert section.index("`bad`") < section.index("`c0`")


def test_what_clusters_say_is_nothing_but_text() -> None:
    entry = cluster("a|`b", "failed").model_copy(update={"reason": "<b>|@team\n## x" + "y" * 400})
    section = clusters_section([entry], [])
    assert "<b>" not in section
    assert "@team" not in section
    assert "\n## x" not in section
    assert "yyy…" in section.replace("\\", "")
    (row,) = [line for line in section.splitlines() if "why" not in line and "failed" in line][1:]
    assert len(row) < 700


VERDICTS: list[tuple[Verdict, str, str]] = [
    ("compliant", "deployed to `dev`", "is the last environment"),
    ("nothing-scheduled", "nothing to deploy in `dev`", "is the last environment"),
    ("waiting", "waiting for another", "Merge the pull request there"),
    ("superseded", "another commit came to `dev`", "Nothing is to be done"),
    ("failed", "failed in `dev`", "Correct what fails"),
    ("none-targeted", "no cluster follows `dev`", "require-targets to false"),
    ("timed-out", "`dev` did not comply in time", "Give them more time"),
]


@pytest.mark.parametrize(("verdict", "heading", "advice"), VERDICTS)
def test_every_verdict_has_a_heading_and_says_what_comes_next(
    verdict: Verdict, heading: str, advice: str
) -> None:
    document = CheckPromoteDocument(
        environment="dev",
        promoted_commit="a" * 40,
        gitops_commit="b" * 40,
        verdict=verdict,
        reason="because *x*",
    )
    page = check_promote_page(document, FACTS)
    first, *rest = page.split("\n\n")
    assert first.startswith("## kalypso check-promote: ") and heading in first
    assert rest[0] == (
        "GitOps commit `bbbbbbb`, with the commit "
        f"[aaaaaaa](https://github.com/acme/fleet/commit/{'a' * 40}) of main."
    )
    assert rest[1] == "because \\*x\\*"
    assert advice in rest[2]


def test_a_run_that_another_goes_on_with() -> None:
    document = CheckPromoteDocument(environment="dev", gitops_commit="b" * 40)
    url = "https://github.com/acme/fleet/actions"
    page = check_promote_page(document, PageFacts("", started={"check-promote": url}))
    assert page.startswith("## kalypso check-promote: `dev` is still waited for\n")
    assert page.endswith(f"It goes on: [check\\-promote]({url}).")
