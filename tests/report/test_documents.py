"""JSON documents are valid, whatever the names in a repository."""

from __future__ import annotations

import json

from kalypso_actions.report.documents import (
    LONG,
    ChangesEntry,
    ProblemEntry,
    RenderDocument,
)
from kalypso_actions.report.json_text import json_text


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
