"""Which layers have set a value, and which of them wins."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import UsageError
from kalypso_actions.planning.explanation import Question, explain_key
from kalypso_actions.report.explain_document import ValueEntry
from tests.builders import cluster_type, config_map, fleet, policy, target
from tests.planning.explanation.environments import environment

FLEET = fleet(
    cluster_types=[cluster_type("east", region="east"), cluster_type("west", region="west")],
    targets=[target("web")],
    policies=[policy("all")],
    config_maps=[
        config_map(
            "a-all",
            {
                "URL": "old",
                "LOG": "level: info\nto: [{name: a, at: x}]",
                "API_TOKEN": "s3cr3t-text",
            },
        ),
        config_map("b-east", {"URL": "new", "LOG": "level: debug"}, region="east"),
        config_map("c-east", {"ONLY": "1", "NOTE": "with s3cr3t-text in it"}, region="east"),
    ],
)


def values(key: str, cluster_type_: str = "", mask: str = "") -> tuple[ValueEntry, ...]:
    return explain_key(Question.of(environment(FLEET, mask=mask), "", cluster_type_), key)


def layers(entry: ValueEntry) -> list[tuple[str, str, int, bool]]:
    return [
        (layer.config_map, layer.value, layer.where.line if layer.where else 0, layer.wins)
        for layer in entry.layers
    ]


def test_every_layer_in_order_and_who_won() -> None:
    (entry,) = values("URL", "east")
    assert entry.value == "new"
    assert layers(entry) == [("a-all", "old", 2, False), ("b-east", "new", 2, True)]
    assert entry.layers[1].labels == {"region": "east"}


def test_a_layer_that_does_not_apply_and_the_labels_that_it_needs() -> None:
    (entry,) = values("URL", "west")
    assert (entry.value, layers(entry)) == ("old", [("a-all", "old", 2, True)])
    assert [(other.config_map, other.lacks) for other in entry.other_layers] == [
        ("b-east", {"region": "east"})
    ]


def test_assignments_with_equal_layers_are_one_answer() -> None:
    assert [[name.cluster_type for name in entry.assignments] for entry in values("API_TOKEN")] == [
        ["east", "west"]
    ]
    assert len(values("URL")) == 2


def test_a_merged_value_has_the_origin_of_each_element() -> None:
    (entry,) = values("LOG", "east")
    assert [(each.key, each.value) for each in entry.elements] == [
        ("LOG.level", "debug"),
        ("LOG.to[0].name", "a"),
        ("LOG.to[0].at", "x"),
    ]
    assert [layer.wins for layer in entry.layers] == [True, True]


def test_a_key_inside_of_a_value() -> None:
    (entry,) = values("LOG.level", "east")
    assert (entry.value, [layer.wins for layer in entry.layers]) == ("debug", [False, True])


def test_a_key_that_only_other_assignments_have() -> None:
    (entry,) = values("ONLY", "west")
    assert (entry.value, entry.layers, len(entry.other_layers)) == (None, (), 1)


@pytest.mark.parametrize(
    ("key", "mask", "value"),
    [("API_TOKEN", "", "***"), ("URL", "u*", "***"), ("NOTE", "", "with *** in it")],
    ids=["a secret key", "a key of --mask", "a secret text elsewhere"],
)
def test_no_secret_is_shown(key: str, mask: str, value: str) -> None:
    (entry,) = values(key, "east", mask)
    assert entry.value == value
    assert entry.layers[-1].value == value


def test_an_unknown_key() -> None:
    with pytest.raises(UsageError) as caught:
        values("ULR")
    advice = caught.value.problems[0].advice
    assert advice == "did you mean URL? keys: API_TOKEN, LOG, NOTE, ONLY, URL"
