"""The branches of an environment → the verdict of the run, or none yet."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest

from kalypso_actions.model.github import Relation
from kalypso_actions.model.verdicts import FAILURES, GOES_ON, Verdict
from kalypso_actions.promotion.run_verdict import (
    BranchVerdict,
    RunVerdict,
    Superseded,
    holds,
    run_verdict,
    superseded,
)

M, OTHER = "a" * 40, "b" * 40
OF_BRANCHES = frozenset(get_args(Verdict)) - {"superseded", "timed-out"}


def own(verdict: Verdict = "compliant", reason: str = "") -> BranchVerdict:
    return BranchVerdict("own", is_own=True, holds=True, verdict=verdict, reason=reason)


def other(verdict: Verdict = "compliant", reason: str = "", *, holds: bool = True) -> BranchVerdict:
    return BranchVerdict("other", is_own=False, holds=holds, verdict=verdict, reason=reason)


ABSENT = other("waiting", holds=False)


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
    branches: list[BranchVerdict], before: Verdict | None, after: Verdict | None
) -> None:
    for timed_out, wanted in ((False, before), (True, after)):
        verdict = run_verdict(branches, timed_out=timed_out)
        assert (verdict.verdict if verdict else None) == wanted


def test_reasons_name_the_branch_if_there_are_several() -> None:
    assert run_verdict([own("failed", "x")], timed_out=False) == RunVerdict("failed", "x")
    assert run_verdict([own("failed", "x"), ABSENT], timed_out=False) == RunVerdict(
        "failed", "own: x"
    )
    assert run_verdict([own(), ABSENT], timed_out=False) == RunVerdict(
        "waiting", "other does not hold the commit yet"
    )
    assert run_verdict([own(reason="1"), other(reason="2")], timed_out=False) == RunVerdict(
        "compliant", "own: 1; other: 2"
    )


def test_every_run_ends_and_only_compliance_goes_on() -> None:
    for first, two, has_commit in itertools.product(OF_BRANCHES, OF_BRANCHES, (True, False)):
        branches = [own(first), other(two, holds=has_commit)]
        early, late = run_verdict(branches, timed_out=False), run_verdict(branches, timed_out=True)
        assert late is not None
        assert early is None or early == late
        if late.verdict in GOES_ON:
            assert all(branch.complies for branch in branches)
        assert not (late.verdict in GOES_ON and late.verdict in FAILURES)


@pytest.mark.parametrize(
    ("promoted_commit", "relation", "is_own", "wanted"),
    [
        (M, None, True, None),
        (M, None, False, None),
        (OTHER, "ahead", True, Superseded(OTHER, goes_back=False)),
        (OTHER, "ahead", False, Superseded(OTHER, goes_back=False)),
        (OTHER, "behind", True, Superseded(OTHER, goes_back=True)),
        (OTHER, "diverged", True, Superseded(OTHER, goes_back=False)),
        (OTHER, None, True, Superseded(OTHER, goes_back=False)),
        (None, None, True, Superseded("", goes_back=True)),
        # Another GitOpsRepo does not have the commit yet.
        (OTHER, "behind", False, None),
        (OTHER, "diverged", False, None),
        (None, None, False, None),
    ],
)
def test_when_another_commit_ends_a_promotion(
    promoted_commit: str | None, relation: Relation | None, is_own: bool, wanted: Superseded | None
) -> None:
    assert superseded(M, promoted_commit, relation, is_own=is_own) == wanted


def test_a_configuration_change_without_a_promoted_commit() -> None:
    assert superseded(None, None, None, is_own=True) is None
    assert superseded(None, M, None, is_own=True) == Superseded(M, goes_back=False)


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
