"""Tables of clusters: the worst first, and a limited number."""

from __future__ import annotations

import pytest

from kalypso_actions.compliance.cluster_states import STATES
from kalypso_actions.model.cluster_reports import VerdictName
from kalypso_actions.report.check_promote_document import (
    FEW,
    MOST_ROWS,
    WORST_FIRST,
    CheckPromoteDocument,
    CheckPromoteFacts,
    ClusterEntry,
    ForeignPathsEntry,
    check_promote_summary,
    cluster_tables,
    foreign_paths_line,
)

FACTS = CheckPromoteFacts("https://github.com/acme/fleet", "https://github.com/acme/gitops")


def cluster(
    name: str, state: str = "compliant", cluster_type: str = "drone", *, changed: bool = False
) -> ClusterEntry:
    return ClusterEntry(
        id=f"/subscriptions/s/{name}",
        cluster_type=cluster_type,
        state=state,
        reason="" if state == "compliant" else f"why {name}",
        revision="a" * 40,
        changed=changed,
    )


def test_every_state_has_a_place_in_the_tables() -> None:
    assert WORST_FIRST[::-1] == STATES


def test_tables_of_cluster_types_and_clusters() -> None:
    section = cluster_tables(
        [
            cluster("a"),
            cluster("b", "failed"),
            cluster("c", "compliant", "large", changed=True),
            cluster("d", "stale", ""),
        ],
        ["lamp"],
    )
    assert section.splitlines() == [
        "### Clusters",
        "",
        "| Cluster type | Clusters | Compliant | Stale | Failed |",
        "| --- | --- | --- | --- | --- |",
        "| the whole tree | 1 |  | 1 |  |",
        "| `drone` | 2 | 1 |  | 1 |",
        "| `lamp` | 0 |  |  |  |",
        "| `large` | 1 | 1 |  |  |",
        "",
        "Changed since the last look, or not complying:",
        "",
        "| Cluster | Cluster type | State | Commit | Why |",
        "| --- | --- | --- | --- | --- |",
        "| `b` | `drone` | failed | `aaaaaaa` | why b |",
        "| `d` |  | stale | `aaaaaaa` | why d |",
        "| `c` | `large` | compliant | `aaaaaaa` |  |",
        "",
        "1 other cluster complies as at the last look.",
    ]


def test_clusters_of_other_paths_on_one_line() -> None:
    entries = [
        ForeignPathsEntry(id=f"/x/c{number}", paths=("./a|b", *(f"./{n}" for n in range(9))))
        for number in range(9)
    ]
    line = foreign_paths_line(entries)
    assert "\n" not in line
    assert line.startswith("Not counted, as they follow other paths of the branch: `c0` (")
    assert line.count("and 7 more") == 5
    assert line.endswith(" and 4 more.")
    assert foreign_paths_line([]) == ""


def test_nothing_to_show() -> None:
    assert cluster_tables([], []) == ""
    assert cluster_tables([], ["lamp"]).count("\n| ") == 3


def test_many_clusters() -> None:
    many = [cluster(f"c{number}", changed=True) for number in range(MOST_ROWS + 5)]
    section = cluster_tables([*many, cluster("bad", "failed")], [])
    assert "<summary>These 306 clusters</summary>" in section
    seen, _, on_click = section.partition("<details>")
    assert seen.count("`drone` | ") == 1 + FEW
    assert seen.count("`bad`") == 1
    assert on_click.count("`drone` | ") == MOST_ROWS
    assert "… and 6 more" in on_click
    assert on_click.index("`bad`") < on_click.index("`c0`")


def test_of_many_clusters_some_that_do_not_comply_are_seen_at_once() -> None:
    troubled = [cluster(f"t{number:02}", "failed") for number in range(FEW + 3)]
    seen, _, on_click = cluster_tables([*troubled, cluster("c")], []).partition("<details>")
    assert seen.count("why t") == FEW
    assert seen.endswith("… and 3 more\n\n")
    assert on_click.count("why t") == FEW + 3
    assert on_click.endswith("1 other cluster complies as at the last look.")


def test_without_reasons_there_is_no_column_for_them() -> None:
    assert cluster_tables([cluster("a", changed=True)], []).splitlines()[-3:] == [
        "| Cluster | Cluster type | State | Commit |",
        "| --- | --- | --- | --- |",
        "| `a` | `drone` | compliant | `aaaaaaa` |",
    ]


def test_messages_of_clusters_stay_text() -> None:
    entry = cluster("a|`b", "failed").model_copy(update={"reason": "<b>|@team\n## x" + "y" * 400})
    section = cluster_tables([entry], [])
    assert "<b>" not in section
    assert "@team" not in section
    assert "\n## x" not in section
    assert "yyy…" in section.replace("\\", "")
    (row,) = [line for line in section.splitlines() if "| failed |" in line]
    assert len(row) < 700


VERDICTS: list[tuple[VerdictName, str, str]] = [
    ("compliant", "deployed to `dev`", "is the last environment"),
    ("nothing-scheduled", "nothing to deploy in `dev`", "is the last environment"),
    ("waiting", "waiting for another", "Merge the pull request there"),
    ("superseded", "another commit came to `dev`", "There is nothing to do"),
    ("failed", "failed in `dev`", "Correct the failure"),
    ("none-targeted", "no cluster follows `dev`", "require-targets to false"),
    ("timed-out", "`dev` did not comply in time", "give them more time"),
]


@pytest.mark.parametrize(("verdict", "heading", "advice"), VERDICTS)
def test_every_verdict_has_a_heading_and_says_what_comes_next(
    verdict: VerdictName, heading: str, advice: str
) -> None:
    document = CheckPromoteDocument(
        environment="dev",
        promoted_commit="a" * 40,
        gitops_commit="b" * 40,
        verdict=verdict,
        reason="because *x*",
    )
    page = check_promote_summary(document, FACTS)
    first, *rest = page.split("\n\n")
    assert first.startswith("## kalypso check-promote: ") and heading in first
    assert rest[0] == (
        f"GitOps commit [bbbbbbb](https://github.com/acme/gitops/commit/{'b' * 40}), with the commit "
        f"[aaaaaaa](https://github.com/acme/fleet/commit/{'a' * 40}) of main."
    )
    assert rest[1] == "because \\*x\\*"
    assert advice in rest[2]


def test_a_run_that_another_run_continues() -> None:
    document = CheckPromoteDocument(environment="dev", gitops_commit="b" * 40)
    url = "https://github.com/acme/fleet/actions"
    page = check_promote_summary(
        document, CheckPromoteFacts("", "", started={"check-promote": url})
    )
    assert page.startswith("## kalypso check-promote: still waiting for `dev`\n")
    assert page.endswith(f"Started: [check\\-promote]({url}).")
