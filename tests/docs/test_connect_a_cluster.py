"""The manifests of the guide for clusters: those that init writes, and Argo CD's notifications."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import kalypso_actions
from kalypso_actions.compliance.commit_statuses import SUCCESSES, cluster_context
from kalypso_actions.onboarding.files import StarterFiles
from kalypso_actions.onboarding.setup import EnvironmentSetup, RepositorySetup, Setup
from tests.docs.pages import ROOT, Page

PAGE = Page(ROOT / "docs" / "guide" / "connect-a-cluster.md")
STARTER = Path(kalypso_actions.__file__).parent / "starter"
GITOPS = "https://github.com/acme/gitops"


def block(path: str) -> str:
    return PAGE.files()[path].partition("\n")[2]


@pytest.mark.parametrize(
    ("source", "paths"),
    [
        ("commit-statuses", ["gitops/main/clusters/dev/berlin-1.yaml"]),
        (
            "argocd",
            [
                "gitops/main/clusters/dev/standard.yaml",
                "control-plane/main/templates/argocd-hub.yaml",
            ],
        ),
    ],
)
def test_the_manifests_are_those_that_init_writes(source: str, paths: list[str]) -> None:
    texts = {
        file.relative_to(STARTER).as_posix(): file.read_text(encoding="utf-8")
        for file in (STARTER / "clusters").iterdir()
    }
    environment = EnvironmentSetup(
        "dev", "dev", gitops_branches=("dev",), clusters=("berlin-1",), is_first=True
    )
    setup = Setup(
        RepositorySetup("control plane", "acme/cp", "https://github.com/acme/cp", "main"),
        RepositorySetup("GitOps repository", "acme/gitops", GITOPS, "main"),
        (environment,),
        is_new=True,
        cluster_reports=source,
    )
    starter = StarterFiles(texts)
    written = starter.of_clusters(setup, environment) | starter.of_source(setup)
    assert list(written.items()) == [(path.partition("/main/")[2], block(path)) for path in paths]


@pytest.fixture
def notifications() -> dict[str, Any]:
    """The settings of the notifications, parsed."""
    documents = yaml.safe_load_all(block("gitops/main/clusters/argocd/notifications.yaml"))
    settings = next(each for each in documents if each["metadata"]["name"].endswith("-cm"))
    return {name: yaml.safe_load(text) for name, text in settings["data"].items()}


def test_each_trigger_sends_a_status_that_counts(notifications: dict[str, Any]) -> None:
    states = {"healthy": "success", "degraded": "failure", "unsynced": "failure"}
    assert [trigger["send"] for trigger in notifications["trigger.kalypso"]] == [
        [f"kalypso-{name}"] for name in states
    ]
    for name, state in states.items():
        template = notifications[f"template.kalypso-{name}"]
        status = template["github"]["status"]
        assert status["state"] == state
        assert (template["message"] in SUCCESSES) is (state == "success")
        parts = re.split(r"\{\{.*?\}\}", status["label"])
        values = (notifications["context"]["cluster"], "standard", "kalypso", "")
        context = cluster_context("".join(map("".join, zip(parts, values, strict=True))))
        assert context and context[:2] == ("hamburg-1", "standard")


def test_the_application_subscribes_to_the_trigger(notifications: dict[str, Any]) -> None:
    application = yaml.safe_load(block("gitops/main/clusters/dev/hamburg-1.yaml"))
    annotations = application["metadata"]["annotations"]
    assert list(annotations) == ["notifications.argoproj.io/subscribe.kalypso.github"]
    assert {"service.github", "trigger.kalypso"} <= notifications.keys()
    (field,) = re.findall(r'index \.app\.metadata\.labels "(.*?)"', str(notifications))[:1]
    assert application["metadata"]["labels"][field] == "standard"


def test_a_commit_that_is_only_compared_is_not_told_as_a_success(
    notifications: dict[str, Any],
) -> None:
    healthy, degraded, _ = notifications["trigger.kalypso"]
    for trigger in (healthy, degraded):
        assert "app.status?.sync?.status == 'Synced'" in trigger["when"]
        assert trigger["oncePer"].startswith("app.status.sync.revision")
    assert "['Running', 'Terminating']" in healthy["when"]
