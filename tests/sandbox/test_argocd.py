"""The API of Argo CD: what Applications tell, what tokens see, and what lists leave out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from kalypso_sandbox import Fault, Sandbox
from kalypso_sandbox.argocd import Policy
from kalypso_sandbox.azure import Cluster, Configuration
from tests.conformance.real_control_planes import DATA
from tests.sandbox.served_sandbox import FLEET, Clock, ask, serving

HUB = "hub"
SETTLE = 60.0


@dataclass
class Hub:
    """A sandbox with one Argo CD, whose clock a test moves."""

    sandbox: Sandbox
    clock: Clock
    token: str

    def cluster(self, name: str, **fields: Any) -> None:
        application = {"server": HUB, **fields.pop("application", {})}
        given = {"repository": FLEET, "branch": "dev", "paths": ["./edge"], "settle": SETTLE}
        given |= {"application": application, **fields}
        configuration = Configuration.model_validate(given)
        self.sandbox.azure.put(Cluster(name=name, kind="other", configurations=[configuration]))

    def push(self, text: str, folder: str = "edge") -> str:
        return self.sandbox.commit(FLEET, {f"{folder}/app.yaml": text}, branch="dev")

    def ask(self, path: str, token: str | None = None, server: str = HUB) -> requests.Response:
        url = f"/_argocd/{server}/api/{path}"
        bearer = self.token if token is None else token
        return ask(self.sandbox, "GET", url, by=f"Bearer {bearer}" if bearer else "")

    def read(self, path: str, token: str | None = None) -> Any:
        answer = self.ask(path, token)
        assert answer.ok, answer.text
        return answer.json()

    def names(self, query: str = "", token: str | None = None) -> list[str] | None:
        items = self.read(f"v1/applications?{query}", token)["items"]
        return items and [each["metadata"]["name"] for each in items]

    def status(self, name: str = "platform-berlin") -> Any:
        return self.read(f"v1/applications/{name}")["status"]

    def told(self, name: str = "platform-berlin") -> tuple[str, str, str, str]:
        """Return the sync status, its revision, the phase of the operation, and the health."""
        status = self.status(name)
        phase = status.get("operationState", {}).get("phase", "")
        sync, health = status["sync"], status["health"].get("status", "")
        return sync["status"], sync.get("revision", ""), phase, health

    def limited(self, *policies: Policy) -> str:
        return self.sandbox.argocd.create_token(HUB, list(policies))


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    clock = Clock()
    with serving(tmp_path, clock) as sandbox:
        yield Hub(sandbox, clock, sandbox.argocd.create_token(HUB))


def test_an_application_from_its_first_comparison_to_health(hub: Hub) -> None:
    hub.cluster("berlin", delay=30, reconcile_delay=10)
    assert hub.told() == ("", "", "", "")
    one = hub.push("1")
    hub.clock.advance(seconds=30)
    assert hub.told() == ("OutOfSync", one, "", "Missing")
    hub.clock.advance(seconds=10)
    assert hub.told() == ("OutOfSync", one, "Running", "Progressing")
    hub.clock.advance(seconds=30)
    assert hub.told() == ("Synced", one, "Succeeded", "Progressing")
    hub.clock.advance(seconds=30)
    assert hub.told() == ("Synced", one, "Succeeded", "Healthy")
    status = hub.status()
    assert status["operationState"]["syncResult"]["revision"] == one
    assert status["operationState"]["finishedAt"] == "2026-03-01T12:01:10Z"
    assert status["health"]["lastTransitionTime"] == "2026-03-01T12:01:40Z"
    assert status["reconciledAt"] >= status["health"]["lastTransitionTime"]


def test_a_newer_commit_is_compared_before_it_is_applied(hub: Hub) -> None:
    hub.cluster("berlin", reconcile_delay=20)
    one = hub.push("1")
    hub.clock.advance(seconds=100)
    two = hub.push("2")
    assert hub.told() == ("OutOfSync", two, "Succeeded", "Healthy")
    assert hub.status()["operationState"]["operation"]["sync"]["revision"] == one


def test_a_commit_that_changes_nothing_for_an_application_is_synced_without_an_operation(
    hub: Hub,
) -> None:
    hub.cluster("berlin")
    one = hub.push("1")
    hub.clock.advance(seconds=100)
    other = hub.push("2", folder="elsewhere")
    hub.clock.advance(seconds=1)
    assert hub.told() == ("Synced", other, "Succeeded", "Healthy")
    status = hub.status()
    assert status["operationState"]["syncResult"]["revision"] == one
    assert status["health"]["lastTransitionTime"] == "2026-03-01T12:01:00Z"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"behaviour": "fail"}, ("Synced", "two", "Succeeded", "Degraded")),
        (
            {"behaviour": "fail", "failure": {"reason": "SyncFailed", "message": "quota"}},
            ("OutOfSync", "two", "Failed", "Healthy"),
        ),
        ({"behaviour": "stall"}, ("OutOfSync", "two", "Succeeded", "Healthy")),
        ({"behaviour": "suspended"}, ("Synced", "one", "Succeeded", "Suspended")),
        ({"behaviour": "disconnected"}, ("Unknown", "one", "Succeeded", "Healthy")),
    ],
    ids=["degraded", "sync failed", "compared, not applied", "suspended", "unreachable"],
)
def test_what_goes_wrong(hub: Hub, fields: dict[str, Any], told: tuple[str, str, str, str]) -> None:
    hub.cluster("berlin")
    commits = {"one": hub.push("1")}
    hub.clock.advance(seconds=100)
    hub.sandbox.azure.change("berlin", **fields)
    hub.clock.advance(seconds=1)
    commits["two"] = hub.push("2")
    hub.clock.advance(seconds=200)
    assert hub.told() == (told[0], commits[told[1]], *told[2:])
    if fields["behaviour"] == "disconnected":
        status = hub.status()
        assert status["conditions"][0]["type"] == "ComparisonError"
        assert status["reconciledAt"] <= "2026-03-01T12:01:40Z"
        (berlin,) = [each for each in hub.read("v1/clusters")["items"] if each["name"] == "berlin"]
        assert berlin["connectionState"]["status"] == "Failed"


@pytest.mark.parametrize("broken", [True, False])
def test_a_parent_is_healthy_whatever_its_children_are(hub: Hub, broken: bool) -> None:
    failure = {"kustomization": "edge-app", "text": "bad"}
    hub.cluster("berlin", nested=True, behaviour="fail", failure=failure)
    hub.cluster("oslo", nested=True)
    hub.push("bad" if broken else "good")
    hub.clock.advance(seconds=100)
    assert hub.told()[3] == "Healthy"
    (child,) = [each for each in hub.status()["resources"] if each["kind"] == "Application"]
    assert (child["group"], child["name"]) == ("argoproj.io", "edge-app-berlin")
    assert hub.told("edge-app-berlin")[3] == ("Degraded" if broken else "Healthy")
    assert hub.told("edge-app-oslo")[3] == "Healthy"
    application = hub.read("v1/applications/edge-app-berlin")
    assert application["spec"]["source"]["repoURL"].endswith("elsewhere/app")


@pytest.mark.parametrize(
    ("destination", "expected"),
    [
        ("name", {"name": "berlin", "namespace": "argocd"}),
        ("server", {"server": "https://berlin.k8s.example:6443", "namespace": "argocd"}),
        ("in-cluster", {"server": "https://kubernetes.default.svc", "namespace": "argocd"}),
    ],
)
def test_destinations(hub: Hub, destination: str, expected: dict[str, str]) -> None:
    labels = {"kalypso.io/cluster": "berlin"}
    hub.cluster("berlin", application={"destination": destination, "labels": labels, "name": "p"})
    application = hub.read("v1/applications/p")
    assert application["spec"]["destination"] == expected
    assert application["metadata"]["labels"] == labels
    assert application["spec"]["source"] == {
        "repoURL": f"{hub.sandbox.url}/{FLEET}",
        "path": "edge",
        "targetRevision": "dev",
        "directory": {"recurse": True},
    }
    known = {each["name"]: each["server"] for each in hub.read("v1/clusters")["items"]}
    assert known["in-cluster"] == "https://kubernetes.default.svc"
    assert ("berlin" in known) is (destination != "in-cluster")


def test_lists_leave_out_what_a_token_may_not_see(hub: Hub) -> None:
    for name in ("berlin", "hamburg"):
        hub.cluster(name, application={"project": name})
    assert hub.names() == ["platform-berlin", "platform-hamburg"]
    half = hub.limited(("applications", "get", "berlin/*"), ("clusters", "get", "https://b*"))
    assert hub.names(token=half) == ["platform-berlin"]
    assert [each["name"] for each in hub.read("v1/clusters", half)["items"]] == ["berlin"]
    blind = hub.limited(("applications", "sync", "*"))
    assert hub.read("v1/applications", blind) == {
        "metadata": {"resourceVersion": "41000000"},
        "items": None,
    }
    assert hub.read("v1/clusters", blind) == {"metadata": {}, "items": None}


@pytest.mark.parametrize("name", ["platform-hamburg", "nothing"])
def test_a_lone_read_of_what_is_hidden_or_missing_is_forbidden(hub: Hub, name: str) -> None:
    hub.cluster("hamburg", application={"project": "hamburg"})
    answer = hub.ask(f"v1/applications/{name}", hub.limited(("applications", "get", "berlin/*")))
    words = "permission denied"
    assert (answer.status_code, answer.json()) == (
        403,
        {"error": words, "code": 7, "message": words},
    )


@pytest.mark.parametrize(
    ("policies", "question", "value"),
    [
        ([("applications", "get", "*")], "applications/get/*/*", "yes"),
        ([("applications", "get", "*/*")], "applications/get/*/*", "yes"),
        ([("applications", "get", "team/*")], "applications/get/*/*", "no"),
        ([("applications", "get", "team/*")], "applications/get/team/web", "yes"),
        ([("applications", "sync", "*")], "applications/get/*/*", "no"),
        ([("clusters", "get", "*")], "clusters/get/*", "yes"),
        ([], "applications/get/*/*", "no"),
    ],
)
def test_can_i(hub: Hub, policies: list[Policy], question: str, value: str) -> None:
    assert hub.read(f"v1/account/can-i/{question}", hub.limited(*policies)) == {"value": value}


def test_a_question_about_an_unknown_resource_is_refused(hub: Hub) -> None:
    answer = hub.ask("v1/account/can-i/pods/get/*")
    assert (answer.status_code, answer.json()["code"]) == (400, 3)


@pytest.mark.parametrize("path", ["v1/applications", "v1/applications/x", "v1/clusters"])
def test_tokens_that_are_no_session(hub: Hub, path: str) -> None:
    brief = hub.sandbox.argocd.create_token(HUB, lifetime=60)
    other = hub.sandbox.argocd.create_token("other")
    hub.clock.advance(seconds=60)
    for token, words in (
        ("", "no session information"),
        ("x.y.z", "invalid session: token signature is invalid"),
        (brief, "invalid session: token has invalid claims: token is expired"),
        (other, "invalid session: account kalypso does not have token with id "),
    ):
        answer = hub.ask(path, token)
        assert (answer.status_code, answer.json()["code"]) == (401, 16)
        assert answer.json()["message"].startswith(words)
        assert hub.read("v1/session/userinfo", token) == {}
    assert hub.read("v1/session/userinfo")["username"] == "kalypso"
    hub.sandbox.argocd.revoke_tokens(HUB)
    assert hub.ask(path).status_code in {401, 404}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("name=web", ["web"]),
        ("projects=team", ["several", "web"]),
        ("project=nobody", None),
        ("selector=tier%3Dfront", ["web"]),
        ("selector=tier!%3Dfront,team", ["several"]),
        ("selector=!tier,!team", ["platform-berlin"]),
        ("repo=https://charts.example", ["several"]),
        ("repo=https://charts.example/", None),
        ("limit=1&search=web&offset=1", ["platform-berlin", "several", "web"]),
    ],
)
def test_queries(hub: Hub, query: str, names: list[str] | None) -> None:
    """`repo` compares the exact text of the first source; `limit` and `search` do nothing."""
    hub.cluster("berlin")
    labels = {"team": "a", "tier": "front"}
    spec: dict[str, Any] = {"project": "team", "source": {"repoURL": "https://x.example"}}
    argocd = hub.sandbox.argocd
    argocd.put(HUB, {"metadata": {"name": "web", "labels": labels}, "spec": spec})
    sources = [{"repoURL": "https://charts.example"}, {"repoURL": "https://x.example"}]
    labels = {"team": "b"}
    spec = {"project": "team", "sources": sources}
    argocd.put(HUB, {"metadata": {"name": "several", "labels": labels}, "spec": spec})
    assert hub.names(query) == names


def test_only_some_fields_can_be_selected(hub: Hub) -> None:
    hub.cluster("berlin")
    one = hub.push("1")
    hub.clock.advance(seconds=100)
    wanted = ("metadata.name", "status.sync.status", "status.sync.revision", "status.reconciledAt")
    query = ",".join(f"items.{name}" for name in (*wanted, "status.operationState.operation.sync"))
    (item,) = hub.read(f"v1/applications?fields={query}")["items"]
    assert item == {
        "metadata": {"name": "platform-berlin"},
        "status": {
            "sync": {"status": "Synced"},
            "operationState": {"operation": {"sync": {"revision": one}}},
        },
    }


def test_there_is_no_other_server(hub: Hub) -> None:
    answer = hub.ask("v1/applications", server="elsewhere")
    assert (answer.status_code, answer.text) == (404, "default backend - 404")
    assert hub.ask("version", "").json()["Version"].startswith("v3.")


def test_faults_and_the_record(hub: Hub) -> None:
    with hub.sandbox.faults.on(Fault("GET", "argocd", "status", status=503)):
        assert hub.ask("v1/clusters").status_code == 503
    lost = Fault("GET", "/_argocd/hub/*", "lost")
    with hub.sandbox.faults.on(lost), pytest.raises(requests.exceptions.ConnectionError):
        hub.ask("v1/applications")
    assert [each.status for each in hub.sandbox.traffic.of("GET", "argocd")] == [503, 0]
    assert hub.token not in repr(list(hub.sandbox.traffic))


CASES = DATA / "cluster-reports" / "cases.jsonl"


def paths(value: Any, place: str = "") -> set[str]:
    """Return the places of all values in a document; labels, and items of lists, count as one."""
    if isinstance(value, dict) and not place.endswith(("labels", "annotations")):
        return {path for name in value for path in paths(value[name], f"{place}.{name}")}
    if isinstance(value, list):
        return {path for item in value for path in paths(item, f"{place}[]")}
    return {place}


@pytest.mark.skipif(not CASES.exists(), reason="the cases are not part of this project")
def test_applications_and_clusters_have_the_form_of_real_ones(hub: Hub) -> None:
    applications, known = set(), set()
    for line in CASES.read_text(encoding="utf-8").splitlines():
        for server in json.loads(line)["input"].get("servers", {}).values():
            for each in server["applications"]["items"] or ():
                applications |= paths(each)
            known |= paths(server["clusters"]["items"])
    hub.cluster("berlin", nested=True)
    hub.cluster("paris", behaviour="disconnected", application={"destination": "server"})
    hub.push("1")
    hub.clock.advance(seconds=100)
    for each in hub.read("v1/applications")["items"]:
        assert paths(each) - applications <= {".status.health", ".spec.destination.server"}
    assert known <= paths(hub.read("v1/clusters")["items"])


def test_controls(hub: Hub) -> None:
    def control(method: str, path: str, body: Any = None) -> requests.Response:
        return ask(hub.sandbox, method, f"/_sandbox/argocd/hub/{path}", json=body)

    policies = [["applications", "get", "team/*"]]
    token = control("POST", "tokens", {"policies": policies}).json()["token"]
    application = {"metadata": {"name": "web"}, "spec": {"project": "team"}}
    assert control("POST", "applications", application).status_code == 201
    assert hub.names(token=token) == ["web"]
    assert control("POST", "applications", {"metadata": {}}).status_code == 422
    assert control("POST", "tokens", {"odd": 1}).status_code == 422
    assert control("DELETE", "tokens").status_code == 204
    assert hub.ask("v1/applications", token).status_code == 401


def test_azure_does_not_know_configurations_of_argo_cd(hub: Hub) -> None:
    hub.cluster("berlin")
    assert hub.sandbox.azure.tables()["kubernetesconfigurationresources"] == []
