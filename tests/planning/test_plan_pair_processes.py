"""Several processes compare two plans as one process does."""

from __future__ import annotations

import subprocess
import sys

import pytest

PAIRS = """
import dataclasses
from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.comparison import Mask
from kalypso_actions.model.processes import no_progress
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.planning.plan_pair import plan_pair
from kalypso_actions.scheduling import LabelScheduler
from tests.builders import cluster_type, config_map, config_schema, fleet, policy, target, template
from tests.plans import snapshot_of

TEMPLATES = (
    template("reconciler", "a: {{ .Manifests.note }}\\n{{ if eq .Workload `w3` }}{{ fail .ConfigData.password }}{{ end }}"),
    template("namespace", "namespace: {{ .Namespace }} {{ .Labels.none }}\\nb: {{ .Labels.K }}{{ .ConfigData.K }}\\n"),
    template("config", "{{ toYaml .ConfigData }}\\n"),
)

def snapshot(value, number_of_targets, removed):
    targets = [
        dataclasses.replace(
            target("t", workload=f"w{number}", manifests={"note": note}, config_schemas=schemas),
            registration=f"r{number % 4}" if number % 5 else "",
        )
        for number in range(number_of_targets)
        if number != removed
        for note in ["a (b)" if number % 2 else "x: y" if number == 8 else "plain"]
        for schemas in [('{"required": ["NONE"]}',) if number == 10 else ('{"type": "object"}',)]
    ]
    maps = [
        config_map("a", {"K": value, "password": f"hunter-{value}"}),
        config_map("b", {"K": "2", "L": f"[{value}]"}, workload="w7"),
    ]
    made = fleet(
        cluster_types=[cluster_type(f"type-{number}") for number in range(12)],
        policies=[policy("all")],
        targets=targets,
        templates=TEMPLATES,
        config_maps=maps,
    )
    return snapshot_of(made)

def pair(processes):
    sides = snapshot("one", 20, 0), snapshot("two", 21, 1)
    steps = []
    progress = lambda done, total: steps.append((done, total))
    mask = Mask()
    made = plan_pair(*sides, PlanOptions(), LabelScheduler(), progress, mask, None, processes)
    return made, made.masked(mask), steps

alone, several = pair(None), pair(WorkerProcesses(0))
assert several == alone
made, masked, steps = alone
assert (steps[0], steps[-1]) == ((0, 12 * 39), (12 * 39, 12 * 39))
assert "hunter-two" in repr(made) and "hunter" not in repr(masked)
print(WorkerProcesses(0).usable(1) > 1, len(masked.files), len(masked.values), len(masked.problems_new), len(masked.warnings_new))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks safely")
def test_several_processes_compare_the_same() -> None:
    """The process that forks must have a single thread, unlike that of pytest."""
    command = [sys.executable, "-c", PAIRS]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.stderr == ""
    is_parallel, *numbers = done.stdout.split()
    assert is_parallel == "True"
    assert all(map(int, numbers)), numbers
