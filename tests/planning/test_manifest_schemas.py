"""The schemas of manifests: what they know, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.planning.manifest_schemas import schema_faults, schema_words
from kalypso_actions.planning.manifest_values import rules
from tests.breaks import breaks, returning, turned

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


RBAC = "rbac.authorization.k8s.io"
FLUX = {
    "interval": "5m",
    "prune": True,
    "sourceRef": {"kind": "GitRepository", "name": "a"},
}
PODS = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": []}}
VALUES: dict[str, tuple[str, dict[str, Any], str]] = {
    "a version in roleRef": (f"{RBAC}/v1 RoleBinding", {"roleRef": {"apiGroup": f"{RBAC}/v1", "kind": "Role", "name": "a"}}, "roleRef.apiGroup"),
    "a Role for a ClusterRoleBinding": (f"{RBAC}/v1 ClusterRoleBinding", {"roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "a"}}, "roleRef.kind"),
    "a kind of subject": (f"{RBAC}/v1 ClusterRoleBinding", {"roleRef": {"kind": "ClusterRole", "name": "a"}, "subjects": [{"kind": "Groups", "name": "a"}]}, "subjects.0.kind"),
    "a ServiceAccount without a namespace": (f"{RBAC}/v1 RoleBinding", {"roleRef": {"kind": "Role", "name": "a"}, "subjects": [{"kind": "ServiceAccount", "name": "a"}]}, "subjects.0"),
    "an injection": ("v1 Namespace", {"metadata": {"name": "a", "labels": {"istio-injection": "enable"}}}, "metadata.labels.istio-injection"),
    "a version in the groups of a Role": (f"{RBAC}/v1 Role", {"rules": [{"apiGroups": ["apps/v1"], "verbs": ["get"]}]}, "rules.0.apiGroups.0"),
    "a verb": (f"{RBAC}/v1 Role", {"rules": [{"apiGroups": ["apps"], "verbs": ["get", "wacth"]}]}, "rules.0.verbs.1"),
    "a type of policy": ("networking.k8s.io/v1 NetworkPolicy", {"spec": {"policyTypes": ["ingress"]}}, "spec.policyTypes.0"),
    "a network": ("networking.k8s.io/v1 NetworkPolicy", {"spec": {"egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0"}}]}]}}, "spec.egress.0.to.0.ipBlock.cidr"),
    "a resource of a quota": ("v1 ResourceQuota", {"spec": {"hard": {"limit.cpu": "2"}}}, "spec.hard.limit.cpu"),
    "a level of security": ("v1 Namespace", {"metadata": {"name": "a", "labels": {"pod-security.kubernetes.io/warn": "Restricted"}}}, "metadata.labels.pod-security.kubernetes.io/warn"),
    "a version of security": ("v1 Namespace", {"metadata": {"name": "a", "labels": {"pod-security.kubernetes.io/warn-version": "1.30"}}}, "metadata.labels.pod-security.kubernetes.io/warn-version"),
    "a mode of security": ("v1 Namespace", {"metadata": {"name": "a", "labels": {"pod-security.kubernetes.io/enforced": "baseline"}}}, "metadata.labels.pod-security.kubernetes.io/enforced"),
    "two destinations": ("argoproj.io/v1alpha1 Application", {"spec": {"project": "a", "destination": {**PLACE, "name": "b"}}}, "spec.destination.name"),
    "an option without =": ("argoproj.io/v1alpha1 Application", {"spec": {"project": "a", "destination": PLACE, "syncPolicy": {"syncOptions": ["CreateNamespace: true"]}}}, "spec.syncPolicy.syncOptions.0"),
    "an option": ("argoproj.io/v1alpha1 Application", {"spec": {"project": "a", "destination": PLACE, "syncPolicy": {"syncOptions": ["CreateNamespaces=true"]}}}, "spec.syncPolicy.syncOptions.0"),
    "a wave": ("v1 ConfigMap", {"metadata": {"name": "a", "annotations": {"argocd.argoproj.io/sync-wave": "first"}}}, "metadata.annotations.argocd.argoproj.io/sync-wave"),
    "a type of Service": ("v1 Service", {"spec": {"type": "Loadbalancer"}}, "spec.type"),
    "a port": ("v1 Service", {"spec": {"ports": [{"port": 80800}]}}, "spec.ports.0.port"),
    "a protocol": ("v1 Service", {"spec": {"ports": [{"port": 80, "protocol": "tcp"}]}}, "spec.ports.0.protocol"),
    "an access": ("v1 PersistentVolumeClaim", {"spec": {"accessModes": ["ReadwriteOnce"]}}, "spec.accessModes.0"),
    "a policy of images": ("v1 Pod", {"spec": {"containers": [{"name": "a", "imagePullPolicy": "IfNotpresent"}]}}, "spec.containers.0.imagePullPolicy"),
    "a resource of a container": ("v1 Pod", {"spec": {"containers": [{"name": "a", "resources": {"limits": {"memroy": "1Gi"}}}]}}, "spec.containers.0.resources.limits.memroy"),
    "a policy of restarts": ("v1 Pod", {"spec": {"containers": [], "restartPolicy": "never"}}, "spec.restartPolicy"),
    "restarts of a Deployment": ("apps/v1 Deployment", {"spec": {"selector": {}, "template": {"spec": {"containers": [], "restartPolicy": "Never"}}}}, "spec.template.spec.restartPolicy"),
    "a selector without its label": ("apps/v1 Deployment", {"spec": {"selector": {"matchLabels": {"app": "b"}}, "template": PODS}}, "spec.selector.matchLabels.app"),
    "a policy of concurrency": ("batch/v1 CronJob", {"spec": {"schedule": "0 4 * * *", "jobTemplate": {}, "concurrencyPolicy": "forbid"}}, "spec.concurrencyPolicy"),
    "a schedule": ("batch/v1 CronJob", {"spec": {"schedule": "0 4 * *", "jobTemplate": {}}}, "spec.schedule"),
    "two limits of disruption": ("policy/v1 PodDisruptionBudget", {"spec": {"minAvailable": 1, "maxUnavailable": 1}}, "spec.maxUnavailable"),
    "a metric": ("autoscaling/v2 HorizontalPodAutoscaler", {"spec": {"maxReplicas": 2, "scaleTargetRef": {"kind": "a", "name": "b"}, "metrics": [{"type": "CPU"}]}}, "spec.metrics.0.type"),
    "a type of path": ("networking.k8s.io/v1 Ingress", {"spec": {"rules": [{"http": {"paths": [{"pathType": "prefix", "backend": {}}]}}]}}, "spec.rules.0.http.paths.0.pathType"),
    "a kind of source": ("kustomize.toolkit.fluxcd.io/v1 Kustomization", {"spec": {**FLUX, "sourceRef": {"kind": "GitRepositry", "name": "a"}}}, "spec.sourceRef.kind"),
    "a duration": ("kustomize.toolkit.fluxcd.io/v1 Kustomization", {"spec": {**FLUX, "interval": "5min"}}, "spec.interval"),
    "a default above the most": ("v1 LimitRange", {"spec": {"limits": [{"type": "Container", "default": {"memory": "2Gi", "cpu": 1}, "max": {"memory": "1000Mi", "cpu": "1000m"}}]}}, "spec.limits.0.default.memory"),
    "a least above the most": ("v1 LimitRange", {"spec": {"limits": [{"type": "Pod", "min": {"cpu": "1500m"}, "max": {"cpu": 1}}]}}, "spec.limits.0.min.cpu"),
    "a request of a LimitRange": ("v1 LimitRange", {"spec": {"limits": [{"type": "Container", "defaultRequest": {"memory": "2G"}, "default": {"memory": "1Gi"}, "max": {"memory": "4Gi"}}]}}, "spec.limits.0.defaultRequest.memory"),
    "replicas": ("autoscaling/v2 HorizontalPodAutoscaler", {"spec": {"minReplicas": 5, "maxReplicas": 2, "scaleTargetRef": {"kind": "a", "name": "b"}}}, "spec.minReplicas"),
    "requests above limits": ("v1 Pod", {"spec": {"containers": [{"name": "a", "resources": {"requests": {"memory": "1.5Gi", "cpu": "100m"}, "limits": {"memory": "1e9", "cpu": 0.1}}}]}}, "spec.containers.0.resources.requests.memory"),
    "a range of ports": ("networking.k8s.io/v1 NetworkPolicy", {"spec": {"egress": [{"ports": [{"port": 9000, "endPort": 8000}]}]}}, "spec.egress.0.ports.0.port"),
    "a path without /": ("networking.k8s.io/v1 Ingress", {"spec": {"rules": [{"http": {"paths": [{"path": "api", "pathType": "Prefix", "backend": {}}]}}]}}, "spec.rules.0.http.paths.0.path"),
    "a host": ("networking.k8s.io/v1 Ingress", {"spec": {"rules": [{"host": "Proxy_1.git.test"}]}}, "spec.rules.0.host"),
    "a length of a network": ("networking.k8s.io/v1 NetworkPolicy", {"spec": {"egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/33"}}]}]}}, "spec.egress.0.to.0.ipBlock.cidr"),
    "a number of a network": ("networking.k8s.io/v1 NetworkPolicy", {"spec": {"egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.256.0.0/16"]}}]}]}}, "spec.egress.0.to.0.ipBlock.except.0"),
    "three parts of a network": ("networking.k8s.io/v1 NetworkPolicy", {"spec": {"egress": [{"to": [{"ipBlock": {"cidr": "10.0.0/8"}}]}]}}, "spec.egress.0.to.0.ipBlock.cidr"),
    "a length of IPv6": ("v1 Service", {"spec": {"loadBalancerSourceRanges": ["fd00::/129"]}}, "spec.loadBalancerSourceRanges.0"),
    "a mount without its volume": ("apps/v1 Deployment", {"spec": {"selector": {}, "template": {"spec": {"containers": [{"name": "a", "volumeMounts": [{"name": "data", "mountPath": "/d"}]}]}}}}, "spec.template.spec.containers.0.volumeMounts.0.name"),
    "a mount of another claim": ("apps/v1 StatefulSet", {"spec": {"selector": {}, "serviceName": "a", "template": {"spec": {"containers": [], "initContainers": [{"name": "a", "volumeMounts": [{"name": "data", "mountPath": "/d"}]}]}}, "volumeClaimTemplates": [{"metadata": {"name": "date"}}]}}, "spec.template.spec.initContainers.0.volumeMounts.0.name"),
    "a mount of a CronJob": ("batch/v1 CronJob", {"spec": {"schedule": "0 4 * * *", "jobTemplate": {"spec": {"template": {"spec": {"containers": [{"name": "a", "volumeMounts": [{"name": "data", "mountPath": "/d"}]}]}}}}}}, "spec.jobTemplate.spec.template.spec.containers.0.volumeMounts.0.name"),
    "a URL": ("source.toolkit.fluxcd.io/v1 GitRepository", {"spec": {"interval": "1m", "url": "git@git.test:app"}}, "spec.url"),
}  # fmt: skip


@breaks(
    "amounts have no order",
    returning("kalypso_actions.planning.manifest_values.ValueRule._of_order", ()),
    case="above",
)
@breaks(
    "a mount needs no volume",
    returning("kalypso_actions.planning.manifest_values.ValueRule._of_names", ()),
    case="mount",
)
@breaks(
    "values that no schema refuses are checked",
    turned(schema_faults, "rule.faults(body)", "()"),
)
@pytest.mark.parametrize(("kind", "body", "path"), VALUES.values(), ids=VALUES)
def test_values_that_an_api_server_refuses(kind: str, body: dict[str, Any], path: str) -> None:
    found = faults(*kind.split(" "), **body)
    assert found == [(path, True)]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("v1 ResourceQuota", {"spec": {"hard": {"count/jobs.batch": 2, "requests.nvidia.com/gpu": 1, "requests.hugepages-2Mi": "1Gi"}}}),
        ("v1 Namespace", {"metadata": {"name": "a", "labels": {"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/enforce-version": "v1.30"}}}),
        ("v1 Service", {"spec": {"type": "${TYPE}", "ports": [{"port": 80, "protocol": ""}]}}),
        (f"{RBAC}/v1 RoleBinding", {"roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "a"}, "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "b"}]}),
        ("kustomize.toolkit.fluxcd.io/v1 Kustomization", {"spec": {**FLUX, "timeout": "1h30m", "interval": "${INTERVAL}"}}),
        ("helm.toolkit.fluxcd.io/v2 HelmRelease", {"spec": {"interval": "5m", "values": {"containers": [{"ports": [{"containerPort": 0}]}]}}}),
        ("apps/v1 Deployment", {"spec": {"selector": {"matchLabels": {"app": "a"}}, "template": PODS}}),
        ("batch/v1 CronJob", {"spec": {"schedule": "@daily", "jobTemplate": {}}}),
        ("v1 LimitRange", {"spec": {"limits": [{"type": "Container", "min": {"cpu": "10m"}, "defaultRequest": {"cpu": "0.5"}, "default": {"cpu": "500m", "memory": "1024Mi"}, "max": {"cpu": "1k", "memory": "1Gi"}}]}}),
        ("v1 LimitRange", {"spec": {"limits": [{"type": "Container", "default": {"memory": "${MEMORY}"}, "max": {"memory": "128974848000m"}}]}}),
        ("autoscaling/v2 HorizontalPodAutoscaler", {"spec": {"minReplicas": 2, "maxReplicas": 2, "scaleTargetRef": {"kind": "a", "name": "b"}}}),
        ("v1 Pod", {"spec": {"containers": [{"name": "a", "resources": {"requests": {"memory": "2Gi", "cpu": "1"}, "limits": {"memory": "2048Mi"}}}]}}),
        ("networking.k8s.io/v1 NetworkPolicy", {"spec": {"egress": [{"to": [{"ipBlock": {"cidr": cidr}} for cidr in ("0.0.0.0/0", "255.255.255.255/32", "::/0", "fd00::1/128", "::ffff:10.0.0.0/104", "${NETWORK}")], "ports": [{"port": "web"}, {"port": 80, "endPort": 90}]}]}}),
        ("networking.k8s.io/v1 Ingress", {"spec": {"rules": [{"host": "*.a-1.git.test", "http": {"paths": [{"path": "/", "pathType": "Exact", "backend": {}}, {"pathType": "ImplementationSpecific", "backend": {}}]}}]}}),
        ("apps/v1 StatefulSet", {"spec": {"selector": {}, "serviceName": "a", "template": {"spec": {"containers": [{"name": "a", "volumeMounts": [{"name": "data", "mountPath": "/d"}, {"name": "conf", "mountPath": "/c"}]}], "volumes": [{"name": "conf"}]}}, "volumeClaimTemplates": [{"metadata": {"name": "data"}}]}}),
        ("apps/v1 Deployment", {"spec": {"selector": {}, "template": {"spec": {"containers": [{"name": "a", "volumeMounts": [{"name": "a-data", "mountPath": "/d"}]}], "volumes": [{"name": "${NAME}-data"}]}}}}),
        ("acme.example/v1 Anything", {"spec": {"type": "ingress"}}),
    ],
)  # fmt: skip
def test_values_that_an_api_server_takes(kind: str, body: dict[str, Any]) -> None:
    assert faults(*kind.split(" "), **body) == []


def test_an_unknown_value_without_a_near_one_may_be_newer() -> None:
    assert faults("v1", "Service", spec={"type": "Mesh"}) == [("spec.type", False)]
    assert faults("v1", "ResourceQuota", spec={"hard": {"volumes": 2}}) == [
        ("spec.hard.volumes", False)
    ]


@pytest.mark.parametrize(
    ("kind", "spec", "path"),
    [
        ("v1 ResourceQuota", {"hard": {"limits.memory": "512m", "limits.cpu": "512m"}}, "spec.hard.limits.memory"),
        ("v1 LimitRange", {"limits": [{"type": "Container", "max": {"memory": "512m", "cpu": "512m"}}]}, "spec.limits.0.max.memory"),
        ("v1 Pod", {"containers": [{"name": "a", "resources": {"limits": {"memory": "64m", "cpu": "64m"}}}]}, "spec.containers.0.resources.limits.memory"),
    ],
)  # fmt: skip
def test_memory_of_less_than_a_megabyte_in_thousandths_is_doubtful(
    kind: str, spec: dict[str, Any], path: str
) -> None:
    version, name = kind.split(" ")
    assert faults(version, name, spec=spec) == [(path, False)]


def test_a_node_port_of_another_range_is_doubtful() -> None:
    ports = [{"port": 80, "nodePort": 30080}, {"port": 81, "nodePort": 8080}, {"port": 82}]
    assert faults("v1", "Service", spec={"ports": ports}) == [("spec.ports.1.nodePort", False)]


def test_a_comparison_names_both_values() -> None:
    limits = [{"type": "Container", "default": {"memory": "2Gi"}, "max": {"memory": "1Gi"}}]
    body = {"apiVersion": "v1", "kind": "LimitRange", **META, "spec": {"limits": limits}}
    (fault,) = schema_faults(body)
    assert fault.message == "default.memory 2Gi is above max.memory 1Gi"
    assert fault.advice == "lower default.memory, or raise max.memory"


def test_a_mount_names_what_was_probably_meant() -> None:
    mounted = {"containers": [{"name": "a", "volumeMounts": [{"name": "data", "mountPath": "/d"}]}]}
    claims = [{"metadata": {"name": "date"}}]
    spec = {"selector": {}, "serviceName": "a", "template": {"spec": mounted}}
    body = {"apiVersion": "apps/v1", "kind": "StatefulSet", **META}
    (fault,) = schema_faults({**body, "spec": {**spec, "volumeClaimTemplates": claims}})
    places = "template.spec.volumes and volumeClaimTemplates"
    assert fault.message == f"there is no 'data' in {places}: did you mean date?"


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("git@git.test:acme/app", "write ssh://git@git.test/acme/app"),
        ("git.test/acme/app", "write https://git.test/acme/app"),
        ("../app", "begin it with http:// or https:// or ssh://"),
    ],
)
def test_advice_on_a_url(url: str, advice: str) -> None:
    body = {"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", **META}
    (fault,) = schema_faults({**body, "spec": {"interval": "1m", "url": url}})
    assert fault.advice == advice


def test_advice_on_forms() -> None:
    faulty = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", **META}
    (duration,) = schema_faults({**faulty, "spec": {**FLUX, "interval": 5}})
    assert '"5m"' in duration.advice
    options = {"syncOptions": [{"CreateNamespace": True}]}
    spec = {"project": "a", "destination": PLACE, "syncPolicy": options}
    argo = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", **META, "spec": spec}
    (option,) = schema_faults(argo)
    assert "CreateNamespace=true" in option.advice


def test_each_rule_has_its_source() -> None:
    for rule in rules():
        assert rule.source.startswith("https://")
        assert rule.kinds
        assert (
            rule.values
            or rule.pattern
            or rule.range
            or rule.only_one
            or rule.subset_of
            or rule.requires
            or rule.order
            or rule.named_in
        )


def test_all_words_are_known() -> None:
    words = "\n".join(schema_words())
    assert all(word in words for word in ("sourceRef", "GitRepository", "kustomize.toolkit"))
