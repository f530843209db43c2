"""JSON documents are valid, whatever the names in a repository."""

from __future__ import annotations

import json

from kalypso_actions.report.documents import ChangesEntry, RenderDocument


def test_a_name_that_is_not_utf8() -> None:
    path = b"large/caf\xe9 \\xe9.txt".decode("utf-8", "surrogateescape")
    text = RenderDocument(environment="dev", changes=ChangesEntry(deleted=(path,))).to_json()
    assert json.loads(text.encode())["changes"]["deleted"] == ["large/caf\\xe9 \\xe9.txt"]


def test_text_is_written_as_it_is() -> None:
    assert '"environment": "öst"' in RenderDocument(environment="öst").to_json()
