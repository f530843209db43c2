"""One look at the branches of an environment → a verdict, or nothing yet."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest

from kalypso_actions.model.github import Relation
from kalypso_actions.promotion.rounds import (
    FAILURES,
    GOES_ON,
    Clusters,
    Decision,
    Standing,
    Superseded,
    Verdict,
    decide,
    overtaken,
)

M, OTHER = "a" * 40, "b" * 40


def own(clusters: Clusters = "compliant", reason: str = "") -> Standing:
    return Standing("own", own=True, holds=True, clusters=clusters, reason=reason)


def other(clusters: Clusters = "compliant", reason: str = "", *, holds: bool = True) -> Standing:
    return Standing("other", own=False, holds=holds, clusters=clusters, reason=reason)


ABSENT = other("waiting", holds=False)


@pytest.mark.parametrize(
    ("standings", "before", "after"),
    [
        ([own()], "compliant", "compliant"),
        ([own("nothing-scheduled")], "nothing-scheduled", "nothing-scheduled"),
        ([own("waiting")], None, "timed-out"),
        ([own("failed")], "failed", "failed"),
        ([own("none-targeted")], "none-targeted", "none-targeted"),
        # Two trees in one branch.
        ([own(), own("nothing-scheduled")], "compliant", "compliant"),
        ([own(), own("waiting")], None, "timed-out"),
        # The others hold the commit: all of them must comply, and none is waited for in vain.
        ([own(), other()], "compliant", "compliant"),
        ([own(), other("nothing-scheduled")], "compliant", "compliant"),
        ([own(), other("waiting")], None, "waiting"),
        ([own("waiting"), other()], None, "timed-out"),
        ([own(), other("failed")], "failed", "failed"),
        ([own("waiting"), other("failed")], "failed", "failed"),
        ([own("nothing-scheduled"), other("none-targeted")], "none-targeted", "none-targeted"),
        # Another does not hold it yet: its merge's run goes on.
        ([own(), ABSENT], "waiting", "waiting"),
        ([own("nothing-scheduled"), ABSENT], "waiting", "waiting"),
        ([own("waiting"), ABSENT], None, "timed-out"),
        ([own("failed"), ABSENT], "failed", "failed"),
        # What an older commit's clusters do is nobody's business.
        ([own(), other("failed", holds=False)], "waiting", "waiting"),
        # Failed clusters count more than none.
        ([own("none-targeted"), other("failed")], "failed", "failed"),
    ],
)
def test_the_verdict(
    standings: list[Standing], before: Verdict | None, after: Verdict | None
) -> None:
    for timed_out, wanted in ((False, before), (True, after)):
        decision = decide(standings, timed_out=timed_out)
        assert (decision.verdict if decision else None) == wanted


def test_reasons_name_their_branch_where_there_are_several() -> None:
    assert decide([own("failed", "x")], timed_out=False) == Decision("failed", "x")
    assert decide([own("failed", "x"), ABSENT], timed_out=False) == Decision("failed", "own: x")
    assert decide([own(), ABSENT], timed_out=False) == Decision(
        "waiting", "other does not hold the commit yet"
    )
    assert decide([own(reason="1"), other(reason="2")], timed_out=False) == Decision(
        "compliant", "own: 1; other: 2"
    )


def test_in_the_end_it_is_decided_and_only_what_complies_goes_on() -> None:
    clusters: tuple[Clusters, ...] = get_args(Clusters)
    for one, two, holds in itertools.product(clusters, clusters, (True, False)):
        standings = [own(one), other(two, holds=holds)]
        early, late = decide(standings, timed_out=False), decide(standings, timed_out=True)
        assert late is not None
        assert early is None or early == late
        if late.verdict in GOES_ON:
            assert all(standing.complies for standing in standings)
        assert not (late.verdict in GOES_ON and late.verdict in FAILURES)


@pytest.mark.parametrize(
    ("tracked", "relation", "is_own", "wanted"),
    [
        (M, None, True, None),
        (M, None, False, None),
        (OTHER, "ahead", True, Superseded(OTHER, goes_back=False)),
        (OTHER, "ahead", False, Superseded(OTHER, goes_back=False)),
        (OTHER, "behind", True, Superseded(OTHER, goes_back=True)),
        (OTHER, "diverged", True, Superseded(OTHER, goes_back=False)),
        (OTHER, None, True, Superseded(OTHER, goes_back=False)),
        (None, None, True, Superseded("", goes_back=True)),
        # Another GitOpsRepo that has not got the commit yet.
        (OTHER, "behind", False, None),
        (OTHER, "diverged", False, None),
        (None, None, False, None),
    ],
)
def test_when_another_commit_ends_a_promotion(
    tracked: str | None, relation: Relation | None, is_own: bool, wanted: Superseded | None
) -> None:
    assert overtaken(M, tracked, relation, own=is_own) == wanted


def test_a_configuration_change_without_any_commit() -> None:
    assert overtaken(None, None, None, own=True) is None
    assert overtaken(None, M, None, own=True) == Superseded(M, goes_back=False)
