"""A control plane of any size, as plain folders.

    python -m bench.fleet FOLDER --assignments 10000

Regions hold cluster types, workspaces hold workloads. Each target goes to all cluster types of its
region, and configuration comes in layers for all, for a region, a cluster type and a workload, so
that nearly every assignment has configuration of its own: nothing is cheaper than in a real fleet.
The same numbers give the same files.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bench.templates import TEMPLATES

ENVIRONMENT = "dev"
HOST = "https://github.northline.example"
CONTROL_PLANE = f"{HOST}/platform/control-plane"

CLUSTER_TYPES_OF_A_REGION = 20
TARGETS_OF_A_REGION = 50
WORKSPACES = 10
KEYS_FOR_ALL = 40

Documents = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Fleet:
    """Where a fleet lies, and what it must come to."""

    folder: Path
    assignments: int

    def arguments(self) -> list[str]:
        """The arguments of `kalypso render` that make it read this fleet."""
        sources = {CONTROL_PLANE: "main"}
        sources |= {_repository(number): f"apps/{number:02}" for number in range(WORKSPACES)}
        options = [f"--source={url}={self.folder / path}" for url, path in sources.items()]
        return [ENVIRONMENT, f"--environment-dir={self.folder / ENVIRONMENT}", *options]


def make_fleet(folder: Path, assignments: int) -> Fleet:
    """Write a fleet with at least so many assignments."""
    of_a_region = CLUSTER_TYPES_OF_A_REGION * TARGETS_OF_A_REGION
    regions = [f"region-{number:03}" for number in range(-(-assignments // of_a_region))]
    for path, documents in {**_main(), **_environment(regions), **_workloads(regions)}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8") as stream:
            yaml.dump_all(documents, stream, Dumper=yaml.CSafeDumper, sort_keys=False, width=1000)
    return Fleet(folder, len(regions) * of_a_region)


def _main() -> dict[str, Documents]:
    """The main branch: templates, registrations, configuration and schemas for all."""
    registrations = [
        _document(
            "WorkloadRegistration",
            f"workspace-{number:02}",
            spec={
                "workload": {"repo": _repository(number), "branch": "main", "path": "workloads"},
                "workspace": f"workspace-{number:02}",
            },
        )
        for number in range(WORKSPACES)
    ]
    for_all = {f"SETTING_{number:02}": f"value {number}" for number in range(KEYS_FOR_ALL)}
    for_all |= {"PORT": "8080", "LOGGING": _logging("info", "console"), "ZONES": "[a, b, c]"}
    properties = {"PORT": {"type": "integer", "maximum": 65535}, "ZONES": {"type": "array"}}
    properties |= {key: {"type": "string"} for key in for_all if key.startswith("SETTING")}
    return {
        "main/registrations.yaml": registrations,
        "main/templates.yaml": [
            _document("Template", name, spec={"type": kind, "manifests": list(manifests)})
            for name, (kind, manifests) in TEMPLATES.items()
        ],
        "main/config.yaml": [
            _config_map("a-all", for_all),
            _schema("all", {"required": ["PORT", "REGION"], "properties": properties}),
        ],
    }


def _environment(regions: list[str]) -> dict[str, Documents]:
    """The environment branch: cluster types, policies and the layers of configuration."""
    repository = {"branch": "main", "path": "."}
    files: dict[str, Documents] = {
        "dev/base-repo.yaml": [
            _document("BaseRepo", "main", spec={"repo": CONTROL_PLANE, **repository})
        ],
        "dev/gitops-repo.yaml": [
            _document("GitOpsRepo", "dev", spec={"repo": f"{HOST}/platform/gitops", **repository})
        ],
    }
    for region in regions:
        layer = {"REGION": region, "LOGGING": _logging("warning", "collector"), "ZONES": "[d]"}
        files[f"dev/{region}/region.yaml"] = [
            _config_map(f"b-{region}", layer, region=region),
            _policy(f"{region}-all", {"region": region}, region),
            _policy(f"{region}-first", {"region": region, "tier": "first"}, region),
        ]
        for number in range(CLUSTER_TYPES_OF_A_REGION):
            name = f"{region}-{number:02}"
            files[f"dev/{region}/{name}.yaml"] = [
                _cluster_type(name, region, number),
                _config_map(
                    f"c-{name}",
                    {"CLUSTER": name, "DATABASE": f"db.{name}.example:5432", "SETTING_00": "own"},
                    **{"cluster-type": name},
                ),
            ]
    return files


def _workloads(regions: list[str]) -> dict[str, Documents]:
    """The application repositories, one for each workspace; a target belongs to one region."""
    files: dict[str, Documents] = {}
    for number in range(len(regions) * TARGETS_OF_A_REGION // 2):
        workload = f"workload-{number:04}"
        region = regions[number % len(regions)]
        required = {"type": "object", "required": ["CLUSTER"]}
        spec: dict[str, Any] = {"configSchemas": [json.dumps(required)]} if number % 3 == 0 else {}
        spec["deploymentTargets"] = [
            {
                "name": name,
                "environment": ENVIRONMENT,
                "labels": {"region": region, "tier": tier},
                "manifests": {
                    "repo": f"{HOST}/{workload}/manifests",
                    "branch": ENVIRONMENT,
                    "path": f"./{name}",
                },
            }
            for name, tier in (("north", "first"), ("south", "second"))
        ]
        folder = f"apps/{number % WORKSPACES:02}/workloads"
        files[f"{folder}/{workload}.yaml"] = [_document("Workload", workload, spec=spec)]
        own = {"REPLICAS": str(number % 5 + 1), "FEATURES": f"[{workload}, trial]"}
        layer = _config_map(f"d-{workload}", own, workload=workload)
        files.setdefault("main/workloads.yaml", []).append(layer)
    return files


def _cluster_type(name: str, region: str, number: int) -> dict[str, Any]:
    spec = {
        "reconciler": "argocd" if number % 4 == 0 else "flux",
        "namespaceService": "namespace",
        "configType": "config-map",
    }
    return _document("ClusterType", name, {"region": region}, spec=spec)


def _policy(name: str, targets: Mapping[str, str], region: str) -> dict[str, Any]:
    tiers = {"key": "tier", "operator": "In", "values": ["first", "second"]}
    target_selector = {"matchLabels": dict(targets), "matchExpressions": [tiers]}
    spec = {
        "deploymentTargetSelector": {"labelSelector": target_selector},
        "clusterTypeSelector": {"labelSelector": {"matchLabels": {"region": region}}},
    }
    return _document("SchedulingPolicy", name, spec=spec)


def _config_map(name: str, data: Mapping[str, str], **labels: str) -> dict[str, Any]:
    document = _document("ConfigMap", name, {"platform-config": "true", **labels}, data=dict(data))
    return {**document, "apiVersion": "v1"}


def _schema(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return _document(
        "ConfigSchema", name, spec={"schema": json.dumps({"type": "object", **schema})}
    )


def _logging(level: str, output: str) -> str:
    body = {"level": level, "outputs": [{"name": output, "format": "json", "buffer": 100}]}
    return str(yaml.dump(body, Dumper=yaml.CSafeDumper))


def _document(
    kind: str, name: str, labels: Mapping[str, str] | None = None, **body: Any
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if labels:
        metadata["labels"] = dict(labels)
    api_version = "scheduler.kalypso.io/v1alpha1"
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


def _repository(number: int) -> str:
    return f"{HOST}/workspace-{number:02}/workloads"


def main() -> None:
    """Write a fleet and print the arguments that render it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--assignments", type=int, default=10_000)
    arguments = parser.parse_args()
    print(" ".join(make_fleet(arguments.folder, arguments.assignments).arguments()))


if __name__ == "__main__":
    main()
