"""Read registered repositories from a GitHub with 100 ms latency, compared with plain clones.

    python -m bench.repositories --count 500

The GitHub is `kalypso sandbox`, in a process of its own, with a delay before every answer.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import yaml

from kalypso_actions.clients.git import RemoteRepositories, basic
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    read_control_plane,
)
from kalypso_actions.commands.shared.reading.document_reader import PARALLEL_READS, Reader
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.commands.shared.reading.snapshot import read_snapshot
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_sandbox import Sandbox

SECONDS_ALLOWED, LATENCY = 20, 0.1
CONTROL_PLANE, ENVIRONMENT = "acme/control-plane", "dev"


@dataclass(frozen=True, slots=True)
class GitHub:
    """A serving sandbox: its URL, and a token for it."""

    url: str
    token: str

    def repository(self, number: int) -> str:
        """The URL of a registered repository."""
        return f"{self.url}/{_name(number)}"

    def requests(self) -> int:
        """Return the number of requests since the last call."""
        answer = requests.get(f"{self.url}/_sandbox/requests", timeout=60)
        requests.delete(f"{self.url}/_sandbox/requests", timeout=60)
        return len(answer.json())


def main() -> int:
    """Print all figures; return 1 if the target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=500)
    return 1 if measure(parser.parse_args().count) else 0


def measure(count: int) -> list[str]:
    """Print the times of both; return the missed targets."""
    with tempfile.TemporaryDirectory(prefix="kalypso-bench-") as name:
        folder = Path(name)
        with serving(folder / "sandbox", count) as github:
            ours = _timed(lambda: read(github, count))
            requests_of_ours = github.requests()
            plain = _timed(lambda: clone(github, count, folder / "clones"))
            cloned = github.requests()
    print(
        f"\n{count} repositories, {LATENCY * 1000:.0f} ms a request, {PARALLEL_READS} at a time, "
        f"{os.cpu_count()} cores"
    )
    for what, took, number in (
        ("registrations read", ours, requests_of_ours),
        ("plain shallow blobless clones", plain, cloned),
    ):
        ratio = f"{took.seconds / plain.seconds:6.1f} × the clones"
        processor = f"{took.processor:8.1f} s of processor"
        print(f"  {what:<32}{took.seconds:8.1f} s {processor} {number:8} requests {ratio}")
    missed = f"{ours.seconds:.1f} s for {count} repositories, {SECONDS_ALLOWED} s are allowed"
    return [missed] if ours.seconds > SECONDS_ALLOWED else []


def read(github: GitHub, count: int) -> None:
    """Return the environment's snapshot, as `kalypso render` gathers it."""
    header = basic("x-access-token", github.token)
    programs = Programs(os.environ)
    with RemoteRepositories(
        programs,
        protocols=frozenset({"http"}),
        credentials=lambda url: header if url.startswith(f"{github.url}/") else "",
    ) as remotes:
        reader = Reader(Repositories((), remotes, programs), None)
        own = RepositoryPath(f"{github.url}/{CONTROL_PLANE}", ENVIRONMENT, ".")
        environment = EnvironmentReading(ENVIRONMENT, reader.documents(own))
        snapshot = read_snapshot(read_control_plane(environment, reader), reader)
    usable = [
        registration for registration in snapshot.registrations if registration.state == "head"
    ]
    if len(usable) != count or snapshot.problems:
        raise SystemExit(f"not all were read: {snapshot.registrations[0]}, {snapshot.problems}")


def clone(github: GitHub, count: int, folder: Path) -> None:
    """Clone the same repositories with git alone, equally many at a time, for comparison."""
    environment = {
        **os.environ,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: {basic('x-access-token', github.token)}",
    }

    def clone_repository(number: int) -> None:
        command = ["git", "clone", "--quiet", "--depth=1", "--filter=blob:none"]
        command += [github.repository(number), str(folder / str(number))]
        subprocess.run(command, env=environment, check=True)

    with ThreadPoolExecutor(PARALLEL_READS) as pool:
        list(pool.map(clone_repository, range(count)))


@contextmanager
def serving(folder: Path, count: int) -> Iterator[GitHub]:
    """Serve a control plane and the repositories that it registers from another process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    token = _make(folder, count, url)
    command = [sys.executable, "-m", "kalypso_actions", "sandbox", "--output", "json"]
    command += ["--dir", str(folder), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            _wait(url)
            fault = {"method": "*", "path": "*", "kind": "slow", "seconds": LATENCY, "count": 0}
            requests.post(f"{url}/_sandbox/faults", json=fault, timeout=60).raise_for_status()
            yield GitHub(url, token)
        finally:
            process.terminate()


def _make(folder: Path, count: int, url: str) -> str:
    """Fill a sandbox's folder; return a token for everything in it."""
    with Sandbox(folder, Programs(os.environ)) as sandbox:
        registrations = [
            _document(
                "WorkloadRegistration",
                f"app-{number:04}",
                workload={"repo": f"{url}/{_name(number)}", "branch": "main", "path": "workload"},
                workspace="team",
            )
            for number in range(count)
        ]
        sandbox.create_repository(CONTROL_PLANE, _files({"registrations.yaml": registrations}))
        base = {"repo": f"{url}/{CONTROL_PLANE}", "branch": "main", "path": "."}
        own = _files({"base-repo.yaml": [_document("BaseRepo", "main", **base)]})
        sandbox.commit(CONTROL_PLANE, own, branch=ENVIRONMENT)
        for number in range(count):
            manifests = {"repo": f"{url}/{_name(number)}", "branch": "dev", "path": "."}
            target = {"name": "web", "environment": ENVIRONMENT, "manifests": manifests}
            workload = _document("Workload", f"app-{number:04}", deploymentTargets=[target])
            files = {"workload/workload.yaml": [workload]}
            sandbox.create_repository(_name(number), {**_files(files), **_sources(number)})
        return sandbox.create_token(owner="acme")


def _sources(number: int) -> Mapping[str, str]:
    """Return the other files of an application's repository."""
    return {f"src/module_{n}.py": f"print({number}, {n})\n" * 50 for n in range(20)}


def _name(number: int) -> str:
    return f"acme/app-{number:04}"


def _document(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    api_version = "scheduler.kalypso.io/v1alpha1"
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _files(documents: Mapping[str, list[dict[str, Any]]]) -> dict[str, str]:
    return {path: yaml.safe_dump_all(content) for path, content in documents.items()}


def _wait(url: str) -> None:
    """Wait until the sandbox answers."""
    for _ in range(300):
        try:
            requests.get(f"{url}/_sandbox/faults", timeout=5)
        except requests.ConnectionError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the sandbox does not start")


@dataclass(frozen=True, slots=True)
class Took:
    """Elapsed time, and the processor time of this process and its programs, without the sandbox.

    Processor time hardly depends on the machine's load.
    """

    seconds: float
    processor: float


def _timed(action: Callable[[], object]) -> Took:
    started, before = time.perf_counter(), sum(os.times()[:4])
    action()
    return Took(time.perf_counter() - started, sum(os.times()[:4]) - before)


if __name__ == "__main__":
    sys.exit(main())
