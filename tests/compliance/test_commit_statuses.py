"""The statuses that clusters post: which of them count, and what they mean."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kalypso_actions.compliance import commit_statuses
from kalypso_actions.compliance.commit_statuses import (
    ClusterContext,
    cluster_context,
    faults_of_statuses,
    needs_history,
    reports_of_statuses,
    state_of,
)
from kalypso_actions.model.cluster_reports import ExpectedCluster, FollowedTree
from kalypso_actions.model.github import CommitStatus, StatusState
from tests.breaks import breaks, turned

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FLUX, PERSON = "fleet-flux[bot]", "marie"
FOLLOWED = FollowedTree(
    "https://github.com/acme/gitops",
    "dev",
    ("later", "head", "merged"),
    (ExpectedCluster("North-1", "edge", "edge"), ExpectedCluster("south-1", "edge", "edge")),
)


def status(
    state: StatusState = "success",
    text: str = "reconciliation succeeded",
    *,
    context: str = "cluster/north-1/edge/5d1f",
    author: str = FLUX,
    ago: int = 0,
) -> CommitStatus:
    return CommitStatus(
        context, state, text, author=author, created_at=NOW - timedelta(seconds=ago)
    )


@pytest.mark.parametrize(
    ("context", "parsed"),
    [
        ("cluster/north-1/edge", ClusterContext("north-1", "edge", "cluster/north-1/edge")),
        ("Cluster/North-1/Edge/a/b", ClusterContext("north-1", "edge", "cluster/north-1/edge/a/b")),
        ("kustomization/apps/5d1f", None),
        ("cluster/north-1", None),
        ("cluster//edge", None),
        ("cluster/north-1/", None),
        ("dev environment", None),
        ("clusters/north-1/edge", None),
    ],
)
def test_contexts(context: str, parsed: ClusterContext | None) -> None:
    assert cluster_context(context) == parsed


@breaks(
    "any text of a success means that the commit is applied",
    turned(state_of, "text in SUCCESSES", "True"),
)
@breaks("a dependency that is not ready fails", turned(state_of, "text != WAITS", "True"))
@pytest.mark.parametrize(
    ("posted", "state"),
    [
        (status(), "Compliant"),
        (status(text="Reconciliation succeeded"), "not known (Reconciliation succeeded)"),
        (status(text="Synced and healthy"), "Compliant"),
        (status(text="dependency not ready"), "not known (dependency not ready)"),
        (status(text=""), "not known ()"),
        (status("failure", "health check failed"), "Non-Compliant"),
        (status("error", "build failed"), "Non-Compliant"),
        (status("failure", "dependency not ready"), "Pending (dependency not ready)"),
        (status("pending", ""), "Pending"),
    ],
)
def test_states(posted: CommitStatus, state: str) -> None:
    assert state_of(posted) == state


ROW = [status("failure", ago=10), status("failure", ago=300), status(ago=900)]


@breaks(
    "a status of anybody counts",
    turned(commit_statuses._rows, "status.author.lower() in authors", "True"),
)
@breaks(
    "the oldest commit with a status decides",
    turned(reports_of_statuses, "followed.commits", "followed.commits[::-1]"),
    case="the newest commit decides",
)
@breaks(
    "a failure begins with its last status",
    turned(commit_statuses._report, "state_of(status) == state", "status is newest"),
)
@pytest.mark.parametrize(
    ("statuses", "reported"),
    [
        pytest.param({"merged": [status(ago=5)]}, [("merged", "Compliant", 5)], id="one"),
        pytest.param({"merged": ROW}, [("merged", "Non-Compliant", 300)], id="row"),
        pytest.param(
            {"merged": [status(author=PERSON), status("failure", ago=300)]},
            [("merged", "Non-Compliant", 300)],
            id="a foreign status hides nothing",
        ),
        pytest.param({"merged": [status(author=PERSON)]}, [], id="a foreign status counts nothing"),
        pytest.param(
            {"head": [status("failure", ago=200)], "merged": [status(ago=900)]},
            [("head", "Non-Compliant", 200)],
            id="the newest commit decides",
        ),
        pytest.param(
            {"head": [status(author=PERSON)], "merged": [status(ago=900)]},
            [("merged", "Compliant", 900)],
            id="a foreign status decides for no commit",
        ),
        pytest.param(
            {"later": [status(ago=9)], "merged": [status(ago=900)]},
            [("later", "Compliant", 9)],
            id="a later promotion",
        ),
        pytest.param(
            {"merged": [status(), status("failure", context="cluster/NORTH-1/edge/other")]},
            [("merged", "Compliant", 0), ("merged", "Non-Compliant", 0)],
            id="several contexts of a pair",
        ),
        pytest.param({"before": [status()]}, [], id="a commit that the branch does not have"),
    ],
)
def test_the_status_that_decides(
    statuses: dict[str, list[CommitStatus]], reported: list[tuple[str, str, int]]
) -> None:
    reports, unlisted = reports_of_statuses(statuses, FOLLOWED, {FLUX})
    assert [
        (
            report.revision,
            report.state,
            int((NOW - (report.source_updated_at or NOW)).total_seconds()),
        )
        for report in reports
    ] == reported
    assert {report.cluster for report in reports} <= {"North-1"}
    assert unlisted == ()


@breaks(
    "a cluster that reports and is not listed is passed over in silence",
    turned(reports_of_statuses, "context[:2] not in listed", "False"),
)
def test_pairs_that_are_not_listed() -> None:
    posted = [
        status(context="cluster/spare-9/edge"),
        status(context="cluster/north-1/hub"),
        status(context="cluster/person/edge", author=PERSON),
        status(context="cluster/West-1/idle"),
    ]
    followed = replace(FOLLOWED, exempt=(ExpectedCluster("/sub/west-1", "Idle", "Idle"),))
    reports, unlisted = reports_of_statuses({"merged": posted}, followed, {FLUX})
    assert (reports, unlisted) == ((), ("spare-9/edge", "north-1/hub"))


@breaks(
    "a foreign status hides those below it",
    turned(needs_history, "status.author.lower() not in authors", "False"),
)
@pytest.mark.parametrize(
    ("posted", "is_young", "needed"),
    [
        (status(), False, False),
        (status(), True, True),
        (status("failure"), False, True),
        (status("pending"), True, False),
        (status(author=PERSON), False, True),
    ],
)
def test_which_contexts_need_their_history(
    posted: CommitStatus, is_young: bool, needed: bool
) -> None:
    assert needs_history(posted, {FLUX}, is_young=is_young) == needed


OLD_TEXT = "dependency not ready"


@breaks(
    "a cluster on the newest commit is behind",
    turned(commit_statuses._behind, "index > newest", "index >= newest"),
)
@breaks(
    "a cluster that fails is told as behind",
    turned(commit_statuses._behind, 'state_of(status) == "Compliant"', "True"),
)
@breaks(
    "a stranger's statuses are told as those of a cluster",
    turned(
        commit_statuses.faults_of_statuses,
        "context and status.author.lower() in authors",
        "context",
    ),
)
@pytest.mark.parametrize(
    ("on_head", "on_merged", "faults"),
    [
        ([status()], [], []),
        ([status(context="ci / test", author=PERSON)], [], []),
        (
            [status(author=PERSON)],
            [status()],
            ["marie posts statuses of clusters, such as cluster/north-1/edge/5d1f"],
        ),
        ([status(author="")], [], ["a deleted account posts statuses of clusters"]),
        (
            [status(context="kustomization/platform/5d1f0b7a")],
            [status(context="kustomization/platform/5d1f0b7a")],
            ["commitStatusExpr is missing on the Provider whose uid begins with 5d1f0b7a"],
        ),
        ([status(text=OLD_TEXT)], [], ["north-1/edge posts a success with the text"]),
        (
            [status()],
            [status(context="cluster/south-1/edge/1")],
            ["south-1/edge posted nothing on the newest commits"],
        ),
        ([status()], [status("failure", "build failed", context="cluster/south-1/edge/1")], []),
        ([status()], [status()], []),
    ],
)
def test_faults_of_how_clusters_post(
    on_head: list[CommitStatus], on_merged: list[CommitStatus], faults: list[str]
) -> None:
    newest = {
        commit: {each.context: each for each in posted}
        for commit, posted in (("head", on_head), ("merged", on_merged))
    }
    told = [fault.message for fault in faults_of_statuses(newest, FOLLOWED, {FLUX})]
    assert len(told) == len(faults), told
    assert all(text.startswith(fault) for text, fault in zip(told, faults, strict=True)), told
