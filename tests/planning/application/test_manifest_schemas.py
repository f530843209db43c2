"""Manifests against Kubernetes' own schemas."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from tests.planning.application.applications import CHART, Application

DEPLOYMENT = "helm/templates/deployment.yaml"
LEAF = {"a/values.yaml": ""}


@pytest.fixture
def schemas() -> None:
    if importlib.util.find_spec("kubernetes_validate") is None:
        reason = "kubernetes-validate is not installed"
        if os.environ.get("KALYPSO_PROGRAMS") == "installed":
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.mark.usefixtures("schemas")
def test_faults_are_reported_with_the_line_of_the_template(application: Application) -> None:
    text = (
        CHART[DEPLOYMENT]
        .replace("  replicas:", "  replica:")
        .replace("containerPort: {{ .Values.app.port }}", 'containerPort: "{{ .Values.app.port }}"')
    )
    done = application.render(
        "--validate-manifests=1.31", source={**CHART, DEPLOYMENT: text}, configs=LEAF
    )
    assert done.places() == [
        ("manifest-schema", DEPLOYMENT, 7),
        ("manifest-schema", DEPLOYMENT, 21),
    ]
    assert "'replica' was unexpected" in done.messages()


@pytest.mark.usefixtures("schemas")
def test_valid_manifests_and_kinds_without_a_schema(application: Application) -> None:
    monitor = "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: app}\n"
    done = application.render(
        "--validate-manifests=v1.33.2",
        source={**CHART, "helm/templates/monitor.yaml": monitor},
        configs=LEAF,
    )
    assert done.status == 0, done.messages()
    place = ("manifest-without-schema", "helm/templates/monitor.yaml", 1)
    assert place in done.places("notes")


@pytest.mark.usefixtures("schemas")
def test_an_unknown_version(application: Application) -> None:
    done = application.render("--validate-manifests=1.999", configs=LEAF)
    assert done.status == 2
    assert "no schemas of Kubernetes 1.999" in done.messages()


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes_validate", None)
    source = {"manifests/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\n"}
    done = Application(tmp_path).render("--validate-manifests=1.31", source=source, configs=LEAF)
    assert done.status == 2
    assert "kalypso-actions[validation]" in done.document["problems"][0]["advice"]
