"""YAML output has the same bytes as that of yaml.v3 and yaml.v2."""

from __future__ import annotations

import pytest

from kalypso_go import goyaml
from tests.oracle.cases import Case, differences, load_topic, topics
from tests.oracle.tagged import from_tagged


@pytest.mark.parametrize("topic", topics("toyaml3"))
def test_as_yaml_v3(topic: str) -> None:
    def ours(case: Case) -> str:
        return goyaml.dump_v3(from_tagged(case.request["value"])).removesuffix("\n")

    assert differences(load_topic("toyaml3", topic), ours, lambda case: case.output) == {}


@pytest.mark.parametrize("topic", topics("toyaml2"))
def test_as_yaml_v2(topic: str) -> None:
    def ours(case: Case) -> str:
        return goyaml.dump_v2(from_tagged(case.request["value"]))

    assert differences(load_topic("toyaml2", topic), ours, lambda case: case.output) == {}
