"""Violations of schemas, with the files behind them."""

from __future__ import annotations

import dataclasses
import time

import pytest

from kalypso_actions.errors import Location
from kalypso_actions.model.documents import TextPlace
from kalypso_actions.model.kinds import ConfigMap
from kalypso_actions.planning.config_checks import ConfigValidator
from kalypso_actions.platform_config import PlatformConfig
from tests.builders import assignment, cluster_type, config_map, config_schema, fleet, target
from tests.plans import LARGE

SCHEMA = (
    '{"type": "object", "required": ["REGION"], "properties": {"REGION": {"enum": ["eu", "us"]}, '
    '"LIMITS": {"properties": {"cpu": {"type": "integer"}}}}}'
)


def violation(*config_maps: ConfigMap, of_target: str = "") -> tuple[str, str]:
    """Return place and advice of a failure."""
    schemas = () if of_target else [config_schema("regions", SCHEMA)]
    platform = PlatformConfig(fleet(config_maps=config_maps, config_schemas=schemas))
    web = assignment(target("web", config_schemas=[of_target] if of_target else ()), LARGE)
    failure = ConfigValidator(platform).failure(web, platform.config_of(web))
    assert failure is not None
    assert failure.message.startswith("Config data validation failed:")
    return f"{failure.where.path}:{failure.where.line}", failure.advice


@pytest.mark.parametrize(
    ("values", "where", "said"),
    [
        ({"A": "1", "REGION": "mars"}, "c.yaml:3", "refused by ConfigSchema 'regions' in regions.yaml:1: REGION is set in c.yaml:3"),
        ({"REGION": "eu", "LIMITS": "cpu: x"}, "c.yaml:3", "refused by ConfigSchema 'regions' in regions.yaml:1: LIMITS.cpu is set in c.yaml:3"),
        ({"A": "1"}, "regions.yaml:1", "refused by ConfigSchema 'regions' in regions.yaml:1: no ConfigMap sets REGION, the ConfigMaps that apply are c; kalypso explain shows every layer"),
    ],
    ids=["a value", "a value inside of another", "a missing key"],
)  # fmt: skip
def test_the_schema_and_the_value_are_named(values: dict[str, str], where: str, said: str) -> None:
    place, advice = violation(config_map("c", values))
    assert place == where
    assert advice == said


@pytest.mark.parametrize(
    ("schema", "values", "line"),
    [
        ('{\n "title": "x",\n "required": ["A"]}', {}, 12),
        ('{\n "required": [],\n "properties": {"B": {\n  "required": ["A"]}}}', {"B": "c: d"}, 2),
        ('{\n "minProperties": 3}', {}, 10),
    ],
    ids=["a key", "a key of a value", "another keyword"],
)
def test_what_no_value_violates_is_at_its_keyword(
    schema: str, values: dict[str, str], line: int
) -> None:
    required = dataclasses.replace(config_schema("s", schema), schema_place=TextPlace(10, 5))
    maps = [config_map("c", values)] if values else []
    platform = PlatformConfig(fleet(config_maps=maps, config_schemas=[required]))
    web = assignment(target("web"), LARGE)
    failure = ConfigValidator(platform).failure(web, platform.config_of(web))
    assert failure is not None
    assert failure.where.line == line


@pytest.mark.parametrize(
    ("schema", "value", "advice"),
    [
        ('{"enum": ["1", "2"]}', "2", 'is compared as one: write 2 for "2" in the schema'),
        ('{"const": "2"}', "2", 'write 2 for "2" in the schema'),
        ('{"type": "string"}', "2", 'is checked as a number: write "type": "integer"'),
        ('{"type": "string"}', "2.5", 'is checked as a number: write "type": "number"'),
        ('{"type": "boolean"}', "true", 'is checked as a text: write "enum": ["true", "false"]'),
    ],
)
def test_values_that_look_like_numbers(schema: str, value: str, advice: str) -> None:
    text = f'{{"properties": {{"K": {schema}}}}}'
    assert advice in violation(config_map("c", {"K": value}), of_target=text)[1]


@pytest.mark.parametrize(
    ("schema", "value"), [('{"enum": ["1", "2"]}', "3"), ('{"enum": ["a"]}', "2")]
)
def test_other_values_that_are_not_listed(schema: str, value: str) -> None:
    text = f'{{"properties": {{"K": {schema}}}}}'
    assert "looks like" not in violation(config_map("c", {"K": value}), of_target=text)[1]


def test_a_layer_that_sets_a_missing_key_elsewhere_is_named() -> None:
    elsewhere = config_map("c", {"REGION": "eu"}, size="small")
    assert "REGION is set in c.yaml:2, but only for size = small" in violation(elsewhere)[1]


def test_the_last_layer_is_named() -> None:
    place, _ = violation(config_map("a", {"REGION": "mars"}), config_map("b", {"REGION": "moon"}))
    assert place == "b.yaml:2"


def test_a_schema_of_the_target_is_named() -> None:
    _, advice = violation(config_map("c", {"REGION": "mars"}), of_target=SCHEMA)
    assert advice.startswith("refused by configSchemas of 'app-web' in app.yaml:1: ")


def test_without_any_configuration() -> None:
    assert "no ConfigMap applies" in violation()[1]


def test_schemas_of_targets_with_equal_configuration_have_their_own_places() -> None:
    platform = PlatformConfig(fleet())
    validator = ConfigValidator(platform)
    places = []
    for line, name in enumerate(("web", "api"), start=4):
        own = target(name, config_schemas=[SCHEMA])
        each = dataclasses.replace(own, where=Location("app", "workload.yaml", line))
        assigned = assignment(each, LARGE)
        failure = validator.failure(assigned, platform.config_of(assigned))
        assert failure is not None
        places.append(failure.where.line)
    assert places == [4, 5]


def test_a_schema_that_refuses_thousands_of_cluster_types() -> None:
    """Each looked through the entries of all others: the square of their number."""
    names = [f"store-{number}" for number in range(5_000)]
    maps = [
        config_map(name, {f"KEY_{key}": "1" for key in range(8)}, **{"cluster-type": name})
        for name in names
    ]
    platform = PlatformConfig(
        fleet(config_maps=maps, config_schemas=[config_schema("regions", SCHEMA)])
    )
    validator, web = ConfigValidator(platform), target("web")
    start = time.process_time()
    for name in names[:1_000]:
        assigned = assignment(web, cluster_type(name))
        failure = validator.failure(assigned, platform.config_of(assigned))
        assert failure is not None
        assert "no ConfigMap sets REGION" in failure.advice
    assert time.process_time() - start < 2
