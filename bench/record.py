"""Ask the record of a year: its size, the time to load it, and the time of each question.

    python -m bench.record --merges 500     a tenth of the year, in about two minutes

The fleet has 3 environments of 20 cluster types, 1,000 clusters, and 300 targets of which each
cluster runs 15. A year has 5,000 merges, a quarter of them to the platform, each of which is seen
at 35%, 85% and 100% of its clusters; 1% fail. The size and the load of a part of the year count
for the whole in proportion, as far as they grow with it.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.record import BRANCH, FolderRecord, ask, read_record
from kalypso_actions.observations import questions
from kalypso_actions.observations.delivery import figures
from kalypso_actions.observations.drift import drift
from kalypso_actions.observations.histories import cluster_periods, target_periods
from kalypso_actions.observations.record import (
    DesiredLine,
    Observation,
    PromotionLine,
    RealLine,
    RecordedEnvironment,
    line_of,
)

YEAR = 5_000
"""Merges of a year: 20 on each working day."""

ENVIRONMENTS = ("dev", "stage", "prod")
TYPES, CLUSTERS, TARGETS, PER_CLUSTER = 20, 1_000, 300, 15
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
COLD, WARM, QUERY, COMMAND, SIZE = 90.0, 5.0, 0.3, 1.2, 60.0
"""Seconds of the whole load, of one day, of a query, of a command; megabytes after gc."""

text_of = lru_cache(4 * CLUSTERS * PER_CLUSTER, typed=True)(line_of)  # few lines change in a look


class Fleet:
    """The lines of the record as they change, by file."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.at = BEGIN
        self.number = 0
        self.desired: dict[tuple[str, str], DesiredLine] = {}
        self.real: dict[tuple[str, str], dict[tuple[str, str], RealLine]] = {}
        self.followers: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self.promotions: dict[str, list[PromotionLine]] = {name: [] for name in ENVIRONMENTS}
        for number in range(CLUSTERS):
            environment = ENVIRONMENTS[number % 3]
            kind = f"type-{number // 3 % TYPES:02}"
            cluster = f"/subscriptions/s/resourcegroups/g/clusters/{environment}-{number:04}"
            targets = self.random.sample(range(TARGETS), PER_CLUSTER)
            for target in ("", *(f"app-{each:03}" for each in targets)):
                name = target or kind
                self.followers.setdefault((environment, name), []).append((kind, cluster))
        for (environment, name), clusters in self.followers.items():
            line = self._wanted(environment, name, 1)
            for kind, cluster in clusters:
                self._runs(environment, kind, cluster, line, "success")

    def _wanted(self, environment: str, name: str, number: int) -> DesiredLine:
        self.number += 1
        commit = f"{self.number:040x}"
        is_app = name.startswith("app-")
        workload = name if is_app else ""
        line = DesiredLine(
            workspace="team" if is_app else "",
            application=workload,
            workload=workload,
            name=name,
            repository=f"https://github.com/acme/{workload or 'gitops'}",
            branch=environment,
            path="web" if is_app else name,
            environment=environment,
            version=f"1.0.{self.number}",
            source_commit=commit,
            configuration_commit="",
            content=f"{self.number:016x}",
            commit=commit,
            since=self.at,
            number=number,
        )
        self.desired[environment, name] = line
        return line

    def _runs(
        self, environment: str, kind: str, cluster: str, line: DesiredLine, status: Any
    ) -> None:
        target = str(line.target) if line.workload else ""
        reason = "out of memory" if status == "failure" else ""
        self.real.setdefault((environment, kind), {})[cluster, target] = RealLine(
            *(cluster, "kalypso", target, line.commit, line.content, status, "current"),
            *(self.at, self.at, reason),
        )

    def files(
        self, environments: set[str], kinds: set[tuple[str, str]]
    ) -> Iterator[tuple[str, str]]:
        """Yield the files of what has changed."""
        for environment in sorted(environments):
            lines = [line for (of, _), line in self.desired.items() if of == environment]
            yield f"desired/{environment}.tsv", "".join(sorted(map(text_of, lines)))
            promotions = self.promotions[environment][-200:]
            yield f"promotions/{environment}.tsv", "".join(sorted(map(text_of, promotions)))
        for environment, kind in sorted(kinds):
            real = self.real[environment, kind].values()
            yield f"real/{environment}/{kind}.tsv", "".join(sorted(map(text_of, real)))
        looks = (Observation(name, self.at, True) for name in ENVIRONMENTS)
        yield "observed.tsv", "".join(map(text_of, looks))

    def all(self) -> Iterator[tuple[str, str]]:
        """Yield all files."""
        yield "kalypso.record", "kalypso.record/v1\n"
        rows = (
            RecordedEnvironment(name, place, "https://github.com/acme/control-plane", name)
            for place, name in enumerate(ENVIRONMENTS)
        )
        yield "environments.tsv", "".join(map(line_of, rows))
        yield from self.files(set(ENVIRONMENTS), set(self.real))

    def merge(self) -> Iterator[Iterator[tuple[str, str]]]:
        """Yield the files after each of three looks at a merge."""
        environment = self.random.choice(ENVIRONMENTS)
        names = (name for of, name in self.followers if of == environment)
        apps = sorted(name for name in names if name.startswith("app-"))
        kinds = [f"type-{number:02}" for number in range(TYPES)]
        merged = kinds if self.random.random() < 0.25 else [self.random.choice(apps)]
        self.at += timedelta(minutes=60)
        lines = {
            name: self._wanted(environment, name, self.desired[environment, name].number + 1)
            for name in merged
        }
        commit = next(iter(lines.values())).commit
        self.promotions[environment].append(
            PromotionLine(
                commit=commit,
                state="deployed",
                at=self.at,
                description="Deployed",
                author="ada",
                subject="A change",
                pull_request="",
                proposed_at=self.at,
                merged_at=self.at,
                merged_by="bob",
                committed_at=self.at,
                started_at=self.at,
                deployed_at=self.at,
                position=self.number,
            )
        )
        clusters = [
            (name, *place) for name in merged for place in self.followers[environment, name]
        ]
        self.random.shuffle(clusters)
        done = 0
        for share in (0.35, 0.85, 1.0):
            self.at += timedelta(minutes=2)
            until = int(len(clusters) * share)
            touched = {(environment, kind) for _, kind, _ in clusters[done:until]}
            for name, kind, cluster in clusters[done:until]:
                status = "failure" if self.random.random() < 0.01 else "success"
                self._runs(environment, kind, cluster, lines[name], status)
            done = until
            yield self.files({environment}, touched)


def write(fleet: Fleet, merges: int, folder: Path, parent: str = "") -> int:
    """Add the commits of merges to the record, and return their number."""
    command = ["git", "-C", str(folder), "fast-import", "--quiet"]
    number = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE) as importing:
        assert importing.stdin is not None

        def add(files: Iterator[tuple[str, str]]) -> None:
            nonlocal number
            stamp = int(fleet.at.timestamp())
            text = [f"commit refs/heads/{BRANCH}\ncommitter K <k@k> {stamp} +0000\ndata 0\n"]
            if number == 0 and parent:
                text.append(f"from {parent}\n")
            for path, content in files:
                data = content.encode()
                text.append(f"M 100644 inline {path}\ndata {len(data)}\n{content}\n")
            importing.stdin.write("".join(text).encode())  # type: ignore[union-attr]
            number += 1

        if not parent:
            add(fleet.all())
        for _ in range(merges):
            for files in fleet.merge():
                add(files)
        importing.stdin.close()
    return number


def timed(
    name: str,
    call: Callable[[], Any],
    most: float,
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> str:
    """Print how long a call takes; return the missed target, "" for none."""
    started = clock()
    call()
    seconds = clock() - started
    print(f"{name}: {seconds:.2f} s (at most {most:g})", flush=True)
    return f"{name}: {seconds:.2f} s" if seconds > most else ""


def main() -> int:
    """Print the figures; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--merges", type=int, default=YEAR)
    given = parser.parse_args()
    factor = YEAR / given.merges
    with tempfile.TemporaryDirectory() as name:
        missed = measure(Path(name), given.merges, factor)
    print("\n".join(f"missed: {line}" for line in missed))
    return 1 if missed else 0


def _made(
    fleet: Fleet, merges: int, folder: Path, environment: Mapping[str, str]
) -> tuple[int, float, float]:
    """Make a record; return its commits, its megabytes, and the seconds to clone and load it."""
    git, clone = folder / "record", folder / "clone"
    subprocess.run(["git", "init", "--quiet", "--bare", str(git)], check=True)
    commits = write(fleet, merges, git)
    # A pack of fast-import has few deltas, and gc keeps them: pushed commits are packed anew.
    subprocess.run(["git", "-C", str(git), "repack", "-a", "-d", "-f", "-q"], check=True)
    size = sum(file.stat().st_size for file in git.rglob("*") if file.is_file()) / 1e6
    copy = ["git", "clone", "--quiet", "--no-local", "--bare", str(git), str(clone)]
    started = time.perf_counter()
    subprocess.run(copy, check=True)
    record = FolderRecord(clone, Programs(environment))
    ask(record, record.head(), environment, lambda tables: questions.last_look(tables, fleet.at))
    return commits, size, time.perf_counter() - started


def measure(folder: Path, merges: int, factor: float) -> list[str]:
    """Make a record, ask it, and return the missed targets."""
    git, clone = folder / "record", folder / "clone"
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    programs = Programs(environment)
    _, size_of_first, seconds_of_first = _made(Fleet(1), 0, folder / "first", environment)
    fleet = Fleet(1)
    commits, size, seconds = _made(fleet, merges, folder, environment)
    size = size_of_first + (size - size_of_first) * factor
    seconds = seconds_of_first + (seconds - seconds_of_first) * factor
    print(f"{commits} commits; a year: {size:.1f} MB (at most {SIZE:g})")
    print(f"cold, clone and load: {seconds:.1f} s (at most {COLD:g})", flush=True)
    missed = [f"size: {size:.1f} MB"] if size > SIZE else []
    missed += [f"cold: {seconds:.1f} s"] if seconds > COLD else []
    record = FolderRecord(clone, programs)
    write(fleet, 20, git, record.head())
    fetch = ["git", "-C", str(clone), "fetch", "--quiet", str(git), f"+{BRANCH}:{BRANCH}"]
    subprocess.run(fetch, check=True)
    head = record.head()

    def asked(question: Callable[[Any], Any]) -> Callable[[], Any]:
        return lambda: ask(record, head, environment, question)

    missed.append(timed("warm: 60 new commits", asked(lambda _: None), WARM))
    now = fleet.at
    past = BEGIN + (now - BEGIN) / 2
    for title, question in (
        ("where", lambda tables: list(questions.states(tables, now, about="app-007"))),
        ("where, earlier", lambda tables: list(questions.states(tables, past, about="app-007"))),
        ("drift", lambda tables: drift(tables, now)),
        ("history of a target", lambda tables: target_periods(tables, "app-007", now)),
        ("history of a cluster", lambda tables: list(cluster_periods(tables, "prod-0002", now))),
        ("delivery", lambda tables: figures(tables, now)),
    ):
        missed.append(timed(title, asked(question), QUERY, clock=time.process_time))
    missed.append(timed("read for a look", lambda: read_record(record), 2.0))
    command = [sys.executable, "-m", "kalypso_actions", "where", "app-007", "--record", str(clone)]

    def run() -> None:
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)

    missed.append(timed("the command", run, COMMAND))
    return [each for each in missed if each]


if __name__ == "__main__":
    sys.exit(main())
