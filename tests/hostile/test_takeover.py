"""A registration delivers a name of another one: the owner in the merged tree keeps it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pytest

from kalypso_actions.model.layout import SOURCES_FILE
from tests.breaks import breaks, replaced, turned
from tests.hostile.fleet_under_attack import (
    CALM,
    MANIFESTS,
    FleetUnderAttack,
    blamed,
    workload,
)

THEFT = workload("calm", MANIFESTS)
"""The name of the other application's Workload, with a source of ours."""


@breaks(
    "the names of Workloads are not recorded",
    replaced(
        "kalypso_actions.gitops.provenance.run_sources",
        lambda real, *values, **options: real(*values, **options).model_copy(
            update={"workloads": {}}
        ),
    ),
)
def test_the_owner_delivers_it_too(kept: FleetUnderAttack) -> None:
    """The owner is not even frozen: its changes arrive."""
    kept.deliver("evil", THEFT)
    kept.deliver("calm", workload("calm", {**MANIFESTS, "branch": "next"}))
    document, files = kept.rendered()
    (warning,) = blamed(document)
    assert warning.code == "workload-conflict"
    assert "Workload 'calm' belongs to registration 'calm' (" in warning.message
    assert f"{kept.folder}/calm" not in warning.message
    assert warning.where
    assert warning.where.line == 1
    assert "branch: next" in files[CALM]
    assert json.loads(files[SOURCES_FILE])["workloads"] == {"calm": "calm", "evil": "evil"}


def an_invalid_head(fleet: FleetUnderAttack) -> None:
    fleet.deliver("calm", workload("calm", {**MANIFESTS, "branch": "'{{'"}))


def another_history(fleet: FleetUnderAttack) -> None:
    """Replace the history: the last good commit is gone, and the head is invalid."""
    shutil.rmtree(fleet.folder / "calm")
    fleet.deliver("calm", "kind: Secret\nmetadata: {name: a}\n")


@breaks(
    "a name has no owner while its registration cannot be read",
    replaced("kalypso_actions.planning.name_conflicts._owner", lambda *_, **__: None),
)
@pytest.mark.parametrize("harm", [an_invalid_head, another_history])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(THEFT, id="a Workload"),
        pytest.param(workload("calm", MANIFESTS, "api"), id="a Workload with another target"),
    ],
)
def test_the_owner_is_not_readable(
    kept: FleetUnderAttack, harm: Callable[[FleetUnderAttack], None], text: str
) -> None:
    harm(kept)
    kept.deliver("evil", text)
    document, files = kept.rendered()
    (warning,) = [item for item in document.warnings if item.code == "workload-conflict"]
    assert warning.message.startswith("registration 'evil': Workload 'calm' belongs to")
    assert "registration 'calm' in " in warning.message
    assert files[CALM] == (kept.folder / "gitops" / CALM).read_text()
    assert not any("calm-api" in path for path in files)
    assert json.loads(files[SOURCES_FILE])["workloads"]["calm"] == "calm"


def test_a_target_of_another_workload(kept: FleetUnderAttack) -> None:
    kept.deliver("calm", workload("calm", MANIFESTS, "web-eu"))
    kept.keep()
    an_invalid_head(kept)
    kept.deliver("evil", workload("calm-web", MANIFESTS, "eu"))
    warnings = kept.render().warnings
    (warning,) = [item for item in warnings if item.code == "workload-conflict"]
    assert "registration 'evil': deployment target 'calm-web-eu' belongs to" in warning.message
    assert warning.where
    assert warning.where.line == 6


def test_a_name_that_its_owner_has_left(kept: FleetUnderAttack) -> None:
    kept.deliver("calm", workload("quiet", MANIFESTS))
    kept.deliver("evil", THEFT)
    document, files = kept.rendered()
    assert blamed(document) == []
    assert "https://git.test/evil" in files[CALM]


def test_a_registration_that_is_gone(kept: FleetUnderAttack) -> None:
    kept.commit_main(workspaces={"evil": "evil"})
    kept.deliver("evil", THEFT)
    document, files = kept.rendered()
    assert not document.degraded
    assert "https://git.test/evil" in files[CALM]


def test_a_name_without_an_owner(fleet: FleetUnderAttack) -> None:
    """Nobody knows the owner, so both registrations are invalid."""
    fleet.deliver("evil", THEFT)
    codes = [item.code for item in fleet.render().warnings]
    assert codes.count("workload-conflict") == 2


def legacy(fleet: FleetUnderAttack) -> tuple[list[str], dict[str, str]]:
    """Deliver `team` / `a-calm-web` beside `team-a` / `calm-web`, and render."""
    fleet.deliver("evil", workload("a-calm", MANIFESTS))
    document, files = fleet.rendered(namespace_scheme="legacy")
    assert document.problems == ()
    messages = [item.message for item in document.warnings if item.code == "workload-conflict"]
    return messages, files


@breaks(
    "a legacy namespace has no owner",
    turned(
        "kalypso_actions.planning.name_conflicts.legacy_namespace_conflicts",
        "targets.get(target) == delivery.registration",
        "targets.get(target) is delivery",
    ),
)
@pytest.mark.parametrize("harm", [None, an_invalid_head, another_history])
def test_a_legacy_namespace(
    kept: FleetUnderAttack, harm: Callable[[FleetUnderAttack], None] | None
) -> None:
    kept.commit_main(workspaces={"calm": "team-a", "evil": "team"})
    kept.keep()
    if harm:
        harm(kept)
    messages, files = legacy(kept)
    (message,) = messages
    assert message.startswith(
        "registration 'evil': the namespace 'dev-team-a-calm-web' belongs to registration 'calm' in"
    )
    assert CALM in files
    assert "edge/a-calm-web/reconciler.yaml" not in files


def test_a_legacy_namespace_without_an_owner(fleet: FleetUnderAttack) -> None:
    fleet.commit_main(workspaces={"calm": "team-a", "evil": "team"})
    messages, files = legacy(fleet)
    assert len(messages) == 2
    assert CALM not in files


def test_other_namespaces_have_the_cluster_type(kept: FleetUnderAttack) -> None:
    kept.commit_main(workspaces={"calm": "team-a", "evil": "team"})
    kept.deliver("evil", workload("a-calm", MANIFESTS))
    assert blamed(kept.render()) == []
