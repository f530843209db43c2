"""JSON documents are valid, whatever the names in a repository."""

from __future__ import annotations

import json

import pytest

from kalypso_actions.report.documents import (
    AssignmentEntry,
    ChangesEntry,
    ProblemEntry,
    RenderDocument,
)
from kalypso_actions.report.json_text import json_text
from kalypso_actions.report.rows_on_demand import LONG, RowsOnDemand, rows


def test_a_name_that_is_not_utf8() -> None:
    path = b"large/caf\xe9 \\xe9.txt".decode("utf-8", "surrogateescape")
    text = RenderDocument(environment="dev", changes=ChangesEntry(deleted=(path,))).to_json()
    assert json.loads(text.encode())["changes"]["deleted"] == ["large/caf\\xe9 \\xe9.txt"]


def test_text_is_written_as_it_is() -> None:
    assert '"environment": "öst"' in RenderDocument(environment="öst").to_json()


def test_a_long_list_is_written_as_a_short_one() -> None:
    warnings = [
        ProblemEntry(message=f"::{number}\n", advice="##[", where=None)
        for number in range(LONG + 1)
    ]
    document = RenderDocument(environment="dev", warnings=tuple(warnings))
    body = document.model_dump(by_alias=True, mode="json")
    assert document.to_json() == json_text(body, indent=2)
    assert len([*document.json_parts()]) > LONG


def assignments(count: int) -> list[AssignmentEntry]:
    return [
        AssignmentEntry(
            workload="app",
            deployment_target=f"web{number}",
            cluster_type="large",
            policies=("all",),
            namespace="dev-app",
            files=(),
        )
        for number in range(count)
    ]


def test_rows_that_are_made_on_demand_are_written_as_others() -> None:
    for count in (0, 3, LONG, LONG + 1):
        made = assignments(count)
        document = RenderDocument(environment="dev", assignments=rows(count, made.copy))
        assert isinstance(document.assignments, RowsOnDemand) == (count > LONG)
        plain = RenderDocument(environment="dev", assignments=tuple(made))
        assert document.to_json() == plain.to_json()
        assert len(json.loads(document.to_json())["assignments"]) == count


def test_rows_on_demand_are_a_sequence() -> None:
    made = RowsOnDemand(5, lambda: iter(range(5)))
    for index in (slice(2), slice(1, 4), slice(None), slice(-2, None), slice(9), slice(4, 1, -2)):
        assert made[index] == list(range(5))[index]
    assert [made[0], made[4], made[-1], made[-5]] == [0, 4, 4, 0]
    for outside in (5, -6):
        with pytest.raises(IndexError):
            made[outside]
    assert list(made) == list(made) == [0, 1, 2, 3, 4]
