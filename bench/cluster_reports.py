"""Look at many Flux configurations as check-promote does: processor time, and memory over looks.

    python -m bench.cluster_reports --clusters 5000 --looks 500

Azure is the sandbox, in a process of its own. Each look reads all pages over HTTP, one of them
after a refusal for the quota, and judges every cluster. The client does not sleep when it must
wait.

The target for memory limits the peak of each look. The memory after a look may have any value up to
the peak: Python returns an arena of 1 MB only when the arena is empty, and CPython's cache of
attributes keeps strings that were made between the rows.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

from kalypso_actions.clients.process import Programs
from kalypso_actions.clients.resource_graph import ResourceGraph, azure_credential, cloud_of
from kalypso_actions.compliance import DesiredState, EnvironmentTree, Requirements, judge_clusters
from kalypso_sandbox import Sandbox
from kalypso_sandbox.azure import QueryFault
from kalypso_sandbox.azure.clusters import Cluster, Configuration

GITOPS, BRANCH = "acme/gitops", "dev"
CLUSTER_TYPES = [f"type-{number}" for number in range(50)]
PAGES_OF_A_LOOK = 7
SECONDS_ALLOWED, GROWTH_ALLOWED = 3.0, 1.05
WARM_UP = 20
"""Looks before the peak is noted: the first ones fill caches."""
EVERY = 100
"""Looks between two printed figures of memory."""
RESET_PEAK = "5"
"""Linux sets the peak to the present memory if this is written to `/proc/self/clear_refs`."""


def main() -> int:
    """Print the figures; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--clusters", type=int, default=5000)
    parser.add_argument("--looks", type=int, default=500)
    given = parser.parse_args()
    missed = measure(given.clusters, given.looks)
    print("\n".join(f"missed: {line}" for line in missed))
    return 1 if missed else 0


def measure(clusters: int, looks: int) -> list[str]:
    """Print the processor time of a look and the memory; return the missed targets."""
    with azure(clusters) as (url, environment):
        os.environ.update(environment)  # where Azure's library looks for the identity
        with signed_in(environment) as client:
            seconds, peaks, left = [], [], []
            for _ in range(looks):
                Path("/proc/self/clear_refs").write_text(RESET_PEAK, encoding="ascii")
                started = time.process_time()
                look(client, url, environment["KALYPSO_BENCH_COMMIT"], clusters)
                seconds.append(time.process_time() - started)
                peaks.append(_memory("VmHWM"))
                gc.collect()
                left.append(_memory("VmRSS"))
    warm = min(WARM_UP, looks) - 1
    first, highest = peaks[warm], max(peaks[warm:])
    print(
        f"{clusters} Flux configurations, {looks} looks: {seconds[0]:.2f} s of processor for the "
        f"first, {median(seconds):.2f} s for the median, {max(seconds):.2f} s at most"
    )
    for number in sorted({1, warm + 1, *range(EVERY, looks, EVERY), looks}):
        peak, after = peaks[number - 1], left[number - 1]
        print(f"  look {number}: {peak / 1e6:.1f} MB at most, {after / 1e6:.1f} MB after it")
    missed = []
    if median(seconds) > SECONDS_ALLOWED:
        missed.append(f"{median(seconds):.1f} s for a look, {SECONDS_ALLOWED} are allowed")
    if highest > GROWTH_ALLOWED * first:
        missed.append(f"the peak grows from {first / 1e6:.1f} to {highest / 1e6:.1f} MB")
    return missed


def look(client: ResourceGraph, url: str, commit: str, clusters: int) -> None:
    """Read all reports, and judge them."""
    reports = client.cluster_reports(url, BRANCH)
    client.lost_connections()
    now = datetime.now(UTC)
    types = frozenset(CLUSTER_TYPES)
    desired = DesiredState(frozenset({commit}), EnvironmentTree("", types, types))
    verdict = judge_clusters(reports, desired, Requirements(), started=now, now=now)
    if len(verdict.clusters) != clusters:
        seen = f"{len(reports)} reports, {len(verdict.clusters)} clusters"
        raise SystemExit(f"{seen} of {clusters}: {verdict.reason}")


def signed_in(environment: Mapping[str, str]) -> ResourceGraph:
    """Return a client that does not sleep."""
    cloud = cloud_of("public", environment)
    credential = azure_credential(
        client_id="",
        tenant_id="",
        credentials="",
        cloud=cloud,
        environment=environment,
        sleep=lambda _: None,
    )
    return ResourceGraph(
        credential, cloud=cloud, scopes=(), environment=environment, sleep=lambda _: None
    )


@contextmanager
def azure(clusters: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Serve clusters from another process; yield the GitOps repository's URL and variables."""
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="kalypso-bench-") as folder:
        process = context.Process(target=serve, args=(Path(folder), clusters, theirs))
        process.start()
        try:
            yield ours.recv()
        finally:
            ours.send("end")
            process.join(60)


def serve(folder: Path, clusters: int, pipe: Connection) -> None:
    """Serve until a message arrives through the pipe."""
    with Sandbox(folder, Programs(os.environ)) as sandbox:
        sandbox.create_repository(GITOPS, {"README.md": "x"})
        commit = sandbox.commit(GITOPS, {f"{CLUSTER_TYPES[0]}/a": "1"}, branch=BRANCH)
        for number in range(clusters):
            paths = [f"./{CLUSTER_TYPES[number % len(CLUSTER_TYPES)]}"]
            follows = Configuration(
                repository=GITOPS,
                branch=BRANCH,
                paths=paths,
                since=datetime(2026, 1, 1, tzinfo=UTC),
            )
            sandbox.azure.put(Cluster(name=f"cluster-{number:05}", configurations=[follows]))
        settings = sandbox.azure.settings
        settings.quota = 0
        settings.faults += [
            QueryFault(kind="throttled", skip=number * PAGES_OF_A_LOOK, retry_after=1)
            for number in range(500)
        ]
        variables = sandbox.environment() | {
            "AZURE_TOKEN_CREDENTIALS": "ManagedIdentityCredential",
            "KALYPSO_BENCH_COMMIT": commit,
        }
        pipe.send((f"{sandbox.url}/{GITOPS}", variables))
        pipe.recv()


def _memory(name: str) -> int:
    """Return a figure of this process's memory in bytes (Linux)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    figures = dict(line.split(":", 1) for line in lines)
    return int(figures[name].removesuffix("kB")) * 1024


if __name__ == "__main__":
    sys.exit(main())
