"""The schemas with which editors check documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from kalypso_actions.commands.schemas import ANY_KIND, editor_files
from kalypso_actions.sources.yaml_documents import parse_yaml
from tests.builders import documents
from tests.conformance.real_control_planes import DATA, ROOT

SCHEMAS: dict[str, dict[str, Any]] = {
    name: json.loads(text) for name, text in editor_files().items()
}
POLICY = """
    apiVersion: scheduler.kalypso.io/v1alpha1
    kind: SchedulingPolicy
    metadata: {name: p, labels: }
    spec:
      deploymentTargetSelector: {workspace: w, labelSelector: {matchLabels: {a: b}}}
      clusterTypeSelector: {labelSelector: {matchExpressions: [{key: a, operator: Exists}]}}
"""

PLACEMENT = """
    apiVersion: cluster.open-cluster-management.io/v1beta1
    kind: Placement
    metadata: {name: p}
    spec:
      numberOfClusters: 2
      predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {a: b}}}}]
      prioritizerPolicy:
        configurations: [{scoreCoordinate: {builtIn: Steady}, weight: 2}]
"""


def faults(body: object, name: str = ANY_KIND) -> list[str]:
    return [error.json_path for error in Draft7Validator(SCHEMAS[name]).iter_errors(body)]


def yaml_files() -> Iterator[Path]:
    yield from (ROOT / "samples").rglob("*.yaml")
    yield from (ROOT / "kalypso_actions" / "starter").rglob("*.yaml")
    yield from DATA.glob("kalypso-*/*/**/*.yaml")


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_is_a_schema(name: str) -> None:
    Draft7Validator.check_schema(SCHEMAS[name])


def test_samples_starters_and_real_control_planes_pass() -> None:
    kinds = set()
    for path in yaml_files():
        for document in parse_yaml("test", path.name, path.read_bytes()).documents:
            assert faults(document.body) == [], path
            kinds.add(document.kind)
    assert {"ClusterType", "Environment", "Template", "Workload"} <= kinds


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("operator: Exists", "operator: Exist", "$.spec.clusterTypeSelector.labelSelector."),
        ("workspace: w", "workspce: w", "$.spec.deploymentTargetSelector"),
        ("{a: b}", "{a: 1}", "$.spec.deploymentTargetSelector.labelSelector.matchLabels.a"),
        ("name: p, ", "", "$.metadata"),
        ("v1alpha1", "v1beta1", "$.apiVersion"),
    ],
    ids=["operator", "misspelled field", "number", "no name", "version"],
)
def test_a_fault_is_shown_at_its_place(old: str, new: str, path: str) -> None:
    good, bad = (documents(text)[0].body for text in (POLICY, POLICY.replace(old, new)))
    assert faults(good) == []
    for name in (ANY_KIND, "schedulingpolicy.schema.json"):
        (place,) = faults(bad, name)
        assert place.startswith(path)


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("predicates:", "predicate:", "$.spec"),
        ("weight: 2", "weight: 20", "$.spec.prioritizerPolicy.configurations[0].weight"),
        ("v1beta1", "v1alpha1", "$.apiVersion"),
    ],
)
def test_a_fault_of_a_placement(old: str, new: str, path: str) -> None:
    good, bad = (documents(text)[0].body for text in (PLACEMENT, PLACEMENT.replace(old, new)))
    assert faults(good) == []
    assert faults(bad) == faults(bad, "placement.schema.json") == [path]


def test_documents_of_other_kinds_pass() -> None:
    assert faults({"kind": "Deployment", "apiVersion": "apps/v1", "spec": 1}) == []


def test_every_field_that_people_write_has_a_description() -> None:
    spared = {"apiVersion", "kind", "metadata", "spec", "status", "namespace", "finalizers"}
    spared |= {"generateName", "creationTimestamp", "binaryData", "immutable", "operator"}
    bare = {
        field
        for part in SCHEMAS[ANY_KIND]["definitions"].values()
        for field, schema in part["properties"].items()
        if "description" not in schema
    }
    assert bare <= spared
