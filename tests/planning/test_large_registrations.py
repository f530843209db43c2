"""A registration of any size is rendered, and stays unchanged if nothing changes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from kalypso_actions.errors import Problem
from kalypso_actions.fleet.workloads import read_workloads
from kalypso_actions.model.kinds import DELIVERY, DeliveryRules, DeploymentTarget, Fleet
from kalypso_actions.model.layout import README_TEXT
from kalypso_actions.model.tree import LeftOutApplication
from kalypso_actions.planning.plan import Plan, PlanOptions
from tests.builders import (
    cluster_type,
    config_map,
    documents,
    fleet,
    policy,
    registration,
    target,
    template,
)
from tests.planning.test_unchanged import NOTHING, written
from tests.plans import plan, reading

FLUX = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: {{ .DeploymentTargetName }}, namespace: flux-system}
spec:
  interval: 1m
  url: {{ .Manifests.repo }}
  ref: {branch: {{ .Manifests.branch | quote }}}
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: {{ .Namespace }}}\n"
CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: platform-config, namespace: {{ .Namespace }}}
data:
{{ toYaml .ConfigData | indent 2 }}
"""
TEMPLATES = (
    template("reconciler", FLUX),
    template("namespace", NAMESPACE),
    template("config", CONFIG),
)
SETTINGS = config_map("settings", {f"SETTING_{number}": f"value {number}" for number in range(16)})
TEXTS = {"repo": "https://github.com/acme/shop", "branch": "main", "path": "./shop"}
OPTIONS = PlanOptions(code="this code")
SCHEMA = '{"type": "object", "required": ["SETTING_1"], "title": "NUMBER"}'


def targets(count: int, branch: str = "main", schema: str = "") -> list[DeploymentTarget]:
    return [
        replace(
            target(f"{number:05}", manifests={**TEXTS, "branch": branch}),
            registration="app",
            config_schemas=(schema.replace("NUMBER", str(number)),) if schema else (),
        )
        for number in range(count)
    ]


def of_cluster_types(count: int) -> Fleet:
    names = [f"c{number:05}" for number in range(count)]
    own = [config_map(name, {"CLUSTER": name}, place=name) for name in names]
    return fleet(
        cluster_types=[cluster_type(name, place=name) for name in names],
        templates=TEMPLATES,
        policies=[policy("all")],
        config_maps=[SETTINGS, *own],
    )


def rendered(made: Plan) -> int:
    return len(made.assignments) - sum(1 for item in made.assignments if item.failure)


@pytest.mark.parametrize(
    ("count", "cluster_types", "branch"),
    [
        (40, 250, "main"),
        pytest.param(40, 250, "release (blue)", marks=pytest.mark.slow),
        pytest.param(1, 5_000, "main", marks=pytest.mark.slow),
        pytest.param(5_000, 20, "main", marks=pytest.mark.slow),
    ],
)
def test_all_assignments_of_a_registration_are_rendered(
    count: int, cluster_types: int, branch: str
) -> None:
    platform = of_cluster_types(cluster_types)
    app = reading(*targets(count, branch))
    made = plan(platform, app, options=OPTIONS)
    assert rendered(made) == len(made.assignments) == count * cluster_types
    assert [made.problems, made.warnings, made.left_out] == [(), (), ()]
    assert {item.excess for item in made.assignments} == {0}
    sources = made.changes.content(".github/tracking/sources.json")
    assert sources.count(b'"app-') == 2 * count, "each target has its owner and its digest"


@pytest.mark.slow
def test_an_application_with_schemas_runs_on_any_number_of_cluster_types() -> None:
    made = plan(of_cluster_types(2_000), reading(*targets(2, schema=SCHEMA)))
    assert rendered(made) == 4_000
    assert {item.excess for item in made.assignments} == {0}


def test_the_assignments_of_a_large_registration_are_taken_over() -> None:
    platform = of_cluster_types(30)
    app = reading(*targets(100))
    base = written(plan(platform, app, options=OPTIONS), NOTHING)
    again = plan(platform, app, options=OPTIONS, base_tree=base)
    assert len(again.changes.taken_over) == 3_000


DIVIDED = """
from kalypso_actions.planning.assignment_rendering import AssignmentRenderer
from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.model.processes import no_progress
from kalypso_actions.rendering import Options, registration_budget
from tests.builders import assignment
from tests.planning.test_large_registrations import of_cluster_types, targets

registration_budget.REGISTRATION_EXCESS = 1_000_000
fleet_ = of_cluster_types(10)
long = targets(300, "main" + "x" * 9_000)
short = targets(300)
for given, processes in ((short, True), (long[:3], True), (long, True), (long, False)):
    assignments = [assignment(item, each) for each in fleet_.cluster_types for item in given]
    renderer = AssignmentRenderer(
        fleet_, Options(), "warn", (), WorkerProcesses(0) if processes else None
    )
    folders = {}
    planned = renderer.render_all(assignments, folders, no_progress)
    failures = [item.failure for item in planned if item.failure]
    print(len(folders), len(failures), len([item for item in failures if not item.is_consequence]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks safely")
def test_the_excess_of_all_processes_counts_together() -> None:
    """Half of the long texts would pass in each of two processes."""
    command = [sys.executable, "-c", DIVIDED]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["3000 0 0", "30 0 0", "0 3000 1", "0 3000 1"]


def workload(count: int) -> str:
    items = "".join(
        f"    - {{name: t{number}, environment: {'dev' if number % 3 else 'stage'}, manifests: {{}}}}\n"
        for number in range(count)
    )
    return (
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {name: app}\n"
        f"spec:\n  deploymentTargets:\n{items}"
    )


@pytest.mark.parametrize(("limit", "faults"), [(10_000, 0), (200, 0), (199, 1)])
def test_the_targets_of_a_registration_have_a_limit_in_each_environment(
    limit: int, faults: int
) -> None:
    app = registration("app", "https://git.test/app")
    delivery = DeliveryRules(max_targets=limit)
    _, findings = read_workloads(app, "dev", documents(workload(300)), delivery)
    assert len(findings.problems) == faults
    for problem in findings.problems:
        assert problem.message == (
            "the registration delivers 200 deployment targets to 'dev', but the limit is 199"
        )
        assert "max-targets" in problem.advice
        assert problem.where and problem.where.line == 305, "the first one beyond the limit"


def test_by_default_a_registration_may_have_ten_thousand_targets() -> None:
    assert DELIVERY.max_targets == 10_000


SOURCES = b"""{"schema": "kalypso.sources/v1", "environment": "dev", "targets": {"lost-a": "app"},
"registrations": {"app": {"repository": "https://git.test/app", "branch": "main", "path": ".",
"commit": "1", "tree": "2"}}}"""


LARGE = {"large/README.md": README_TEXT.decode()}


@pytest.mark.parametrize(
    ("state", "base", "expected"),
    [
        ("head", {}, ()),
        (
            "kept",
            {**LARGE, "large/lost-a/reconciler.yaml": ""},
            (LeftOutApplication("app", False, 1),),
        ),
        ("kept", {}, (LeftOutApplication("app", True, 7),)),
        ("last-good", {}, (LeftOutApplication("app", False, 1, "c" * 40),)),
    ],
)
def test_a_plan_names_the_applications_that_are_left_out(
    state: str, base: dict[str, str], expected: tuple[LeftOutApplication, ...]
) -> None:
    one = [] if state == "kept" else targets(1)
    app = replace(
        reading(*one, state=state, problems=[Problem("broken", None)]),  # type: ignore[arg-type]
        unusable=reading(*targets(7)).workloads,
    )
    large = fleet(
        cluster_types=[cluster_type("large")],
        policies=[policy("all")],
        templates=TEMPLATES,
        config_maps=[SETTINGS],
    )
    made = plan(large, app, base=base, sources=SOURCES)
    assert made.left_out == expected
