"""`kalypso demo --application`: a commit comes to every ring, and to the clusters."""

from __future__ import annotations

import os
from io import StringIO
from pathlib import Path

import pytest
from pydantic import ValidationError
from rich.console import Console

from kalypso_actions.commands.demo import demo
from kalypso_actions.commands.demo.application import ENVIRONMENTS
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.local import DemoInputs
from kalypso_actions.report.demo_document import DemoStepEntry, Timeline
from tests.commands.chain.organisation import NOON
from tests.git_repositories import git
from tests.planning.application.applications import find_program

MACHINE = {"PATH": os.environ["PATH"], "HOME": os.devnull}


def of(environment: str) -> list[tuple[str, str, str]]:
    return [
        ("app-deploy", environment, "proposed"),
        ("app-notify", "", "started"),
        ("app-check", environment, "compliant"),
    ]


RELEASED = ("app-ci", "", "released")
TOLD = ("app-notify", "", "started")
STORY = [
    RELEASED,
    *of("dev"),
    *of("dev-green"),
    ("app-deploy", "dev-red", "proposed"),
    TOLD,
    *of("dev-red"),
    *of("stage"),
    RELEASED,
    *of("dev"),
    ("app-deploy", "dev-green", "proposed"),
    TOLD,
    ("app-check", "dev", "compliant"),
    TOLD,
    *of("dev-green"),
]


@pytest.mark.slow
def test_a_commit_comes_to_every_ring(tmp_path: Path) -> None:
    find_program("helm")
    console = Console(file=StringIO(), width=80)
    timeline = Timeline(console, application=True)
    steps: list[DemoStepEntry] = []

    def tell(step: DemoStepEntry) -> None:
        steps.append(step)
        timeline.show(step)

    document = demo(DemoInputs(dir=tmp_path / "kept", application=True), MACHINE, NOON, tell)
    assert document.problems == ()
    workflows = [step for step in steps if step.ending]
    assert [(step.who, step.environment, step.ending) for step in workflows] == STORY
    manifests = tmp_path / "kept/repositories/acme/hello-world-manifests.git"

    def shown(name: str, path: str) -> str:
        return git(manifests, "show", f"{name}:{path}")

    replicas = {"dev": 1, "dev-green": 4, "dev-red": 2}
    for name, number in replicas.items():
        generated = shown(name, "smoke-test/gen_manifests.yaml")
        assert f"replicas: {number}\n" in generated
        assert 'image: "ghcr.io/acme/hello-world/hello-world:0.0.1-1"' in generated
    for name in ENVIRONMENTS:
        assert shown(name, ".github/tracking/Version").strip() == "0.0.1-1"
    assert isinstance(console.file, StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"act": 4}, "--act is at most 3"),
        ({"cluster_reports": "argocd"}, "the clusters report to Azure"),
    ],
)
def test_options_of_the_other_story(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        DemoInputs.model_validate({"application": True, **given})


def test_without_helm_nothing_begins(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs the helm program"):
        demo(
            DemoInputs(dir=tmp_path / "kept", application=True),
            {"PATH": str(tmp_path)},
            NOON,
            lambda _: None,
        )
    assert list(tmp_path.iterdir()) == []
