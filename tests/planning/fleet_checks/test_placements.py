"""Placements of environments: the scheduler that reads them, and their faults."""

from __future__ import annotations

from typing import Final

import pytest

from kalypso_actions.errors import UsageError
from tests.planning.fleet_checks.control_planes import Plane, edited, findings, shown, sound

FILE: Final = ".github/kalypso/edge.yaml"
PLACEMENT: Final = """\
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: edge
spec:
  numberOfClusters: 1
"""
SCHEDULER: Final = 'kalypso.io/scheduler: placement, kalypso.io/first-environment: "true"'


def placed() -> Plane:
    """Return a control plane whose environment dev has a policy with a Placement."""
    plane = edited(
        sound(),
        "dev/policy.yaml",
        "metadata:\n",
        "metadata:\n  annotations: {kalypso.io/placement: edge}\n",
    )
    plane["dev"][FILE] = PLACEMENT
    return edited(plane, "main/dev.yaml", 'kalypso.io/first-environment: "true"', SCHEDULER)


def test_the_annotation_chooses_the_scheduler() -> None:
    diagnostics = findings(placed())
    assert (diagnostics.problems, diagnostics.warnings) == ([], [])


@pytest.mark.parametrize(
    ("place", "old", "new", "expected", "advice"),
    [
        pytest.param("dev/policy.yaml", "placement: edge", "placement: egde", [("placement-unknown", "dev/policy.yaml:4"), ("placement-unused", f"dev/{FILE}:1")], "did you mean edge?", id="policy names none"),
        pytest.param("dev/policy.yaml", "  annotations: {kalypso.io/placement: edge}\n", "", [("placement-unused", f"dev/{FILE}:1")], "annotate a policy", id="nobody names it"),
        pytest.param(f"dev/{FILE}", "numberOfClusters: 1", "predicates: [{requiredClusterSelector: {celSelector: {celExpressions: ['nobody(']}}}]", [("placement-misconfigured", f"dev/{FILE}:1")], "until then the last decision stays", id="CEL"),
        pytest.param(f"dev/{FILE}", "numberOfClusters: 1", "numberOfCluster: 1", [("placement-field-unknown", f"dev/{FILE}:6")], "", id="field"),
        pytest.param(f"dev/{FILE}", "numberOfClusters: 1", "predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {region: moon}}}}]", [("placement-finds-nothing", f"dev/{FILE}:1")], "kalypso explain", id="no cluster type"),
        pytest.param("main/dev.yaml", "scheduler: placement", "scheduler: placment", [("scheduler-unknown", "main/dev.yaml:3")], "did you mean placement?", id="unknown scheduler"),
        pytest.param("main/dev.yaml", "kalypso.io/scheduler: placement, ", "", [("placement-without-scheduler", "dev/policy.yaml:4"), ("placement-unused", f"dev/{FILE}:1")], "annotate the Environment", id="by labels"),
    ],
)  # fmt: skip
def test_faults_are_reported_with_file_and_line(
    place: str, old: str, new: str, expected: list[tuple[str, str]], advice: str
) -> None:
    diagnostics = findings(edited(placed(), place, old, new))
    all_findings = [*diagnostics.problems, *diagnostics.warnings]
    assert shown(all_findings) == expected
    assert advice in all_findings[0].advice


def test_the_option_overrides_the_annotation() -> None:
    (problem,) = findings(placed(), scheduler="labels").problems
    assert problem.code == "placement-without-scheduler"
    with pytest.raises(UsageError, match="there is no scheduler 'nobody'"):
        findings(sound(), scheduler="nobody")
