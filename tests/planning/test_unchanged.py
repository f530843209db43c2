"""A run reuses folders with unchanged inputs: the tree is the same as that of a whole run."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from kalypso_actions import rendering
from kalypso_actions.gitops.own_files import README_ID
from kalypso_actions.gitops.proposal_decision import propose
from kalypso_actions.gitops.provenance import SOURCES_SCHEMA, InputsRecord, tree_id
from kalypso_actions.model.kinds import DeliveryRules, DeploymentTarget, Fleet
from kalypso_actions.model.layout import README_FILE
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree import BaseTree
from kalypso_actions.planning.manifest_references import UNMET
from kalypso_actions.planning.plan import Plan, PlanOptions
from kalypso_actions.planning.unchanged import UnchangedFolders, unchanged_folders
from tests.breaks import breaks, turned
from tests.builders import (
    cluster_type,
    config_map,
    config_schema,
    entry,
    fleet,
    policy,
    selector,
    target,
    template,
)
from tests.listings import listed
from tests.plans import plan, tree

SOURCES = ".github/tracking/sources.json"
OPTIONS = PlanOptions(code="this code", on_failure="keep")
RECONCILER = "a: {{ .Manifests.note }}\n{{ if eq .Manifests.note `bad` }}{{ fail `no` }}{{ end }}"
CONFIG = "{{ toYaml .ConfigData }}\nlevel: {{ .ConfigData.LEVEL }}\n"
NOTES = ("plain", "other", "bad", "a (b)", "x: y")
NOTHING = tree({})


def app(number: int, note: str = "plain") -> DeploymentTarget:
    made = target("web", workload=f"app{number}", manifests={"note": note}, tier=f"t{number % 2}")
    return replace(made, registration=f"reg{number % 2}" if number % 3 else "")


START = fleet(
    cluster_types=[cluster_type(name, region=f"r{len(name) % 2}") for name in ("a", "bb", "c")],
    targets=[app(number) for number in range(6)],
    policies=[policy("all")],
    config_maps=[config_map("all", {"LEVEL": "1"}), config_map("eu", {"X": "[1]"}, region="r1")],
    config_schemas=[config_schema("all", '{"type": "object"}')],
    templates=[
        template("reconciler", RECONCILER),
        template("namespace", "namespace: {{ .Namespace }}\n"),
        template("config", CONFIG),
    ],
)


def planned(now: Fleet, base: BaseTree, **options: Any) -> Plan:
    return plan(now, base_tree=base, options=replace(OPTIONS, **options))


def written(made: Plan, base: BaseTree) -> BaseTree:
    """Return the tree that a run has written."""
    changes = made.changes
    kept = {path: old for path, old in base.entries.items() if path not in changes.deleted}
    new = {path: entry(path, blob_id(content)) for path, content in changes.files.items()}
    sources = changes.content(SOURCES)
    return replace(base, entries=kept | new, sources=sources, is_as_written=True)


def rendered(made: Plan) -> list[str]:
    """Return the folders that a run has rendered, or failed to render."""
    known = made.changes.taken_over
    folders = (item.assignment.folder for item in made.assignments)
    return [folder for folder in folders if folder not in known]


def result(made: Plan, base: BaseTree) -> tuple[object, ...]:
    changes = replace(made.changes, files={}, taken_over=(), listed=())
    proposal = propose(made.changes, base, "dev", None)
    items = [
        (item.assignment, item.namespace, item.files, item.failure) for item in made.assignments
    ]
    entries = {path: item.object_id for path, item in written(made, base).entries.items()}
    findings = made.problems, made.faults, made.warnings
    return proposal, changes, items, entries, *findings, made.changes.files[SOURCES]


FIRST = planned(START, NOTHING)
BASE = written(FIRST, NOTHING)


def changed_fleets(chance: random.Random) -> Iterator[Fleet]:
    """Yield fleets; each differs a little from the previous one."""
    now = START
    while True:
        number, note = chance.randrange(8), chance.choice(NOTES)
        others = [item for item in now.targets if item.workload != f"app{number}"]
        types = list(now.cluster_types)
        level = {"LEVEL": str(chance.randrange(3))} if chance.random() < 0.8 else {}
        match chance.randrange(6):
            case 0:
                now = replace(now, targets=tuple(sorted([*others, app(number, note)], key=_name)))
            case 1:
                now = replace(now, targets=tuple(others))
            case 2:
                types[0] = cluster_type(types[0].name, region=f"r{number % 3}")
                now = replace(now, cluster_types=tuple(types))
            case 3:
                layers = config_map("all", level), config_map("eu", {"X": note}, region="r1")
                now = replace(now, config_maps=layers)
            case 4:
                schema = json.dumps({"properties": {"X": {"maximum": number}}})
                now = replace(now, config_schemas=(config_schema("all", schema, region="r1"),))
            case 5:
                text = RECONCILER + f"# {number}\n" * (number % 2)
                now = replace(now, templates=(template("reconciler", text), *START.templates[1:]))
        yield now


def _name(item: DeploymentTarget) -> str:
    return item.name


FOREIGN = ("a/loose.txt", "bb/app1-web/notes.md", "bb/by-hand/a.yaml", "c/reconciler.yaml", "z")


@breaks(
    "Templates do not decide files",
    turned(
        "kalypso_actions.planning.unchanged._Inputs.of_cluster_type",
        "self._common + _digest([item.name, names]) + templates",
        "self._common + _digest([item.name, names])",
    ),
)
@breaks(
    "the configuration does not decide files",
    turned(
        "kalypso_actions.planning.unchanged._Inputs.of_cluster_type",
        "own + self._config.of_cluster_type(item)",
        "own",
    ),
)
@pytest.mark.parametrize("seed", range(8))
def test_the_tree_is_that_of_a_whole_run(seed: int) -> None:
    """Most trees are as git lists them; people have added files to some before a run wrote them."""
    chance, base, taken_over, listed_folders = random.Random(seed), NOTHING, 0, set()
    fleets = changed_fleets(chance)
    for _ in range(12):
        now = next(fleets)
        if chance.random() < 0.2:
            path = chance.choice(FOREIGN)
            base = replace(base, entries={**base.entries, path: entry(path, "1" * 40)})
        if chance.random() < 0.8:
            base = listed(base)
        made = planned(now, base)
        listed_folders |= {folder.path.count("/") for folder in made.changes.listed}
        whole = planned(now, replace(base, is_as_written=False))
        verified = planned(now, base, verify=True)
        assert not whole.changes.taken_over
        assert result(made, base) == result(whole, base) == result(verified, base)
        taken_over += len(made.changes.taken_over)
        if chance.random() < 0.8:
            base = written(made, base)
    assert taken_over > 5
    assert 1 in listed_folders  # folders of targets; those of whole cluster types are rarer


def test_one_changed_value_renders_the_folders_that_have_it() -> None:
    assert rendered(planned(START, BASE)) == []
    other = replace(START, targets=(app(0, "other"), *START.targets[1:]))
    assert rendered(planned(other, BASE)) == ["a/app0-web", "bb/app0-web", "c/app0-web"]
    maps = (*START.config_maps, config_map("only", {"Y": "1"}, region="r0"))
    made = planned(replace(START, config_maps=maps), BASE)
    assert {folder.partition("/")[0] for folder in rendered(made)} == {"bb"}


def with_sources(**inputs: object) -> BaseTree:
    """Return a tree whose `sources.json` somebody has changed."""
    body = json.loads(BASE.sources or b"")
    body["inputs"] |= inputs
    return replace(BASE, sources=json.dumps(body).encode())


ALL = len(FIRST.assignments)
DIGESTS = json.loads(BASE.sources or b"")["inputs"]


@breaks(
    "other code renders the same",
    turned("kalypso_actions.planning.unchanged._Inputs.__init__", "code", "''"),
)
@breaks(
    "trees that others have changed are taken over",
    turned(unchanged_folders, "base.is_as_written", "True"),
)
@pytest.mark.parametrize(
    ("base", "options", "expected"),
    [
        (BASE, {}, 0),
        (replace(BASE, is_as_written=False), {}, ALL),
        (BASE, {"code": "other code"}, ALL),
        (BASE, {"code": ""}, ALL),
        (BASE, {"namespace_scheme": "legacy"}, ALL),
        (BASE, {"delivery": DeliveryRules("any")}, ALL),
        (BASE, {"verify": True}, ALL),
        (with_sources(clusterTypes={}, targets={}), {}, ALL),
        (with_sources(clusterTypes={}), {}, 0),
        (with_sources(clusterTypes={}, targets=DIGESTS["targets"] | {"app1-web": None}), {}, 3),
        (replace(BASE, sources=b"{}"), {}, ALL),
        (replace(BASE, sources=None), {}, ALL),
    ],
)
def test_folders_that_are_rendered(base: BaseTree, options: dict[str, Any], expected: int) -> None:
    assert len(rendered(planned(START, base, **options))) == expected


def test_a_tree_of_another_environment_is_not_taken_over() -> None:
    other = replace(
        START,
        environment="prod",
        targets=tuple(replace(item, environment="prod") for item in START.targets),
    )
    assert len(rendered(planned(other, BASE))) == ALL


@breaks(
    "one of two trees suffices",
    turned(unchanged_folders, "len(records) < max(1, len(bases))", "not records"),
)
def test_one_of_two_trees_is_not_as_written() -> None:
    edited = replace(BASE, is_as_written=False)
    for first, second, expected in ((BASE, BASE, 0), (BASE, edited, ALL), (edited, BASE, ALL)):
        made = plan(START, base_tree=first, others=[second], options=OPTIONS)
        assert len(rendered(made)) == expected


@breaks(
    "a missing value is reported once",
    turned(
        "kalypso_actions.planning.unchanged._record",
        "any(map(rendering.lacks_value, files.values()))",
        "not files",
    ),
)
def test_a_missing_value_is_reported_again_by_each_run() -> None:
    prints_none = template("config", 'level: {{ (dict "a" nil).a }}\n')
    without = replace(START, templates=(*START.templates[:2], prints_none))
    made = planned(without, NOTHING)
    again = planned(without, written(made, NOTHING))
    assert "template-no-value" in {warning.code for warning in made.warnings}
    assert again.warnings == made.warnings


@breaks(
    "a failure is not looked for again",
    turned(
        "kalypso_actions.planning.unchanged._record",
        "{place for place, item in rendered.items() if item.failure}",
        "set()",
    ),
)
def test_a_failure_is_reported_again_by_each_run() -> None:
    failing = replace(START, targets=(app(0, "bad"), *START.targets[1:]))
    made = planned(failing, BASE)
    again = planned(failing, written(made, BASE))
    assert len([item for item in made.assignments if item.failure]) == 3
    assert result(again, BASE) == result(made, BASE)


@breaks(
    "a registration whose assignments are doubtful is rendered in part",
    turned(
        "kalypso_actions.planning.unchanged.render_changed",
        "doubtful.isdisjoint(known)",
        "True",
    ),
)
def test_an_expensive_assignment_renders_its_whole_registration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = replace(START, targets=(START.targets[0], app(1, "x" * 5000), *START.targets[2:]))
    assert len(rendered(planned(other, BASE))) == 3
    monkeypatch.setattr(rendering.registration_budget, "REGISTRATION_EXCESS", 20_000)
    base = written(planned(START, NOTHING), NOTHING)
    assert rendered(planned(START, base)) == []
    made = planned(other, base)
    assert {folder.partition("/")[2] for folder in rendered(made)} == {"app1-web", "app5-web"}
    again = planned(other, written(made, base))
    assert {folder.partition("/")[2] for folder in rendered(again)} == {"app1-web", "app5-web"}


@breaks(
    "an object to which a rendered folder refers is sought in rendered folders alone",
    turned("kalypso_actions.planning.unchanged._sharing", "is_wanted(item)", "False"),
)
def test_a_dependency_on_an_object_of_an_unchanged_folder() -> None:
    """app0 has changed, and depends on app1 now, which only some of the cluster types have."""
    depending = (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
        "metadata: {name: '{{ .DeploymentTargetName }}', namespace: flux-system}\n"
        "spec:\n  interval: 5m\n  prune: true\n  sourceRef: {kind: GitRepository, name: apps}\n"
        "  dependsOn: [{name: '{{ .Manifests.note }}'}]\n"
    )
    others = {"kalypso.io/manifests": "any"}
    before = replace(
        START,
        policies=(
            policy("everywhere", targets=selector(tier="t0")),
            policy("some", targets=selector(tier="t1"), cluster_types=selector(region="r1")),
        ),
        templates=(
            template("reconciler", depending),
            template("namespace", "a: b\n", annotations=others),
            template("config", CONFIG, annotations=others),
        ),
    )
    base = written(planned(before, NOTHING), NOTHING)
    after = replace(before, targets=(app(0, "app1-web"), *before.targets[1:]))
    (warning,) = [w for w in planned(after, base).warnings if w.code == UNMET]
    assert "(app0-web on bb)" in warning.message


def test_verify_finds_a_file_that_differs_with_the_same_inputs() -> None:
    path = "a/app0-web/reconciler.yaml"
    edited = replace(BASE, entries={**BASE.entries, path: entry(path, "0" * 40)})
    assert planned(START, edited).problems == ()
    (problem,) = planned(START, edited, verify=True).problems
    assert problem.where is not None
    assert problem.where.path == path


@breaks(
    "the id of a tree leaves its record out",
    turned("kalypso_actions.gitops.provenance.tree_id", "[blob_id(sources)]", "[]"),
)
@breaks(
    "the id of a tree leaves its folders out",
    turned("kalypso_actions.gitops.provenance.tree_id", "f'{folders.get(name)} {name}'", "name"),
)
@pytest.mark.parametrize(
    ("sources", "folders", "is_same"),
    [
        (BASE.sources, {"a": "1", "bb": "2", "c": "3"}, True),
        (BASE.sources, {"a": "1", "bb": "2", "c": "3", "others": "4"}, True),
        (BASE.sources, {"a": "1", "bb": "2", "c": "4"}, False),
        (BASE.sources, {"a": "1", "bb": "2"}, False),
        ((BASE.sources or b"") + b" ", {"a": "1", "bb": "2", "c": "3"}, False),
    ],
)
def test_the_id_of_a_tree(sources: bytes, folders: dict[str, str], is_same: bool) -> None:
    known = tree_id(BASE.sources, {"a": "1", "bb": "2", "c": "3"})
    assert (tree_id(sources, folders) == known) is is_same
    assert tree_id(b"{}", folders) == ""


def test_the_id_of_an_applications_tree() -> None:
    record = b'{"schema": "kalypso.app-sources/v1", "targets": ["a/x", "a/y", "b"]}'
    folders = {"a": "1", "b": "2", "c": "3"}
    known = tree_id(record, folders)
    assert known
    assert tree_id(record, {**folders, "c": "4"}) == known
    assert tree_id(record, {**folders, "a": "4"}) != known
    assert tree_id(record + b" ", folders) != known
    assert tree_id(record.replace(b"targets", b"others"), folders) == ""


NOW = InputsRecord(cluster_types={"large": "1", "small": "2"}, targets={"web": "3", "api": "4"})
ASSIGNED = {"large": ["web", "api"], "small": ["web"]}
NAMES = ("reconciler.yaml", "namespace.yaml")
TREE = {
    "large/README.md",
    "small/README.md",
    *(f"large/{target}/{name}" for target in ("web", "api") for name in NAMES),
    *(f"small/web/{name}" for name in NAMES),
}
FILES = {"large/web": NAMES, "large/api": NAMES, "small/web": NAMES}


def base(paths: set[str], *, path: str = "", inputs: InputsRecord = NOW) -> BaseTree:
    """Return a tree as a run has written it, as git lists it."""
    prefix = f"{path}/" if path else ""
    record = inputs.model_dump(by_alias=True)
    sources = json.dumps({"schema": SOURCES_SCHEMA, "environment": "dev", "inputs": record})
    entries = {
        f"{prefix}{name}": entry(
            f"{prefix}{name}", README_ID if name.endswith(README_FILE) else "1" * 40
        )
        for name in sorted(paths)
    }
    return listed(
        BaseTree(
            "gitops",
            "dev",
            path,
            entries,
            sources=sources.encode(),
            is_as_written=True,
        )
    )


def found(*bases: BaseTree) -> UnchangedFolders:
    return unchanged_folders(bases, "dev", ASSIGNED, NOW)


@pytest.mark.parametrize("path", ["", "fleet", "clusters/dev"])
def test_unchanged_cluster_types_are_whole(path: str) -> None:
    assert found(base(TREE | {"LICENSE", "other/README.md"}, path=path)) == UnchangedFolders(
        FILES, frozenset({"large", "small"})
    )


def test_targets_may_have_no_file_of_a_kind() -> None:
    paths = {path for path in TREE if path != "small/web/namespace.yaml"}
    result = found(base(paths))
    assert result.whole == {"large", "small"}
    assert result.files["small/web"] == ("reconciler.yaml",)


@breaks(
    "another target's folder counts as an unchanged one",
    turned(
        "kalypso_actions.planning.unchanged._exact",
        "set(folder.folders()) == paths",
        "folder.folders()",
    ),
)
@pytest.mark.parametrize(
    "changed",
    [
        {"large/web/notes.md"},
        {"large/web/reconciler.yaml/x"},
        {"large/web/deep/reconciler.yaml"},
        {"large/web/namespace.yaml"},
        {"large/api/namespace.yaml", "large/namespace.yaml"},
        {"large/web/reconciler.yaml", "large/web/namespace.yaml"},
        {f"large/{target}/{name}" for target in ("api", "old") for name in NAMES},
        {"large/web/ blob x"},
        {"large/web/reconciler.yaml", "large/web/reconciler.yaml.bak"},
        {"large/we\tb/reconciler.yaml", "large/web/reconciler.yaml", "large/web/namespace.yaml"},
    ],
)
def test_folders_with_anything_else_are_looked_at(changed: set[str]) -> None:
    """Every path is added to the tree, or removed from it."""
    result = found(base(TREE ^ changed))
    assert (result.whole, result.partly) == (frozenset({"small"}), frozenset())
    assert result.files.keys() == FILES.keys()


@pytest.mark.parametrize(
    "changed",
    [
        {"large/notes.md"},
        {"large/reconciler.yaml"},
        {"large/old/reconciler.yaml"},
        {"large/README.md"},
        {"large/README.md", "large/README.md.bak"},
    ],
)
def test_a_cluster_type_with_anything_else_is_partly_unchanged(changed: set[str]) -> None:
    expected = UnchangedFolders(FILES, frozenset({"small"}), frozenset({"large"}))
    assert found(base(TREE ^ changed)) == expected


@pytest.mark.parametrize(("mode", "object_id"), [("100644", "1" * 40), ("100755", README_ID)])
def test_a_cluster_type_with_another_readme_is_partly_unchanged(mode: str, object_id: str) -> None:
    path = "large/README.md"
    made = base(TREE)
    readme = made.entries[path]._replace(mode=mode, object_id=object_id)
    result = found(listed(replace(made, entries={**made.entries, path: readme})))
    assert result == UnchangedFolders(FILES, frozenset({"small"}), frozenset({"large"}))


def test_a_changed_cluster_type_has_unchanged_targets() -> None:
    before = NOW.model_copy(update={"cluster_types": {"large": None, "small": "2"}})
    result = found(base(TREE, inputs=before))
    assert result == UnchangedFolders(FILES, frozenset({"large", "small"}))
    both = before.model_copy(update={"targets": {"web": "3"}})
    files = {"large/web": NAMES, "small/web": NAMES}
    assert found(base(TREE, inputs=both)) == UnchangedFolders(
        files, frozenset({"small"}), frozenset({"large"})
    )
    new = found(base({path for path in TREE if "api" not in path}, inputs=both))
    assert new == UnchangedFolders(files, frozenset({"small"}), frozenset({"large"}))


def test_a_cluster_type_is_whole_in_every_tree() -> None:
    first, other = base(TREE), base(TREE | {"large/notes.md"}, path="fleet")
    assert found(first, first).whole == {"large", "small"}
    expected = UnchangedFolders(FILES, frozenset({"small"}), frozenset({"large"}))
    assert found(first, other) == found(other, first) == expected
    assert found(first, replace(first, is_as_written=False)) == UnchangedFolders()


def test_files_that_git_has_not_listed_are_not_whole() -> None:
    plain = replace(base(TREE), entries=dict(base(TREE).entries))
    assert found(plain) == UnchangedFolders(FILES)
