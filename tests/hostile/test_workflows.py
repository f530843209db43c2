"""Workflows that anybody can start, and caches: they bring nothing into the jobs of the chain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "workflows-templates").rglob("*.y*ml"))
ACTIONS = [ROOT / "action.yml", *sorted((ROOT / "actions").rglob("action.yml"))]
COMMENTER = "preview-comment"
"""This workflow comments on a fork's pull request, takes an artifact, and has no secrets."""
REPORTS = ("report", "report-pages")
"""These have secrets, and start after each run of check-promote, but read nothing of that run."""
ACTIONS_OF_GITHUB = {
    "control-plane/preview": ["upload-artifact"],
    f"control-plane/{COMMENTER}": ["download-artifact"],
    "control-plane-environment/preview": ["upload-artifact"],
    "control-plane/report": ["upload-artifact"],
    "control-plane-pages/report-pages": ["upload-pages-artifact", "deploy-pages"],
    # The jobs of one run hand the tree on.
    "application-source/deploy": ["upload-artifact", "download-artifact"],
    "application-source/preview": ["upload-artifact"],
    f"application-source/{COMMENTER}": ["download-artifact"],
}
UNTRUSTED_EVENTS = {"pull_request_target", "workflow_run", "issue_comment", "issues", "fork"}


def used(value: Any) -> list[str]:
    """Return every action that a document uses."""
    match value:
        case dict():
            own = [value["uses"]] if isinstance(value.get("uses"), str) else []
            return own + [name for item in value.values() for name in used(item)]
        case list():
            return [name for item in value for name in used(item)]
    return []


@pytest.mark.parametrize("file", [*TEMPLATES, *ACTIONS], ids=lambda file: file.parent.name)
def test_no_cache_and_no_artifact_of_another_run_is_read(file: Path) -> None:
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    names = [name.partition("@")[0] for name in used(document)]
    others = [name for name in names if not name.startswith("OWNER/kalypso-actions")]
    allowed = ACTIONS_OF_GITHUB.get(f"{file.parent.name}/{file.stem}", ())
    assert others == [f"actions/{name}" for name in allowed]


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_no_event_of_strangers_gets_secrets(file: Path) -> None:
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    events = document[True]  # YAML 1.1 reads `on` as true
    assert TEMPLATES
    assert UNTRUSTED_EVENTS.isdisjoint(events) or file.stem in (COMMENTER, *REPORTS)


@pytest.mark.parametrize(
    "file", [file for file in TEMPLATES if file.stem in REPORTS], ids=lambda file: file.stem
)
def test_a_report_takes_nothing_of_the_run_that_starts_it(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    event = {"workflows": ["Check and promote"], "types": ["requested"]}
    assert yaml.safe_load(text)[True]["workflow_run"] == event
    assert not any(word in text for word in ("checkout@", "download-", "github.event", "head_"))


def test_the_commenter_has_no_secrets_and_runs_nothing_of_the_pull_request() -> None:
    text = (ROOT / "workflows-templates" / "control-plane" / f"{COMMENTER}.yaml").read_text()
    assert "secrets." not in text
    assert "checkout" not in text
    document = yaml.safe_load(text)
    assert set(document[True]) == {"workflow_run"}
    (job,) = document["jobs"].values()
    assert job["permissions"] == {"actions": "read", "pull-requests": "write"}
