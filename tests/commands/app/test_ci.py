"""Versions of commits, and the starts of their deployment."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import UsageError
from tests.commands.app.shop import SOURCE, Application


def test_a_build_records_the_version_and_starts_the_first_environment(web: Application) -> None:
    commit = web.push()
    document = web.release(commit).document
    assert document.outputs() == {"environments": '["dev"]'}
    assert web.statuses(commit) == {
        "kalypso / version": ("success", "1 1@sha256:aaaaaaaa"),
        "kalypso / deploy dev": ("success", "Starting, attempt 1: ci"),
    }
    (started,) = web.acme.dispatches()
    assert (started.workflow, started.repository) == ("deploy.yml", SOURCE)
    assert started.inputs == {"environment": "dev", "commit_id": commit}


def test_a_repeated_build_must_release_the_same(web: Application) -> None:
    commit = web.push()
    web.release(commit)
    web.release(commit)
    with pytest.raises(UsageError, match="is released as '1 1@sha256:aaaaaaaa' already"):
        web.release(commit, image_tag="1@sha256:bbbbbbbb")


def test_only_commits_of_main_are_released(web: Application) -> None:
    commit = web.acme.commit({"x": "y"}, "feature", SOURCE)
    with pytest.raises(UsageError, match="is not on main"):
        web.release(commit)
    assert web.statuses(commit) == {}


def test_a_tag_without_a_digest_is_a_warning(web: Application) -> None:
    (warning,) = web.release(web.push(), image_tag="1").document.warnings
    assert "has no digest" in warning.message


def test_a_source_without_an_order_needs_the_first_environment(web: Application) -> None:
    web.push({".github/kalypso/environments.yaml": None})
    commit = web.push()
    with pytest.raises(UsageError, match="no first environment is known"):
        web.release(commit)
    assert web.statuses(commit) == {}
    web.release(commit, start_environment="dev-gray")
    assert web.acme.dispatches()[-1].inputs["environment"] == "dev-gray"


def test_a_dry_run_writes_nothing(web: Application) -> None:
    commit = web.push()
    document = web.release(commit, dry_run="true").document
    assert [entry.kind for entry in document.writes] == [
        "post status",
        "post status",
        "start workflow",
    ]
    assert (web.statuses(commit), web.acme.dispatches()) == ({}, [])
