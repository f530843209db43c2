"""Validation of configuration gives the messages of Go's gojsonschema."""

from __future__ import annotations

import pytest

from kalypso_actions.config_schemas import validate
from kalypso_actions.platform_config import parse_value
from tests.oracle.cases import Case, load

CASES = load("validate")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_message_is_upstreams(case: Case) -> None:
    config = {name: parse_value(text) for name, text in case.request["config"].items()}

    assert validate(config, case.request["schemas"]) == case.output
