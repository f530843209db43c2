"""The time and memory of each stage, and of whole runs beside `git fast-import` of the same files.

    python -m bench.stages FOLDER SHAPE ASSIGNMENTS    # one fleet, in a process of its own: JSON

Stages and runs are measured by processor time, programs included: a busy machine hardly changes it.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar, get_args

import yaml

from bench.fleet import Fleet, Shape, make_fleet
from bench.snapshots import snapshot_of
from kalypso_actions.clients.git import Signature, WritableRepository
from kalypso_actions.clients.process import Programs
from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.commands.shared.reading.base_trees import read_base_tree
from kalypso_actions.gitops.changes import DesiredTree, compute_changes
from kalypso_actions.gitops.proposed_commit import committed_files
from kalypso_actions.model import kinds as model
from kalypso_actions.model.kinds import Assignment
from kalypso_actions.model.object_ids import FileContent, blob_id
from kalypso_actions.model.processes import Processes, no_progress
from kalypso_actions.planning.assignment_rendering import AssignmentRenderer
from kalypso_actions.planning.config_checks import ConfigValidator
from kalypso_actions.planning.plan import PlanOptions, layout_options, make_plan, schedule_snapshot
from kalypso_actions.platform_config import PlatformConfig
from kalypso_actions.rendering import Renderer
from kalypso_actions.scheduling import LabelScheduler
from kalypso_actions.sources.yaml_documents import parse_yaml

AUTHOR = Signature("Bench", "bench@example.com")
ONE_PROCESS, PROCESSES = "all in one process", "all in processes"
NOW = datetime(2026, 1, 1, tzinfo=UTC)

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Measured:
    """The costs of a stage or a run; `megabytes` is the peak of its process until its end."""

    name: str
    processor: float
    seconds: float
    megabytes: float


class _Stages:
    """Measures the stages one after the other in this process."""

    def __init__(self) -> None:
        self.done: list[Measured] = []

    def measure(self, name: str, stage: Callable[[], Result]) -> Result:
        started, before = time.perf_counter(), _processor()
        result = stage()
        seconds, processor = time.perf_counter() - started, _processor() - before
        self.done.append(Measured(name, processor, seconds, _peak(resource.RUSAGE_SELF)))
        return result


def measure(folder: Path, shape: Shape, assignments: int) -> list[Measured]:
    """Measure the stages of a new fleet, with its commit and the push of it."""
    fleet = make_fleet(folder / "fleet", assignments, shape)
    stages = _Stages()
    contents = stages.measure("read", lambda: _contents(fleet.folder))
    stages.measure("parse", lambda: [parse_yaml("", path, each) for path, each in contents.items()])
    stages.measure("PyYAML's C parser", lambda: [_with_pyyaml(each) for each in contents.values()])
    snapshot = stages.measure("read, parse and build the fleet", lambda: snapshot_of(fleet))
    known, schedule, _ = stages.measure(
        "schedule", lambda: schedule_snapshot(snapshot, LabelScheduler())
    )
    platform = PlatformConfig(known)
    stages.measure("config", lambda: [*map(_keyless(platform), schedule.assignments)])
    validator = ConfigValidator(platform)
    stages.measure("validate", lambda: [*_validated(platform, validator, schedule.assignments)])
    renderer = Renderer(known.environment, known.templates, layout_options(PlanOptions()))
    stages.measure("render", lambda: [*_rendered(platform, renderer, schedule.assignments)])
    render_all = partial(_render_all, known, schedule.assignments)
    stages.measure(ONE_PROCESS, render_all)
    stages.measure(PROCESSES, lambda: render_all(WorkerProcesses(write_blobs=_dropped)))
    plan = make_plan(snapshot, PlanOptions(), LabelScheduler(), no_progress)
    target = WritableRepository(_bare(folder / "commit.git"), Programs(os.environ))
    files = committed_files(plan.changes, "")
    commit = stages.measure("commit", lambda: target.commit("", files, "Bench", AUTHOR, NOW))
    target.move("dev", commit, "")
    base = stages.measure("list", lambda: read_base_tree(target.files(commit), "dev", ""))
    names = frozenset(item.name for item in known.cluster_types)
    contents = {path: plan.changes.content(path) for path in plan.changes.files}
    folders = _by_folder(contents, names)
    desired = DesiredTree(tuple(names), folders, None, b"{}")
    stages.measure("compare", lambda: compute_changes(desired, base))
    pushed = _bare(folder / "pushed.git")
    push = ["git", f"--git-dir={folder / 'commit.git'}", "push", "--quiet", str(pushed), "dev"]
    stages.measure("push", lambda: subprocess.run(push, check=True))
    return stages.done


def measure_runs(folder: Path, shape: Shape, assignments: int) -> list[Measured]:
    """Measure a first commit, runs with no change and with 1 % changed, and fast-import."""
    fleet = make_fleet(folder / "fleet", assignments, shape)
    target = _bare(folder / "runs.git")
    kalypso = [sys.executable, "-m", "kalypso_actions", "render", *fleet.arguments()]
    render = partial(_run, command=[*kalypso, f"--commit-to={target}@dev"])
    runs = [render("onto nothing"), render("nothing changed")]
    export = folder / "export"
    with export.open("wb") as stream:
        git = ["git", f"--git-dir={target}"]
        subprocess.run([*git, "fast-export", "dev"], stdout=stream, check=True)
    with export.open("rb") as stream:
        floor = ["git", f"--git-dir={_bare(folder / 'floor.git')}", "fast-import", "--quiet"]
        runs.insert(0, _run("git fast-import", floor, stdin=stream.fileno()))
    _change(fleet, max(1, fleet.cluster_types // 100))
    return [*runs, render("1 % of the cluster types changed")]


def measure_commands(folder: Path, shape: Shape, assignments: int) -> list[Measured]:
    """Measure a plan, as `render` prints it, and the commands that read a whole fleet."""
    fleet = make_fleet(folder / "fleet", assignments, shape)
    arguments = fleet.arguments()
    pair = ["--target=workload-00000-north", "--cluster-type=region-000-000"]
    folders = [str(fleet.folder / name) for name in ("dev", "main")]
    commands = {
        "render": arguments,
        "validate": [*folders, *(item for item in arguments if item.startswith("--source="))],
        "explain": [*arguments, *pair],
    }
    return [
        _run(name, [sys.executable, "-m", "kalypso_actions", name, *words])
        for name, words in commands.items()
    ]


def _run(name: str, command: Sequence[str], stdin: int | None = None) -> Measured:
    """Run a program; the memory is that of its largest process."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{name} has failed")
    seconds = time.perf_counter() - started
    return Measured(name, usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1e3)


def _change(fleet: Fleet, count: int) -> None:
    """Change a value of the configuration of the first cluster types."""
    pattern = re.compile(r"SETTING_00: own\b")
    changed = 0
    for file in sorted(fleet.folder.glob("dev/*/*.yaml")):
        text = file.read_text(encoding="utf-8")
        if changed < count and pattern.search(text):
            file.write_text(pattern.sub("SETTING_00: other", text), encoding="utf-8")
            changed += 1


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*.yaml"))}


def _with_pyyaml(content: bytes) -> list[object]:
    return list(yaml.load_all(content, yaml.CSafeLoader))


def _keyless(platform: PlatformConfig) -> Callable[[Assignment], int]:
    """Return a function that merges a configuration, and keeps nothing of it."""
    return lambda assignment: len(platform.config_of(assignment).values)


def _validated(
    platform: PlatformConfig, validator: ConfigValidator, assignments: Sequence[Assignment]
) -> Iterator[bool]:
    for item in assignments:
        yield validator.failure(item, platform.config_of(item)) is None


def _rendered(
    platform: PlatformConfig, renderer: Renderer, assignments: Sequence[Assignment]
) -> Iterator[tuple[Assignment, object]]:
    for item in assignments:
        yield item, renderer.render(item, platform.config_of(item))


def _render_all(
    fleet: model.Fleet, assignments: Sequence[Assignment], processes: Processes | None = None
) -> int:
    """Configure, validate and render all assignments, and compute the ids of their files."""
    options = layout_options(PlanOptions())
    renderer = AssignmentRenderer(fleet, options, "warn", "warn", processes=processes)
    return sum(1 for _ in renderer.render_all(assignments, _Hashed(), no_progress))


class _Hashed(dict[str, Mapping[str, FileContent]]):
    """Folders of which only the ids of files are computed; processes have computed them already."""

    def __setitem__(self, folder: str, files: Mapping[str, FileContent]) -> None:
        for content in files.values():
            blob_id(content)


def _dropped(contents: Iterable[bytes]) -> None:
    deque(contents, maxlen=0)


def _by_folder(
    files: Mapping[str, bytes], cluster_types: Container[str]
) -> dict[str, dict[str, bytes]]:
    folders: dict[str, dict[str, bytes]] = {}
    for path, content in files.items():
        place, _, name = path.rpartition("/")
        if "/" in place and place.partition("/")[0] in cluster_types:
            folders.setdefault(place, {})[name] = content
    return folders


def _bare(folder: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", "--bare", str(folder)], check=True)
    return folder


def _processor() -> float:
    return sum(os.times()[:4])


def _peak(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / 1e3


def main() -> None:
    """Print the stages and runs of one fleet as JSON."""
    folder, shape, assignments = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    (known,) = [each for each in get_args(Shape) if each == shape]
    runs = measure_runs(folder / "runs", known, assignments)
    stages = measure(folder / "stages", known, assignments)
    commands = measure_commands(folder / "commands", known, assignments)
    measured = {"runs": runs, "stages": stages, "commands": commands}
    json.dump({name: [*map(asdict, rows)] for name, rows in measured.items()}, sys.stdout)


if __name__ == "__main__":
    main()
