"""Names that Kubernetes refuses, found in rendered files."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from kalypso_actions.model.kubernetes_names import object_name_fault
from kalypso_actions.rendering.outline import refused_names

NAMES = st.one_of(
    st.text("ab09-.", max_size=12),
    st.text("aA_/-. :,'é", max_size=8),
    st.integers(250, 262).map(lambda length: "a" * length),
)


@given(NAMES, st.booleans(), st.sampled_from([None, '"', "'"]))
@example("a,", False, '"')
@example("a, b", False, None)
@example("a':", False, None)
def test_exactly_the_refused_names_are_found(name: str, flow: bool, style: str | None) -> None:
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "uid": "1"}}
    text = yaml.safe_dump(
        document, default_flow_style=flow, default_style=style, width=1000, allow_unicode=True
    )
    refused = refused_names({"reconciler.yaml": text.encode()}, lambda _: None)
    assert [*refused.values()] == [name] * bool(object_name_fault(name))


@pytest.mark.parametrize(
    "line", ["name: a", "name:   a.b-c", "name: 'a'", '"name" : "a"', "hostname: A", "name_: A"]
)
def test_files_with_ordinary_names_are_not_parsed(line: str) -> None:
    spent: list[int] = []
    text = f"apiVersion: v1\nmetadata:\n  {line}\n"
    assert refused_names({"reconciler.yaml": text.encode()}, spent.append) == {}
    assert not spent
