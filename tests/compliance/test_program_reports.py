"""The document that a program prints: what is read, and what is refused by naming the entry."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from kalypso_actions.compliance import program_reports
from kalypso_actions.compliance.program_reports import reports_of_program
from kalypso_actions.errors import KalypsoError
from tests.breaks import breaks, turned

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
COMMIT = "3e2c" * 10
ENTRY = {"cluster": "north-1", "paths": ["edge"], "commit": COMMIT, "state": "compliant"}


def document(**changed: Any) -> str:
    entry = {key: value for key, value in {**ENTRY, **changed}.items() if value is not ...}
    return json.dumps({"schema": "kalypso.cluster-reports/v1", "clusters": [entry]})


@breaks(
    "a program has seen each cluster now",
    turned(program_reports.ProgramReport.report, "self.reported_at or self.since or now", "now"),
)
@pytest.mark.parametrize(
    ("changed", "fields"),
    [
        ({}, {"state": "Compliant", "source_updated_at": None, "reported_at": NOW}),
        ({"state": "progressing"}, {"state": "Progressing"}),
        ({"state": "failed", "message": "3 of 5"}, {"state": "Non-Compliant", "message": "3 of 5"}),
        ({"state": "suspended"}, {"state": "Suspended"}),
        ({"state": "unreachable"}, {"unreachable": "the program says so"}),
        ({"state": "unreachable", "message": "no route"}, {"unreachable": "no route"}),
        ({"commit": ""}, {"revision": ""}),
        ({"commit": f"main@sha1:{COMMIT}"}, {"revision": f"main@sha1:{COMMIT}"}),
        ({"configuration": "platform"}, {"configuration": "platform"}),
        (
            {"since": "2026-03-01T10:00:00+01:00"},
            {"source_updated_at": datetime(2026, 3, 1, 9, 0, tzinfo=UTC)},
        ),
        (
            {"since": "2026-03-01T10:00:00Z"},
            {"reported_at": datetime(2026, 3, 1, 10, 0, tzinfo=UTC)},
        ),
    ],
)
def test_entries(changed: dict[str, Any], fields: dict[str, object]) -> None:
    [report] = reports_of_program(document(**changed), NOW)
    assert {name: getattr(report, name) for name in fields} == fields


@breaks(
    "of a key that stands twice, the last one counts",
    turned(program_reports._without_repeated_keys, "len(content) != len(pairs)", "False"),
)
@breaks(
    "a number is a time",
    turned(
        program_reports._written_as_a_time,
        "not isinstance(time, str) or not DATE.match(time)",
        "False",
    ),
)
@pytest.mark.parametrize(
    ("text", "about"),
    [
        (document(stat="compliant"), "clusters.0.stat ('north-1')"),
        (document(state="ok"), "clusters.0.state ('north-1')"),
        (document(paths=[]), "clusters.0.paths ('north-1')"),
        (document(paths="edge"), "clusters.0.paths"),
        (document(cluster=""), "clusters.0.cluster"),
        (document(commit=...), "clusters.0.commit"),
        (document(commit="3e2c"), "clusters.0.commit"),
        (document(since="2026-03-01T10:00:00"), "clusters.0.since"),
        (document(since=1740823200), "clusters.0.since"),
        (document(since="1740823200"), "clusters.0.since"),
        (document(reported_at="-1"), "clusters.0.reported_at"),
        (document(since="2026-03-01"), "clusters.0.since"),
        (document(state=1), "clusters.0.state"),
        ('{"schema": "kalypso.cluster-reports/v2", "clusters": []}', "schema"),
        ('{"clusters": []}', "schema"),
        ("[]", "document"),
        ("", "Expecting value"),
        ("Warning: x\n" + document(), "Expecting value"),
        (document() + document(), "Extra data"),
        ("[" * 100_000, "document"),
        (document().replace('"cluster":', '"cluster": "a", "cluster":'), "'cluster'"),
        (document().replace('"state":', '"state": "failed", "state":'), "'north-1'"),
    ],
)
def test_what_is_refused(text: str, about: str) -> None:
    with pytest.raises(KalypsoError) as raised:
        reports_of_program(text, NOW)
    assert about in str(raised.value)


def test_thousands_of_faults_are_one_error() -> None:
    entries = [{**ENTRY, "state": "ok", "cluster": f"c{n}"} for n in range(2000)]
    text = json.dumps({"schema": "kalypso.cluster-reports/v1", "clusters": entries})
    with pytest.raises(KalypsoError) as raised:
        reports_of_program(text, NOW)
    assert "(the first of 2000 faults)" in str(raised.value)
    assert len(str(raised.value)) < 500
