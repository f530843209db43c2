"""The branches of an environment → the verdict of the run, or none yet."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import get_args

import pytest

from kalypso_actions.compliance import Verdict, judge
from kalypso_actions.compliance.verdicts import holds, superseded, superseded_by
from kalypso_actions.model.github import Relation
from kalypso_actions.model.verdicts import FAILURES, GOES_ON, VerdictName

M, OTHER = "a" * 40, "b" * 40
OF_BRANCHES = frozenset(get_args(VerdictName)) - {"superseded", "timed-out"}


def own(name: VerdictName = "compliant", reason: str = "") -> Verdict:
    return Verdict(name, reason, is_open=name == "waiting", branch="own")


def other(name: VerdictName = "compliant", reason: str = "", *, holds: bool = True) -> Verdict:
    return replace(own(name, reason), branch="other", is_own=False, holds=holds)


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
