"""JSON documents are valid, whatever the names in a repository."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from kalypso_actions.errors import Finding, Location
from kalypso_actions.model.layout import TRACKING_FOLDER
from kalypso_actions.report.documents import (
    AcknowledgedEntry,
    ChangesEntry,
    ProblemEntry,
    finding_counts,
    hidden_counts,
)
from kalypso_actions.report.preview_document import PreviewDocument
from kalypso_actions.report.render_document import RenderDocument
from kalypso_actions.report.validate_document import ValidateDocument


def test_a_name_that_is_not_utf8() -> None:
    path = b"large/caf\xe9 \\xe9.txt".decode("utf-8", "surrogateescape")
    text = RenderDocument(environment="dev", changes=ChangesEntry(deleted=(path,))).to_json()
    assert json.loads(text.encode())["changes"]["deleted"] == ["large/caf\\xe9 \\xe9.txt"]


def test_text_is_written_as_it_is() -> None:
    assert '"environment": "öst"' in RenderDocument(environment="öst").to_json()


def test_hostile_names_are_valid_json() -> None:
    entry = ProblemEntry(message="::1\n", advice="##[", where=None)
    text = RenderDocument(environment="dev", warnings=(entry,)).to_json()
    assert "##[" not in text
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())
    assert json.loads(text)["warnings"] == [
        {"message": "::1\n", "where": None, "advice": "##[", "code": ""}
    ]


def test_values_of_the_stages_become_entries() -> None:
    where = Location("https://git.test/acme/fleet", "caf\udce9.yaml", 3, 7, "dev", "1" * 40)
    finding = Finding("wrong", where, "mend it", "template-missing", (where,), "", "warning")
    (entry,) = ProblemEntry.all_of([finding])
    document = RenderDocument(environment="dev", warnings=(entry,), problems=(entry,))
    assert document.findings == (
        replace(finding, related=(), level="error"),
        replace(finding, related=()),
    )
    assert str(document.findings[1].where) == str(where)
    assert entry.where
    assert (entry.where.column, entry.where.branch, entry.where.commit) == (7, "dev", "1" * 40)


def test_findings_have_the_level_of_their_list() -> None:
    entry = ProblemEntry(message="a", where=None, advice="")
    waived = AcknowledgedEntry(message="b", where=None, advice="", reason="until May")
    document = ValidateDocument(notes=(entry,), acknowledged=(waived,), warnings=(entry,) * 2)
    assert [(each.level, each.reason) for each in document.all_findings] == [
        ("warning", ""),
        ("warning", ""),
        ("warning", "until May"),
        ("note", ""),
    ]
    assert finding_counts(document.all_findings) == "0 problems, 2 warnings"
    assert hidden_counts(document.all_findings) == "1 note, 1 warning acknowledged"
    assert hidden_counts(document.findings) == ""


def test_tracking_files_are_not_manifests() -> None:
    changes = ChangesEntry(
        added=("a.yaml", f"{TRACKING_FOLDER}/x"),
        deleted=(f"a/{TRACKING_FOLDER}/x", f"{TRACKING_FOLDER}-web/a"),
    )
    assert changes.manifests("added") == ("a.yaml",)
    assert changes.manifests("deleted") == (f"{TRACKING_FOLDER}-web/a",)
    assert changes.counts() == "1 added, 0 modified, 1 deleted, 0 unchanged"
    assert changes.counts("added") == "1 added"


@pytest.mark.parametrize("field", ["environments", "problems", "settings"])
def test_a_hostile_document_makes_few_errors(field: str) -> None:
    """Each error takes a kilobyte: those of 16 MB of wrong entries took 20 GB."""
    hostile = f'{{"{field}": [{"1, " * 100_000}1]}}'
    with pytest.raises(ValidationError) as caught:
        PreviewDocument.model_validate_json(hostile)
    assert caught.value.error_count() < 10
