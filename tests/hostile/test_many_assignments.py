"""The texts of a registration take no more than 10 s and 256 MB beyond the work of usual texts.

The platform team decides on the number of cluster types; usual texts take as long as they take.
"""

from __future__ import annotations

import pytest

from tests.hostile.attacks import plan_targets
from tests.hostile.conftest import Attack

TOO_MUCH = "Mi characters of work more than usual texts"
FAILS = '{{ if contains "stop" .Manifests.description }}{{ fail .Labels.workload }}{{ end }}'
COSTLY = "{{ range until 9000 }}{{ end }}"
SCHEMA = '{"title": "NUMBER", "properties": {"LONG": {"pattern": "(x?){300}x{300}"}}}'
NOTES = {f"note{number}": "a note (of many)" for number in range(30)}


EACH_KEY = (
    "---\nkind: A\ndata:\n{{ range $k, $v := .Manifests }}  {{ $k }}: {{ $v | quote }}\n{{ end }}"
)


@pytest.mark.parametrize(
    ("cluster_types", "targets", "manifests", "more", "message"),
    [
        pytest.param(
            200,
            1,
            {f"k{number}": text for number in range(9_000)},
            EACH_KEY,
            TOO_MUCH,
            id=f"many keys with {what}",
        )
        for what, text in (("plain texts", "x"), ("special characters", "a (b)"))
    ]
    + [
        pytest.param(200, 5, {"description": "a (b) " * 8_000}, "", TOO_MUCH, id="long texts"),
        pytest.param(
            200,
            5,
            {"list": f"[{','.join('a' for _ in range(20_000))}]"},
            "---\nkind: A\na: {{ .Manifests.list }}\n",
            TOO_MUCH,
            id="a text with many nodes",
        ),
        pytest.param(
            200,
            5,
            {"deep": "{a: " * 20_000 + "1" + "}" * 20_000},
            "---\nkind: A\na: {{ .Manifests.deep }}\n",
            "manifests.deep changes the documents",
            id="a text with deep nodes",
        ),
        pytest.param(
            200,
            50,
            {"description": "stop it"},
            FAILS,
            "fails: app",
            id="failures",
        ),
        pytest.param(200, 50, {"description": "stop"}, FAILS, "fails: app", id="plain failures"),
        pytest.param(
            200,
            50,
            {"count": "9" * 6},
            "# {{ range until (atoi .Manifests.count) }}{{ end }}\n",
            "until (atoi .Manifests.count)",
            id="a number that a Template counts to",
        ),
    ],
)
def test_one_registration(
    attack: Attack,
    cluster_types: int,
    targets: int,
    manifests: dict[str, str],
    more: str,
    message: str,
) -> None:
    cost = attack(plan_targets, cluster_types, targets, manifests, more, seconds=10, megabytes=256)
    assert cost.text.startswith("kept, ")
    assert message in cost.text


def test_an_honest_registration_beside_a_hostile_one(attack: Attack) -> None:
    texts = {f"k{number}": "a (b)" for number in range(9_000)}
    arguments = 200, 1, texts, EACH_KEY, "", 100
    cost = attack(plan_targets, *arguments, seconds=10, megabytes=256)
    assert cost.text.startswith("kept, 20000 assignments: ")
    assert TOO_MUCH in cost.text


def test_a_guilty_text_among_many(attack: Attack) -> None:
    texts = {**NOTES, "branch": "x: y"}
    cost = attack(plan_targets, 200, 50, texts, seconds=3)
    assert "the text of manifests.branch changes the documents" in cost.text


def test_schemas_of_its_own(attack: Attack) -> None:
    cost = attack(plan_targets, 200, 50, {}, "", SCHEMA, seconds=10, megabytes=256)
    assert TOO_MUCH in cost.text


@pytest.mark.parametrize(
    ("targets", "manifests", "more"),
    [
        pytest.param(200, {}, "", id="plain texts"),
        pytest.param(50, {"description": "a (b)"}, "", id="special characters"),
        pytest.param(2, {"description": "a (b)"}, COSTLY, id="costly Templates"),
    ],
)
def test_a_large_registration(
    attack: Attack, targets: int, manifests: dict[str, str], more: str
) -> None:
    cost = attack(plan_targets, 200, targets, manifests, more, seconds=10, megabytes=256)
    assert cost.text == f"head, {200 * targets} assignments: "
