"""The time of `kalypso app render` of many targets, as a multiple of that of helm alone.

The bench compares processor times, with equally many helms at once. helm must be installed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

TARGETS: Final = 200
TIMES_HELM: Final = 2.0
"""The target of the ratio of processor times."""

CHART: Final = {
    "Chart.yaml": "apiVersion: v2\nname: greeter\nversion: 0.1.0\n",
    "values.yaml": "app: {name: greeter, port: 8080}\nreplicas: 1\nimage: $IMAGE_NAME\n",
    **{
        f"templates/{kind}.yaml": f"""\
apiVersion: apps/v1
kind: {kind.title()}
metadata:
  name: {{{{ .Values.app.name }}}}
spec:
  replicas: {{{{ .Values.replicas }}}}
  selector:
    matchLabels: {{app: {{{{ .Values.app.name }}}}}}
  template:
    metadata:
      labels: {{app: {{{{ .Values.app.name }}}}}}
    spec:
      containers:
      - name: app
        image: {{{{ .Values.image }}}}
        ports:
        - containerPort: {{{{ .Values.app.port }}}}
"""
        for kind in ("deployment", "stateful", "daemon", "more")
    },
}


def measure() -> list[str]:
    """Print both processor times; return the target if it is missed."""
    with tempfile.TemporaryDirectory(prefix="kalypso-bench-") as name:
        top = Path(name)
        files = {f"source/helm/{path}": text for path, text in CHART.items()}
        for number in range(TARGETS):
            values = f"app: {{name: greeter-{number}}}\nreplicas: {number}\n"
            files[f"configs/region-{number % 10}/site-{number}/values.yaml"] = values
        for number in range(10):
            files[f"configs/region-{number}/values.yaml"] = f"region: {number}\n"
        for path, text in files.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text, encoding="utf-8")
        helm, ours = _helm_alone(top), _ours(top)
    ratio = ours / helm
    print(
        f"\n  {f'{TARGETS} targets of an application':<40}{ours:14.2f} s {ratio:6.2f} × helm alone"
    )
    return [f"an application: {ratio:.2f} times helm"] if ratio > TIMES_HELM else []


def _helm_alone(top: Path) -> float:
    """Return the processor time of helm for each target, with the same values."""
    started = _children()

    def render(leaf: Path) -> None:
        values = [f"--values={leaf.parent / 'values.yaml'}", f"--values={leaf / 'values.yaml'}"]
        command = ["helm", "template", leaf.name, str(top / "source" / "helm"), *values]
        subprocess.run(command, check=True, capture_output=True)

    leaves = sorted((top / "configs").glob("*/*/"))
    with ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
        list(pool.map(render, (leaf for leaf in leaves if leaf.is_dir())))
    return _children() - started


def _ours(top: Path) -> float:
    started = _children()
    subprocess.run(
        [
            *(sys.executable, "-m", "kalypso_actions", "app", "render", "--environment=dev"),
            *("--image-name=image", "--source", str(top / "source")),
            *("--configs", str(top / "configs"), "--out", str(top / "out")),
        ],
        check=True,
        capture_output=True,
    )
    return _children() - started


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(1 if measure() else 0)
