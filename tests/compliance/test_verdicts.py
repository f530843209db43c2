from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest

from kalypso_actions.compliance import (
    DesiredState,
    EnvironmentTree,
    Requirements,
    Verdict,
    judge,
    judge_clusters,
)
from kalypso_actions.compliance.verdicts import holds, superseded, superseded_by
from kalypso_actions.errors import Location
from kalypso_actions.model.cluster_reports import FAILURES, GOES_ON, ClusterReport, VerdictName
from kalypso_actions.model.github import Relation
from tests.breaks import breaks, returning, turned
from tests.compliance.cluster_reports import (
    MERGED,
    NOW,
    OLD,
    TREE,
    cluster_id,
    failing_report,
    healthy_report,
    minutes,
    reported_paths,
)

LATE = healthy_report("late", revision=f"dev@sha1:{OLD}")


def desired(assigned: Sequence[str], not_reporting: Sequence[str] = ()) -> DesiredState:
    tree = dataclasses.replace(
        TREE, assigned=frozenset(assigned), not_reporting=frozenset(not_reporting)
    )
    return DesiredState(frozenset({MERGED}), tree)


def assessed(
    reports: Sequence[ClusterReport],
    assigned: Sequence[str] = ("drone",),
    *,
    since: float = 10,
    **requirements: Any,
) -> Verdict:
    return judge_clusters(
        reports,
        desired(assigned),
        Requirements(**requirements),
        started=NOW - minutes(since),
        now=NOW,
    )


def drones(count: int) -> list[ClusterReport]:
    return [healthy_report(f"drone-{number}") for number in range(count)]


@breaks(
    "failing clusters are waited for",
    turned(
        "kalypso_actions.compliance.verdicts._of_clusters",
        "_number('failed', group) > len(group) - need",
        "_number('failed', group) > len(group)",
    ),
)
@breaks(
    "a percentage is rounded down",
    turned(
        "kalypso_actions.compliance.verdicts._of_clusters",
        "-(-len(group) * requirements.min_compliant // 100)",
        "len(group) * requirements.min_compliant // 100",
    ),
)
@pytest.mark.parametrize(
    ("reports", "options", "verdict"),
    [
        (drones(3), {}, "compliant"),
        ([*drones(3), LATE], {}, "waiting"),
        ([*drones(3), LATE], {"min_compliant": 75}, "compliant"),
        ([*drones(3), LATE], {"min_compliant": 76}, "waiting"),
        ([*drones(3), failing_report("bad")], {}, "failed"),
        ([*drones(3), failing_report("bad")], {"min_compliant": 75}, "compliant"),
        (
            [*drones(2), failing_report("bad"), failing_report("worse")],
            {"min_compliant": 75},
            "failed",
        ),
        # Rounded up: 90% of 3 are 3.
        ([*drones(2), failing_report("bad")], {"min_compliant": 90}, "failed"),
        # The percentage holds in each cluster type, not only overall.
        ([*drones(9), failing_report("big", "./large")], {"min_compliant": 90}, "failed"),
        (
            [*drones(9), healthy_report("big", "./large", suspended=True)],
            {"min_compliant": 90},
            "waiting",
        ),
        ([*drones(2), healthy_report("s", suspended=True)], {}, "waiting"),
        ([*drones(2), healthy_report("elsewhere", "./")], {}, "compliant"),
        ([*drones(2), failing_report("elsewhere", "./")], {}, "failed"),
    ],
)
def test_the_outcome(reports: list[ClusterReport], options: dict[str, Any], verdict: str) -> None:
    assert assessed(reports, **options).name == verdict


@breaks(
    "zero rows comply",
    turned(
        "kalypso_actions.compliance.verdicts.judge_clusters",
        "'none-targeted' if requirements.require_targets else 'compliant'",
        "'compliant'",
    ),
)
@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ({"since": 1}, "waiting"),
        ({"since": 3}, "none-targeted"),
        ({"since": 3, "require_targets": False}, "compliant"),
        ({"since": 1, "require_targets": False}, "waiting"),
    ],
)
def test_no_reports(options: dict[str, Any], verdict: str) -> None:
    assert assessed([], **options).name == verdict


@breaks(
    "a cluster type without a cluster complies",
    returning("kalypso_actions.compliance.verdicts._without", ()),
)
def test_a_cluster_type_without_a_cluster() -> None:
    judged = assessed(drones(2), ("drone", "large"))
    assert (judged.name, judged.missing, judged.reason) == (
        "waiting",
        ("large",),
        "missing: large",
    )
    lenient = assessed(drones(2), ("drone", "large"), missing="warn")
    assert (lenient.name, lenient.missing) == ("compliant", ("large",))
    # A failure counts even if a cluster type is missing.
    assert assessed([failing_report()], ("drone", "large")).name == "failed"


def test_the_reason_names_incomplete_clusters_and_missing_types() -> None:
    assert assessed([*drones(1), LATE], ("drone", "post", "large")).reason == (
        "progressing: late; missing: large, post"
    )


def test_thousands_of_cluster_types_without_a_cluster() -> None:
    types = tuple(f"store-{number:04}" for number in range(5_000))
    names = f"{', '.join(types[:8])} and 4992 more"
    judged = assessed(drones(1), ("drone", *types))
    assert judged.reason == f"missing: {names}"
    lenient = assessed(drones(1), ("drone", *types), missing="warn")
    where = Location("acme/gitops")
    (warning,) = lenient.ignored(EnvironmentTree("", frozenset()), where, "")
    assert warning.message == f"no cluster reports for {names}"


def test_cluster_types_that_do_not_report() -> None:
    reports = [*drones(1), failing_report("lamp-1", "./lamp")]
    assert assessed(reports).name == "failed"
    judged = judge_clusters(
        reports,
        desired(("drone",), not_reporting=("lamp",)),
        Requirements(),
        started=NOW - minutes(10),
        now=NOW,
    )
    assert judged.not_ours == ()
    assert (judged.name, [cluster.name for cluster in judged.clusters]) == (
        "compliant",
        ["drone-0"],
    )


@breaks(
    "clusters of other paths fail the environment",
    turned(
        "kalypso_actions.compliance.cluster_states.EnvironmentTree.cluster_type_of",
        "cluster_type_of(path, self.folder, self.cluster_types)",
        "cluster_type_of(path, self.folder, self.cluster_types) or path",
    ),
)
def test_other_paths_of_the_branch_do_not_count() -> None:
    others = [
        failing_report("mon", "./monitoring"),
        healthy_report("old", "./Drone", suspended=True),
    ]
    judged = assessed([*drones(2), *others])
    assert (judged.name, judged.reason) == ("compliant", "2 clusters comply")
    assert judged.not_ours == (
        (cluster_id("mon"), ("./monitoring",)),
        (cluster_id("old"), ("./Drone",)),
    )
    # These clusters do not count among those that must comply.
    late = healthy_report("late", revision="")
    assert assessed(
        [*drones(1), late, healthy_report("mon", "./monitoring")], min_compliant=60
    ).name == ("waiting")
    # These clusters do not represent a cluster type.
    assert assessed(
        [*drones(1), healthy_report("mon", "./x/large")], ("drone", "large")
    ).missing == ("large",)
    assert assessed([*drones(1), others[0]], ignore_clusters=("*/mon",)).not_ours == ()


def test_a_cluster_is_named_once_with_all_its_other_paths() -> None:
    reports = [
        healthy_report("a", paths=reported_paths("./drone", "./x", "./y"), objects=()),
        healthy_report("a", "./z", configuration="other"),
    ]
    assert assessed(reports).not_ours == ((cluster_id("a"), ("./x", "./y", "./z")),)


def test_no_cluster_follows_the_tree() -> None:
    reports = [healthy_report(f"mon-{number}", "./monitoring") for number in range(5)]
    judged = assessed(reports)
    assert (judged.name, judged.reason) == (
        "none-targeted",
        "no cluster follows this environment's tree; other paths: "
        "mon-0 (./monitoring), mon-1 (./monitoring), mon-2 (./monitoring) and 2 more",
    )
    assert assessed(reports, require_targets=False).name == "compliant"
    assert assessed(reports, since=1).name == "waiting"


OFFLINE = healthy_report("offline", unreachable="Offline")


@pytest.mark.parametrize(
    ("reports", "options", "verdict", "reason"),
    [
        pytest.param([*drones(1), OFFLINE], {}, "waiting", "unreachable: offline", id="fail"),
        pytest.param(
            [*drones(1), OFFLINE],
            {"unreachable": "ignore"},
            "compliant",
            "1 cluster complies",
            id="ignore",
        ),
        pytest.param(
            [*drones(1), OFFLINE],
            {"min_compliant": 50},
            "compliant",
            "1 cluster complies",
            id="50%",
        ),
        pytest.param(
            [*drones(1), LATE, OFFLINE],
            {"unreachable": "ignore", "min_compliant": 67},
            "waiting",
            "progressing: late",
            id="it does not count for the share",
        ),
        pytest.param(
            [OFFLINE], {"unreachable": "ignore"}, "waiting", "unreachable: offline", id="alone"
        ),
        pytest.param(
            [OFFLINE],
            {"unreachable": "ignore", "require_targets": False},
            "compliant",
            "unreachable: offline",
            id="alone, without targets",
        ),
    ],
)
def test_unreachable_clusters(
    reports: list[ClusterReport], options: dict[str, Any], verdict: str, reason: str
) -> None:
    judged = assessed(reports, **options)
    assert (judged.name, judged.reason) == (verdict, reason)
    assert "offline" in [cluster.name for cluster in judged.clusters]


@breaks(
    "an unreachable cluster stands for its type",
    turned(
        "kalypso_actions.compliance.verdicts.judge_clusters",
        "set(_without(counting, tree)).difference(missing)",
        "set[str]()",
    ),
)
def test_an_unreachable_cluster_does_not_stand_for_its_type() -> None:
    big = healthy_report("big", "./large", unreachable="Expired")
    given = [*drones(1), big], ("drone", "large")
    judged = assessed(*given, unreachable="ignore")
    assert (judged.name, judged.missing) == ("waiting", ())
    assert judged.reason == "unreachable: big"
    assert assessed(*given, unreachable="ignore", missing="warn").name == "compliant"


def test_a_verdict_without_unreachable_clusters_warns() -> None:
    judged = assessed([*drones(1), OFFLINE], unreachable="ignore")
    (warning,) = judged.ignored(TREE, Location("x"), "")
    assert warning.message == "the state of unreachable clusters is not known: offline"


def test_ignored_clusters() -> None:
    reports = [*drones(1), failing_report("lab-7")]
    assert assessed(reports, ignore_clusters=("*/LAB-*",)).name == "compliant"
    assert assessed(reports, ignore_clusters=(cluster_id("lab-8"),)).name == "failed"
    assert assessed([failing_report("lab-7")], ignore_clusters=("*",)).name == "none-targeted"


@breaks(
    "a cluster is as good as its best configuration",
    turned(
        "kalypso_actions.compliance.cluster_states._worst_of_each",
        "list(group)[-1]",
        "list(group)[0]",
    ),
)
def test_a_cluster_is_as_good_as_its_worst_configuration() -> None:
    second = failing_report("drone-1", cluster=cluster_id("DRONE-1"), configuration="b")
    judged = assessed([healthy_report("drone-1"), second])
    assert [(cluster.state, cluster.cluster_type) for cluster in judged.clusters] == [
        ("failed", "drone")
    ]


@pytest.mark.parametrize(
    ("number", "reason"), [(1, "1 cluster complies"), (2, "2 clusters comply")]
)
def test_how_many_comply(number: int, reason: str) -> None:
    assert assessed(drones(number)).reason == reason


def test_reasons_are_abbreviated() -> None:
    reports = [*drones(2), *(healthy_report(f"late-{n}", revision="") for n in range(5))]
    judged = assessed([*reports, healthy_report("s", suspended=True)])
    assert judged.reason == "progressing: late-0, late-1, late-2 and 2 more; suspended: s"
    failed = assessed([failing_report("a"), failing_report("b"), *drones(1)])
    assert failed.reason == "a and 1 more: HealthCheckFailed: pod web-1 crashes"


def test_the_order_of_reports_makes_no_difference() -> None:
    reports = [*drones(3), LATE, failing_report("bad", "./large")]
    assert assessed(reports) == assessed(reports[::-1])


@pytest.mark.parametrize(
    ("assigned", "not_reporting", "verdict", "reason"),
    [
        pytest.param((), (), "nothing-scheduled", "", id="no assignment"),
        pytest.param(
            ("lamp",), ("lamp",), "compliant", "its clusters do not report", id="no report"
        ),
        pytest.param(
            ("drone",), (), "waiting", "its clusters have not been asked for yet", id="not asked"
        ),
    ],
)
def test_clusters_that_azure_is_not_asked_about(
    assigned: Sequence[str], not_reporting: Sequence[str], verdict: str, reason: str
) -> None:
    judged = judge_clusters(
        None, desired(assigned, not_reporting), Requirements(), started=NOW, now=NOW
    )
    assert (judged.name, judged.reason) == (verdict, reason)


M, OTHER = "a" * 40, "b" * 40
OF_BRANCHES = frozenset(get_args(VerdictName)) - {"superseded", "timed-out"}


def own(name: VerdictName = "compliant", reason: str = "") -> Verdict:
    return Verdict(name, reason, is_open=name == "waiting", branch="own")


def other(name: VerdictName = "compliant", reason: str = "", *, holds: bool = True) -> Verdict:
    return replace(own(name, reason), branch="other", is_own=False, holds=holds)


ABSENT = other("waiting", holds=False)


@breaks(
    "a failure counts although its branch has another commit",
    turned(
        "kalypso_actions.compliance.verdicts._outcome",
        "branch.holds and branch.name == failure",
        "branch.name == failure",
    ),
)
@pytest.mark.parametrize(
    ("branches", "before", "after"),
    [
        ([own()], "compliant", "compliant"),
        ([own("nothing-scheduled")], "nothing-scheduled", "nothing-scheduled"),
        ([own("waiting")], None, "timed-out"),
        ([own("failed")], "failed", "failed"),
        ([own("none-targeted")], "none-targeted", "none-targeted"),
        # Two trees in one branch.
        ([own(), own("nothing-scheduled")], "compliant", "compliant"),
        ([own(), own("waiting")], None, "timed-out"),
        # The others hold the commit: all must comply, but none makes the run time out.
        ([own(), other()], "compliant", "compliant"),
        ([own(), other("nothing-scheduled")], "compliant", "compliant"),
        ([own(), other("waiting")], None, "waiting"),
        ([own("waiting"), other()], None, "timed-out"),
        ([own(), other("failed")], "failed", "failed"),
        ([own("waiting"), other("failed")], "failed", "failed"),
        ([own("nothing-scheduled"), other("none-targeted")], "none-targeted", "none-targeted"),
        # Another does not hold it yet: the run of its merge goes on.
        ([own(), ABSENT], "waiting", "waiting"),
        ([own("nothing-scheduled"), ABSENT], "waiting", "waiting"),
        ([own("waiting"), ABSENT], None, "timed-out"),
        ([own("failed"), ABSENT], "failed", "failed"),
        # The clusters of an older commit do not count.
        ([own(), other("failed", holds=False)], "waiting", "waiting"),
        # A failure counts more than missing clusters.
        ([own("none-targeted"), other("failed")], "failed", "failed"),
    ],
)
def test_the_verdict(
    branches: list[Verdict], before: VerdictName | None, after: VerdictName | None
) -> None:
    for timed_out, wanted in ((False, before), (True, after)):
        verdict = judge(branches, timed_out=timed_out)
        assert (None if verdict.is_open else verdict.name) == wanted


def test_reasons_name_the_branch_if_there_are_several() -> None:
    assert judge([own("failed", "x")], timed_out=False) == Verdict("failed", "x")
    assert judge([own("failed", "x"), ABSENT], timed_out=False) == Verdict("failed", "own: x")
    assert judge([own(), ABSENT], timed_out=False) == Verdict(
        "waiting", "other does not hold the commit yet"
    )
    assert judge([own(reason="1"), other(reason="2")], timed_out=False) == Verdict(
        "compliant", "own: 1; other: 2"
    )


def test_every_run_ends_and_only_compliance_goes_on() -> None:
    for first, two, has_commit in itertools.product(OF_BRANCHES, OF_BRANCHES, (True, False)):
        branches = [own(first), other(two, holds=has_commit)]
        early, late = judge(branches, timed_out=False), judge(branches, timed_out=True)
        assert not late.is_open
        assert early.is_open or early == late
        if late.goes_on:
            assert all(branch.complies for branch in branches)
        assert not (late.name in GOES_ON and late.name in FAILURES)


@breaks(
    "an older commit in another repository ends a promotion",
    turned(
        superseded,
        "relation != 'ahead'",
        "relation is None",
    ),
)
@breaks(
    "every promotion is superseded",
    turned(
        superseded,
        "promoted_commit == expected",
        "expected is None",
    ),
)
@pytest.mark.parametrize(
    ("promoted_commit", "relation", "is_own", "wanted"),
    [
        (M, None, True, None),
        (M, None, False, None),
        (OTHER, "ahead", True, superseded_by(OTHER, goes_back=False)),
        (OTHER, "ahead", False, superseded_by(OTHER, goes_back=False)),
        (OTHER, "behind", True, superseded_by(OTHER, goes_back=True)),
        (OTHER, "diverged", True, superseded_by(OTHER, goes_back=False)),
        (OTHER, None, True, superseded_by(OTHER, goes_back=False)),
        (None, None, True, superseded_by("", goes_back=True)),
        # Another GitOpsRepo does not have the commit yet.
        (OTHER, "behind", False, None),
        (OTHER, "diverged", False, None),
        (None, None, False, None),
    ],
)
def test_when_another_commit_ends_a_promotion(
    promoted_commit: str | None, relation: Relation | None, is_own: bool, wanted: Verdict | None
) -> None:
    assert superseded(M, promoted_commit, relation, is_own=is_own) == wanted


def test_a_configuration_change_without_a_promoted_commit() -> None:
    assert superseded(None, None, None, is_own=True) is None
    assert superseded(None, M, None, is_own=True) == superseded_by(M, goes_back=False)


@breaks(
    "a tree of another commit counts as the promoted one",
    turned(holds, "is_own or not contradicted", "True"),
)
@pytest.mark.parametrize(
    ("promoted_commit", "is_own", "contradicted", "wanted"),
    [
        pytest.param(M, True, False, True, id="own"),
        pytest.param(M, True, True, True, id="own, verified with the request"),
        pytest.param(M, False, False, True, id="another"),
        pytest.param(M, False, True, False, id="another, made of another commit"),
        pytest.param(OTHER, True, False, False, id="another commit"),
        pytest.param(None, False, False, False, id="no commit"),
    ],
)
def test_which_branches_hold_the_commit(
    promoted_commit: str | None, is_own: bool, contradicted: bool, wanted: bool
) -> None:
    assert holds(M, promoted_commit, is_own=is_own, contradicted=contradicted) == wanted
