"""What a workflow that anybody can start, or a cache, could bring into the jobs of the chain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "workflows-templates").rglob("*.yaml"))
ACTIONS = [ROOT / "action.yml", *sorted((ROOT / "actions").rglob("action.yml"))]
OF_PREVIEWS = ("actions/upload-artifact@", "actions/download-artifact@")
"""The workflow that comments on a fork's pull request takes an artifact, and has no secrets."""
COMMENTER = "preview-comment"
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
    others = [name for name in used(document) if not name.startswith("OWNER/kalypso-actions")]
    artifacts = OF_PREVIEWS if file.stem.startswith("preview") else ()
    assert [name for name in others if not name.startswith(artifacts or "-")] == []
    assert file.stem == COMMENTER or not any("download" in name for name in others)


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_no_event_of_strangers_gets_secrets(file: Path) -> None:
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    events = document[True]  # YAML 1.1 reads `on` so
    assert TEMPLATES
    assert UNTRUSTED_EVENTS.isdisjoint(events) or file.stem == COMMENTER


def test_the_commenter_has_no_secrets_and_runs_nothing_of_the_pull_request() -> None:
    text = (ROOT / "workflows-templates" / "control-plane" / f"{COMMENTER}.yaml").read_text()
    assert "secrets." not in text
    assert "checkout" not in text
    document = yaml.safe_load(text)
    assert set(document[True]) == {"workflow_run"}
    (job,) = document["jobs"].values()
    assert job["permissions"] == {"actions": "read", "pull-requests": "write"}
