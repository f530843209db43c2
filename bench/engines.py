"""Manifests per second of our template engine, of Go's, and of gotpl, each on one core.

Each renders the same manifests with the same data, prepared before the clock starts. Ours and gotpl
compile a template once, as intended. Upstream parses a template for each use, so Go is measured in
this way, and also with templates parsed once. gotpl lacks Kalypso's own functions, so it is
compared only on manifests without them.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import time
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.templates import TEMPLATES
from kalypso_actions.platform_config.merging import parse_value
from kalypso_actions.rendering.data import SharedConfig, TemplateData
from kalypso_actions.rendering.manifests import TextManifest
from kalypso_go.gotemplate import DEFAULT_LIMITS, Budget
from tools.oracle import program

GOTPL = "gotpl==0.1.0"
KALYPSO_FUNCTIONS = re.compile(r"\b(?:toYaml|stringify|hash|unquote)\b")
ASSIGNMENTS = 50

Request = dict[str, Any]
"""A request to the oracle: `op`, `text`, `data`."""


def requests() -> dict[str, list[Request]]:
    """Return the requests of each Template: its manifests for some assignments."""
    return {
        name: [
            {"op": "template", "text": text, "data": _fields(number)}
            for number, text in itertools.product(range(ASSIGNMENTS), manifests)
        ]
        for name, (_, manifests) in TEMPLATES.items()
    }


def any_engine_renders(manifests: Sequence[Request]) -> bool:
    """Whether an engine that has only sprig's functions can render the manifests."""
    return not any(KALYPSO_FUNCTIONS.search(request["text"]) for request in manifests)


def ours(manifests: Sequence[Request], seconds: float, *, is_shared: bool = False) -> float:
    """Return our engine's manifests per second; each manifest has a new budget, as in a run.

    With `is_shared`, the configuration is one that earlier assignments had, as in a run with many
    targets of a cluster type; else the engine knows from earlier rounds only equal contents.
    """
    compiled = {text: TextManifest(text) for text in {request["text"] for request in manifests}}
    uses = [(compiled[request["text"]], _data(request["data"])) for request in manifests]
    for _, data in uses:
        data.shared = SharedConfig(data.config) if is_shared else None
    rendered = 0
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        for manifest, data in uses:
            data.budget = Budget(DEFAULT_LIMITS)
            manifest.render(data)
        rendered += len(uses)
    return rendered / (time.perf_counter() - started)


def go(
    manifests: Sequence[Request], seconds: float, folder: Path, *, parse_once: bool = False
) -> float:
    """Return Go's manifests per second, parsed for every use or once; the oracle must be built."""
    file = folder / "requests.jsonl"
    file.write_text("".join(json.dumps(request) + "\n" for request in manifests), encoding="utf-8")
    operation = "bench-parsed" if parse_once else "bench"
    command = [str(program.PROGRAM), operation, str(file), str(seconds)]
    # One core, so that the garbage collector's time counts as ours does.
    environment = {**os.environ, "GOMAXPROCS": "1"}
    process = subprocess.run(
        command, env=environment, capture_output=True, encoding="utf-8", check=True
    )
    return float(json.loads(process.stdout)["per_second"])


def install_gotpl(folder: Path) -> None:
    """Put gotpl into an environment of its own below `folder`. Raises CalledProcessError."""
    venv.create(folder / "gotpl", with_pip=True)
    pip = [_gotpl_python(folder), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, GOTPL], check=True, capture_output=True, encoding="utf-8")


def gotpl(manifests: Sequence[Request], seconds: float, folder: Path) -> float:
    """Return gotpl's manifests per second; gotpl must be installed.

    Raises CalledProcessError if its output differs from ours.
    """
    uses = [
        {
            "text": request["text"],
            "data": {**request["data"], "ConfigData": _config(request["data"])},
            "expected": TextManifest(request["text"]).render(_data(request["data"])),
        }
        for request in manifests
    ]
    file = folder / "gotpl.json"
    file.write_text(json.dumps(uses), encoding="utf-8")
    script = Path(__file__).with_name("gotpl_render.py")
    command = [_gotpl_python(folder), str(script), str(file), str(seconds)]
    process = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return float(process.stdout)


def _gotpl_python(folder: Path) -> str:
    return str(folder / "gotpl" / "bin" / "python")


def _fields(number: int) -> dict[str, Any]:
    target, cluster_type = f"workload-{number:04}-north", f"region-000-{number % 20:02}"
    config = {f"SETTING_{index:02}": f"value {index}" for index in range(10)}
    config |= {"PORT": "8080", "CLUSTER": cluster_type, "ZONES": "[a, b, c, d]"}
    config["LOGGING"] = "level: info\noutputs:\n- name: console\n  format: json\n  buffer: 100\n"
    return {
        "DeploymentTargetName": target,
        "Namespace": f"dev-{cluster_type}-{target}",
        "Environment": "dev",
        "Workspace": "workspace-01",
        "Workload": f"workload-{number:04}",
        "ClusterType": cluster_type,
        "Labels": {"region": "region-000", "tier": "first", "workspace": "workspace-01"},
        "Manifests": {"repo": "https://example.org/manifests", "branch": "dev", "path": "./north"},
        "Config": config,
    }


def _config(fields: dict[str, Any]) -> dict[str, object]:
    return {key: parse_value(text) for key, text in fields["Config"].items()}


def _data(fields: dict[str, Any]) -> TemplateData:
    return TemplateData(
        target=fields["DeploymentTargetName"],
        namespace=fields["Namespace"],
        environment=fields["Environment"],
        workspace=fields["Workspace"],
        workload=fields["Workload"],
        labels=fields["Labels"],
        manifests=fields["Manifests"],
        cluster_type=fields["ClusterType"],
        config=_config(fields),
    )
