"""Clusters apply the applications that the reconcilers of their platform declare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kalypso_sandbox.azure import Azure
from tests.sandbox.azure.builders import Clock, azure, cluster, push

RECONCILER = """
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: web-source, namespace: flux-system}
spec: {url: "https://github.com/acme/web", ref: {branch: dev}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: flux-system}
spec: {path: ./shop, sourceRef: {kind: GitRepository, name: web-source}}
"""
PLACE = "drone/web/reconciler.yaml"


@pytest.fixture
def clock() -> Clock:
    return Clock()


def fleet(
    folder: Path, clock: Clock, text: str = RECONCILER, place: str = PLACE, **more: Any
) -> Azure:
    """Return an Azure with one cluster, whose platform assigns one application to it."""
    made = azure(folder, clock, cluster(delay=10, settle=20, **more))
    made.store.add_repository("acme", "web")
    push(made.store, {place: text})
    return made


def commit(made: Azure, files: dict[str, str | None], branch: str = "dev") -> str:
    return push(made.store, files, branch, "acme/web")


def shown(made: Azure) -> tuple[str, list[tuple[str, str, str, str]]]:
    """Return the state of the cluster, and name, state, message, applier of nested objects."""
    (row,) = [
        each
        for each in made.tables()["kubernetesconfigurationresources"]
        if "sourceKind" in each["properties"]
    ]
    return row["properties"]["complianceState"], [
        (
            status["name"],
            status["complianceState"],
            status["statusConditions"][0]["message"],
            status["appliedBy"]["name"],
        )
        for status in row["properties"]["statuses"]
        if status["appliedBy"]
    ]


BY = "cluster-config-drone"


def test_an_application_follows_its_own_branch(tmp_path: Path, clock: Clock) -> None:
    made = fleet(tmp_path, clock)
    first = commit(made, {"shop/a.yaml": "a"})
    clock.seconds = 5
    assert shown(made) == ("Pending", []), "the platform's commit is not there yet"
    clock.seconds = 35
    before = [
        ("web-source", "Compliant", f"stored artifact for revision 'dev@sha1:{first}'", BY),
        ("web", "Compliant", f"Applied revision: dev@sha1:{first}", BY),
    ]
    assert shown(made) == ("Compliant", before)
    second = commit(made, {"shop/a.yaml": "b"})
    clock.seconds = 44
    assert shown(made) == ("Compliant", before)
    clock.seconds = 46
    state, (source, working) = shown(made)
    assert (state, source[2]) == ("Pending", f"stored artifact for revision 'dev@sha1:{second}'")
    assert working[1:3] == ("Pending", "reconciliation in progress")
    clock.seconds = 70
    assert shown(made)[1][1][2] == f"Applied revision: dev@sha1:{second}"


def test_a_source_may_be_ahead_of_its_kustomization(tmp_path: Path, clock: Clock) -> None:
    made = fleet(tmp_path, clock, reconcile_delay=100)
    first = commit(made, {"shop/a.yaml": "a"})
    clock.seconds = 200
    second = commit(made, {"shop/a.yaml": "b"})
    clock.seconds = 250
    _, (source, kustomization) = shown(made)
    assert second in source[2]
    assert kustomization[1:3] == ("Compliant", f"Applied revision: dev@sha1:{first}")


def test_a_failure_of_the_application(tmp_path: Path, clock: Clock) -> None:
    failure = {"kustomization": "web", "message": "it crashes", "text": "broken"}
    made = fleet(tmp_path, clock, behaviour="fail", failure=failure)
    commit(made, {"shop/a.yaml": "fine"})
    clock.seconds = 50
    assert shown(made)[0] == "Compliant"
    commit(made, {"shop/a.yaml": "broken"})
    clock.seconds = 100
    state, (_, kustomization) = shown(made)
    assert (state, kustomization[1:3]) == ("Non-Compliant", ("Non-Compliant", "it crashes"))


def test_the_platform_fails_alone(tmp_path: Path, clock: Clock) -> None:
    made = fleet(tmp_path, clock, behaviour="fail")
    commit(made, {"shop/a.yaml": "a"})
    clock.seconds = 50
    state, objects = shown(made)
    assert (state, [each[1] for each in objects]) == ("Non-Compliant", ["Compliant"] * 2)


@pytest.mark.parametrize(
    ("behaviour", "runs_second"), [("stall", False), ("disconnected", False), ("suspended", True)]
)
def test_a_cluster_that_stops(
    tmp_path: Path, clock: Clock, behaviour: str, *, runs_second: bool
) -> None:
    """A person suspends one configuration; other things stop the whole cluster."""
    made = fleet(tmp_path, clock)
    commit(made, {"shop/a.yaml": "a"})
    clock.seconds = 50
    made.change("drone-1", behaviour=behaviour)
    second = commit(made, {"shop/a.yaml": "b"})
    clock.seconds = 100
    assert (second in shown(made)[1][1][2]) is runs_second


@pytest.mark.parametrize(
    ("text", "files", "messages"),
    [
        pytest.param(
            RECONCILER,
            {"other/a.yaml": "a"},
            ["stored artifact", "kustomization path not found: ./shop"],
            id="no such path",
        ),
        pytest.param(
            RECONCILER.replace("branch: dev", "branch: gone"),
            {"shop/a.yaml": "a"},
            ["couldn't find remote ref 'gone'", "Source artifact not found"],
            id="no such branch",
        ),
        pytest.param(
            RECONCILER.replace("acme/web", "acme/elsewhere"), {"shop/a.yaml": "a"}, [], id="unknown"
        ),
        pytest.param(
            RECONCILER.replace("name: web-source}}", "name: other}}"),
            {"shop/a.yaml": "a"},
            [],
            id="no source",
        ),
        pytest.param("{", {"shop/a.yaml": "a"}, [], id="no YAML"),
        pytest.param("- a\n---\nspec: {}\n", {"shop/a.yaml": "a"}, [], id="no objects"),
    ],
)
def test_what_a_reconciler_may_name(
    tmp_path: Path, clock: Clock, text: str, files: dict[str, str | None], messages: list[str]
) -> None:
    made = fleet(tmp_path, clock, text)
    commit(made, files)
    clock.seconds = 50
    objects = shown(made)[1]
    assert len(objects) == len(messages)
    assert all(part in each[2] for part, each in zip(messages, objects, strict=True))


def test_other_folders_belong_to_other_clusters(tmp_path: Path, clock: Clock) -> None:
    made = fleet(tmp_path, clock, place="drone-2/web/reconciler.yaml")
    commit(made, {"shop/a.yaml": "a"})
    clock.seconds = 50
    assert shown(made) == ("Compliant", [])
