"""`kalypso observe`: what it records of the sandbox's environments and clusters, and when."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.clients.git import WritableRepository
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.observe import observe
from kalypso_actions.commands.shared.record import FolderRecord, read_record, record_log
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import ObserveInputs
from kalypso_actions.observations.record import ObservationRecord, RealLine
from kalypso_actions.observations.retention import pruned
from kalypso_actions.report.observe_document import ObserveDocument
from tests.command_line import call_kalypso
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Organisation
from tests.commands.chain.promotions import main_commit, merge
from tests.commands.chain.report_sources import program, reported
from tests.observations.replay import RealPeriod, Replay

HOUR = timedelta(hours=1)


class Observer:
    """Observes Acme with a program's reports, into a folder."""

    def __init__(self, acme: Organisation, folder: Path) -> None:
        self.acme = acme
        self.folder = folder
        self.document = ObserveDocument()

    def look(self, *clusters: dict[str, Any], **inputs: Any) -> ObservationRecord:
        """Look once, and return the record."""
        given: dict[str, Any] = {
            "cluster_reports": "command",
            "reports_command": program(*clusters),
        }
        given |= {"record": str(self.folder), **inputs}
        result = self.acme.run(observe, ObserveInputs, **given)
        assert isinstance(result.document, ObserveDocument)
        self.document = result.document
        return self.record()

    @property
    def branch(self) -> FolderRecord:
        """The branch of the record."""
        return FolderRecord.open(self.folder, Programs({"PATH": _path()}), create=False)

    def record(self) -> ObservationRecord:
        """Return the record as it is."""
        return read_record(self.branch)[1]

    def real(self, name: str, environment: str = "dev") -> list[RealLine]:
        """Return the lines of a cluster."""
        return [
            line
            for (of, _), lines in self.record().real.items()
            for line in lines
            if of == environment and line.cluster == name
        ]

    def periods(self, name: str) -> list[RealPeriod]:
        """Return the periods of a cluster."""
        head = self.branch.head()
        periods = Replay()
        for _, steps in record_log(self.branch, head).commits:
            periods.add(steps)
        return [
            each
            for each in periods.real()
            if (each.environment, each.line.cluster) == ("dev", name)
        ]


def _path() -> str:
    import os  # noqa: PLC0415

    return os.environ["PATH"]


@pytest.fixture
def observer(acme: Organisation, tmp_path: Path) -> Observer:
    return Observer(acme, tmp_path / "record")


def merged(acme: Organisation, **fields: str) -> str:
    """Merge a tree to dev, and return the commit of the GitOps branch."""
    return merge(acme, main_commit(acme), **fields)


def test_a_look_says_what_runs_and_the_next_one_changes_nothing(
    acme: Organisation, observer: Observer
) -> None:
    promoted = main_commit(acme)
    commit = merge(acme, promoted)
    drone, large = reported("drone-1", "./drone", commit), reported("large-1", "./large", commit)
    record = observer.look(drone, large)
    assert record.environments[0][:2] == ("dev", 0)
    (line,) = observer.real("drone-1")
    wanted = {each.name: each for each in record.desired["dev"]}
    assert (line.commit, line.content) == (commit, wanted["drone"].content)
    assert (line.status, line.relation) == ("success", "current")
    assert wanted["drone"].source_commit == promoted
    head = observer.branch.head()
    acme.clock.sleep(60)
    observer.look(large, drone)
    assert observer.branch.head() == head
    assert not observer.document.changed


def test_a_cluster_behind_is_told_and_catches_up(acme: Organisation, observer: Observer) -> None:
    first = merged(acme)
    observer.look(reported("drone-1", "./drone", first))
    second = merged(acme, config="2")
    observer.look(reported("drone-1", "./drone", first))
    (line,) = observer.real("drone-1")
    assert (line.status, line.relation) == ("success", "behind")
    acme.clock.sleep(60)
    observer.look(reported("drone-1", "./drone", second))
    assert [(each.line.commit, each.line.relation) for each in observer.periods("drone-1")] == [
        (first, "behind"),
        (second, "current"),
    ]


def test_a_failure_is_a_period_and_a_gone_cluster_ends_it(
    acme: Organisation, observer: Observer
) -> None:
    commit = merged(acme)
    drone = reported("drone-1", "./drone", commit)
    observer.look(drone)
    failed = drone | {"state": "failed", "message": "out of memory"}
    acme.clock.sleep(600)
    observer.look(failed)
    (line,) = observer.real("drone-1")
    assert (line.status, line.reason) == ("failure", "out of memory")
    acme.clock.sleep(600)
    observer.look()
    assert [each.status for each in observer.real("drone-1")] == ["gone"]
    acme.clock.sleep(600)
    observer.look(drone)
    assert [each.line.status for each in observer.periods("drone-1")] == [
        "success",
        "failure",
        "success",
    ]
    ends = [each.until for each in observer.periods("drone-1")]
    assert None not in ends[:2]
    assert ends[2] is None


def test_a_source_that_does_not_answer_proves_nothing(
    acme: Organisation, observer: Observer
) -> None:
    commit = merged(acme)
    observer.look(reported("drone-1", "./drone", commit))
    acme.clock.sleep(60)
    record = observer.look(reports_command="exit 3")
    assert observer.document.problems
    assert [each.status for each in observer.real("drone-1")] == ["success"]
    look = record.last_look("dev")
    assert look is not None


def test_a_branch_that_was_forced_away_leaves_its_clusters_off(
    acme: Organisation, observer: Observer
) -> None:
    first = merged(acme)
    second = merged(acme, config="2")
    observer.look(reported("drone-1", "./drone", second))
    acme.reset("dev", first, GITOPS)
    acme.clock.sleep(60)
    observer.look(reported("drone-1", "./drone", second))
    (line,) = observer.real("drone-1")
    assert (line.relation, line.commit) == ("off", second)


def test_the_record_lies_in_the_control_plane_by_default(
    acme: Organisation, observer: Observer
) -> None:
    commit = merged(acme)
    drone = reported("drone-1", "./drone", commit)
    acme.sandbox.repository(CONTROL_PLANE).private = False
    with pytest.raises(UsageError, match="is public"):
        observer.acme.run(
            observe, ObserveInputs, cluster_reports="command", reports_command=program(drone)
        )
    result = acme.run(
        observe,
        ObserveInputs,
        cluster_reports="command",
        reports_command=program(drone),
        record_public="true",
    )
    document = result.document
    assert isinstance(document, ObserveDocument)
    assert document.changed
    head = acme.sandbox.git(CONTROL_PLANE).head("kalypso-observability")
    assert document.commit == head


def test_a_dry_run_writes_nothing(acme: Organisation, observer: Observer) -> None:
    commit = merged(acme)
    observer.look(reported("drone-1", "./drone", commit))
    head = observer.branch.head()
    acme.clock.sleep(60)
    observer.look(dry_run="true")
    assert observer.document.changed
    assert observer.branch.head() == head


def test_two_recorders_at_once_agree(
    acme: Organisation, observer: Observer, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = merged(acme)
    drone, large = reported("drone-1", "./drone", commit), reported("large-1", "./large", commit)
    observer.look(drone)
    move = WritableRepository.move
    calls: list[str] = []

    def late(self: WritableRepository, branch: str, new: str, expected: str) -> None:
        if not calls:
            calls.append(new)
            observer.look(drone, large)
        move(self, branch, new, expected)

    monkeypatch.setattr(WritableRepository, "move", late)
    acme.clock.sleep(60)
    observer.look(drone, large)
    assert len(calls) == 1
    assert {line.status for line in observer.real("large-1")} == {"success"}
    assert len(observer.periods("large-1")) == 1


def asked(observer: Observer, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Ask `kalypso where` at the terminal, without a token."""
    done = call_kalypso("where", *arguments, "--record", str(observer.folder), "--output", "json")
    return done.returncode, json.loads(done.stdout) if done.stdout else {}


def test_where_says_who_has_it_now_and_then(acme: Organisation, observer: Observer) -> None:
    promoted = main_commit(acme)
    first = merge(acme, promoted)
    observer.look(reported("drone-1", "./drone", first), reported("large-1", "./large", first))
    before = acme.clock()
    acme.clock.sleep(3600)
    second = merged(acme, config="2")
    drone = reported("drone-1", "./drone", second, "failed") | {"message": "out of memory"}
    observer.look(drone, reported("large-1", "./large", first))
    for name, clusters in [
        ("drone-1", ["drone-1"]),
        ("DRONE", ["drone-1"]),
        (second[:7], ["drone-1"]),
        (promoted, ["large-1"]),
        (first[:12], ["large-1"]),
        ("dev", ["drone-1", "large-1"]),
    ]:
        status, document = asked(observer, name)
        of_dev = [each for each in document["states"] if each["environment"] == "dev"]
        assert (status, [each["clusterName"] for each in of_dev]) == (0, clusters), name
    _, document = asked(observer, "drone-1")
    (state,) = [each for each in document["states"] if each["environment"] == "dev"]
    assert (state["status"], state["relation"], state["reason"]) == (
        "failure",
        "current",
        "out of memory",
    )
    _, document = asked(observer, "large-1")
    (state,) = [each for each in document["states"] if each["environment"] == "dev"]
    assert (state["relation"], state["gitopsCommit"]) == ("behind", first)
    _, document = asked(observer, "drone-1", "--at", f"{before:%Y-%m-%dT%H:%M:%SZ}")
    (state,) = [each for each in document["states"] if each["environment"] == "dev"]
    assert (state["status"], state["relation"], state["gitopsCommit"]) == (
        "success",
        "current",
        first,
    )


def test_where_names_what_is_meant(acme: Organisation, observer: Observer) -> None:
    assert asked(observer, "drone-1")[0] == 2
    observer.look(reported("drone-1", "./drone", merged(acme)))
    done = call_kalypso("where", "dron-1", "--record", str(observer.folder))
    assert done.returncode == 2
    assert "did you mean drone-1?" in done.stderr
    assert asked(observer, "drone-1", "--at", "yesterday")[0] == 2


def test_a_control_plane_on_this_machine_needs_no_github(
    acme: Organisation, observer: Observer
) -> None:
    commit = merged(acme)
    git = {name: str(acme.sandbox.git(name).git_dir) for name in (CONTROL_PLANE, GITOPS)}
    looked = call_kalypso(
        "observe",
        *("--control-plane", git[CONTROL_PLANE], "--record", str(observer.folder)),
        *("--source", f"{acme.url(GITOPS)}={git[GITOPS]}"),
        *("--source", f"{acme.url(CONTROL_PLANE)}={git[CONTROL_PLANE]}"),
        *("--cluster-reports", "command", "--now", "2026-03-02T12:00:00Z"),
        *("--reports-command", program(reported("drone-1", "./drone", commit))),
    )
    assert looked.returncode == 0, looked.stderr
    (line,) = observer.real("drone-1")
    assert (line.relation, f"{line.since:%Y-%m-%dT%H:%M:%S}") == ("current", "2026-03-02T12:00:00")


def test_the_report_draws_the_record(
    acme: Organisation, observer: Observer, tmp_path: Path
) -> None:
    commit = merged(acme)
    git = {name: str(acme.sandbox.git(name).git_dir) for name in (CONTROL_PLANE, GITOPS)}
    arguments = [
        "report",
        *("--control-plane", git[CONTROL_PLANE], "--out", str(tmp_path / "page")),
        *("--source", f"{acme.url(GITOPS)}={git[GITOPS]}"),
        *("--source", f"{acme.url(CONTROL_PLANE)}={git[CONTROL_PLANE]}"),
        *("--record", str(observer.folder), "--output", "json"),
    ]
    observer.folder.mkdir()
    subprocess.run(["git", "init", "-q", "--bare", str(observer.folder)], check=True)
    without = call_kalypso(*arguments)
    assert (without.returncode, json.loads(without.stdout)["observed"]) == (1, None)
    assert "there is no record yet" in without.stdout
    observer.look(reported("drone-1", "./drone", commit))
    document = json.loads(call_kalypso(*arguments).stdout)
    page = json.loads((tmp_path / "page/report.json").read_text())
    assert document["observed"] == page["observed"]
    rows = page["observed"]["timelines"]
    assert [(row["environment"], row["clusterType"], row["cluster"]) for row in rows][:2] == [
        ("dev", "drone", ""),
        ("dev", "drone", "drone-1"),
    ]
    assert rows[0]["wanted"] == [commit]
    (deployed, *_) = page["observed"]["deployments"]
    assert (deployed["commit"], deployed["clusters"]) == (commit, 1)


@pytest.mark.parametrize("place", ["folder", CONTROL_PLANE])
def test_a_record_is_pruned_unless_somebody_else_writes(
    acme: Organisation, observer: Observer, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The answers about later times are the same; a recorder in between is taken up."""
    where = {}
    if place != "folder":
        where = {"record": place}
        observer.folder = Path(acme.sandbox.git(CONTROL_PLANE).git_dir)
    merged = merge(acme, main_commit(acme))
    for name in ("one", "two", "three", "four", "five", "six"):
        observer.look(reported(name, "./large", merged), **where)
        acme.clock.sleep(3600)
    now, head = acme.clock(), observer.branch.head()
    before = f"{now - 2 * HOUR - timedelta(minutes=1):%Y-%m-%dT%H:%M:%SZ}"
    asked = [
        (command, "--at", f"{now - hours * HOUR:%Y-%m-%dT%H:%M:%SZ}")
        for command in ("drift", "where dev")
        for hours in (2, 1, 0)
    ]

    def answers() -> list[str]:
        return [
            call_kalypso(*command.split(), *at, "--record", observer.folder).stdout
            for command, *at in asked
        ]

    answered, record = answers(), observer.record()
    observer.look(prune_before=before, dry_run="true", **where)
    assert observer.branch.head() == head
    others = iter([True])
    moved = git_moves(observer, monkeypatch, others)
    observer.look(prune_before=before, **where)
    assert next(others, None) is None
    assert observer.document.changed
    # What the cluster "one" counts for, that it is gone, the fourth look, two others, and the note.
    log = record_log(observer.branch, observer.branch.head())
    assert len(list(log.commits)) == 6
    assert moved()
    assert observer.record() == record
    assert answers() == answered
    observer.look(prune_before=before, **where)
    assert not observer.document.changed


def git_moves(
    observer: Observer, monkeypatch: pytest.MonkeyPatch, once: Iterator[bool]
) -> Callable[[], bool]:
    """Let somebody else commit to the record before the next write; return whether it is there."""
    branch = observer.branch
    added: list[str] = []

    def shorter_log(log: Any, before: Any) -> Any:
        shorter = pruned(log, before)
        if next(once, False):
            head = branch.head()
            write = branch.push_of(head, {"note.txt": b"somebody else\n"}, "Somebody else")
            added.append(branch.carry_out(write, observer.acme.clock()))
        return shorter

    monkeypatch.setattr("kalypso_actions.commands.shared.record.pruned", shorter_log)
    return lambda: "note.txt" in branch.files(branch.head())
