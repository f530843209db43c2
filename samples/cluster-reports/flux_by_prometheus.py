"""Print the reports of clusters with Flux, whose metrics one Prometheus collects.

    reports-command: python3 flux_by_prometheus.py kalypso=depot kalypso-edge=edge
    reports-environment: PROMETHEUS_URL, PROMETHEUS_TOKEN

The metrics are `flux_resource_info` (Flux Operator) and `gotk_resource_info` (kube-state-metrics,
as in Flux's monitoring example). They have no paths: each argument gives that of a Kustomization.
The label `cluster` is the name of the cluster, as agents of Prometheus add it (`external_labels`).
"""

from __future__ import annotations

import json
import os
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

QUERY = (
    'flux_resource_info{kind="Kustomization"}'
    ' or gotk_resource_info{customresource_kind="Kustomization"}'
)
WORST_LAST = ("compliant", "progressing", "suspended", "failed")


def series() -> list[dict[str, Any]]:
    """Return the series of all Kustomizations. End the program if some may be missing."""
    address = f"{os.environ['PROMETHEUS_URL'].rstrip('/')}/api/v1/query"
    form = urllib.parse.urlencode({"query": QUERY}).encode()
    request = urllib.request.Request(address, form)
    if token := os.environ.get("PROMETHEUS_TOKEN"):
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=30) as response:
        answer = json.load(response)
    if answer["status"] != "success" or answer.get("warnings"):
        sys.exit(f"Prometheus: {answer.get('warnings') or answer}")
    result: list[dict[str, Any]] = answer["data"]["result"]
    return result


def reports(
    found: Iterable[Mapping[str, Any]], paths: Mapping[str, str], branch: str
) -> Iterator[dict[str, Any]]:
    """Yield the report of each series of the branch; `paths` are those of Kustomizations."""
    for each in found:
        labels = each["metric"]
        path, revision = paths.get(labels["name"]), labels.get("revision", "")
        is_ours = not revision or revision.startswith((f"{branch}@", f"{branch}/"))
        if path is None or not is_ours:
            continue
        yield {
            "cluster": labels["cluster"],
            "paths": [path],
            "commit": revision,
            "state": state_of(labels),
            "configuration": labels["name"],
        }


def state_of(labels: Mapping[str, str]) -> str:
    """Return the state that the labels of a series mean."""
    if labels.get("suspended", "False").lower() == "true":
        return "suspended"
    if not labels.get("revision"):
        return "progressing"
    return {"True": "compliant", "False": "failed"}.get(labels.get("ready", ""), "progressing")


if __name__ == "__main__":
    of_kustomizations = dict(argument.split("=", 1) for argument in sys.argv[1:])
    worst: dict[tuple[str, str], dict[str, Any]] = {}
    # For some minutes, Prometheus shows a series for the state before, too.
    for report in reports(series(), of_kustomizations, os.environ["KALYPSO_BRANCH"]):
        place = report["cluster"], report["configuration"]
        known = worst.setdefault(place, report)
        if WORST_LAST.index(report["state"]) > WORST_LAST.index(known["state"]):
            worst[place] = report
    print(json.dumps({"schema": "kalypso.cluster-reports/v1", "clusters": [*worst.values()]}))
