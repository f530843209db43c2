"""Two plans at once: files that are not rendered would be equal in both."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.comparison import Mask
from kalypso_actions.comparison.differences import new_findings, tree_changes
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.differences import AssignmentName, Comparison, SetValue
from kalypso_actions.model.kinds import Fleet
from kalypso_actions.model.layout import TRACKING_FOLDER
from kalypso_actions.model.processes import no_progress
from kalypso_actions.model.tree import RegistrationReading, Snapshot
from kalypso_actions.planning.merged_findings import documents_of, settled
from kalypso_actions.planning.plan import Plan, PlanOptions, make_plan
from kalypso_actions.planning.plan_pair import PlanPair, plan_pair
from kalypso_actions.scheduling import LabelScheduler
from tests.builders import (
    HERE,
    TEMPLATES,
    cluster_type,
    config_map,
    config_schema,
    fleet,
    policy,
    selector,
    target,
    template,
)
from tests.plans import reading, snapshot_of, tree

MASK = Mask()
SCHEMA = '{"properties": {"PORT": {"type": "integer"}}}'


def pair(base: Snapshot, head: Snapshot, options: PlanOptions | None = None) -> PlanPair:
    return plan_pair(base, head, options or PlanOptions(), LabelScheduler(), no_progress, MASK)


sizes = st.sampled_from(["small", "large"])
ports = st.sampled_from(["8080", "'8080'", "{a: 1}", "{a: true}", "[1, 2]", "none", ""])
texts = st.sampled_from(
    ["t: {{ .DeploymentTargetName }}\n", "{{ .ConfigData.PORT }}\n", "{{ fail .Namespace }}", "{{"]
)


@st.composite
def fleets(draw: st.DrawFn) -> tuple[Fleet, tuple[RegistrationReading, ...]]:
    """Return a small fleet, which may differ from another one in any part."""
    names = draw(st.sets(st.sampled_from(["c1", "c2", "c3"]), min_size=1))
    config_type = st.sampled_from(["config", "", "envFile", "gone"])
    templates = (
        *TEMPLATES[:2],
        template("config", draw(texts), annotations=draw(st.sampled_from([{}, {"a": "b"}]))),
    )
    maps = {
        name: config_map(name, {"PORT": draw(ports), "K": draw(ports)}, **labels)
        for name, labels in draw(
            st.lists(
                st.tuples(
                    st.sampled_from(["m1", "m2", "azure-app-config"]),
                    st.dictionaries(st.sampled_from(["size", "workload"]), sizes, max_size=1),
                )
            )
        )
    }
    made = fleet(
        cluster_types=[
            cluster_type(name, config_type=draw(config_type), size=draw(sizes))
            for name in sorted(names)
        ],
        policies=[
            policy("p", cluster_types=selector(**draw(st.sampled_from([{}, {"size": "large"}]))))
        ],
        config_maps=[maps[name] for name in sorted(maps)],
        config_schemas=[config_schema("s", SCHEMA)] if draw(st.booleans()) else [],
        templates=[each for each in templates if draw(st.integers(0, 9))],
    )
    targets = [
        target(name, size=draw(sizes), manifests=draw(st.sampled_from([None, {"path": "other"}])))
        for name in sorted(draw(st.sets(st.sampled_from(["a", "b", "c"]))))
    ]
    if draw(st.integers(0, 3)) == 0:
        return made, (reading(state="kept"),)
    return made, (reading(*targets),)


def full(plan: Snapshot, options: PlanOptions) -> Plan:
    made = make_plan(plan, options, LabelScheduler(), no_progress)
    return replace(made, findings=settled(made.findings, documents_of(plan)))


@given(
    fleets(),
    fleets(),
    st.sampled_from([PlanOptions(), PlanOptions(on_failure="keep", missing_values="error")]),
)
def test_a_pair_is_two_full_plans(
    base_fleet: tuple[Fleet, tuple[RegistrationReading, ...]],
    head_fleet: tuple[Fleet, tuple[RegistrationReading, ...]],
    options: PlanOptions,
) -> None:
    base, head = (snapshot_of(made, *read) for made, read in (base_fleet, head_fleet))
    compared = pair(base, head, options).comparison
    before = full(base, options)
    files = {path: before.changes.content(path).decode() for path in before.changes.files}
    after = full(replace(head, base_trees=(tree(files),)), options)

    contents = {path: before.changes.content(path) for path in before.changes.files}
    changes = tree_changes(after.changes, contents)
    expected = [MASK.diff(item) for item in changes if TRACKING_FOLDER not in item.path]
    assert [item._replace(repositories=frozenset()) for item in compared.files] == expected

    folders = [{item.assignment.folder for item in plan.assignments} for plan in (before, after)]
    assert {item.folder for item in compared.assignments_added} == folders[1] - folders[0]
    kept = (
        set()
        if head.registrations[0].state == "head"
        else {
            folder
            for folder in folders[0] - folders[1]
            if folder.partition("/")[0] in after.cluster_types
        }
    )
    assert {item.folder for item in compared.assignments_removed} == folders[0] - folders[1] - kept
    assert texts_of(compared.problems_new) == texts_of(
        new_findings(before.problems, after.problems)[0]
    )
    assert texts_of(compared.warnings_new) == texts_of(
        new_findings(before.warnings, after.warnings)[0]
    )


def texts_of(problems: tuple[Problem, ...]) -> list[str]:
    """Return all problems except those of the tree and of lines without a value.

    A plan reports the lines without a value together.
    """
    others = {"template-no-value", "gitops-file-foreign"}
    return sorted(str(item) for item in problems if item.code not in others)


LARGE, SMALL = cluster_type("large"), cluster_type("small")


def fleet_with(**data: str) -> Fleet:
    maps = [config_map("a", {"K": "v"}), config_map("b", data, cluster_type="large")]
    return fleet(cluster_types=[LARGE, SMALL], policies=[policy("all")], config_maps=maps)


def test_only_assignments_that_a_layer_reaches_are_rendered() -> None:
    base, head = (snapshot_of(fleet_with(PORT=port), reading(target("web"))) for port in ("1", "2"))
    made = pair(base, head)
    assert made.compared == {"large/app-web"}
    (value,) = made.comparison.values
    assert value.path == ("PORT",)
    assert value.assignments == (AssignmentName("dev", "large", "app-web"),)
    where = Location("test", "b.yaml", 2)
    assert (value.before, value.after) == (SetValue("1", where), SetValue("2", where))
    (change,) = made.comparison.files
    assert (change.path, change.change) == ("large/app-web/platform-config.yaml", "modified")
    assert change.repositories == {"test"}
    assert [(item.kind, item.name, item.change) for item in made.comparison.documents] == [
        ("ConfigMap", "b", "modified")
    ]


def test_a_document_on_another_line_is_the_same() -> None:
    moved = replace(LARGE, where=replace(HERE, line=99))
    base, head = (
        snapshot_of(replace(fleet_with(), cluster_types=types), reading(target("web")))
        for types in ((LARGE, SMALL), (moved, SMALL))
    )
    made = pair(base, head)
    assert not made.compared
    assert made.comparison == Comparison("dev")


@pytest.mark.parametrize(("was_there", "expected"), [(True, (0, 1)), (False, (1, 0))])
def test_a_line_without_a_value_is_new_or_known(was_there: bool, expected: tuple[int, int]) -> None:
    gap = template("reconciler", "port: {{ .ConfigData.NONE }}\n{{ .ConfigData.K }}\n")
    none = replace(gap, manifests=("port: 1\n{{ .ConfigData.K }}\n",))
    base = replace(fleet_with(), templates=(gap if was_there else none, *TEMPLATES[1:]))
    later = config_map("c", {"K": "w"}, cluster_type="large")
    head = replace(
        fleet_with(),
        cluster_types=(LARGE,),
        config_maps=(*fleet_with().config_maps, later),
        templates=(gap, *TEMPLATES[1:]),
    )
    web = reading(target("web"))
    made = pair(snapshot_of(base, web), snapshot_of(head, web)).comparison
    assert (len(made.warnings_new), made.warnings_known) == expected


def test_new_lines_without_a_value_come_in_the_order_of_their_assignments() -> None:
    gap = template("reconciler", "port: {{ .Labels.NONE }}\n{{ .ConfigData.K }}\n")
    base = replace(fleet_with(), cluster_types=(LARGE,), templates=(gap, *TEMPLATES[1:]))
    head = replace(
        base,
        cluster_types=fleet_with().cluster_types,
        config_maps=(*base.config_maps, config_map("c", {"K": "w"})),
    )
    known = target("a")
    other = replace(target("b"), where=Location("https://git.test/other", "b.yaml", 1))
    made = pair(
        snapshot_of(base, reading(known)), snapshot_of(head, reading(known, other))
    ).comparison
    first, second = (problem.message for problem in made.warnings_new)
    assert first.endswith("into 2 files (app-b on large and 1 more)")
    assert second.endswith("into 1 file (app-a on small)")


def test_removals_are_counted_in_the_tree_else_in_the_other_plan() -> None:
    targets = [target(f"t{number}") for number in range(10)]
    base, head = (snapshot_of(fleet_with(), reading(*chosen)) for chosen in (targets, targets[:1]))
    removal = pair(base, head).comparison.mass_removal
    assert removal
    assert removal.message.startswith(
        "18 of 20 assignments would be removed, which is more than 30%"
    )
    assert removal.where is None
    deployed = tree({"large/app-t0/reconciler.yaml": ""})
    assert pair(base, replace(head, base_trees=(deployed,))).comparison.mass_removal is None


def test_a_file_names_the_repositories_of_all_layers() -> None:
    """Even a layer whose values are all replaced may decide that a file differs."""
    below, empty, above = (
        replace(config_map(name, data), where=Location(f"https://git.test/{name}"), places={})
        for name, data in (("a", {"K": "1"}), ("b", {}), ("c", {"K": "2"}))
    )
    after = replace(above, data={"K": "3"})
    base, head = (
        snapshot_of(replace(fleet_with(), config_maps=maps), reading(target("web")))
        for maps in ((below, empty, above), (below, empty, after))
    )
    changed = {name for item in pair(base, head).comparison.files for name in item.repositories}
    assert changed == {"test", "https://git.test/a", "https://git.test/c"}


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("small", ()),
        ("large", ("app registers 2 targets: none of them is on a cluster type",)),
    ],
)
def test_new_targets_without_an_assignment(size: str, expected: tuple[str, ...]) -> None:
    made = fleet(
        cluster_types=[cluster_type("edge", size="small")],
        policies=[policy("all", targets=selector(size="small"))],
    )
    new = [replace(target(name, size=size), registration="app") for name in ("a", "b")]
    assert pair(snapshot_of(made, reading()), snapshot_of(made, reading(*new))).idle == expected


def test_a_new_cluster_type_on_which_nothing_runs() -> None:
    before = fleet(policies=[policy("all", cluster_types=selector(size="small"))])
    types = [cluster_type("edge", size="small"), cluster_type("medium", size="medium")]
    after = replace(before, cluster_types=tuple(types))
    old, new = (snapshot_of(made, reading(target("a"))) for made in (before, after))
    assert pair(old, new).idle == ("ClusterType medium: nothing runs on it",)
