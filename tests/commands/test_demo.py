"""`kalypso demo`, run once, and the results that it keeps."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console
from typer.testing import CliRunner

from kalypso_actions.cli.app import app
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.demo import LENGTH, demo, scenario
from kalypso_actions.commands.demo.organisation import CLUSTERS, CONTROL_PLANE, OLD_DRONE
from kalypso_actions.commands.demo.scenario_runner import ScenarioRunner
from kalypso_actions.commands.shared.record import FolderRecord
from kalypso_actions.inputs.local import DemoInputs
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from kalypso_actions.report.demo_document import INTRODUCTION, DemoDocument, DemoStepEntry, Timeline
from kalypso_sandbox import Sandbox
from tests.command_line import WIDE, call_kalypso
from tests.commands.chain.organisation import NOON
from tests.commands.hub.test_answers import check_looks
from tests.commands.hub.test_grafana import dashboards, filled, queries
from tests.git_repositories import git
from tests.postgres import TestDatabase, server
from tests.sandbox.reader import Reader
from tools.reference.schemas import REFERENCE

ROOT = Path(__file__).resolve().parents[2]
MACHINE = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GITHUB_TOKEN": "of a job around"}
ACTS = [
    "An application is registered",
    "The configuration of one environment changes",
    "A change of main overloads a cluster",
    "A correction continues the promotion",
    "A hold keeps a commit out of an environment",
    "An environment waits for two others",
    "An environment goes back to its last good commit",
]


@dataclass(frozen=True)
class Played:
    """The document of a run, and its timeline on 80 columns."""

    document: DemoDocument
    timeline: str

    def folder(self, command: str, environment: str = "") -> Path:
        """Return the folder of a command's first step."""
        names = (command, environment)
        steps = self.document.steps
        return Path(next(step.folder for step in steps if (step.who, step.environment) == names))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    console = Console(file=StringIO(), width=80)
    reported: list[DemoStepEntry] = []
    timeline = Timeline(console)

    def tell(step: DemoStepEntry) -> None:
        reported.append(step)
        timeline.show(step)

    folder = tmp_path_factory.mktemp("demo") / "kept"
    document = demo(DemoInputs(dir=folder), MACHINE, NOON, tell)
    assert document.steps == tuple(reported)
    assert isinstance(console.file, StringIO)
    return Played(document, console.file.getvalue())


def cloned(played: Played, name: str, branch: str, folder: Path) -> Path:
    """Clone a repository from its path."""
    path = next(
        repository.path for repository in played.document.repositories if repository.name == name
    )
    git(folder, "clone", "--quiet", "--branch", branch, path, f"{branch}-clone")
    return folder / f"{branch}-clone"


@pytest.mark.slow
def test_every_step_ends_as_expected(played: Played) -> None:
    assert played.document.problems == ()
    assert [step for step in played.document.steps if not step.as_expected] == []
    assert list(dict.fromkeys(step.act for step in played.document.steps)) == ACTS


@pytest.mark.slow
def test_a_failure_stops_and_its_correction_continues_the_promotion(played: Played) -> None:
    checks = [step for step in played.document.steps if step.who == "check-promote"]
    assert [(step.environment, step.ending, step.act) for step in checks] == [
        ("dev", "compliant", ACTS[0]),
        ("stage", "compliant", ACTS[0]),
        ("dev", "compliant", ACTS[1]),
        ("dev", "failed", ACTS[2]),
        ("dev", "compliant", ACTS[3]),
        ("stage", "compliant", ACTS[3]),
        ("perf", "compliant", ACTS[5]),
        ("stage", "compliant", ACTS[6]),
    ]
    waiting = [step for step in played.document.steps if step.ending == "waiting"]
    assert [(step.environment, step.act) for step in waiting] == [
        ("dev", ACTS[4]),
        ("perf", ACTS[5]),
    ]
    assert any("goes on to stage" in detail for detail in checks[4].details)


@pytest.mark.slow
@pytest.mark.parametrize(("source", "act"), [("commit-statuses", 4), ("argocd", None)])
def test_the_same_story_without_azure(
    played: Played, tmp_path: Path, source: str, act: int | None
) -> None:
    fields = {"dir": tmp_path / "kept", "cluster_reports": source, "act": act}
    inputs = DemoInputs.model_validate(fields)
    document = demo(inputs, MACHINE, NOON, lambda _: None)
    assert document.problems == ()
    story = [(step.who, step.environment, step.ending) for step in document.steps]
    of_azure = [s for s in played.document.steps if act is None or s.act == ACTS[act - 1]]
    assert story == [(step.who, step.environment, step.ending) for step in of_azure]
    begin, end = (datetime.fromisoformat(document.steps[at].at) for at in (0, -1))
    assert end - begin < LENGTH
    logs = (file.read_text() for file in (tmp_path / "kept/runs").rglob("log.txt"))
    assert not [log for log in logs if "azure" in log.lower()]


@pytest.mark.slow
def test_repositories_can_be_cloned_from_the_folder(played: Played, tmp_path: Path) -> None:
    main = cloned(played, "acme/control-plane", "main", tmp_path)
    for environment, cache, commit in (("dev", "96", "HEAD^"), ("stage", "64", "HEAD^^")):
        tree = cloned(played, "acme/gitops", environment, tmp_path)
        assert (tree / PROMOTED_COMMIT_FILE).read_text() == git(main, "rev-parse", commit)
        types = {path.name for path in tree.iterdir() if (path / "README.md").exists()}
        assert types == set(CLUSTERS[environment])
        (config,) = tree.glob("drone/*/platform-config.yaml")
        assert f'CACHE_MEGABYTES: "{cache}"' in config.read_text()
    assert "argoproj.io" in (tree / "large/monitoring-agent/reconciler.yaml").read_text()
    assert "fluxcd.io" in (tree / "command-center/monitoring-agent/reconciler.yaml").read_text()


@pytest.mark.slow
def test_the_placement_of_stage_is_decided_and_recorded(played: Played, tmp_path: Path) -> None:
    clone = cloned(played, "acme/gitops", "stage", tmp_path)
    record = json.loads((clone / ".github" / "tracking" / "placements.json").read_text("utf-8"))
    (decision,) = record["placements"]
    assert decision["clusterTypes"] == ["command-center", "large"]


@pytest.mark.slow
def test_each_step_leaves_its_page_and_its_log(played: Played) -> None:
    folder = played.folder("schedule", "dev")
    assert (folder / "summary.md").read_text().startswith("## kalypso schedule: ")
    assert "kalypso/dev" in (folder / "log.txt").read_text()
    assert "changed<<" in (folder / "outputs.txt").read_text()
    assert (folder / "pull-request-1.md").read_text().startswith("# dev: promote ")


@pytest.mark.slow
def test_no_log_holds_a_secret(played: Played) -> None:
    folder = Path(played.document.dir)
    key = (folder / "app-key.pem").read_text().splitlines()[1]
    secrets = [key, *json.loads((folder / "world.json").read_text())["tokens"]]
    assert len(secrets) > 20
    for file in (path for path in (folder / "runs").rglob("*") if path.is_file()):
        text = file.read_text()
        assert [secret for secret in secrets if secret in text] == [], file


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_nobody_else_may_look_into_the_folder(played: Played) -> None:
    folder = Path(played.document.dir)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "app-key.pem").stat().st_mode) == 0o600


@pytest.mark.slow
def test_the_document_is_as_its_schema_says(played: Played) -> None:
    file = REFERENCE / "kalypso.demo.v1.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    validator = Draft202012Validator(schema)
    document = json.loads(played.document.to_json())
    assert [error.message for error in validator.iter_errors(document)] == []


@pytest.mark.slow
def test_the_timeline_fits_the_terminal(played: Played) -> None:
    assert max(len(line) for line in played.timeline.splitlines()) <= 80


def test_the_introduction_counts_the_clusters() -> None:
    count = sum(sum(counts.values()) for counts in CLUSTERS.values())
    assert f"{count} clusters" in " ".join(INTRODUCTION.split())


@pytest.mark.parametrize("kind", ["full", "file", "json"])
def test_a_folder_that_cannot_be_used(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").touch()
    folder = str(tmp_path / "file" if kind == "file" else tmp_path)
    done = call_kalypso("demo", "--dir", folder, *(["--output", "json"] if kind == "json" else []))
    assert done.returncode == 2
    if kind == "json":
        document: Any = json.loads(done.stdout)
        assert "is not empty" in document["problems"][0]["message"]
    else:
        assert ("is not empty" if kind == "full" else "cannot be created") in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("as_json", [False, True])
def test_an_unexpected_step_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    def act(runner: ScenarioRunner) -> None:
        """Do nothing."""
        runner.job("cd", "dev", ends="written")

    monkeypatch.setattr(scenario, "ACTS", (act,))
    arguments = ["demo", "--dir", str(tmp_path / "kept")]
    done = CliRunner().invoke(app, [*arguments, *(["--output", "json"] if as_json else [])])
    message = "Do nothing: cd dev should run now, but no workflow started"
    assert done.exit_code == 1
    if as_json:
        assert json.loads(done.stdout)["problems"][0]["message"] == message
    else:
        assert message in done.stdout
    assert (tmp_path / "kept" / "repositories" / "acme" / "gitops.git").is_dir()


def test_without_a_folder_it_makes_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scenario, "ACTS", ())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    document = demo(DemoInputs(), MACHINE, NOON, lambda _: None)
    assert Path(document.dir).parent == tmp_path
    assert Path(document.dir, "world.json").exists()
    assert Path(document.report).read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("called", "on_path", "again"),
    [
        ("bin/kalypso", "", "bin/kalypso"),
        ("bin/kalypso", "elsewhere", "bin/kalypso"),
        ("{here}/bin/kalypso", "bin", "kalypso"),
        ("{here}/kalypso_actions/__main__.py", "", "kalypso"),
    ],
)
def test_the_line_that_serves_it_again_can_be_copied(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, called: str, on_path: str, again: str
) -> None:
    for folder in ("bin", "elsewhere"):
        script = tmp_path / folder / "kalypso"
        script.parent.mkdir()
        script.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scenario, "ACTS", ())
    monkeypatch.setenv("PATH", f"{tmp_path / on_path}:{MACHINE['PATH']}")
    monkeypatch.setattr(sys, "argv", [called.format(here=tmp_path)])
    done = CliRunner().invoke(app, ["demo", "--dir", "kept"])
    assert f"\n{again} sandbox --dir " in done.stdout


@pytest.mark.slow
def test_a_sandbox_that_serves_it_later_finds_every_cluster_compliant(played: Played) -> None:
    folder = Path(played.document.dir)
    with Sandbox(folder, Programs(MACHINE), now=lambda: NOON + LENGTH) as sandbox:
        done = call_kalypso(
            *("status", "--control-plane", "acme/control-plane", "--clusters", "--json"),
            variables=sandbox.environment(sandbox.create_token()),
        )
    environments = json.loads(done.stdout)["environments"]
    assert [item["clusters"] for item in environments] == [
        {"compliant": number} for number in (8, 8, 1)
    ]


@pytest.mark.slow
def test_it_ends_with_the_report(played: Played) -> None:
    page = Path(played.document.report)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    report = json.loads((page.parent / "report.json").read_text(encoding="utf-8"))
    assert report["title"] == "Acme's fleet"
    assert {item["clusterType"] for item in report["assignments"]} >= {"drone", "large"}
    named = {place["repository"] for item in report["environments"] for place in item["sources"]}
    assert {name.removeprefix(f"{played.document.url}/acme/") for name in named} == {
        "control-plane",
        "hello-world",
        "monitoring",
    }
    states = {item["environment"]: item["state"] for item in report["pipeline"]["environments"]}
    assert [states[name]["text"] for name in ("dev", "stage")] == ["Deployed", "Deployed"]


@pytest.mark.slow
def test_the_record_has_the_failure_and_its_recovery(played: Played, tmp_path: Path) -> None:
    record = next(each.path for each in played.document.repositories if each.name == CONTROL_PLANE)
    observed = json.loads((Path(played.document.report).parent / "report.json").read_text())[
        "observed"
    ]
    (old,) = (each for each in observed["timelines"] if each["cluster"] == OLD_DRONE)
    states = [state for _, state, _ in old["segments"]]
    assert [state for state in states if state == "failing"] != []
    assert states[-1] == "well"
    dev = next(each for each in observed["delivery"] if each["name"] == "dev")
    assert dev["deployments"] == {"promotion": 2, "configuration": 1, "correction": 1}
    assert dev["recovery"] == {"n": 1, "values": [345], "median": None, "p90": None}
    assert {each["kind"] for each in observed["drift"]} == {"no-cluster"}
    variables = {**WIDE, "XDG_CACHE_HOME": str(tmp_path)}
    done = call_kalypso("history", OLD_DRONE, "--record", record, variables=variables)
    assert "HealthCheckFailed: Deployment/hello-world ran out of memory" in done.stdout


@pytest.mark.slow
def test_every_url_that_the_story_prints_or_posts_opens(played: Played) -> None:
    """A browser finds a page for each, in the sandbox that serves the folder later."""
    folder = Path(played.document.dir)
    with Sandbox(folder, Programs(MACHINE), now=lambda: NOON) as sandbox:
        written = [played.document.to_json(), played.timeline]
        files = (folder / "runs").rglob("*")
        written += [file.read_text() for file in files if file.suffix in {".txt", ".md"}]
        written += [
            (folder / "report" / name).read_text() for name in ("index.html", "report.json")
        ]
        for repository in sandbox.store.repositories.values():
            written += [status.target_url or "" for status in repository.statuses]
            for issue in repository.issues.values():
                written += [issue.title, issue.body or "", *(each.body for each in issue.comments)]
        pattern = re.compile(re.escape(played.document.url) + r"[^\s\"'<>()\[\]{}|`\\]*")
        urls = {url.rstrip(".,;:!") for text in written for url in pattern.findall(text)}
        assert {"commit", "pull", "blob", "actions"} <= {path_of(url, 3) for url in urls}
        reader = Reader(sandbox)
        pages = {url: reader.open(urlsplit(url).path).status for url in urls if is_page(url)}
        # Manifests of the monitoring are named, but nothing in the story reads their repository.
        unread = f"{played.document.url}/acme/monitoring-manifests"
        assert {url for url, status in pages.items() if status not in {200, 303}} == {unread}


def path_of(url: str, part: int) -> str:
    """Return a part of a URL's path: the owner is the first."""
    return [*urlsplit(url).path.split("/"), "", "", ""][part]


def is_page(url: str) -> bool:
    """Return whether a URL is for people: the API, Azure and Argo CD are for programs."""
    return path_of(url, 1) not in {
        "repos",
        "graphql",
        "providers",
        "msi",
        "api",
        "_argocd",
        "_services",
    }


@pytest.mark.slow
def test_its_record_in_a_database_says_what_the_commands_say(played: Played) -> None:
    """Dashboards find it, too: all their queries run, and those of what happened find rows."""
    (path,) = (each.path for each in played.document.repositories if each.name == CONTROL_PLANE)
    record = FolderRecord(Path(path), Programs(MACHINE))
    with server() as settings:
        database = TestDatabase(settings, "demo")
        check_looks(record, database, NOON + LENGTH, [record.head()])
        values = {
            name: [str(row[0]) for row in database.rows(f"select distinct {name} from {view}")]
            for name, view in (
                ("environment", "target_history"),
                ("cluster_type", "cluster_history"),
                ("target", "target_history"),
            )
        }
        empty = {
            title
            for dashboard in dashboards().values()
            for title, statement in queries(dashboard).items()
            if not database.rows(filled(statement, values, NOON))
        }
    assert empty == set()
