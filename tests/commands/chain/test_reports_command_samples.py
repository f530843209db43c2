"""The samples of `reports-command`, run by check-promote with a fake kubectl and Prometheus."""

from __future__ import annotations

import json
import shlex
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.errors import KalypsoError
from tests import http_servers
from tests.commands.chain.organisation import GITOPS, Organisation
from tests.commands.chain.promotions import check, document, main_commit, merge, verdict

SAMPLES = Path(__file__).parents[3] / "samples" / "cluster-reports"

KUBECTL = """#!{python}
import json, pathlib, sys
arguments = sys.argv[1:]
answers = json.loads(pathlib.Path({answers!r}).read_text())
for words, answer in answers.items():
    if all(word in arguments for word in words.split()):
        print(answer if isinstance(answer, str) else json.dumps(answer))
        sys.exit(0)
sys.exit("Unable to connect to the server: dial tcp: i/o timeout")
"""


def run_sample(
    acme: Organisation, sample: str, *arguments: str, commits: tuple[str, str], **inputs: Any
) -> Any:
    """Check a promotion by a sample, with the fake programs of `fake_kubectl` on PATH."""
    words = [sys.executable, str(SAMPLES / f"{sample}.py"), *arguments]
    command = f"PATH={shlex.quote(str(acme.folder / 'bin'))}:$PATH {shlex.join(words)}"
    return check(acme, *commits, cluster_reports="command", reports_command=command, **inputs)


def fake_kubectl(acme: Organisation, answers: dict[str, Any]) -> None:
    """Answer calls of kubectl that have all words of a key."""
    file = acme.folder / "answers.json"
    file.write_text(json.dumps(answers), encoding="utf-8")
    program = acme.folder / "bin" / "kubectl"
    program.parent.mkdir(exist_ok=True)
    text = KUBECTL.format(python=sys.executable, answers=str(file))
    program.write_text(text, encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def states(result: Any) -> dict[str, str]:
    return {row.id: row.state for row in document(result).rows}


def flux_objects(
    acme: Organisation, path: str, commit: str, *, ready: str = "True", **changes: Any
) -> dict[str, Any]:
    """Return what kubectl prints of a cluster that follows dev; its forms of URLs differ."""
    url = f"{acme.sandbox.url}/{GITOPS}"
    metadata = {"namespace": "flux-system", "name": "kalypso", "generation": 2}
    condition = {
        "type": "Ready",
        "status": ready,
        "reason": changes.pop("reason", "ReconciliationSucceeded"),
        "message": "timeout waiting for: Deployment" if ready == "False" else "",
        "lastTransitionTime": "2026-03-01T11:00:00Z",
    }
    status = {"observedGeneration": 2, "conditions": [condition]}
    status["lastAppliedRevision"] = status["lastAttemptedRevision"] = f"dev@sha1:{commit}"
    sync = {"path": f"./{path}", "sourceRef": {"kind": "GitRepository", "name": "kalypso"}}
    other = {"namespace": "flux-system", "name": "other", "generation": 1}
    return {
        "items": [
            {
                "kind": "GitRepository",
                "metadata": metadata,
                "spec": {"url": f"{url}.git", "ref": {"branch": "dev"}},
            },
            {
                "kind": "Kustomization",
                "metadata": metadata,
                "spec": sync | changes,
                "status": status,
            },
            {
                "kind": "Kustomization",
                "metadata": other,
                "spec": {"sourceRef": {"kind": "GitRepository", "name": "other"}},
            },
        ]
    }


@pytest.mark.parametrize(
    ("changes", "state", "expected"),
    [
        ({}, "compliant", "compliant"),
        ({"ready": "False", "reason": "HealthCheckFailed"}, "failed", "failed"),
        ({"ready": "False", "reason": "DependencyNotReady"}, "progressing", "timed-out"),
        ({"ready": "Unknown"}, "progressing", "timed-out"),
        ({"suspend": True}, "suspended", "timed-out"),
    ],
)
def test_kubectl_over_contexts(
    acme: Organisation, changes: dict[str, Any], state: str, expected: str
) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    fake_kubectl(
        acme,
        {
            "config get-contexts": "d-1\nl-1",
            "--context d-1": flux_objects(acme, "drone", merged),
            "--context l-1": flux_objects(acme, "large", merged, **changes),
        },
    )
    result = run_sample(acme, "flux_by_kubectl", commits=(merged, commit))
    assert (verdict(result), states(result)) == (expected, {"d-1": "compliant", "l-1": state})


def test_a_context_that_does_not_answer_ends_the_run(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    fake_kubectl(acme, {"--context d-1": flux_objects(acme, "drone", merged)})
    with pytest.raises(KalypsoError, match="i/o timeout"):
        run_sample(acme, "flux_by_kubectl", "d-1", "l-1", commits=(merged, commit))


@contextmanager
def prometheus(answer: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Serve an answer to every query; yield the URL and the Authorization headers."""
    seen: list[str] = []

    class Handler(http_servers.Handler):
        def answer(self) -> None:
            seen.append(self.headers.get("Authorization", ""))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

    with http_servers.serving(Handler) as url:
        yield url, seen


def series(cluster: str, name: str, commit: str, **labels: str) -> dict[str, Any]:
    known = {"cluster": cluster, "name": name, "revision": f"dev@sha1:{commit}", "ready": "True"}
    return {"metric": known | labels, "value": [1772366400, "1"]}


@pytest.mark.parametrize(
    ("labels", "state"),
    [
        ({}, "compliant"),
        ({"ready": "False"}, "failed"),
        ({"ready": "Unknown"}, "progressing"),
        ({"suspended": "True"}, "suspended"),
        ({"revision": ""}, "progressing"),
    ],
)
def test_metrics_of_flux_in_prometheus(
    acme: Organisation, labels: dict[str, str], state: str
) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    result = [
        series("d-1", "kalypso-drone", merged),
        series("l-1", "kalypso-large", merged),
        series("l-1", "kalypso-large", merged, **labels),
        series("l-1", "cert-manager", merged, ready="False"),
        series("l-2", "kalypso-large", merged, revision=f"main@sha1:{merged}"),
    ]
    answer = {"status": "success", "data": {"resultType": "vector", "result": result}}
    with prometheus(answer) as (url, seen):
        done = run_sample(
            acme,
            "flux_by_prometheus",
            *("kalypso-drone=drone", "kalypso-large=large"),
            commits=(merged, commit),
            reports_environment="PROMETHEUS_URL,PROMETHEUS_TOKEN",
            variables={"PROMETHEUS_URL": url, "PROMETHEUS_TOKEN": "t0ken"},
        )
    assert states(done) == {"d-1": "compliant", "l-1": state}
    assert set(seen) == {"Bearer t0ken"}


def test_a_truncated_answer_of_prometheus_ends_the_run(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    answer = {"status": "success", "warnings": ["a store is gone"], "data": {"result": []}}
    with (
        prometheus(answer) as (url, _),
        pytest.raises(KalypsoError, match="a store is gone"),
    ):
        run_sample(
            acme,
            "flux_by_prometheus",
            commits=(merged, commit),
            reports_environment="PROMETHEUS_URL",
            variables={"PROMETHEUS_URL": url},
        )


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({"appliedDeploymentID": "s-2:1", "ready": True}, "compliant"),
        ({"appliedDeploymentID": "s-1:1", "ready": True}, "progressing"),
        ({"appliedDeploymentID": "s-2:1", "ready": False}, "progressing"),
        (
            {"conditions": [{"type": "Deployed", "status": "False", "message": "no such kind"}]},
            "failed",
        ),
    ],
)
def test_rancher_fleet(acme: Organisation, status: dict[str, Any], state: str) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    url = f"{acme.sandbox.url}/{GITOPS}"
    space = "fleet-default"

    def deployment(cluster: str, repo: str, status: dict[str, Any]) -> dict[str, Any]:
        labels = {
            "bundle-namespace": space,
            "repo-name": repo,
            "cluster-namespace": space,
            "cluster": cluster,
            "commit": merged,
        }
        return {
            "metadata": {
                "name": f"{repo}-{cluster}",
                "namespace": f"cluster-{cluster}",
                "labels": {f"fleet.cattle.io/{key}": value for key, value in labels.items()},
            },
            "spec": {"deploymentID": "s-2:1"},
            "status": status,
        }

    display = "management.cattle.io/cluster-display-name"
    good = {"appliedDeploymentID": "s-2:1", "ready": True}
    fake_kubectl(
        acme,
        {
            "get gitrepos.fleet.cattle.io": {
                "items": [
                    {
                        "metadata": {"namespace": space, "name": name},
                        "spec": {"repo": url, "branch": branch, "paths": [path]},
                    }
                    for name, branch, path in (
                        ("drones", "dev", "drone"),
                        ("large", "dev", "large"),
                        ("others", "main", "drone"),
                    )
                ]
            },
            "get clusters.fleet.cattle.io": {
                "items": [
                    {"metadata": {"namespace": space, "name": name, "labels": labels}}
                    for name, labels in (("c-1", {display: "d-1"}), ("c-2", {}))
                ]
            },
            "get bundledeployments.fleet.cattle.io": {
                "items": [
                    deployment("c-1", "drones", good),
                    deployment("c-2", "large", status),
                    deployment("c-2", "others", good),
                ]
            },
        },
    )
    result = run_sample(acme, "rancher_fleet", commits=(merged, commit))
    assert states(result) == {"d-1": "compliant", "c-2": state}


def test_the_samples_need_nothing_but_python() -> None:
    for sample in SAMPLES.glob("*.py"):
        imports = [
            line.split()[1].partition(".")[0]
            for line in sample.read_text(encoding="utf-8").splitlines()
            if line.startswith(("import ", "from "))
        ]
        assert set(imports) <= sys.stdlib_module_names, sample
