"""Kinds that do not belong to Kalypso, and misspelled ones."""

from __future__ import annotations

import pytest

from kalypso_actions.fleet.schemas import KALYPSO_API
from tests.fleet.parsed_documents import parse


@pytest.mark.parametrize(
    ("api_version", "kind", "advice"),
    [
        ("apps/v1", "Deployment", "keep it elsewhere, or list its file in .sourceignore"),
        ("v1", "ConfigMapping", "did you mean kind: ConfigMap?"),
        ("sched.kalypso.io/v1alpha1", "Template", f"did you mean apiVersion: {KALYPSO_API}?"),
    ],
)
def test_foreign_kinds_are_left_out_with_a_warning(
    api_version: str, kind: str, advice: str
) -> None:
    text = f"{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: x}}}}"
    noun, problems, warnings = parse(text)
    assert noun is None
    assert not problems
    assert warnings == [
        f"test: file.yaml:1: {kind} 'x' is not a kind of Kalypso; it is ignored ({advice})"
    ]


@pytest.mark.parametrize(
    ("api_version", "kind", "fault"),
    [
        ("v1", "Configmap", "unknown kind 'Configmap' (did you mean ConfigMap?)"),
        (
            "schedular.kalypso.io/v1alpha1",
            "Template",
            "Template has apiVersion 'schedular.kalypso.io/v1alpha1' (write apiVersion: "
            f"{KALYPSO_API})",
        ),
    ],
)
def test_misspelled_kinds_of_kalypso_are_errors(api_version: str, kind: str, fault: str) -> None:
    text = f"{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: x}}}}"
    noun, problems, warnings = parse(text)
    assert (noun, problems, warnings) == (None, [f"test: file.yaml:1: {fault}"], [])
