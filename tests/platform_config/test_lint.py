"""Values that are too large, or that may surprise their authors."""

from __future__ import annotations

import pytest

from kalypso_actions.platform_config import config_map_problems, config_map_warnings
from tests.builders import config_map


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Endpoint: x", "K looks like a text, but it is read as a mapping"),
        ("- x", "K looks like a text, but it is read as a list"),
        ("a:\n  y: 1\n", "K has the key true, a boolean in YAML 1.1"),
        ("- {a: 1}\n- {b: 1}\n", "K is a list of mappings without a name"),
    ],
)
def test_warnings(text: str, message: str) -> None:
    (warning,) = config_map_warnings(config_map("c", {"J": "x", "K": text}))
    assert message in warning.message
    assert warning.where
    assert warning.where.line == 3


@pytest.mark.parametrize(
    "text", ["x", "http://h:1/p", "[a, b]", "{a: 1}", "'a: b'", "a:\n  b: 1\n"]
)
def test_no_warnings(text: str) -> None:
    assert not list(config_map_warnings(config_map("c", {"K": text})))


def test_other_config_maps_are_ignored() -> None:
    other = config_map("c", {"K": "Endpoint: x"}, platform_config="false")
    assert not list(config_map_warnings(other))


def test_a_value_that_is_too_deep() -> None:
    (problem,) = config_map_problems(config_map("c", {"K": "[" * 200 + "]" * 200}))
    assert problem.message.startswith("ConfigMap 'c': K: ")
    assert not list(config_map_problems(config_map("c", {"K": "["})))
