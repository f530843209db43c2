"""A control plane of any size, as plain folders.

    python -m bench.fleet FOLDER --assignments 10000 --shape repeating

Regions hold cluster types, registered repositories hold workloads. Each target goes to all cluster
types of its region, and configuration comes in layers. The same numbers give the same files.

distinct    many small regions; each target has a repository and a layer of configuration of its
            own, so no two assignments have equal content, and no result can be reused
repeating   one region of large cluster types, whose targets all have its configuration
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from bench.templates import TEMPLATES

ENVIRONMENT = "dev"
HOST = "https://github.northline.example"
CONTROL_PLANE = f"{HOST}/platform/control-plane"

CLUSTER_TYPES_OF_A_REGION = 20
TARGETS_OF_A_REGION = 50
TARGETS_OF_A_CLUSTER_TYPE = 500
CLUSTER_TYPES_AT_LEAST = 10
REGISTRATIONS = 300
KEYS_FOR_ALL = 40
RECONCILERS = ("argocd", "flux", "rancher-fleet", "flux")

Documents = list[dict[str, Any]]
Shape = Literal["distinct", "repeating"]


@dataclass(frozen=True, slots=True)
class Fleet:
    """The folder of a fleet, and the numbers that its plan must have."""

    folder: Path
    assignments: int
    cluster_types: int
    registrations: int

    def arguments(self) -> list[str]:
        """Return the arguments with which `kalypso render` reads this fleet."""
        sources = {CONTROL_PLANE: "main"}
        sources |= {
            _repository(number): f"apps/{number:03}" for number in range(self.registrations)
        }
        options = [f"--source={url}={self.folder / path}" for url, path in sources.items()]
        return [ENVIRONMENT, f"--environment-dir={self.folder / ENVIRONMENT}", *options]


@dataclass(frozen=True, slots=True)
class Size:
    """The numbers of a fleet; `cluster_types` and `targets` are those of each region."""

    shape: Shape
    regions: int
    cluster_types: int
    targets: int
    most_registrations: int = REGISTRATIONS

    @classmethod
    def of(cls, shape: Shape, assignments: int) -> Size:
        """Return the numbers of a fleet with at least so many assignments."""
        if shape == "distinct":
            of_a_region = CLUSTER_TYPES_OF_A_REGION * TARGETS_OF_A_REGION
            regions = -(-assignments // of_a_region)
            return cls(shape, regions, CLUSTER_TYPES_OF_A_REGION, TARGETS_OF_A_REGION)
        cluster_types = max(CLUSTER_TYPES_AT_LEAST, assignments // TARGETS_OF_A_CLUSTER_TYPE)
        return cls(shape, 1, cluster_types, -(-assignments // cluster_types))

    @property
    def workloads(self) -> int:
        """The number of workloads: each has two targets, or one if there is only one."""
        return self.regions * self.targets // 2 or 1

    @property
    def registrations(self) -> int:
        """The number of registrations: each has at least one workload."""
        return min(self.most_registrations, self.workloads)


def make_fleet(folder: Path, assignments: int, shape: Shape = "distinct") -> Fleet:
    """Write a fleet with at least so many assignments."""
    return make_fleet_of(folder, Size.of(shape, assignments))


def make_fleet_of(folder: Path, size: Size) -> Fleet:
    """Write a fleet with these numbers."""
    for path, documents in {**_main(size), **_environment(size), **_workloads(size)}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8") as stream:
            yaml.dump_all(documents, stream, Dumper=yaml.CSafeDumper, sort_keys=False, width=1000)
    return Fleet(
        folder,
        size.regions * size.cluster_types * size.targets,
        size.regions * size.cluster_types,
        size.registrations,
    )


def _main(size: Size) -> dict[str, Documents]:
    """Return the main branch: templates, registrations, configuration and schemas for all."""
    registrations = [
        _document(
            "WorkloadRegistration",
            f"workspace-{number:03}",
            spec={
                "workload": {"repo": _repository(number), "branch": "main", "path": "workloads"},
                "workspace": f"workspace-{number:03}",
            },
        )
        for number in range(size.registrations)
    ]
    control_plane = {"controlPlane": {"repo": CONTROL_PLANE, "branch": ENVIRONMENT, "path": "."}}
    for_all = {f"SETTING_{number:02}": f"value {number}" for number in range(KEYS_FOR_ALL)}
    for_all |= {"PORT": "8080", "LOGGING": _logging("info", "console"), "ZONES": "[a, b, c]"}
    properties = {"PORT": {"type": "integer", "maximum": 65535}, "ZONES": {"type": "array"}}
    properties |= {key: {"type": "string"} for key in for_all if key.startswith("SETTING")}
    return {
        "main/registrations.yaml": registrations,
        "main/environment.yaml": [_document("Environment", ENVIRONMENT, spec=control_plane)],
        "main/templates.yaml": [
            _document("Template", name, spec={"type": kind, "manifests": list(manifests)})
            for name, (kind, manifests) in TEMPLATES.items()
        ],
        "main/config.yaml": [
            _config_map("a-all", for_all),
            _schema("all", {"required": ["PORT", "REGION"], "properties": properties}),
        ],
    }


def _environment(size: Size) -> dict[str, Documents]:
    """Return the environment branch: cluster types, policies and the layers of configuration."""
    repository = {"branch": "main", "path": "."}
    files: dict[str, Documents] = {
        "dev/base-repo.yaml": [
            _document("BaseRepo", "main", spec={"repo": CONTROL_PLANE, **repository})
        ],
        "dev/gitops-repo.yaml": [
            _document("GitOpsRepo", "dev", spec={"repo": f"{HOST}/platform/gitops", **repository})
        ],
    }
    for region in map(_region, range(size.regions)):
        layer = {"REGION": region, "LOGGING": _logging("warning", "collector"), "ZONES": "[d]"}
        files[f"dev/{region}/region.yaml"] = [
            _config_map(f"b-{region}", layer, region=region),
            _policy(f"{region}-all", {"region": region}, region),
            _policy(f"{region}-first", {"region": region, "tier": "first"}, region),
        ]
        for number in range(size.cluster_types):
            name = f"{region}-{number:03}"
            files[f"dev/{region}/{name}.yaml"] = [
                _cluster_type(name, region, number),
                _config_map(
                    f"c-{name}",
                    {"CLUSTER": name, "DATABASE": f"db.{name}.example:5432", "SETTING_00": "own"},
                    **{"cluster-type": name},
                ),
            ]
    return files


def _workloads(size: Size) -> dict[str, Documents]:
    """Return the application repositories; a target belongs to one region."""
    files: dict[str, Documents] = {}
    for number in range(size.workloads):
        workload = f"workload-{number:05}"
        region = _region(number % size.regions)
        required = {"type": "object", "required": ["CLUSTER"]}
        spec: dict[str, Any] = {"configSchemas": [json.dumps(required)]} if number % 3 == 0 else {}
        spec["deploymentTargets"] = [
            {
                "name": name,
                "environment": ENVIRONMENT,
                "labels": {"region": region, "tier": tier},
                "manifests": {
                    "repo": f"{HOST}/{workload}/{name}",
                    "branch": ENVIRONMENT,
                    "path": f"./{name}",
                },
            }
            for name, tier in (("north", "first"), ("south", "second"))[: size.targets]
        ]
        folder = f"apps/{number % size.registrations:03}/workloads"
        files[f"{folder}/{workload}.yaml"] = [_document("Workload", workload, spec=spec)]
        if size.shape == "distinct":
            files.setdefault("main/workloads.yaml", []).extend(_own_layers(workload, number))
    return files


def _own_layers(workload: str, number: int) -> Documents:
    """Return the configuration of each target of a workload."""
    return [
        _config_map(
            f"d-{workload}-{name}",
            {"REPLICAS": str(number % 5 + 1), "FEATURES": f"[{workload}-{name}, trial]"},
            **{"deployment-target": f"{workload}-{name}"},
        )
        for name in ("north", "south")
    ]


def _cluster_type(name: str, region: str, number: int) -> dict[str, Any]:
    spec = {
        "reconciler": RECONCILERS[number % len(RECONCILERS)],
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
    return f"{HOST}/workspace-{number:03}/workloads"


def _region(number: int) -> str:
    return f"region-{number:03}"


def main() -> None:
    """Write a fleet and print the arguments that render it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--assignments", type=int, default=10_000)
    parser.add_argument("--shape", choices=get_args(Shape), default="distinct")
    given = parser.parse_args()
    print(" ".join(make_fleet(given.folder, given.assignments, given.shape).arguments()))


if __name__ == "__main__":
    main()
