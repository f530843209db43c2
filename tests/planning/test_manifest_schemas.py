"""The schemas of manifests: what they know, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.planning.manifest_schemas import schema_faults, schema_words

META = {"metadata": {"name": "a"}}


def faults(api_version: str, kind: str, **body: Any) -> list[tuple[str, bool]]:
    found = schema_faults({"apiVersion": api_version, "kind": kind, **META, **body})
    return [(".".join(map(str, fault.path)), fault.is_certain) for fault in found]


SOURCE = {"repoURL": "https://git.test/app", "path": "."}
PLACE = {"server": "https://kubernetes.default.svc", "namespace": "a"}


@pytest.mark.parametrize(
    ("api_version", "kind", "body", "expected"),
    [
        ("argoproj.io/v1alpha1", "Application", {"spec": {"project": "a", "source": SOURCE, "destination": PLACE}}, []),
        ("argoproj.io/v1alpha1", "Application", {"spec": {"project": "a", "source": SOURCE, "destiation": PLACE}}, [("spec.destiation", True)]),
        ("fleet.cattle.io/v1alpha1", "GitRepo", {"spec": {"repo": "https://git.test/app", "paths": ["a"]}}, []),
        ("fleet.cattle.io/v1alpha1", "GitRepo", {"spec": {"paths": "a"}}, [("spec.paths", True), ("spec", True)]),
        ("apps/v1", "Deployment", {"spec": {"replicas": "3", "selector": {}, "template": {}}}, [("spec.replicas", True)]),
        ("v1", "Service", {"spec": {"ports": [{"port": 80, "targetPort": "web"}]}}, []),
        ("v1", "Service", {"spec": {"ports": [{"port": 80, "tragetPort": "web"}]}}, [("spec.ports.0.tragetPort", True)]),
        ("v1", "Servise", {}, [("kind", True)]),
        ("v1", "Widget", {}, []),
        ("extensions/v1beta1", "Ingress", {}, [("apiVersion", True)]),
        ("policy/v1beta1", "PodDisruptionBudget", {}, [("apiVersion", True)]),
        ("policy/v1beta1", "PodSecurityPolicy", {}, [("apiVersion", True)]),
        ("apps/v1", "Service", {}, [("apiVersion", True)]),
        ("argoproj.io/v1alpha1", "Rollout", {}, []),
        ("argoproj.io/v1alpha1", "ApplicationSet", {"spec": {"genrators": [], "template": {"metadata": {}, "spec": {"project": "a", "destination": PLACE}}}}, [("spec.genrators", True)]),
        ("v1", "ResourceQuota", {"spec": {"hard": {"limits.memory": "2GB", "limits.cpu": "500m", "pods": 5, "requests.memory": "${MEMORY}"}}}, [("spec.hard.limits.memory", True)]),
        ("kustomize.toolkit.fluxcd.io/v1alpha1", "Kustomization", {}, [("apiVersion", False)]),
        ("source.toolkit.fluxcd.io/v9", "GitRepository", {}, [("apiVersion", True)]),
        ("source.toolkit.fluxcd.io/v1", "GitRepositroy", {}, [("kind", True)]),
        ("source.toolkit.fluxcd.io/v1", "Unheard", {}, []),
        ("acme.example/v1", "Kustomisation", {"any": {}}, []),
    ],
)  # fmt: skip
def test_what_the_schemas_refuse(
    api_version: str, kind: str, body: dict[str, Any], expected: list[tuple[str, bool]]
) -> None:
    assert faults(api_version, kind, **body) == expected


def test_all_words_are_known() -> None:
    words = "\n".join(schema_words())
    assert all(word in words for word in ("sourceRef", "GitRepository", "kustomize.toolkit"))
