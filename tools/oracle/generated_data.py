"""Random data for templates: fields, and configuration of every shape."""

from __future__ import annotations

import random
from dataclasses import dataclass

CONFIG_VALUES: dict[str, tuple[str, ...]] = {
    "str": (
        "East US",
        "'00501'",
        "8080",
        "{{ .Environment }}-db",
        "two\nlines\n",
        "",
        "é😀 <&>",
        "true",
        "{{ .Workload | upper }} {{",
        "line\n{{ if }}",
        "{{ range $i, $e := .ConfigData }}{{ $i }}{{ end }}",
    ),
    "list": (
        "[a.local, b.local]",
        "[3, 1, 2]",
        "[1.5, yes, ~, x, 1e21]",
        "- name: file\n  path: /x\n- name: otlp\n  port: 4317\n",
        "[]",
        "[[1, 2], [a], []]",
        "[9223372036854775808, -1, 0x1F]",
        "['1', '10', '9']",
        "[1, 1.0, '1', yes, 2001-01-01, .inf, -0.0, 1e6]",
        "[{a: 1}, {a: [x]}, {}]",
    ),
    "ymap": (
        "level: info\nsinks: [a, b]\nn: {x: 1, q: 2.5}\n",
        "{}",
        "1: a\n2: b\n10: c\n",
        "yes: 1\nno: 2\n",
        "k: |\n  multi\n  line\nl: ''\nm: ~\n",
        "a: {b: {c: {d: [1, {e: f}]}}}\n",
        "key1: 1\nkey10: 2\nkey2: 3\nKey: 4\n",
    ),
}
"""Texts of ConfigMaps by the type of the parsed value."""

LABELS = {
    "app": "paint",
    "tier": "backend",
    "region": "east-us",
    "kustomize.toolkit.fluxcd.io/name": "dev-reg",
}
MANIFESTS = {"repo": "https://example.com/r.git", "branch": "dev", "path": "./functional-test"}


@dataclass(frozen=True, slots=True)
class Data:
    """A request's data, and operands that refer to it, each with its type."""

    request: dict[str, object]
    operands: tuple[tuple[str, str], ...]


def generate(source: random.Random) -> Data:
    """Generate labels, manifests and up to five configuration values."""
    types = [source.choice(list(CONFIG_VALUES)) for _ in range(source.randint(0, 5))]
    config = {
        f"{type_.upper()}{number}": source.choice(CONFIG_VALUES[type_])
        for number, type_ in enumerate(types)
    }
    labels = dict(source.sample(sorted(LABELS.items()), source.randint(0, len(LABELS))))
    request: dict[str, object] = {
        "DeploymentTargetName": "paint-line1",
        "Namespace": "qa-factory-paint-line1",
        "Environment": "qa",
        "Workspace": source.choice(["shop", ""]),
        "Workload": "paint",
        "ClusterType": "factory",
        "Labels": labels,
        "Manifests": dict(MANIFESTS),
        "Config": config,
    }
    return Data(request, tuple(_operands(types)))


def _operands(types: list[str]) -> list[tuple[str, str]]:
    texts = ("Workload", "Environment", "Namespace", "Workspace", "ClusterType")
    operands = [(f".{name}", "str") for name in texts]
    operands += [
        (".Labels", "strmap"),
        (".Labels.app", "str"),
        (".Labels.nope", "nothing"),
        (".Manifests", "strmap"),
        (".Manifests.path", "path"),
        (".ConfigData", "map"),
        (".ConfigData.NOPE", "nothing"),
        (".ConfigData.NOPE.more", "nothing"),
        (".", "root"),
    ]
    operands += [(f".ConfigData.{type_.upper()}{n}", type_) for n, type_ in enumerate(types)]
    return operands
