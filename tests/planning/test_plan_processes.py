"""Several processes give the results of one: files, failures, and limits of registrations."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

from kalypso_actions.planning.assignment_rendering import divided
from tests.builders import assignment, cluster_type, target

PLANS = """
import dataclasses
from collections import deque
from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.processes import no_progress
from kalypso_actions.planning.assignment_rendering import AssignmentRenderer
from kalypso_actions.rendering import Options
from tests.builders import assignment, cluster_type, config_map, config_schema, fleet, target, template

TEMPLATES = (
    template("reconciler", "a: {{ .Manifests.note }}\\n{{ if eq .Workload `w3` }}{{ fail `no` }}{{ end }}"),
    template("namespace", "namespace: {{ .Namespace }} {{ .Labels.none }}\\n"),
    template("config", "{{ toYaml .ConfigData }}\\n"),
)
types = [cluster_type(f"type-{number}") for number in range(12)]
targets = [
    dataclasses.replace(
        target("t", workload=f"w{number}", manifests={"note": note}, config_schemas=schemas),
        registration=f"r{number % 4}" if number % 5 else "",
    )
    for number in range(20)
    for note in ["a (b)" if number % 2 else "x: y" if number == 8 else "plain"]
    for schemas in [('{"required": ["NONE"]}',) if number == 10 else ('{"type": "object"}',)]
]
maps = [config_map("a", {"K": "1"}), config_map("b", {"K": "2", "L": "[x]"}, workload="w7")]
fleet_ = fleet(cluster_types=types, targets=targets, templates=TEMPLATES, config_maps=maps)
assignments = [assignment(target_, type_) for type_ in types for target_ in targets]

def rendered(processes):
    folders = {}
    renderer = AssignmentRenderer(fleet_, Options(), "warn", "warn", (), processes)
    planned = list(renderer.render_all(assignments, folders, no_progress))
    return folders, [(item.assignment.folder, item.files, item.failure, item.checked) for item in planned]

alone, several = rendered(None), rendered(WorkerProcesses(0))
assert several == alone
ids, planned = rendered(WorkerProcesses(0, lambda contents: deque(contents, maxlen=0)))
assert planned == alone[1]
for folder, files in alone[0].items():
    for name, content in files.items():
        assert ids[folder][name] == (content if b"<no value>" in content else blob_id(content))
failures = [failure for _, _, failure, _ in alone[1] if failure]
print(WorkerProcesses(0).usable(1) > 1, len(alone[0]), len({failure.code for failure in failures}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks safely")
def test_several_processes_render_the_same() -> None:
    """The process that forks must have a single thread, unlike that of pytest."""
    command = [sys.executable, "-c", PLANS]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.stderr == ""
    is_parallel, folders, codes = done.stdout.split()
    assert is_parallel == "True"
    assert (int(folders) > 100, int(codes) >= 3) == (True, True)


def test_a_registration_stays_in_one_process() -> None:
    types = [cluster_type(f"type-{number}") for number in range(10)]
    targets = [
        replace(target("t", workload=f"w{number}"), registration=f"r{number % 7}" if number else "")
        for number in range(30)
    ]
    assignments = [assignment(target_, type_) for type_ in types for target_ in targets]
    owners = divided(assignments, 2)
    processes = {
        (item.target.registration or item.cluster_type.name, owner)
        for item, owner in zip(assignments, owners, strict=True)
    }
    assert len(processes) == 7 + 10
    assert max(Counter(owners).values()) <= 0.6 * len(assignments)
    assert divided(assignments, 1) == [0] * len(assignments)
