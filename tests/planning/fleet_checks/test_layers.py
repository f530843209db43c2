"""Layers that lose, or win by the order of names alone, and schemas that describe nothing."""

from __future__ import annotations

import pytest

from kalypso_actions.planning.fleet_checks.documents import _Layers
from tests.breaks import breaks, turned
from tests.planning.fleet_checks.control_planes import (
    API,
    Plane,
    edited,
    findings,
    shown,
    sound,
)

CODES = ("config-overridden", "config-ambiguous", "config-form-differs", "schema-property-unset")


def layer(name: str, value: str, **labels: str) -> str:
    more = "".join(f", {key.replace('_', '-')}: {text}" for key, text in labels.items())
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n"
        f'  labels: {{platform-config: "true"{more}}}\ndata:\n  K: {value}\n'
    )


def notes(plane: Plane) -> list[tuple[str, str]]:
    return [item for item in shown(findings(plane).notes) if item[0] in CODES]


@breaks(
    "a layer with fewer labels does not override",
    turned(_Layers.winner, "range(len(entry.labels) + 1)", "[len(entry.labels)]"),
)
@pytest.mark.parametrize(
    ("main", "dev", "expected"),
    [
        # the later name wins wherever both apply
        (layer("b-common", "'1'"), layer("a-dev", "'2'"), [("config-overridden", "dev/k.yaml:7")]),
        (layer("b", "'1'"), layer("a", "'2'", region="west"), [("config-overridden", "dev/k.yaml:7")]),
        (
            layer("b", "'1'", region="west"),
            layer("a", "'2'", region="west", size="edge"),
            [("config-overridden", "dev/k.yaml:7")],
        ),
        (layer("a-common", "'1'"), layer("b-dev", "'2'"), []),  # main's value counts in stage
        (layer("b", "'1'"), layer("a", "'1'"), []),
        (layer("b", "'[1]'"), layer("a", "'[2]'"), []),
        (layer("b", "'1'", region="west"), layer("a", "'2'"), []),
        # different labels that meet
        (
            layer("a", "'1'", region="west"),
            layer("b", "'2'", size="edge"),
            [("config-ambiguous", "dev/k.yaml:7")],
        ),
        (
            layer("b", "'1'", region="west"),
            layer("a", "'2'", purpose="test"),
            [("config-ambiguous", "main/k.yaml:7")],
        ),
        (layer("a", "'1'", region="west"), layer("b", "'2'", cluster_type="edge"), []),
        (
            layer("b", "'1'", region="west"),
            layer("a", "'2'", cluster_type="edge"),
            [("config-ambiguous", "main/k.yaml:7")],
        ),
        (layer("a", "'1'", region="west"), layer("b", "'1'", size="edge"), []),
        (layer("a", "'1'", region="west"), layer("b", "'2'", region="east"), []),
        (layer("a", "'1'", region="west"), layer("b", "'2'", size="none"), []),
        (layer("a", "'[1]'", region="west"), layer("b", "'[2]'", size="edge"), []),
        # another form
        (layer("a", "'[1]'"), layer("b", "'2'"), [("config-form-differs", "dev/k.yaml:7")]),
        (
            layer("a", "'{x: 1}'", region="west"),
            layer("b", "'[2]'", size="edge"),
            [("config-form-differs", "dev/k.yaml:7")],
        ),
        (
            layer("a", "'[1]'"),
            layer("b", "plain", region="west"),
            [("config-form-differs", "dev/k.yaml:7")],
        ),
        (layer("a", "'[1]'", region="east"), layer("b", "plain", region="west"), []),
    ],
)  # fmt: skip
def test_layers_of_one_key(main: str, dev: str, expected: list[tuple[str, str]]) -> None:
    plane = sound()
    plane["main"]["k.yaml"] = main
    plane["dev"]["k.yaml"] = dev
    assert notes(plane) == expected


@breaks(
    "a layer is compared with layers of one value alone",
    turned(_Layers._together, "product(*values)", "list(product(*values))[:1]"),
)
def test_sites_of_regions() -> None:
    plane = sound()
    sites = {f"s{number:02}": f"r{number % 20:02}" for number in range(60)}
    plane["dev"]["sites.yaml"] = "---\n".join(
        f"{API}kind: ClusterType\nmetadata: {{name: {site}, labels: {{site: {site}, region: {region}}}}}\n"
        "spec: {reconciler: flux, namespaceService: space}\n"
        for site, region in sites.items()
    )
    layers = [layer(f"b-{region}", "'1'", region=region) for region in set(sites.values())]
    layers += [layer(f"a-{site}", "'1'", site=site) for site in sites]
    plane["dev"]["layers.yaml"] = "---\n".join(layers)
    assert notes(plane) == []
    plane["dev"]["k.yaml"] = layer("c-last", "'2'", site="s59")
    assert [code for code, _ in notes(plane)] == ["config-overridden", "config-ambiguous"]


def test_the_note_names_the_keys_and_the_winner() -> None:
    plane = sound()
    plane["main"]["k.yaml"] = layer("b-common", "'1'") + "  L: '1'\n  M: '1'\n"
    plane["dev"]["k.yaml"] = layer("a-dev", "'2'") + "  L: '2'\n  P: '2'\n"
    (note,) = [item for item in findings(plane).notes if item.code == "config-overridden"]
    assert note.message == (
        "ConfigMap 'a-dev': K, L never counts: ConfigMap 'b-common' in main: k.yaml:7 applies "
        "wherever this one does, and comes later by name"
    )


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ('{"properties": {"REGION": {}}}', []),
        ('{"properties": {"REGOIN": {}, "REGION": {}}}', [("schema-property-unset", "dev/schema.yaml:8")]),
        ('{"properties": []}', []),
    ],
)  # fmt: skip
def test_a_property_that_no_layer_sets(schema: str, expected: list[tuple[str, str]]) -> None:
    plane = edited(sound(), "dev/schema.yaml", '{"type": "object"}', schema)
    assert notes(plane) == expected


@pytest.mark.parametrize(
    ("keyword", "warnings", "others"),
    [
        ("propertys", 1, 0),
        ("Properties", 1, 0),
        ("requierd", 1, 0),
        ("maximun", 1, 0),
        ("prefixItems", 1, 0),
        ("cluster", 0, 1),
        ("x-order", 0, 0),
        ("$anchor", 0, 0),
        ("description", 0, 0),
    ],
)
def test_unknown_keywords_of_a_schema(keyword: str, warnings: int, others: int) -> None:
    schema = f'{{"{keyword}": {{}}}}'
    plane = edited(sound(), "dev/schema.yaml", '{"type": "object"}', schema)
    found = findings(plane)
    place = ("schema-keyword-unknown", "dev/schema.yaml:8")
    assert [item for item in shown(found.warnings) if item == place] == [place] * warnings
    assert [item for item in shown(found.notes) if item == place] == [place] * others
