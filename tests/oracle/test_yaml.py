"""YAML output has the same bytes as that of yaml.v3 and yaml.v2."""

from __future__ import annotations

import pytest

from kalypso_actions import goyaml
from tests.oracle.cases import Case, load
from tests.oracle.tagged import from_tagged


@pytest.mark.parametrize("case", load("toyaml3"), ids=str)
def test_as_yaml_v3(case: Case) -> None:
    assert goyaml.dump_v3(from_tagged(case.request["value"])).removesuffix("\n") == case.output


@pytest.mark.parametrize("case", load("toyaml2"), ids=str)
def test_as_yaml_v2(case: Case) -> None:
    assert goyaml.dump_v2(from_tagged(case.request["value"])) == case.output
