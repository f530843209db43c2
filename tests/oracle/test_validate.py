"""Validation of configuration gives the messages of Go's gojsonschema."""

from __future__ import annotations

import pytest

from kalypso_actions.config_schemas import validate
from kalypso_actions.platform_config import parse_value
from tests.oracle.cases import Case, differences, load_topic, topics


@pytest.mark.parametrize("topic", topics("validate"))
def test_the_messages_are_upstreams(topic: str) -> None:
    def ours(case: Case) -> object:
        config = {name: parse_value(text) for name, text in case.request["config"].items()}
        return validate(config, case.request["schemas"])

    assert differences(load_topic("validate", topic), ours, lambda case: case.output) == {}
