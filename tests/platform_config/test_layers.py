"""Which ConfigMaps and schemas apply to an assignment, and in which order."""

from __future__ import annotations

import pytest

from kalypso_actions.model.kinds import ConfigMap, DeploymentTarget
from kalypso_actions.platform_config import PlatformConfig
from kalypso_actions.platform_config.layers import split_azure_key
from tests.builders import assignment, cluster_type, config_map, config_schema, fleet, target

FACTORY = cluster_type("factory", site="north", tier="gold")
LINE = target("line1", workload="paint", workspace="shop", line="body", tier="silver")


def values(*config_maps: ConfigMap, target_: DeploymentTarget = LINE) -> dict[str, object]:
    config = PlatformConfig(fleet(config_maps=config_maps))
    return dict(config.config_of(assignment(target_, FACTORY)).values)


@pytest.mark.parametrize(
    ("labels", "applies"),
    [
        ({}, True),
        ({"cluster_type": "factory"}, True),
        ({"cluster_type": "other"}, False),
        ({"deployment_target": "paint-line1"}, True),
        ({"deployment_target": "line1"}, False),
        ({"workload": "paint"}, True),
        ({"workload": "factory"}, False),
        ({"workspace": "shop"}, True),
        ({"site": "north"}, True),
        ({"line": "body"}, True),
        ({"tier": "gold"}, True),
        ({"tier": "silver"}, True),
        ({"tier": "bronze"}, False),
        ({"site": "north", "line": "body"}, True),
        ({"site": "north", "line": "door"}, False),
        ({"absent": ""}, True),
        ({"site": ""}, True),
        ({"absent": "x"}, False),
    ],
)
def test_which_config_maps_apply(labels: dict[str, str], applies: bool) -> None:
    assert values(config_map("c", {"K": "v"}, **labels)) == ({"K": "v"} if applies else {})


def test_flux_labels_do_not_count() -> None:
    labels = {
        "kustomize.toolkit.fluxcd.io/name": "dev",
        "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
    }
    assert values(config_map("c", {"K": "v"}, **labels)) == {"K": "v"}


def test_platform_config_must_be_exactly_true() -> None:
    other = config_map("c", {"K": "v"}, platform_config="True")
    assert values(other) == {}


def test_layers_merge_by_name_of_the_config_map() -> None:
    merged = values(
        config_map("b-line", {"LOG": "{level: debug}", "REGION": "US"}, line="body"),
        config_map(
            "a-common", {"LOG": "{level: info, to: file}", "REGION": "EU", "ZIP": "'00501'"}
        ),
    )
    assert merged == {"LOG": {"level": "debug", "to": "file"}, "REGION": "US", "ZIP": "00501"}


def test_texts_stay_as_written() -> None:
    config = PlatformConfig(
        fleet(
            config_maps=[config_map("a", {"L": "[1]", "Z": "'0'"}), config_map("b", {"L": "[2]"})]
        )
    ).config_of(assignment(LINE, FACTORY))
    assert config.texts == {"L": "[2]", "Z": "'0'"}
    assert config.config_maps == ("a", "b")


def test_azure_app_config_comes_last_and_needs_no_label() -> None:
    azure = config_map(
        "azure-app-config-1",
        {
            "MAX": "20",
            "cluster-type.factory.REGION": "EU-North",
            "cluster-type.other.REGION": "US",
            "site.north.line.body.MAX": "40",
        },
        platform_config="false",
    )
    merged = values(azure, config_map("common", {"REGION": "EU", "MAX": "10"}))
    assert merged == {"REGION": "EU-North", "MAX": "40"}


def test_azure_app_config_with_the_label_applies_twice() -> None:
    merged = values(config_map("azure-app-config", {"site.north.K": "v"}))
    assert merged == {"site.north.K": "v", "K": "v"}


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("a", ("a", ())),
        ("a.b", ("b", ())),
        ("l.v.key", ("key", (("l", "v"),))),
        ("l.v.x.key", ("key", (("l", "v"),))),
        ("l1.v1.l2.v2.key", ("key", (("l1", "v1"), ("l2", "v2")))),
    ],
)
def test_azure_keys(key: str, expected: tuple[str, tuple[tuple[str, str], ...]]) -> None:
    assert split_azure_key(key) == expected


def test_schemas_of_the_fleet_come_before_the_targets_own() -> None:
    platform = PlatformConfig(
        fleet(
            config_schemas=[
                config_schema("a", "A", site="north"),
                config_schema("b", "B", site="south"),
                config_schema("c", "C"),
            ]
        )
    )
    line = target("line1", config_schemas=["own", "workload"])
    assert platform.schemas_of(assignment(line, FACTORY)) == ("A", "C", "own", "workload")


def test_equal_combinations_are_merged_once() -> None:
    platform = PlatformConfig(fleet(config_maps=[config_map("c", {"K": "[1]"}, site="north")]))
    first = platform.config_of(assignment(target("a"), FACTORY))
    assert platform.config_of(assignment(target("b"), FACTORY)) is first
    assert platform.config_of(assignment(target("b"), cluster_type("other"))) is not first


def test_assignments_with_the_same_layers_of_a_key_are_together() -> None:
    maps = [config_map(f"c-{name}", {"OWN": name}, target=name) for name in "abc"]
    maps += [config_map("for-a", {"K": "1"}, target="a")]
    platform = PlatformConfig(fleet(config_maps=maps))
    items = [assignment(target(name, target=name), FACTORY) for name in "abc"]
    assert platform.combinations(items, {"K"}) == [items[:1], items[1:]]
    assert platform.combinations(items, {"OWN"}) == [[item] for item in items]
    assert platform.combinations(items, {"OTHER"}) == [items]


def test_the_origins_of_a_key_are_those_among_all() -> None:
    maps = (
        config_map("a", {"LOG": "level: info", "X": "[{name: a}]", "Y": "1"}),
        config_map("b", {"LOG": "level: debug\nsink: file", "X": "[{name: a, port: 1}, b]"}),
        config_map("c", {"Y": "2"}, line="body"),
    )
    config = PlatformConfig(fleet(config_maps=maps)).config_of(assignment(LINE, FACTORY))
    for key in config.values:
        of_key = {path: places for path, places in config.origins.items() if path[0] == key}
        assert config.origins_of(key) == of_key
    assert config.origins_of("absent") == {}
    assert len(config.origins["Y",]) == 2
