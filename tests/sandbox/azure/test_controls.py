"""The HTTP controls of clusters and settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from kalypso_sandbox.azure import Azure
from kalypso_sandbox.azure.clusters import UnknownNameError
from tests.sandbox.azure.azure_server import ask, client, names
from tests.sandbox.azure.builders import Clock, at, azure, cluster, push, store

CLUSTER = {
    "name": "drone-1",
    "configurations": [{"repository": "acme/fleet", "branch": "dev", "delay": 30}],
}


@pytest.fixture
def made(tmp_path: Path, clock: Clock) -> Azure:
    return azure(tmp_path, clock)


def listed(asked: FlaskClient) -> dict[str, dict[str, Any]]:
    """Return cluster -> the state of its configuration."""
    listed = asked.get("/_sandbox/clusters").get_json()["clusters"]
    return {each["name"]: each["state"]["cluster-config"] for each in listed}


def test_a_cluster_is_added_listed_changed_and_deleted(
    made: Azure, clock: Clock, tmp_path: Path
) -> None:
    asked = client(made)
    added = asked.post("/_sandbox/clusters", json=CLUSTER)
    assert (added.status_code, added.get_json()["name"]) == (201, "drone-1")
    commit = push(made.store, {"a": "1"})
    clock.seconds = 30
    assert listed(asked) == {
        "drone-1": {
            "complianceState": "Compliant",
            "provisioningState": "Succeeded",
            "suspend": False,
            "sourceSyncedCommitId": f"dev@sha1:{commit}",
        }
    }
    changed = asked.patch("/_sandbox/clusters/drone-1", json={"behaviour": "suspended"})
    assert changed.status_code == 200
    assert changed.get_json()["configurations"][0]["delay"] == 30
    assert listed(asked)["drone-1"]["complianceState"] == "Suspended"
    assert store(tmp_path, clock).clusters == made.store.clusters
    assert asked.delete("/_sandbox/clusters/drone-1").status_code == 204
    assert listed(asked) == {}
    assert store(tmp_path, clock).clusters == {}


@pytest.mark.parametrize(
    ("method", "path", "body", "refusal"),
    [
        ("POST", "", {"name": ""}, "422 The body is not valid."),
        ("POST", "", None, "422 Expecting value: line 1 column 1 (char 0)"),
        ("POST", "", {"name": "x", "colour": "red"}, "422 The body is not valid."),
        ("PATCH", "/drone-1", {"behaviour": "dance"}, "422 The body is not valid."),
        ("PATCH", "/drone-1", [], "422 The body is not valid."),
        ("PATCH", "/drone-1", {"since": "2026-07-01T12:00:00"}, "422 The body is not valid."),
        ("PATCH", "/other", {}, "404 there is no cluster 'other'"),
        ("DELETE", "/other", None, "404 there is no cluster 'other'"),
        ("PATCH", "/drone-1", {"configuration": "x"}, "404 'drone-1' has 0 configurations 'x'"),
    ],
)
def test_wrong_controls(made: Azure, method: str, path: str, body: Any, refusal: str) -> None:
    made.put(cluster())
    before = dict(made.store.clusters)
    asked = client(made)
    response = asked.open(f"/_sandbox/clusters{path}", method=method, json=body)
    assert f"{response.status_code} {response.get_json()['message']}" == refusal
    assert made.store.clusters == before


def test_one_of_several_configurations_is_named(made: Azure) -> None:
    put = cluster()
    other = put.configurations[0].model_copy(update={"name": "other"})
    made.put(put.model_copy(update={"configurations": [*put.configurations, other]}))
    with pytest.raises(UnknownNameError, match="2 configurations"):
        made.change("drone-1", delay=5)
    changed = made.change("drone-1", "other", delay=5)
    assert [configuration.delay for configuration in changed.configurations] == [0, 5]


def test_a_changed_behaviour_begins_now_and_others_go_on(made: Azure, clock: Clock) -> None:
    made.put(cluster())
    clock.seconds = 40
    assert made.change("drone-1", delay=5).configurations[0].since == at(0)
    assert made.change("drone-1", behaviour="fail").configurations[0].since == at(40)


def test_a_broken_change_fails_and_its_repair_succeeds(made: Azure, clock: Clock) -> None:
    made.put(cluster(behaviour="fail", failure={"path": "drone/*", "text": "replicas: -1"}))
    asked = client(made)
    states = []
    for content in ("replicas: 1", "replicas: -1", "replicas: 2"):
        clock.seconds += 10
        push(made.store, {"drone/web.yaml": content})
        states.append(listed(asked)["drone-1"]["complianceState"])
    assert states == ["Compliant", "Non-Compliant", "Compliant"]


def test_settings_are_read_and_changed(made: Azure) -> None:
    asked = client(made)
    assert asked.get("/_sandbox/azure").get_json()["quota"] == 15
    changed = asked.patch("/_sandbox/azure", json={"quota": 0, "page_size": 2})
    assert (changed.get_json()["quota"], made.settings.page_size) == (0, 2)
    for wrong in ({"quota": -1}, {"colour": "red"}, None):
        assert asked.patch("/_sandbox/azure", json=wrong).status_code == 422
    assert made.settings.quota == 0


def test_disturbances_are_added_and_ended(made: Azure) -> None:
    made.put(cluster())
    asked = client(made)
    url = "/_sandbox/azure/faults"
    added = asked.post(url, json={"kind": "unseen", "count": 0})
    assert (added.status_code, len(added.get_json()["faults"])) == (201, 1)
    assert names(ask(made)) == []
    assert asked.delete(url).status_code == 204
    assert names(ask(made)) == ["drone-1"]
    assert asked.post(url, json={"kind": "earthquake"}).status_code == 422
