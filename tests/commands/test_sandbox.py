"""`kalypso sandbox`, run as users run it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from contextlib import AbstractContextManager
from pathlib import Path

import jwt
import pytest
import requests

from kalypso_actions.cli.process import ServerMemory
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.sandbox import sandbox
from kalypso_actions.commands.sandbox.drawing import PipelineDrawing
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.local import SandboxInputs
from kalypso_sandbox import Sandbox
from tests.command_line import call_kalypso
from tests.commands.served_program import ROOT, ask, command, started
from tests.git_repositories import ENVIRONMENT, git, programs
from tests.sandbox.served_sandbox import Clock, over_http, serving

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows ends no program by a signal")


ENVIRONMENT_FILE = """
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata:
  name: dev
spec:
  controlPlane:
    repo: {url}/acme/plane
    branch: dev
    path: .
"""

PUSH = """
cd fleet
git commit --quiet --allow-empty -m first
git push --quiet origin HEAD:main
git ls-remote
"""


@pytest.mark.parametrize(
    "end", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_a_trial(tmp_path: Path, end: int) -> None:
    """A repository with a push survives a stop and a start."""
    folder = tmp_path / "kept"
    with started(folder, "--repository=acme/one", "--repository=anna/two", end=end) as document:
        assert document["repositories"] == ["acme/one", "anna/two"]
        page = requests.get(document["page"], headers={"Accept": "text/html"}, timeout=60)
        assert "anna/two" in page.text
        assert ask(document, "POST", "/orgs/acme/repos", json={"name": "fleet"})["private"] is False
        token = document["environment"]["GITHUB_TOKEN"]
        url = f"{document['environment']['GITHUB_SERVER_URL']}/acme/fleet"
        git(tmp_path, "clone", "--quiet", url, "clone", extra=over_http(token))
        git(tmp_path / "clone", "commit", "--quiet", "--allow-empty", "-m", "first")
        git(tmp_path / "clone", "push", "--quiet", "origin", "HEAD:main", extra=over_http(token))
    with started(folder, "--repository=acme/one", end=end) as again:
        assert again["environment"]["GITHUB_TOKEN"] == token
        assert again["app"] == document["app"]
        assert set(again["repositories"]) == {"acme/one", "anna/two", "acme/fleet"}
        (commit,) = [ask(again, "GET", "/repos/acme/fleet/branches/main")]
        assert commit["commit"]["commit"]["message"] == "first"


def test_the_app_of_the_first_start(tmp_path: Path) -> None:
    with started(tmp_path / "kept", "--tls", "--flavour=ghes") as document:
        app, environment = document["app"], document["environment"]
        key = Path(app["privateKey"])
        assert key.stat().st_mode & 0o077 == 0
        now = int(time.time())
        claims = {"iat": now - 60, "exp": now + 60, "iss": str(app["id"])}
        signed = jwt.encode(claims, key.read_text(), algorithm="RS256")
        (installation,) = ask(document, "GET", "/app/installations", token=signed)
        assert installation["account"]["login"] == app["owner"]
        trusted = {environment[name] for name in ("SSL_CERT_FILE", "GIT_SSL_CAINFO")}
        assert trusted == {environment["REQUESTS_CA_BUNDLE"]} == {environment["CURL_CA_BUNDLE"]}
        assert environment["GITHUB_API_URL"].endswith("/api/v3")
        with requests.Session() as session:
            session.trust_env = False
            url, authority = document["url"] + "/_sandbox/apps", environment["SSL_CERT_FILE"]
            session.post(url, json={"owner": "acme", "slug": "other"}, verify=authority, timeout=60)
    with started(tmp_path / "kept") as again:
        assert again["app"]["id"] == app["id"], "whose key it is"
    key.write_text("no key")
    done = call_kalypso("sandbox", "--dir", tmp_path / "kept")
    assert (done.returncode, "remove the file" in done.stderr) == (1, True)


def test_the_printed_commands_work(tmp_path: Path) -> None:
    """The exports and the commands below them work in a shell."""
    process = subprocess.Popen(
        command("--dir", tmp_path / "kept it"), cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8"
    )
    with process:
        assert process.stdout is not None
        text = ""
        while "/_sandbox/faults" not in text or not text.endswith("}'\n"):
            printed = process.stdout.readline()
            assert printed, f"it ended after {text!r}"
            text += printed
        assert "In a browser: http://127.0.0.1:" in text
        script = tmp_path / "trial.sh"
        script.write_text(f"set -e\nexport CURL_CA_BUNDLE=\n{text}\n{PUSH}")
        done = subprocess.run(
            ["sh", script],
            cwd=tmp_path,
            env={**ENVIRONMENT, **over_http()},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    assert done.returncode == 0, done.stderr
    assert '"full_name": "acme/fleet"' in done.stdout
    assert '"kind": "lost"' in done.stdout
    assert "refs/heads/main" in done.stdout, "pushed with nothing said of the token"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--repository=fleet"], "--repository: 'fleet' is not of the form owner/name"),
        (["--repository="], "--repository: "),
        (["--port=70000"], "--port: Input should be less than or equal to 65535"),
        (["--dir={file}"], "file cannot be created: File exists"),
        (["--dir={file.parent}"], "is not empty, and holds no sandbox"),
    ],
)
def test_wrong_inputs(tmp_path: Path, options: list[str], words: str) -> None:
    (tmp_path / "file").write_text("")
    given = [option.format(file=tmp_path / "file") for option in options]
    arguments = ["sandbox", "--dir", tmp_path / "kept", *given]
    as_text, as_json = call_kalypso(*arguments), call_kalypso(*arguments, "--output=json")
    assert as_text.returncode == as_json.returncode == 2
    assert words in as_text.stderr
    assert words in json.loads(as_json.stdout)["problems"][0]["message"]


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = call_kalypso("sandbox", "--dir", tmp_path / "two", "--port", port)
    assert done.returncode == 1
    assert f"the port {port} cannot be used" in done.stderr
    assert "choose another one with --port" in done.stderr


def test_a_folder_that_is_served(tmp_path: Path) -> None:
    with Sandbox(tmp_path / "one", programs()):
        done = call_kalypso("sandbox", "--dir", tmp_path / "one")
    assert done.returncode == 1
    assert f"another sandbox is running in {tmp_path / 'one'}" in done.stderr


def test_without_its_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "graphql", raising=False)
    monkeypatch.setattr(sys, "path", [str(ROOT)])
    inputs = SandboxInputs(dir=tmp_path / "kept")
    with pytest.raises(UsageError, match="the sandbox needs graphql") as caught:
        sandbox(inputs, Programs({})).__enter__()
    assert caught.value.problem.advice == "pip install 'kalypso-actions[sandbox]'"


def test_the_application_of_a_sample_has_secrets_of_its_own(tmp_path: Path) -> None:
    def opened(folder: str, **options: bool) -> AbstractContextManager[object]:
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}" if folder else ""
        inputs = SandboxInputs(dir=tmp_path / (folder or "none"), sample=True, **options)
        return sandbox(inputs, Programs({**ENVIRONMENT, "PATH": path}))

    helm = tmp_path / "helm"
    helm.touch(mode=0o700)
    with opened("plain"):
        assert not (tmp_path / "plain/own-secrets.json").exists()
    with pytest.raises(UsageError, match="lacks the chain"), opened("plain", application=True):
        pass
    with pytest.raises(UsageError, match="needs the helm program"), opened("", application=True):
        pass
    for _ in range(2):
        with opened("with", application=True):
            own = json.loads((tmp_path / "with/own-secrets.json").read_text())
    names = ("hello-world", "hello-world-configs", "hello-world-manifests")
    assert own.keys() == {f"acme/{name}" for name in names}
    every = json.loads((tmp_path / "with/secrets.json").read_text())
    assert all(every[name] != key for each in own.values() for name, key in each.items())


def test_debug_logs_requests_without_control_characters(tmp_path: Path) -> None:
    arguments = command("--dir", tmp_path / "kept", "--output=json", "--debug")
    with subprocess.Popen(
        arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        document = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        host, port = document["url"].removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(b"GET /\x1b[31mred HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answered = connection.recv(1 << 16)
        process.send_signal(signal.SIGTERM)
        printed = process.stderr.read()
        assert process.wait(timeout=60) == 0
    assert b"403" in answered
    assert r"GET '/\x1b[31mred' 403" in printed
    assert document["environment"]["GITHUB_TOKEN"] not in printed
    assert "\x1b" not in printed


def test_clusters_report_as_the_printed_lines_say(tmp_path: Path) -> None:
    """The variables of check-promote can be set, and both other sources can be asked."""
    repositories = ("--repository", "acme/control-plane", "--repository", "acme/gitops")
    with started(tmp_path / "trial", *repositories) as document:
        environment = document["environment"]
        api, token = environment["GITHUB_API_URL"], environment["GITHUB_TOKEN"]
        headers = {"Authorization": f"Bearer {token}"}
        variable = {"name": "KALYPSO_CLUSTER_REPORTS", "value": "commit-statuses"}
        place = f"{api}/repos/acme/control-plane/actions/variables"
        assert requests.post(place, json=variable, headers=headers, timeout=9).status_code == 201
        listed = requests.get(place, headers=headers, timeout=9).json()
        assert [each["name"] for each in listed["variables"]] == [variable["name"]]
        mine = requests.get(f"{api}/user", headers=headers, timeout=9).json()
        assert mine["login"] == "somebody"
        names = ("--control-plane", "acme/control-plane", "--gitops", "acme/gitops")
        variables = {"PATH": os.environ["PATH"], **environment}
        done = call_kalypso("init", *names, "--yes", variables=variables)
        assert done.returncode == 0
        tasks = done.stdout.partition("Remaining tasks:")[2]
        assert f"kalypso sandbox --run --dir {tmp_path / 'trial'}" in tasks
        assert "App" in tasks and "azure" not in tasks.lower() and "secret" not in tasks
        ref = f"{api}/repos/acme/gitops/git/ref/heads/dev"
        commit = requests.get(ref, headers=headers, timeout=9).json()["object"]["sha"]
        as_cluster = {"Authorization": f"Bearer {environment['CLUSTERS_TOKEN']}"}
        status = {"state": "success", "context": "cluster/berlin-1/standard"}
        page = f"{api}/repos/acme/gitops/statuses/{commit}"
        posted = requests.post(page, json=status, headers=as_cluster, timeout=9).json()
        assert posted["creator"]["login"] == "acme-clusters[bot]"
        of_argocd = {"Authorization": f"Bearer {environment['KALYPSO_ARGOCD_TOKENS']}"}
        lists = f"{document['argocd']}/api/v1/applications"
        assert requests.get(lists, headers=of_argocd, timeout=9).json()["items"] is None


def test_ages_on_the_pipeline_grow_although_nothing_changes(tmp_path: Path) -> None:
    clock = Clock()
    with serving(tmp_path, clock) as served:
        files = {"dev.yaml": ENVIRONMENT_FILE.format(url=served.url)}
        served.create_repository("acme/plane", files)
        served.commit("acme/plane", {"README.md": "dev"}, branch="dev")
        draw = PipelineDrawing(served, os.environ)
        draw()
        assert draw().count(">just now</time>") == 1
        clock.advance(minutes=5)
        assert draw().count(">5 min ago</time>") == 1


class Garbage:
    """An object that refers to itself, as those of requests and runs do."""

    def __init__(self) -> None:
        self.itself = self


def test_a_server_that_has_worked_collects_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = ServerMemory()
    kept = weakref.ref(Garbage())
    memory.give_back()
    assert kept() is not None
    monkeypatch.setattr("kalypso_actions.cli.process.COLLECTED_EVERY", 0)
    memory.give_back()
    assert kept() is None
