"""No ConfigSchema takes an assignment more than 5 s of the processor and 128 MB."""

from __future__ import annotations

import json

import pytest

from tests.breaks import breaks, turned
from tests.hostile.attacks import check_configuration
from tests.hostile.conftest import Attack

LONG = "x" * 100_000


def schema(**keywords: object) -> str:
    return json.dumps({"properties": {"a": keywords}})


@breaks(
    "a pattern's size does not count",
    turned("kalypso_actions.config_schemas.schema.Pattern.steps", "self.size", "1"),
    case="pattern",
)
@pytest.mark.parametrize(
    ("config", "schemas"),
    [
        pytest.param({"a": LONG}, [schema(pattern="(x?){1000}x{1000}y")], id="pattern"),
        pytest.param(
            {"a": LONG[:20_000]},
            [schema(pattern="(x?){1000}x{1000}y")] * 10,
            id="one pattern in ten schemas",
        ),
        pytest.param(
            {LONG[:500] + str(number): 1 for number in range(2_000)},
            [
                json.dumps(
                    {"patternProperties": {f"(x?){{100}}x{{100}}y{n}": {} for n in range(20)}}
                )
            ],
            id="patterns of names",
        ),
        pytest.param(
            {"a": [f"x{number}" for number in range(20_000)]},
            [json.dumps({"allOf": [{"properties": {"a": {"uniqueItems": True}}}] * 200})],
            id="uniqueItems",
        ),
        pytest.param(
            {"a": [f"<{number}" * 200 for number in range(20_000)]},
            [schema(uniqueItems=True)],
            id="uniqueItems of texts",
        ),
        pytest.param(
            {"a": list(range(50_000))},
            [schema(items={"minimum": 1, "maximum": 10**6 + number}) for number in range(30)],
            id="many schemas",
        ),
    ],
)
def test_a_schema_ends_at_the_limit(
    attack: Attack, config: dict[str, object], schemas: list[str]
) -> None:
    assert "more than 1,000,000 steps" in attack(check_configuration, config, schemas).text


def test_a_schema_that_is_too_long(attack: Attack) -> None:
    text = '{"allOf":[' + ",".join(f'{{"minimum":{number}}}' for number in range(45_000)) + "]}"
    assert "split it into several schemas" in attack(check_configuration, {"a": 1}, [text]).text
