"""Print the reports of the clusters of a Rancher Fleet, which kubectl reaches.

    reports-command: python3 rancher_fleet.py

kubectl's present context is Fleet's management cluster. Each of its GitRepos that follows the
branch makes bundles, and a BundleDeployment of each bundle on each cluster.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

KINDS = ("gitrepos", "clusters", "bundledeployments")
LABEL = "fleet.cattle.io/"


def items(kind: str) -> list[dict[str, Any]]:
    """Return all objects of a kind of Fleet."""
    command = ["kubectl", "get", f"{kind}.fleet.cattle.io", "--all-namespaces", "--output", "json"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    found: list[dict[str, Any]] = json.loads(done.stdout)["items"]
    return found


def key(url: str) -> str:
    """Return a URL without its form: https and ssh name the same repository."""
    place = re.sub(r"^(\w+://)?([^@/]+@)?", "", url.lower()).removesuffix("/").removesuffix(".git")
    return place.replace(":", "/", 1) if "://" not in url else place


def name_of(item: dict[str, Any]) -> tuple[str, str]:
    """Return the namespace and the name of an object."""
    return item["metadata"]["namespace"], item["metadata"]["name"]


def reports() -> Iterator[dict[str, Any]]:
    """Yield the report of each BundleDeployment that applies the branch on a cluster."""
    gitrepos, clusters, deployments = map(items, KINDS)
    followed = {
        name_of(item): item["spec"].get("paths") or ["."]
        for item in gitrepos
        if key(item["spec"]["repo"]) == key(os.environ["KALYPSO_REPOSITORY"])
        and item["spec"].get("branch", "master") == os.environ["KALYPSO_BRANCH"]
    }
    # Rancher gives clusters made-up names, and keeps those of people in a label.
    names = {
        name_of(item): item["metadata"]
        .get("labels", {})
        .get("management.cattle.io/cluster-display-name", item["metadata"]["name"])
        for item in clusters
    }
    for deployment in deployments:
        labels = deployment["metadata"].get("labels", {})
        of = labels.get(f"{LABEL}bundle-namespace"), labels.get(f"{LABEL}repo-name")
        if of in followed:
            cluster = labels[f"{LABEL}cluster-namespace"], labels[f"{LABEL}cluster"]
            state, message = state_of(deployment)
            yield {
                "cluster": names[cluster],
                "paths": followed[of],
                "commit": labels.get(f"{LABEL}commit", "") if state != "progressing" else "",
                "state": state,
                "message": message,
                "configuration": deployment["metadata"]["name"],
            }


def state_of(deployment: dict[str, Any]) -> tuple[str, str]:
    """Return the state and the message of a BundleDeployment."""
    spec, status = deployment["spec"], deployment.get("status", {})
    messages = {
        each["type"]: each.get("message", "")
        for each in status.get("conditions", ())
        if each["status"] == "False"
    }
    if spec.get("paused"):
        return "suspended", ""
    if messages.get("Deployed"):
        return "failed", messages["Deployed"]
    if spec["deploymentID"] != status.get("appliedDeploymentID"):
        return "progressing", "the cluster has not applied it"
    if status.get("ready"):
        return "compliant", ""
    return "progressing", messages.get("Ready", "it is not ready")


if __name__ == "__main__":
    print(json.dumps({"schema": "kalypso.cluster-reports/v1", "clusters": [*reports()]}))
