"""`drift`, `history`, `delivery` and `status --clusters`: what they answer from a record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import call_kalypso
from tests.commands.chain.cd_runs import promote
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation
from tests.commands.chain.promotions import check, main_commit, merge
from tests.commands.chain.report_sources import reported
from tests.commands.chain.test_history import history
from tests.commands.chain.test_observe import Observer
from tests.commands.chain.test_status import status as read_status

pytestmark = pytest.mark.usefixtures("azure")


class Questions:
    """Asks at the terminal, without a token."""

    def __init__(self, folder: Path, at: str) -> None:
        self.folder = folder
        self.at = at

    def __call__(self, command: str, *arguments: str, status: int = 0) -> dict[str, Any]:
        at = () if "--at" in arguments else ("--at", self.at)
        given = (command, *arguments, *at, "--record", str(self.folder))
        text = call_kalypso(*given)
        done = call_kalypso(*given, "--output", "json")
        assert (done.returncode, text.returncode) == (status, status), done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document


@pytest.fixture
def observer(acme: Organisation, tmp_path: Path) -> Observer:
    return Observer(acme, tmp_path / "record")


def questions(observer: Observer) -> Questions:
    return Questions(observer.folder, f"{observer.acme.clock():%Y-%m-%dT%H:%M:%SZ}")


def kinds(document: dict[str, Any], environment: str = "dev") -> list[tuple[str, str]]:
    return [
        (each["kind"], each["clusterName"] or each["target"])
        for each in document["entries"]
        if each["environment"] == environment and each["kind"] != "no-cluster"
    ]


def test_drift_says_what_is_not_as_wanted(acme: Organisation, observer: Observer) -> None:
    first = merge(acme, main_commit(acme), environment="dev")
    drone, large = reported("drone-1", "./drone", first), reported("large-1", "./large", first)
    observer.look(drone, large)
    before = f"{acme.clock():%Y-%m-%dT%H:%M:%SZ}"
    assert kinds(questions(observer)("drift")) == []
    acme.clock.sleep(3600)
    merge(acme, main_commit(acme, "b"), environment="dev", config="2")
    third = merge(acme, main_commit(acme, "c"), environment="dev", config="3")
    failed = reported("drone-1", "./drone", third, "failed") | {"message": "out of memory"}
    observer.look(failed, large)
    ask = questions(observer)
    document = ask("drift")
    assert kinds(document) == [("failing", "drone-1"), ("behind", "large-1")]
    (behind,) = [each for each in document["entries"] if each["kind"] == "behind"]
    assert behind["changes"] == 2
    assert "registration-ahead" in document["leftOut"]
    assert kinds(ask("drift", "--at", before)) == []
    assert ask("drift", "--fail-on", "suspended")["isFailing"] is False
    assert ask("drift", "--fail-on", "failing,off", status=1)["isFailing"]
    assert ask("drift", "--fail-on", "any", status=1)["isFailing"]
    refused = call_kalypso("drift", "--fail-on", "failling", "--record", str(observer.folder))
    assert refused.returncode == 2
    assert "did you mean failing?" in refused.stderr
    # Somebody edits the branch: no record of sources changes with it.
    acme.commit({"large/shop-web/platform-config.yaml": "config: by hand\n"}, "dev", "acme/gitops")
    acme.clock.sleep(60)
    observer.look(failed, large)
    assert ("edited-by-hand", "large") in kinds(questions(observer)("drift"))
    events = [each.kind for each in observer.document.events]
    assert "edited-by-hand" in events
    acme.clock.sleep(25 * 3600)
    assert ("stale", "") in kinds(questions(observer)("drift"))


def test_the_history_of_a_target_and_of_a_cluster(acme: Organisation, observer: Observer) -> None:
    promoted = main_commit(acme)
    first = merge(acme, promoted)
    observer.look(reported("drone-1", "./drone", first), reported("drone-2", "./drone", first))
    acme.clock.sleep(3600)
    second = merge(acme, main_commit(acme, "b"), config="2")
    failed = reported("drone-1", "./drone", second, "failed")
    observer.look(failed, reported("drone-2", "./drone", second))
    acme.clock.sleep(600)
    observer.look(reported("drone-2", "./drone", second))
    ask = questions(observer)
    document = ask("history", "drone")
    assert document["kind"] == "target"
    of_dev = [each for each in document["targetPeriods"] if each["environment"] == "dev"]
    assert [(each["gitopsCommit"], each["clusters"]) for each in of_dev] == [
        (second, {"success": 1, "failure": 1, "in_progress": 0}),
        (first, {"success": 2, "failure": 0, "in_progress": 0}),
    ]
    assert of_dev[0]["until"] is None
    assert of_dev[1]["until"] == of_dev[0]["since"]
    assert of_dev[1]["sourceCommit"] == promoted
    assert ask("history", "dev", "--target", "drone")["targetPeriods"] == of_dev
    document = ask("history", "drone-1")
    assert document["kind"] == "cluster"
    periods = [each for each in document["clusterPeriods"] if each["environment"] == "dev"]
    assert [(each["status"], each["until"] is None) for each in periods] == [
        ("failure", False),
        ("success", False),
    ]
    since = f"{acme.clock().replace(microsecond=0).isoformat()}"
    assert ask("history", "drone-2", "--since", since)["clusterPeriods"][0]["status"] == "success"
    refused = call_kalypso("history", "dron-1", "--record", str(observer.folder))
    assert refused.returncode == 2
    assert "did you mean drone-" in refused.stderr


def test_delivery_has_figures_with_their_numbers(acme: Organisation, observer: Observer) -> None:
    here: dict[str, Any] = {"record": str(observer.folder)}
    commits = []
    for number, behaviour in enumerate(["follow", "fail", "follow"]):
        acme.clock.sleep(3600)
        acme.cluster("dev", "drone", behaviour=behaviour)
        commit = main_commit(acme, f"change {number}")
        commits.append(commit)
        check(acme, merge(acme, commit, config=str(number)), commit, **here)
    ask = questions(observer)
    document = ask("delivery")
    (dev,) = [
        each
        for each in document["entries"]
        if (each["environment"], each["kind"]) == ("dev", "environment")
    ]
    assert dev["deployments"] == {"promotion": 3}
    assert dev["endedWell"] == 2
    assert dev["changeFailures"] == {"part": 1, "n": 3, "share": 0.3333}
    assert dev["leadTime"]["n"] == 3  # the second arrived with the third
    assert dev["leadTime"]["median"] is None
    assert len(dev["leadTime"]["values"]) == 3
    assert dev["recovery"]["n"] == 1
    assert dev["recoveredByClusters"]
    assert document["recordedSince"]
    (way,) = [
        each
        for each in ask("delivery", "--commit", commits[1][:9])["commits"]
        if each["environment"] == "dev"
    ]
    assert (way["state"], way["deployedAt"]) == ("failed", None)
    assert way["failedAt"]
    assert ask("delivery", "--since", "2020-01-01")["entries"]
    assert ask("delivery", "--at", "0001-01-01")["entries"]
    done = call_kalypso("delivery", "--commit", "deadbee", "--record", str(observer.folder))
    assert done.returncode == 2


def test_an_environment_and_its_status_gain_what_the_record_knows(
    acme: Organisation, observer: Observer
) -> None:
    commit = promote(acme, "1", deployed=False)
    acme.cluster("dev", "drone", behaviour="fail")
    check(acme, merge(acme, commit), commit, record=str(observer.folder))
    document = history(acme, control_plane=CONTROL_PLANE, record=str(observer.folder))
    assert document.periods[0].clusters == {"success": 1, "failure": 1, "in_progress": 0}
    assert history(acme).periods[0].clusters is None
    shown = read_status(acme, clusters="true", record=str(observer.folder))
    (failing,) = shown.environments[0].not_compliant or ()
    assert failing.since is not None
    assert failing.since <= acme.clock()


@pytest.mark.parametrize(
    "text", ["a\tb\nc", "<script>alert(1)</script>", "\x1b[31m\u2028", "x" * 10_000]
)
def test_hostile_names_and_messages_stay_texts(
    acme: Organisation, observer: Observer, text: str
) -> None:
    commit = merge(acme, main_commit(acme))
    name = f"drone-{text[:300]}".replace("\n", " ").replace("/", "|")
    observer.look(reported(name, "./drone", commit, "failed") | {"message": text})
    ask = questions(observer)
    (failing,) = [
        each
        for each in ask("drift")["entries"]
        if (each["kind"], each["environment"]) == ("failing", "dev")
    ]
    assert failing["clusterName"] == name
    assert len(failing["reason"]) <= 200
    shown = call_kalypso("drift", "--record", str(observer.folder), "--at", ask.at).stdout
    assert "\x1b" not in shown
    assert "\u2028" not in shown
    assert ask("history", name)["clusterPeriods"][0]["status"] == "failure"


def test_without_a_record_a_question_says_how_to_make_one(tmp_path: Path) -> None:
    for command in (("drift",), ("delivery",), ("history", "dev")):
        done = call_kalypso(*command, "--record", str(tmp_path))
        assert done.returncode == 2
        assert "kalypso observe" in done.stderr
