"""Annotations of Kalypso that nobody reads."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import Diagnostics
from kalypso_actions.fleet.parsing import parse_document
from kalypso_actions.sources.yaml_documents import parse_yaml

NEXT = "did you mean kalypso.io/next-environment?"


def warnings(kind: str, metadata: str) -> list[tuple[str, int, str]]:
    """Return the warnings about annotations and labels of a document: code, column, advice."""
    text = f"{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: {kind}}}"
    document = parse_yaml(
        "test", "x.yaml", f"{text[:-1]}, metadata: {{name: x, {metadata}}}}}".encode()
    ).documents[0]
    diagnostics = Diagnostics()
    parse_document(document, diagnostics)
    of_annotations = [w for w in diagnostics.warnings if w.code.startswith("annotation-")]
    return [(w.code, w.where.column if w.where else 0, w.advice) for w in of_annotations]


@pytest.mark.parametrize(
    ("kind", "metadata", "code", "advice"),
    [
        ("Environment", "annotations: {kalypso.io/next-enviroment: stage}", "annotation-unknown", NEXT),
        ("Environment", "annotations: {next-environment: stage}", "annotation-unknown", NEXT),
        ("Environment", "annotations: {kalypso.oi/next-environment: stage}", "annotation-unknown", NEXT),
        ("Environment", "labels: {kalypso.io/next-environment: stage}", "annotation-unknown", "move it to metadata.annotations"),
        ("ClusterType", "annotations: {kalypso.io/engine: jinja2}", "annotation-unknown", "it belongs to Template objects: move it there"),
        ("Workload", "annotations: {kalypso.io/xyz: a}", "annotation-unknown", "annotations of this kind: kalypso.io/foreign-environments, kalypso.io/ignore, kalypso.io/ignore-reason"),
        ("Environment", 'annotations: {kalypso.io/first-environment: "True"}', "annotation-value-unknown", "write 'true' or 'false'"),
        ("ClusterType", "annotations: {kalypso.io/compliance: None}", "annotation-value-unknown", "write 'none'"),
    ],
    ids=["misspelled", "no prefix", "misspelled prefix", "label", "other kind", "unknown", "value", "case of a value"],
)  # fmt: skip
def test_unread_annotations(kind: str, metadata: str, code: str, advice: str) -> None:
    ((message, column, said),) = warnings(kind, metadata)
    assert (message, said, column > 0) == (code, advice, True)


@pytest.mark.parametrize(
    ("kind", "metadata"),
    [
        ("Environment", 'annotations: {kalypso.io/first-environment: "true"}'),
        ("ClusterType", "annotations: {kalypso.io/compliance: none, example.com/capacity: high}"),
        ("ConfigMap", "annotations: {kalypso.io/ignore: config-unmatched, owner: platform}"),
        ("ClusterType", "labels: {capacity: high, claim.kalypso.io/region: west}"),
    ],
)
def test_annotations_without_a_warning(kind: str, metadata: str) -> None:
    assert warnings(kind, metadata) == []
