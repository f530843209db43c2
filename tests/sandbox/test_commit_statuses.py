"""Commit statuses of simulated clusters: texts, moments, authors, losses, and other Flux versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kalypso_sandbox import Sandbox
from kalypso_sandbox.azure import Cluster, Configuration
from kalypso_sandbox.store import Permissions
from tests.sandbox.served_sandbox import FLEET, NOON, Clock, ask, serving, user

GOOD = ("success", "reconciliation succeeded")
BAD = ("failure", "health check failed")
CONTEXT = "cluster/berlin-1/edge/5d1f0b7a"
INTERVAL = 3600


@dataclass
class Reporting:
    """A sandbox whose clock a test moves, and the App by which its clusters report."""

    sandbox: Sandbox
    clock: Clock
    app: int = 0
    commits: dict[str, str] = field(default_factory=dict)

    def cluster(self, name: str = "Berlin-1", **fields: Any) -> None:
        """Add a cluster outside of Azure; `settings` are those of its notifications."""
        settings = {"app": self.app, "cluster_type": "edge", **fields.pop("settings", {})}
        given = {"repository": FLEET, "branch": "dev", "paths": ["./edge"], "settle": 60.0}
        given |= {"sync_interval": INTERVAL, "notifications": settings, **fields}
        configuration = Configuration.model_validate(given)
        self.sandbox.azure.put(Cluster(name=name, kind="other", configurations=[configuration]))

    def push(self, name: str, text: str = "") -> str:
        """Push a commit to the branch of the clusters."""
        files = {"edge/app.yaml": text or name}
        self.commits[name] = self.sandbox.commit(FLEET, files, branch="dev")
        return self.commits[name]

    def posted(self, commit: str) -> list[tuple[str, str]]:
        """Return state and description of each status of a commit, oldest first."""
        return [(each["state"], each["description"]) for each in self.listed(commit)]

    def listed(self, commit: str) -> list[dict[str, Any]]:
        sha = self.commits[commit]
        path = f"/repos/{FLEET}/commits/{sha}/statuses?per_page=100"
        answer = ask(self.sandbox, "GET", path, by=user(self.sandbox))
        assert answer.ok, answer.text
        return list(reversed(answer.json()))


@pytest.fixture
def reporting(tmp_path: Path) -> Iterator[Reporting]:
    clock = Clock()
    with serving(tmp_path, clock) as sandbox:
        rights: Permissions = {"statuses": "write"}
        app, _ = sandbox.create_app("acme", rights, repositories=[FLEET], slug="acme-flux")
        yield Reporting(sandbox, clock, app)


def test_a_success_comes_after_the_health_checks_on_the_applied_commit(
    reporting: Reporting,
) -> None:
    reporting.cluster(delay=30, settings={"lag": 5})
    reporting.push("one")
    reporting.clock.advance(seconds=94)
    assert reporting.posted("one") == []
    reporting.clock.advance(seconds=1)
    (status,) = reporting.listed("one")
    assert (status["state"], status["description"]) == GOOD
    assert (status["context"], status["target_url"]) == (CONTEXT, None)
    assert status["creator"]["login"] == "acme-flux[bot]"
    assert status["created_at"] == "2026-03-01T12:01:35Z"


def test_a_commit_between_two_syncs_gets_none(reporting: Reporting) -> None:
    reporting.cluster()
    for name in ("one", "two", "three"):
        reporting.push(name)
        reporting.clock.advance(seconds=10)
    reporting.clock.advance(seconds=300)
    assert [reporting.posted(name) for name in ("one", "two", "three")] == [[GOOD], [], [GOOD]]


def test_a_commit_that_changes_nothing_below_the_path_gets_one(reporting: Reporting) -> None:
    reporting.cluster()
    reporting.push("one")
    reporting.commits["other"] = reporting.sandbox.commit(FLEET, {"b": "1"}, branch="dev")
    reporting.clock.advance(seconds=300)
    assert reporting.posted("other") == [GOOD]


def test_an_equal_status_is_not_repeated_unless_too_many_others_hide_it(
    reporting: Reporting,
) -> None:
    reporting.cluster()
    commit = reporting.push("one")
    reporting.clock.advance(seconds=60 + 3 * INTERVAL)
    assert reporting.posted("one") == [GOOD]
    for number in range(50):
        body = {"state": "pending", "context": f"other {number}"}
        path = f"/repos/{FLEET}/statuses/{commit}"
        assert ask(reporting.sandbox, "POST", path, by=user(reporting.sandbox), json=body).ok
    reporting.clock.advance(seconds=INTERVAL)
    assert reporting.posted("one").count(GOOD) == 2


def test_a_failure_is_told_by_its_reason_and_its_repair_by_success(reporting: Reporting) -> None:
    failure = {"text": "bad", "reason": "BuildFailed"}
    reporting.cluster(behaviour="fail", failure=failure)
    reporting.push("one", "bad")
    reporting.clock.advance(seconds=60)
    reporting.push("two", "good")
    reporting.clock.advance(seconds=60)
    assert reporting.posted("one") == [("failure", "build failed")]
    assert reporting.posted("two") == [GOOD]


def test_the_same_failure_within_five_minutes_is_dropped(reporting: Reporting) -> None:
    """After failure, success and the same failure, success is the newest."""
    reporting.cluster(behaviour="flap", period=60)
    reporting.push("one")
    reporting.clock.advance(seconds=60 + 4 * 60)
    assert reporting.posted("one") == [GOOD, BAD, GOOD]
    reporting.clock.advance(seconds=3 * 60)
    assert reporting.posted("one") == [GOOD, BAD, GOOD, BAD]


@pytest.mark.parametrize(
    ("controller", "good", "bad"),
    [
        ("1.7", [("success", "dependency not ready"), GOOD], [BAD]),
        ("1.8.0", [], []),
        ("1.8.1", [GOOD], []),
        ("1.9", [GOOD], [BAD]),
    ],
)
def test_what_the_versions_of_notification_controller_post(
    reporting: Reporting, controller: str, good: list[object], bad: list[object]
) -> None:
    settings = {"controller": controller}
    reporting.cluster(paths=["./infra", "./edge"], settings=settings)
    reporting.cluster("broken", settings=settings, behaviour="fail", branch="other")
    reporting.push("one")
    reporting.commits["bad"] = reporting.sandbox.commit(FLEET, {"a": "1"}, branch="other")
    reporting.clock.advance(seconds=60)
    assert reporting.posted("one") == good
    assert reporting.posted("bad") == bad


def test_without_an_expression_the_context_is_flux_s_default(reporting: Reporting) -> None:
    reporting.cluster(settings={"expression": False}, name="platform")
    reporting.push("one")
    reporting.clock.advance(seconds=60)
    assert reporting.listed("one")[0]["context"] == "kustomization/cluster-config/5d1f0b7a"


def test_argo_cd_s_notifications_have_their_own_texts(reporting: Reporting) -> None:
    failure = {"text": "bad", "message": "no pods" + "!" * 200}
    application = {"server": "hub"}
    reporting.cluster(behaviour="fail", failure=failure, application=application)
    reporting.push("one")
    reporting.clock.advance(seconds=60)
    reporting.push("two", "bad")
    reporting.clock.advance(seconds=60 + 2 * INTERVAL)
    (good,), (bad,) = reporting.listed("one"), reporting.listed("two")
    context = "cluster/Berlin-1/edge/platform-Berlin-1"
    assert (good["state"], good["description"]) == ("success", "Synced and healthy")
    assert good["context"] == bad["context"] == context
    assert good["target_url"] == "https://hub.example/applications/platform-Berlin-1"
    assert (bad["state"], len(bad["description"])) == ("failure", 140)
    assert bad["description"].startswith("Degraded: no pods!")


@pytest.mark.parametrize(
    ("settings", "count"),
    [({"lost": 1}, 0), ({"doubled": 1}, 2), ({"app": 1}, 0), ({"lost": 1, "doubled": 1}, 0)],
)
def test_losses_and_duplicates(
    reporting: Reporting, settings: dict[str, float], count: int
) -> None:
    reporting.cluster(settings=settings)
    reporting.push("one")
    reporting.clock.advance(seconds=60)
    assert reporting.posted("one") == [GOOD] * count


@pytest.mark.parametrize("refusal", ["permission", "repository", "suspended", "limit"])
def test_what_github_refuses_is_lost(reporting: Reporting, refusal: str) -> None:
    app = reporting.sandbox.store.apps[reporting.app]
    match refusal:
        case "permission":
            app.permissions = {"contents": "write"}
        case "repository":
            app.installations["acme"].repositories = ["acme/other"]
        case "suspended":
            app.installations["acme"].suspended = True
        case _:
            reporting.sandbox.state.rate_limits.contents_per_minute = 0
    reporting.cluster()
    reporting.push("one")
    reporting.clock.advance(seconds=60)
    assert reporting.posted("one") == []


def test_some_posts_are_lost_and_always_the_same(reporting: Reporting) -> None:
    for number in range(40):
        reporting.cluster(f"c{number}", settings={"lost": 0.5})
    reporting.push("one")
    reporting.clock.advance(seconds=60)
    first = {each["context"] for each in reporting.listed("one")}
    assert 10 < len(first) < 30
    reporting.sandbox.repository(FLEET).statuses.clear()
    reporting.sandbox.store.clusters_heard_until = None
    assert {each["context"] for each in reporting.listed("one")} == first


def test_a_restart_posts_nothing_again(tmp_path: Path) -> None:
    clock = Clock()
    for _ in range(2):
        with serving(tmp_path, clock) as sandbox:
            first = not sandbox.store.apps
            reporting = Reporting(sandbox, clock)
            if first:
                reporting.app, _ = sandbox.create_app("acme", {"statuses": "write"})
                reporting.cluster(settings={"doubled": 1})
                reporting.push("one")
                clock.advance(seconds=60)
            sandbox.post_cluster_statuses()
            assert len(sandbox.repository(FLEET).statuses) == 2
    assert clock() > NOON


@pytest.mark.parametrize("behaviour", ["stall", "suspended", "disconnected"])
def test_a_cluster_that_stops_posts_nothing_more(reporting: Reporting, behaviour: str) -> None:
    reporting.cluster()
    reporting.push("one")
    reporting.clock.advance(seconds=60)
    reporting.sandbox.azure.change("Berlin-1", behaviour=behaviour)
    reporting.push("two")
    reporting.clock.advance(seconds=600)
    assert (reporting.posted("one"), reporting.posted("two")) == ([GOOD], [])


def test_azure_does_not_know_these_clusters(reporting: Reporting) -> None:
    reporting.cluster()
    assert reporting.sandbox.azure.tables()["resources"] == []
    assert reporting.sandbox.azure.subscriptions() == []
