"""The option registration-text: any lets texts through, and no documents."""

from __future__ import annotations

from tests.hostile.fleet_under_attack import ADMIN, EVIL, FleetUnderAttack


def test_any_lets_a_text_through_with_a_warning(fleet: FleetUnderAttack) -> None:
    fleet.commit_main("kind: ConfigMap\ndata:\n  a: {{ .Manifests.description | quote }}\n")
    fleet.attack(description=r'"two\nlines"', branch="'a  b'")
    document, files = fleet.rendered(registration_text="any")
    assert (document.problems, document.degraded) == ((), False)
    assert [(item.code, item.where and item.where.line) for item in document.warnings] == [
        ("registration-text", 10),
        ("registration-text", 12),
    ]
    assert r'a: "two\nlines"' in files[EVIL]


def test_any_changes_no_documents(fleet: FleetUnderAttack) -> None:
    fleet.attack(branch=ADMIN)
    document, files = fleet.rendered(registration_text="any")
    assert [item.code for item in document.warnings][:2] == [
        "registration-text",
        "registration-documents",
    ]
    assert EVIL not in files
