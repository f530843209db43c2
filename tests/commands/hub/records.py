"""Records of a small fleet, look by look, and their projections."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from kalypso_actions.clients.postgresql import PostgresDatabase, connect
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.hub.load import load_postgres
from kalypso_actions.commands.shared.record import (
    FolderRecord,
    push_of_records,
    read_record,
    record_log,
)
from kalypso_actions.observations.desired import BranchLook, desired_after
from kalypso_actions.observations.projection import views
from kalypso_actions.observations.real import Seen, Wanted, real_after
from kalypso_actions.observations.record import (
    DesiredLine,
    Observation,
    PromotionLine,
    RecordedEnvironment,
    Status,
)
from tests.observations.replay import Replay
from tests.observations.test_record import AT, desired
from tests.postgres import TestDatabase

MINUTE = timedelta(minutes=1)
URL = "https://github.com/acme/shop-gitops"
PLATFORM = "https://github.com/acme/gitops"
CONTROL_PLANE = "https://github.com/acme/control-plane"


def application(name: str, environment: str, **fields: object) -> DesiredLine:
    """Return the line of a target of the workload hello-world."""
    line = desired(
        workspace="kaizen",
        application="greetings",
        workload="hello-world",
        name=name,
        repository=URL,
        branch=environment,
        path=name,
    )
    return line._replace(**fields)  # type: ignore[arg-type]


def folder(cluster_type: str, environment: str) -> DesiredLine:
    """Return the line of a folder of the platform."""
    return desired(name=cluster_type, repository=PLATFORM, branch=environment, path=cluster_type)


@dataclass
class Recorder:
    """Writes looks into a folder, each a minute after the one before."""

    folder: Path
    now: datetime = AT
    commits: int = 0
    wanted: dict[tuple[str, str], list[DesiredLine]] = field(default_factory=dict)
    runs: dict[tuple[str, str, str], Seen] = field(default_factory=dict)
    promotions: dict[str, list[PromotionLine]] = field(default_factory=dict)

    @property
    def branch(self) -> FolderRecord:
        return FolderRecord.open(self.folder, Programs({"PATH": os.environ["PATH"]}), create=True)

    def merge(self, line: DesiredLine, content: str, version: str = "", **fields: Any) -> str:
        """Merge a content to a target's branch now, and return the commit."""
        self.commits += 1
        commit = f"{self.commits:040x}"
        at_commit = line._replace(
            content=content,
            version=version or content,
            commit=commit,
            source_commit=f"{self.commits + (1 << 80):040x}",
            since=self.now,
        )
        at_commit = at_commit._replace(**fields)
        self.wanted.setdefault((line.branch, str(line.target)), []).append(at_commit)
        return commit

    def run(
        self,
        cluster: str,
        line: DesiredLine,
        content: str,
        status: Status = "success",
        *,
        commit: str = "f" * 40,
        cluster_type: str = "small",
        reason: str = "",
    ) -> None:
        """Let a cluster report a target."""
        target = str(line.target) if line.workload else ""
        seen = Seen(cluster, "kalypso", target, commit, content, status, reason)
        self.runs[line.branch, cluster_type, f"{cluster} {target}"] = seen

    def lose(self, cluster: str) -> None:
        """Let a cluster report no more."""
        self.runs = {key: seen for key, seen in self.runs.items() if seen.cluster != cluster}

    def promote(self, environment: str, commit: str, took: int, **fields: Any) -> None:
        """Record a commit of main that was deployed after so many minutes."""
        known = self.promotions.setdefault(environment, [])
        line = PromotionLine(
            *(commit, "deployed", self.now, "Deployed", "ada", "Greet", f"{PLATFORM}/pull/1"),
            *(self.now - took * MINUTE, self.now - MINUTE, "grace"),
            committed_at=self.now - took * MINUTE,
            deployed_at=self.now,
            position=len(known) + 1,
        )
        known.append(line._replace(**fields))

    def look(self, environments: Iterable[str] = ("dev",)) -> str:
        """Look at environments, and return the commit of the record."""
        head, record = read_record(self.branch)
        before = record
        for position, name in enumerate(environments):
            last = record.last_look(name)
            looks = [
                BranchLook(lines[0].repository, name, "h", {lines[0].target: lines})
                for (branch, _), lines in self.wanted.items()
                if branch == name
            ]
            record = desired_after(record, name, looks, self.now)
            heads = {
                (str(lines[-1].target) if lines[-1].workload else ""): lines[-1].content
                for (branch, _), lines in self.wanted.items()
                if branch == name
            }
            wanted = {key: Wanted(content) for key, content in heads.items()}
            real = dict(record.real)
            types = {key[1] for key in (*real, *self.runs) if key[0] == name}
            for cluster_type in types:
                seen = [each for key, each in self.runs.items() if key[:2] == (name, cluster_type)]
                real[name, cluster_type] = real_after(
                    real.get((name, cluster_type), ()),
                    seen,
                    wanted,
                    now=self.now,
                    last_look=last.at if last else None,
                    is_complete=True,
                )
            others = [each for each in record.observed if each.environment != name]
            environment = RecordedEnvironment(name, position, CONTROL_PLANE, name)
            known = [each for each in record.environments if each.name != name]
            record = replace(
                record,
                real={key: lines for key, lines in real.items() if lines},
                observed=(*others, Observation(name, self.now, True)),
                environments=(*known, environment),
                promotions={key: tuple(lines) for key, lines in self.promotions.items()},
            )
        self.wanted = {key: lines[-1:] for key, lines in self.wanted.items()}
        self.now += MINUTE
        write = push_of_records(self.branch, head, before, [record], "Observe")
        return self.branch.carry_out(write, self.now) if write else head

    def replay(self) -> Replay:
        """Return the periods of the record, recomputed plainly."""
        periods = Replay()
        for _, steps in record_log(self.branch, self.branch.head()).commits:
            periods.add(steps)
        return periods


def hub_load(
    branch: FolderRecord,
    database: TestDatabase,
    *,
    schema: str = "kalypso_hub",
    head: str = "",
    roles: Sequence[str] = (),
) -> None:
    """Load the record up to a commit as `kalypso hub load` does, in this process."""
    with connect(database.url, "", {}) as connection:
        tables = PostgresDatabase(connection, schema, views())
        tables.begin()
        load_postgres(tables, branch, head or branch.head(), roles)
        connection.commit()


DEV = application("functional-test", "dev")
EDGE = folder("small", "dev")


def story(recorder: Recorder) -> Mapping[str, str]:
    """Record a deployment, a failure, a revert and a cluster that goes; return the commits."""
    commits = {"a": recorder.merge(DEV, "a", "0.0.1"), "p": recorder.merge(EDGE, "p")}
    for cluster in ("Drone-1", "drone-2", "drone-3"):
        recorder.run(cluster, DEV, "a", commit=commits["a"])
        recorder.run(cluster, EDGE, "p", commit=commits["p"])
    recorder.look()
    commits["b"] = recorder.merge(DEV, "b", "0.0.2")
    recorder.run("Drone-1", DEV, "b", commit=commits["b"])
    recorder.run("drone-2", DEV, "b", "failure", commit=commits["b"], reason="out of memory")
    recorder.look()
    commits["a again"] = recorder.merge(DEV, "a", "0.0.1")
    recorder.run("Drone-1", DEV, "a", commit=commits["a again"])
    recorder.lose("drone-3")
    recorder.look()
    commits["q"] = recorder.merge(EDGE, "q")
    for cluster in ("Drone-1", "drone-2"):
        recorder.run(cluster, EDGE, "q", commit=commits["q"])
    recorder.promote("dev", "1" * 40, 10)
    recorder.promote("dev", "2" * 40, 30, deployed_at=None, failed_at=recorder.now, state="failed")
    recorder.look()
    return commits
