"""What a cluster says of each folder, as the record takes it: no grace, no verdict."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kalypso_actions.compliance import EnvironmentTree
from kalypso_actions.compliance.child_reports import (
    ChildKustomization,
    child_reports,
    children_by_branch,
)
from kalypso_actions.compliance.cluster_states import _part_state, reported_parts
from kalypso_actions.model.cluster_reports import (
    ClusterReport,
    Condition,
    ObjectReference,
    ReportedObject,
    ReportedPath,
)
from tests.breaks import breaks, turned

OLD, NEW = "1" * 40, "2" * 40
TREE = EnvironmentTree("", frozenset({"large", "drone"}), frozenset({"large", "drone"}))


def ready(status: str, message: str) -> tuple[Condition, ...]:
    return (Condition("Ready", status, "Reason", message, None),)


def kustomization(status: str, message: str, name: str = "k-apps") -> ReportedObject:
    return ReportedObject("Kustomization", name, "", ready(status, message))


REPORT = ClusterReport(
    "/c/1",
    "k",
    (ReportedPath("./large", "apps"),),
    revision=f"dev@sha1:{NEW}",
    state="Non-Compliant",
    objects=(kustomization("False", "out of memory"),),
)


def test_a_failing_kustomization_runs_the_commit_of_its_source() -> None:
    (part,) = reported_parts([REPORT], TREE)
    assert (part.commit, part.state, part.reason) == (NEW, "failure", "Reason: out of memory")


@breaks(
    "a correction fails by the failure that it corrects",
    turned(_part_state, "_is_of_earlier_revision(report, each)", "False"),
)
@pytest.mark.parametrize(
    ("minutes", "state"), [(-1, "in_progress"), (0, "failure"), (1, "failure")]
)
def test_a_failure_from_before_the_revision_says_nothing_of_it(minutes: int, state: str) -> None:
    synced_at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    since = synced_at + timedelta(minutes=minutes)
    failed = Condition("Ready", "False", "HealthCheckFailed", "out of memory", since)
    objects = (ReportedObject("Kustomization", "k-apps", "", (failed,)),)
    (part,) = reported_parts([replace(REPORT, objects=objects, source_updated_at=synced_at)], TREE)
    assert (part.commit, part.state, part.since) == (NEW, state, since)
    assert ("the one before fails" in part.reason) == (state == "in_progress")


@pytest.mark.parametrize(
    ("revision", "commit"),
    [
        (f"dev@sha1:{OLD}", OLD),
        (f"dev/{OLD}", OLD),
        (f"sha1:{OLD}", OLD),
        (OLD, OLD),
        (f"a@b/c@sha1:{OLD.upper()}", OLD),
        ("", ""),
    ],
)
def test_each_form_of_a_revision_names_its_commit(revision: str, commit: str) -> None:
    (part,) = reported_parts([replace(REPORT, revision=revision)], TREE)
    assert part.commit == commit


def test_each_path_is_a_part_of_its_own() -> None:
    objects = (
        kustomization("True", f"Applied revision: dev@sha1:{OLD}"),
        kustomization("False", "stalled", "k-edge"),
    )
    paths = (ReportedPath("./large", "apps"), ReportedPath("./drone", "edge"))
    parts = list(reported_parts([replace(REPORT, paths=paths, objects=objects)], TREE))
    assert [(each.configuration, each.cluster_type, each.commit, each.state) for each in parts] == [
        ("k/apps", "large", OLD, "success"),
        ("k/edge", "drone", NEW, "failure"),
    ]


def test_a_report_without_anything_is_in_progress() -> None:
    empty = ClusterReport("/c/1", "k", (ReportedPath("large"),), "", "")
    (part,) = reported_parts([empty], TREE)
    assert (part.commit, part.state, part.since) == ("", "in_progress", None)


def documents(name: str, branch: str, path: str) -> list[object]:
    source = {"name": f"{name}-source", "namespace": "flux-system"}
    return [
        {
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "GitRepository",
            "metadata": source,
            "spec": {"url": f"https://github.com/acme/{name}", "ref": {"branch": branch}},
        },
        {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": name, "namespace": "flux-system"},
            "spec": {"sourceRef": {"kind": "GitRepository", "name": source["name"]}, "path": path},
        },
    ]


def test_the_children_of_all_branches_are_read_at_once() -> None:
    children = children_by_branch(
        {
            "large/shop/reconciler.yaml": documents("shop", "dev", "./web"),
            "large/mail/reconciler.yaml": documents("mail", "dev", "."),
            "drone/shop/reconciler.yaml": documents("shop", "dev-edge", "./web"),
            "drone/other/reconciler.yaml": ["no document", {"kind": "Kustomization"}],
        }
    )
    found = {
        place: [(child.file, child.path) for child in of_place]
        for place, of_place in children.items()
    }
    assert found == {
        ("github.com/acme/shop", "dev"): [("large/shop/reconciler.yaml", "web")],
        ("github.com/acme/mail", "dev"): [("large/mail/reconciler.yaml", "")],
        ("github.com/acme/shop", "dev-edge"): [("drone/shop/reconciler.yaml", "web")],
    }
    (child,) = children["github.com/acme/shop", "dev"]
    assert child == ChildKustomization(
        "large/shop/reconciler.yaml",
        ObjectReference("shop", "flux-system"),
        ObjectReference("shop-source", "flux-system"),
        "web",
    )
    assert [each.paths for each in child_reports([REPORT], [child])] == [
        (ReportedPath("web", "shop"),)
    ]
