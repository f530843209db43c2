"""A trial through HTTP alone: the sample organisation, whose workflows run by themselves."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from kalypso_actions.commands.registry import ACTIONS
from kalypso_actions.commands.sandbox.trial import COMMAND_INPUTS
from kalypso_actions.inputs.values import inputs_of, option_of
from tests.command_line import call_kalypso
from tests.commands.served_program import ask, command, started
from tests.git_repositories import commit, git
from tests.sandbox.served_sandbox import over_http

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows ends no program by a signal")

CONTROL_PLANE, GITOPS = "acme/control-plane", "acme/gitops"
SAMPLES = Path(__file__).resolve().parents[2] / "kalypso_actions" / "samples"


class Trial:
    """What a person does to a served sample, by requests and by git."""

    def __init__(self, document: dict[str, Any], folder: Path) -> None:
        self.document = document
        self.folder = folder
        self.url = document["url"]

    def ask(self, method: str, path: str, **more: Any) -> Any:
        """Send a request to GitHub's API, and return the body."""
        return ask(self.document, method, path, **more)

    def control(self, method: str, path: str, **body: Any) -> Any:
        """Send a request to the sandbox's controls, and return the body."""
        with requests.Session() as session:
            session.trust_env = False
            answer = session.request(
                method, f"{self.url}/_sandbox/{path}", json=body or None, timeout=60
            )
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

    def until(self, what: str, condition: Callable[[], Any], seconds: float = 120) -> Any:
        """Wait until a condition holds, and return its value."""
        end = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < end, f"{what} does not happen: {self.runs()}"
            time.sleep(0.2)
        return value

    def runs(self) -> list[tuple[str, str, str]]:
        """Return title, state and reason of the control plane's runs."""
        runs = self.control("GET", f"repositories/{CONTROL_PLANE}/runs")
        return [(run["title"], run["conclusion"] or run["status"], run["reason"]) for run in runs]

    def idle(self) -> None:
        """Wait until no workflow runs."""
        self.until("an end of all runs", lambda: self.control("GET", "clock")["idle"])

    def proposals(self, base: str, repository: str = GITOPS) -> list[Any]:
        listed: list[Any] = self.ask("GET", f"/repos/{repository}/pulls?state=open&base={base}")
        return listed

    def merge(self, base: str) -> None:
        """Wait for the pull request into a GitOps branch, and merge it."""
        (pull,) = self.until(f"a pull request into {base}", lambda: self.proposals(base))
        path = f"/repos/{GITOPS}/pulls/{pull['number']}/merge"
        self.until("the end of the schedule run", lambda: self.control("GET", "clock")["idle"])
        assert self.ask("PUT", path, json={})["merged"]

    def commit(self, branch: str, files: dict[str, str], message: str) -> str:
        """Push files to a branch of the control plane, and return the commit."""
        clone = self.folder / "clone"
        token = over_http(self.document["environment"]["GITHUB_TOKEN"])
        if not clone.exists():
            url = f"{self.url}/{CONTROL_PLANE}"
            git(self.folder, "clone", "--quiet", url, "clone", extra=token)
        git(clone, "fetch", "--quiet", extra=token)
        git(clone, "checkout", "--quiet", "-B", branch, f"origin/{branch}")
        for path, text in files.items():
            file = clone / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        git(clone, "add", ".")
        git(clone, "commit", "--quiet", "-m", message)
        git(clone, "push", "--quiet", "origin", branch, extra=token)
        return git(clone, "rev-parse", "HEAD").strip()

    def change(self, name: str, branch: str) -> str:
        """Push a change of the samples."""
        folder = SAMPLES / "changes" / name
        files = {
            str(file.relative_to(folder)): file.read_text()
            for file in folder.rglob("*")
            if file.is_file()
        }
        return self.commit(branch, files, name)

    def status(self, commit: str, environment: str, state: str, begins: str = "") -> None:
        """Wait for the state of a commit in an environment, whose description `begins` so."""
        context = f"{environment} environment"

        def is_known() -> bool:
            listed = self.control("GET", f"repositories/{CONTROL_PLANE}/statuses")
            known = {each["context"]: each for each in listed if each["commit"] == commit}
            status = known.get(context, {"state": "", "description": ""})
            text: str = status["description"]
            return bool(status["state"] == state and text.startswith(begins))

        self.until(f"{context} of {commit[:7]}: {state} {begins}", is_known)


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    with started(tmp_path / "trial", "--sample", "--run", "--speed=60") as document:
        yield Trial(document, tmp_path)


@pytest.mark.slow
def test_a_commit_reaches_both_environments_and_a_failing_cluster_stops_the_next(
    trial: Trial,
) -> None:
    """A release, a failure, its correction, a hold, and a way back."""
    first = trial.ask("GET", f"/repos/{CONTROL_PLANE}/branches/main")["commit"]["sha"]
    for environment in ("dev", "stage"):
        trial.merge(environment)
        trial.status(first, environment, "success", "Deployed")
    trial.idle()
    states = trial.control("GET", "states")
    assert len(states) == 8
    assert {state["phase"] for state in states} == {"ready"}

    broken = trial.change("broken", "main")
    trial.merge("dev")
    trial.status(broken, "dev", "failure", "Failed")
    trial.idle()
    (failing,) = [s for s in trial.control("GET", "states") if s["phase"] == "failing"]
    assert (failing["name"], failing["message"]) == (
        "dev-drone-2",
        "Deployment/hello-world ran out of memory",
    )
    assert trial.proposals("stage") == []

    trial.change("fix", "dev")
    trial.merge("dev")
    trial.status(broken, "dev", "success", "Deployed")
    trial.merge("stage")
    trial.status(broken, "stage", "success", "Deployed")
    trial.idle()

    trial.change("hold", "dev")
    trial.idle()
    held = trial.commit("main", {"README.md": "Acme\n"}, "Say less")
    trial.status(held, "dev", "pending", "Waiting: hold by ada")
    trial.idle()
    assert trial.proposals("dev") == []

    path = f"/repos/{CONTROL_PLANE}/actions/workflows/rollback.yaml/dispatches"
    inputs = {"environment": "stage", "reason": "the pages are slow"}
    body = {"ref": "main", "inputs": inputs, "return_run_details": True}
    trial.ask("POST", path, json=body)
    trial.merge("stage")
    trial.status(first, "stage", "success", "Deployed")


@pytest.mark.slow
def test_a_stopped_cluster_keeps_a_commit_back_until_a_person_goes_on(trial: Trial) -> None:
    first = trial.ask("GET", f"/repos/{CONTROL_PLANE}/branches/main")["commit"]["sha"]
    trial.control("PUT", "clusters/dev-large-1/fault", kind="stalls")
    trial.merge("dev")
    time.sleep(3)  # three minutes of the clock
    (waiting,) = [run for run in trial.runs() if run[1] == "in_progress"]
    assert waiting[0].startswith("Check dev")
    trial.control("DELETE", "clusters/dev-large-1/fault")
    trial.status(first, "dev", "success", "Deployed")


@pytest.mark.slow
def test_a_second_start_goes_on_where_the_first_was_killed(tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    options = ("--sample", "--run", "--speed=60", "--output=json")
    arguments = command("--dir", folder, *options)
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        document = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        trial = Trial(document, tmp_path)
        before = trial.control("GET", "clock")["now"]
        trial.control("PUT", "clusters/dev-large-1/fault", kind="stalls")
        trial.merge("dev")
        trial.until("a check", lambda: any(run[0].startswith("Check dev") for run in trial.runs()))
        process.send_signal(signal.SIGKILL)
    with started(folder, *options[:3]) as document:
        trial = Trial(document, tmp_path)
        assert trial.control("GET", "clock")["now"] > before
        first = trial.ask("GET", f"/repos/{CONTROL_PLANE}/branches/main")["commit"]["sha"]
        trial.control("DELETE", "clusters/dev-large-1/fault")
        trial.status(first, "dev", "success", "Deployed")
        trial.merge("stage")
        trial.status(first, "stage", "success", "Deployed")


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ((), ["No repository has an Environment", "kalypso sandbox --sample --run"]),
        (("--sample",), ['id="environment-dev"', 'id="environment-stage"', "Register hello-world"]),
    ],
    ids=["empty", "sample"],
)
def test_the_first_page_draws_the_pipeline(
    tmp_path: Path, options: tuple[str, ...], shown: list[str]
) -> None:
    with started(tmp_path / "trial", *options) as document:
        end = time.monotonic() + 60
        text = ""
        while not all(each in text for each in shown):
            assert time.monotonic() < end, text.partition("<main")[2]
            answer = requests.get(document["page"], headers={"Accept": "text/html"}, timeout=60)
            text = answer.text
            time.sleep(0.2)
    assert 'class="bad"' not in text


def test_every_input_that_names_a_command_needs_the_permission_of_a_person() -> None:
    named = {
        field.alias or name.replace("_", "-")
        for command in ACTIONS.values()
        for name, field in inputs_of(command.model).items()
        if re.search(r"\b[Aa] command (that|to run)\b", option_of(field).text)
    }
    assert named == COMMAND_INPUTS


PLANE = {
    "templates/x.yaml": "repo: https://github.com/elsewhere/tenant\n",
    ".environments/dev.yaml": (
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Environment\nmetadata: {name: dev}\n"
        "spec: {controlPlane: {repo: 'https://github.com/them/plane.git', branch: dev, path: .}}\n"
    ),
}
DEV = {
    "types.yaml": (
        "kind: ClusterType\nmetadata: {name: large}\nspec: {}\n---\n"
        "kind: ClusterType\nmetadata: {name: small}\nspec: {}\n"
    ),
    "gitops-repo.yaml": (
        "kind: GitOpsRepo\nmetadata: {name: dev}\n"
        "spec: {repo: https://github.com/them/gitops, branch: dev, path: ./fleet}\n"
    ),
    "broken.yaml": "a: [\n",
    ".github/workflows/ci.yaml": "on: push\njobs: {one: {runs-on: x, steps: [{run: make}]}}\n",
}


def test_repositories_of_elsewhere_are_copied_with_clusters(tmp_path: Path) -> None:
    places = []
    for name in ("plane", "gitops"):
        folder = tmp_path / f"{name}.git" if name == "plane" else tmp_path / name
        folder.mkdir()
        git(folder, "init", "--quiet", "-b", "trunk")
        commit(folder, PLANE if name == "plane" else {"README.md": "fleet\n"})
        git(folder, "checkout", "--quiet", "-b", "dev")
        commit(folder, DEV if name == "plane" else {"fleet/large/a.yaml": "a: 1\n"})
        git(folder, "checkout", "--quiet", "trunk")
        places.append(f"--clone={folder}")
    folder = tmp_path / "trial"
    for _ in range(2):  # the second start copies nothing again
        with started(folder, *places, "--run") as document:
            assert document["cloned"] == ["acme/plane", "acme/gitops"]
            trial = Trial(document, tmp_path)
            assert trial.ask("GET", "/repos/acme/plane")["default_branch"] == "trunk"
            clone = tmp_path / "copy"
            if not clone.exists():
                token = over_http(document["environment"]["GITHUB_TOKEN"])
                git(tmp_path, "clone", "--quiet", f"{trial.url}/acme/plane", "copy", extra=token)
            text = (clone / ".environments/dev.yaml").read_text()
            assert f"repo: '{document['url']}/acme/plane'" in text
            assert "github.com/elsewhere/tenant" in (clone / "templates/x.yaml").read_text()
            states = {state["name"]: state for state in trial.control("GET", "states")}
            assert states.keys() == {"dev-large", "dev-small"}
            assert states["dev-large"]["paths"] == ["./fleet/large"]
            assert states["dev-large"]["repository"] == f"{document['url']}/acme/gitops"
    done = call_kalypso("sandbox", "--dir", tmp_path / "other", f"--clone={tmp_path / 'none'}")
    assert (done.returncode, "none cannot be read" in done.stderr) == (2, True)


def test_a_shell_reads_the_variables(tmp_path: Path) -> None:
    folder = tmp_path / "a trial"
    with started(folder, "--sample") as document:
        printed = call_kalypso("sandbox", "env", "--dir", folder)
        assert printed.stdout == (folder / "env").read_text()
        assert (folder / "env").stat().st_mode & 0o077 == 0
        script = f'. "{folder}/env"; echo "$GITHUB_SERVER_URL" "$GITHUB_TOKEN"'
        shown = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
        environment = document["environment"]
        assert shown.stdout.split() == [document["url"], environment["GITHUB_TOKEN"]]
        listed = json.loads(call_kalypso("sandbox", "env", "--dir", folder, "--json").stdout)
        assert listed["environment"] == environment
    missing = call_kalypso("sandbox", "env", "--dir", tmp_path / "none")
    assert (missing.returncode, "holds no sandbox" in missing.stderr) == (2, True)
