"""Print the reports of clusters with Flux, which kubectl reaches by contexts, the arguments.

    reports-command: python3 flux_by_kubectl.py berlin-1 berlin-2

A cluster has the name of its context. Without arguments, all contexts count. A context that does
not answer ends the program, because a cluster would be missing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

KINDS = "kustomizations.kustomize.toolkit.fluxcd.io,gitrepositories.source.toolkit.fluxcd.io"
WAITING = {"Progressing", "DependencyNotReady", "ProgressingWithRetry"}


def kubectl(*arguments: str) -> str:
    """Return what kubectl prints. End the program if it fails: clusters would be missing."""
    command = ["kubectl", *arguments, "--request-timeout=20s"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def key(url: str) -> str:
    """Return a URL without its form: https and ssh name the same repository."""
    place = re.sub(r"^(\w+://)?([^@/]+@)?", "", url.lower()).removesuffix("/").removesuffix(".git")
    return place.replace(":", "/", 1) if "://" not in url else place


def reports(context: str) -> Iterator[dict[str, Any]]:
    """Yield the report of each Kustomization that applies the branch on a cluster."""
    items = json.loads(
        kubectl("--context", context, "get", KINDS, "--all-namespaces", "--output", "json")
    )["items"]
    followed = {
        ("GitRepository", item["metadata"]["namespace"], item["metadata"]["name"])
        for item in items
        if item["kind"] == "GitRepository"
        and key(item["spec"]["url"]) == key(os.environ["KALYPSO_REPOSITORY"])
        and item["spec"].get("ref", {}).get("branch") == os.environ["KALYPSO_BRANCH"]
    }
    for item in items:
        own, spec = item["metadata"], item["spec"]
        source = spec.get("sourceRef", {})
        place = (source.get("kind"), source.get("namespace", own["namespace"]), source.get("name"))
        if item["kind"] == "Kustomization" and place in followed:
            state, commit, ready = state_of(item)
            report = {
                "cluster": context,
                "paths": [spec.get("path", ".")],
                "commit": commit,
                "state": state,
                "message": ready.get("message", ""),
                "configuration": f"{own['namespace']}/{own['name']}",
            }
            since = ready.get("lastTransitionTime")
            yield report | ({"since": since} if since else {})


def state_of(kustomization: dict[str, Any]) -> tuple[str, str, dict[str, str]]:
    """Return the state, the commit, and the condition Ready."""
    status = kustomization.get("status", {})
    ready: dict[str, str] = next(
        (each for each in status.get("conditions", ()) if each["type"] == "Ready"), {}
    )
    applied = status.get("lastAppliedRevision", "")
    if kustomization["spec"].get("suspend"):
        return "suspended", applied, ready
    is_new = status.get("observedGeneration") != kustomization["metadata"]["generation"]
    if is_new or ready.get("status") not in {"True", "False"} or ready["reason"] in WAITING:
        return "progressing", applied, ready
    if ready["status"] == "True":
        return "compliant", applied, ready
    return "failed", status.get("lastAttemptedRevision", applied), ready


if __name__ == "__main__":
    contexts = sys.argv[1:] or kubectl("config", "get-contexts", "--output", "name").split()
    with ThreadPoolExecutor(16) as pool:
        clusters = [each for of in pool.map(lambda name: [*reports(name)], contexts) for each in of]
    print(json.dumps({"schema": "kalypso.cluster-reports/v1", "clusters": clusters}))
