"""The digest of what applies to an assignment changes exactly with what applies."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.model.kinds import Assignment, ConfigMap
from kalypso_actions.platform_config import PlatformConfig
from tests.breaks import breaks, turned
from tests.builders import assignment, cluster_type, config_map, config_schema, fleet, target

LABELS = st.dictionaries(
    st.sampled_from(["region", "tier", "cluster-type", "deployment-target", "workload"]),
    st.sampled_from(["", "a", "b"]),
    max_size=3,
)
MAPS = st.lists(st.tuples(LABELS, st.sampled_from(["1", "2"])), min_size=1, max_size=4)
ASSIGNMENTS = [
    assignment(
        replace(target(name, workload="a"), name=name, labels={"tier": name}),
        cluster_type(other, region=other),
    )
    for name in ("a", "b")
    for other in ("a", "b")
]


def applied_digest(config: PlatformConfig, item: Assignment) -> bytes:
    digests = config.digests
    own = digests.of_cluster_type(item.cluster_type) + digests.of_target(item.target)
    return own + digests.of_both(item.cluster_type)(item.target)


def config_maps(maps: list[tuple[dict[str, str], str]]) -> list[ConfigMap]:
    return [
        config_map(f"m{number}", {"KEY": text}, **labels)
        for number, (labels, text) in enumerate(maps)
    ]


@breaks(
    "keys that need labels of both sides are no input",
    turned(
        "kalypso_actions.platform_config.matching.ConfigDigests.of_both",
        "mask & provided != mask",
        "not mask",
    ),
)
@given(MAPS, LABELS, st.data())
def test_another_key_changes_the_digests_of_its_assignments(
    maps: list[tuple[dict[str, str], str]], labels: dict[str, str], data: st.DataObject
) -> None:
    changed = data.draw(st.integers(0, len(maps) - 1))
    schemas = [config_schema("s", '{"type": "object"}', **labels)]
    before = PlatformConfig(fleet(config_maps=config_maps(maps), config_schemas=schemas))
    others = [*maps]
    others[changed] = (maps[changed][0], "other")
    after = PlatformConfig(fleet(config_maps=config_maps(others), config_schemas=schemas))
    name = f"m{changed}"
    for item in ASSIGNMENTS:
        applies = name in before.config_of(item).config_maps
        assert (applied_digest(before, item) != applied_digest(after, item)) == applies


@given(MAPS, LABELS)
def test_a_schema_changes_the_digests_of_its_assignments(
    maps: list[tuple[dict[str, str], str]], labels: dict[str, str]
) -> None:
    schema = config_schema("s", '{"type": "object"}', **labels)
    without = PlatformConfig(fleet(config_maps=config_maps(maps)))
    with_schema = PlatformConfig(fleet(config_maps=config_maps(maps), config_schemas=[schema]))
    for item in ASSIGNMENTS:
        applies = bool(with_schema.schemas_of(item))
        assert (applied_digest(without, item) != applied_digest(with_schema, item)) == applies
