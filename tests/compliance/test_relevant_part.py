"""A configuration that follows the environment's tree and other paths of the branch."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.model.cluster_reports import ObjectReference, ReportedObject
from tests.breaks import breaks, turned
from tests.compliance.cluster_reports import clusters, failing, healthy_report, reported_paths

BAD = "Non-Compliant"
TWO = reported_paths("./drone", "./monitoring")


def status(
    name: str, state: str = "Compliant", by: str = "", kind: str = "Kustomization"
) -> ReportedObject:
    """Return an object of the configuration `fleet`; `by` is the Kustomization that applied it."""
    conditions = failing("BuildFailed", f"{name} is broken").conditions if state == BAD else ()
    reference = ObjectReference(by, "flux-system") if by else None
    return ReportedObject(kind, name, state, conditions, "flux-system", reference)


def mixed(*objects: ReportedObject, **more: Any) -> tuple[str, str]:
    """Return the state of a cluster that is not compliant as a whole, and the reason."""
    given = {"state": BAD, "paths": TWO, "objects": objects, **more}
    (cluster,) = clusters(healthy_report(**given))
    return cluster.state, cluster.reason


NOTE = "judged without ./monitoring"
DRONE = status("fleet-drone")
OTHER = status("fleet-monitoring", BAD)


@breaks(
    "the objects of other paths decide",
    turned(
        "kalypso_actions.compliance.cluster_states._judge",
        "root is None or root in counted",
        "True",
    ),
)
@pytest.mark.parametrize(
    ("objects", "state", "reason"),
    [
        pytest.param([DRONE, OTHER], "compliant", NOTE, id="the other path fails"),
        pytest.param(
            [status("fleet-drone", BAD), status("fleet-monitoring")],
            "failed",
            f"BuildFailed: fleet-drone is broken; {NOTE}",
            id="ours fails",
        ),
        pytest.param(
            [status("fleet-drone", BAD), OTHER],
            "failed",
            f"BuildFailed: fleet-drone is broken; {NOTE}",
            id="both fail",
        ),
        pytest.param(
            [status("fleet-drone", "Pending"), OTHER],
            "progressing",
            f"its state is Pending; {NOTE}",
            id="ours is not ready yet",
        ),
        pytest.param(
            [status("fleet-drone", "Suspended"), OTHER],
            "suspended",
            f"its reconciliation is suspended; {NOTE}",
            id="ours is suspended",
        ),
        pytest.param(
            [DRONE, status("fleet-monitoring", "Suspended")],
            "compliant",
            NOTE,
            id="the other is suspended",
        ),
        pytest.param(
            [DRONE, OTHER, status("web", BAD, "fleet-drone", "HelmRelease")],
            "failed",
            f"BuildFailed: web is broken; {NOTE}",
            id="a release of ours fails",
        ),
        pytest.param(
            [DRONE, OTHER, status("grafana", BAD, "fleet-monitoring", "HelmRelease")],
            "compliant",
            NOTE,
            id="a release of the other fails",
        ),
        pytest.param(
            [DRONE, status("grafana", BAD, "fleet-monitoring", "HelmRelease")],
            "compliant",
            NOTE,
            id="a release of the other, which has no status",
        ),
        pytest.param(
            [
                DRONE,
                status("grafana", BAD, "charts", "HelmRelease"),
                status("charts", BAD, "fleet-monitoring"),
                OTHER,
            ],
            "compliant",
            NOTE,
            id="a release of a kustomization of the other",
        ),
        pytest.param(
            [DRONE, OTHER, status("x", BAD, "nobody", "HelmRelease")],
            "failed",
            f"BuildFailed: x is broken; {NOTE}",
            id="nobody knows whose",
        ),
        pytest.param(
            [DRONE, OTHER, status("a", BAD, "b"), status("b", "Compliant", "a")],
            "failed",
            f"BuildFailed: a is broken; {NOTE}",
            id="a circle",
        ),
        pytest.param(
            [DRONE, OTHER, status("fleet", BAD, kind="GitRepository")],
            "failed",
            f"BuildFailed: fleet is broken; {NOTE}",
            id="the source fails",
        ),
        # There is no state, but a condition.
        pytest.param(
            [failing("BuildFailed", "no such path", name="fleet-drone")],
            "failed",
            f"BuildFailed: no such path; {NOTE}",
            id="by the condition",
        ),
        pytest.param([status("FLEET-Drone"), OTHER], "compliant", NOTE, id="names differ by case"),
    ],
)
def test_the_counted_paths_decide(objects: list[ReportedObject], state: str, reason: str) -> None:
    assert mixed(*objects) == (state, reason)
    assert mixed(*reversed(objects)) == (state, reason)


WHOLE = "judged by the whole configuration with ./monitoring: statuses are missing"


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([], id="no status"),
        pytest.param([OTHER], id="only of the other"),
        pytest.param([status("drone"), OTHER], id="another name"),
        pytest.param([status("fleet-drone", by="fleet-monitoring"), OTHER], id="applied"),
        pytest.param([status("fleet-drone", ""), OTHER], id="it says nothing"),
    ],
)
def test_without_statuses_the_whole_report_decides(objects: list[ReportedObject]) -> None:
    state, reason = mixed(*objects)
    assert state == "failed"
    assert reason.endswith(WHOLE)
    assert mixed(*objects, state="Compliant") == ("compliant", WHOLE)


def test_a_report_of_counted_paths_only_decides_as_it_is() -> None:
    objects = (status("fleet-drone"), status("fleet-large"))
    paths = reported_paths("./drone", "./large")
    found = clusters(healthy_report(state=BAD, paths=paths, objects=objects, message="no source"))
    assert [(item.cluster_type, item.state, item.reason) for item in found] == [
        ("drone", "failed", "no source"),
        ("large", "failed", "no source"),
    ]


def test_a_failed_provisioning_fails_the_whole_configuration() -> None:
    assert mixed(DRONE, OTHER, provisioning_state="Failed")[0] == "failed"
