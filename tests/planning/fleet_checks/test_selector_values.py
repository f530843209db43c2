"""Values of selectors that match nothing, and that resemble an existing value."""

from __future__ import annotations

import pytest

from tests.planning.fleet_checks.control_planes import edited, findings, shown, sound

CLUSTERS = "        size: edge\n"


def with_expression(operator: str, *values: str) -> str:
    listed = "".join(f"          - {value}\n" for value in values)
    return (
        f"{CLUSTERS}      matchExpressions:\n      - key: region\n        operator: {operator}\n"
        f"        values:\n{listed}"
    )


@pytest.mark.parametrize(
    ("operator", "values", "line"),
    [("In", ("west", "waest"), 0), ("In", ("waste", "west"), 0), ("NotIn", ("eats",), 0),
     ("In", ("west", "norht"), 20), ("NotIn", ("norht",), 19), ("NotIn", ("South",), 19),
     ("In", ("west", "elsewhere"), 0), ("NotIn", ("north-2",), 0), ("NotIn", ("norht", "north"), 0)],
)  # fmt: skip
def test_values_that_resemble_another_are_reported_at_their_lines(
    operator: str, values: tuple[str, ...], line: int
) -> None:
    plane = edited(sound(), "dev/policy.yaml", CLUSTERS, with_expression(operator, *values))
    for region in ("north", "south"):
        cluster_type = plane["stage"]["edge.yaml"].replace("west", region).replace("edge", region)
        plane["stage"][f"{region}.yaml"] = cluster_type
    warnings = findings(plane).warnings
    expected = [("selector-value-unknown", f"dev/policy.yaml:{line}")] if line else []
    assert shown(warnings) == expected
    if line:
        assert warnings[0].advice.startswith(f"did you mean region: {values[-1][0].lower()}")


def test_a_misspelled_value_of_targets_is_the_cause_of_an_unselected_target() -> None:
    plane = sound()
    plane["app"]["workload.yaml"] += (
        "    - name: load\n      environment: dev\n      labels: {purpose: load}\n"
        "      manifests: {repo: r}\n"
    )
    expression = "matchExpressions:\n      - {key: purpose, operator: In, values: [test, laod]}"
    plane = edited(plane, "dev/policy.yaml", "matchLabels:\n        purpose: test", expression)
    assert shown(findings(plane).warnings) == [("selector-value-unknown", "dev/policy.yaml:10")]


@pytest.mark.parametrize(
    ("place", "expression", "level", "said"),
    [
        ("        size: edge\n", "{key: regoin, operator: NotIn, values: [south]}", "warning", "did you mean region?"),
        ("        size: edge\n", "{key: regoin, operator: DoesNotExist}", "warning", "did you mean region?"),
        ("        size: edge\n", "{key: Region, operator: NotIn, values: [south]}", "warning", "did you mean region?"),
        ("        size: edge\n", "{key: area_region, operator: NotIn, values: [west]}", "warning", "did you mean region?"),
        ("        size: edge\n", "{key: gpu, operator: DoesNotExist}", "note", "A cluster type has the labels region, size"),
        ("        size: edge\n", "{key: region, operator: NotIn, values: [elsewhere]}", "", ""),
        ("        size: edge\n", "{key: region, operator: Exists}", "", ""),
        ("        purpose: test\n", "{key: porpose, operator: DoesNotExist}", "warning", "did you mean purpose?"),
        ("        purpose: test\n", "{key: canary, operator: DoesNotExist}", "note", "A deployment target has the labels purpose"),
    ],
)  # fmt: skip
def test_selectors_that_exclude_nothing(place: str, expression: str, level: str, said: str) -> None:
    edit = f"{place}      matchExpressions:\n      - {expression}\n"
    found = findings(edited(sound(), "dev/policy.yaml", place, edit))
    told = [
        item for item in [*found.warnings, *found.notes] if item.code == "selector-label-unknown"
    ]
    assert [(item.level, item.where.line if item.where else 0) for item in told] == (
        [(level, 16 if "size" in place else 12)] if level else []
    )
    assert all(said in item.advice for item in told)
