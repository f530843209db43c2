"""A warning can be acknowledged at its object, with a reason."""

from __future__ import annotations

import pytest

from tests.fleet_checks.control_planes import Plane, edited, findings, shown, sound

CODE = "policy-without-cluster-types"


def annotated(text: str) -> Plane:
    """A control plane with that warning, and this annotation at the policy."""
    plane = edited(sound(), "dev/policy.yaml", "size: edge", "size: egde")
    lines = "".join(f"      {line}\n" for line in text.splitlines())
    annotation = f"  annotations:\n    kalypso.io/ignore: |\n{lines}"
    return edited(plane, "dev/policy.yaml", "  name: tests\n", f"  name: tests\n{annotation}")


@pytest.mark.parametrize(
    "text",
    [
        f"{CODE} -- the edge clusters come in May",
        f"policies-equal, {CODE} -- both intended",
        f"policies-equal -- intended\n{CODE}  --  the edge clusters -- all of them -- come in May",
    ],
)
def test_acknowledged_warnings_are_set_apart(text: str) -> None:
    diagnostics = findings(annotated(text))
    assert diagnostics.warnings == []
    assert [item.code for item in diagnostics.acknowledged] == [CODE]
    assert diagnostics.acknowledged[0].reason in text.splitlines()[-1]


@pytest.mark.parametrize("name", ["tests", "again"])
def test_equal_policies_are_acknowledged_at_either(name: str) -> None:
    plane = sound()
    policy = plane["dev"]["policy.yaml"]
    text = f"{policy}---\n{policy.replace('name: tests', 'name: again')}"
    annotation = "  annotations: {kalypso.io/ignore: policies-equal -- until May}"
    plane["dev"]["policy.yaml"] = text.replace(f"name: {name}\n", f"name: {name}\n{annotation}\n")
    diagnostics = findings(plane)
    assert (diagnostics.warnings, diagnostics.notes) == ([], [])
    assert [item.reason for item in diagnostics.acknowledged] == ["until May"]


@pytest.mark.parametrize("with_app", [True, False])
def test_an_acknowledgement_of_nothing_is_a_note_if_everything_was_read(with_app: bool) -> None:
    annotation = "  annotations:\n    kalypso.io/ignore: policies-equal -- until May\n"
    plane = edited(sound(), "dev/policy.yaml", "  name: tests\n", f"  name: tests\n{annotation}")
    diagnostics = findings(plane, with_app=with_app)
    assert diagnostics.warnings == []
    stale = [item for item in diagnostics.notes if item.code == "ignore-stale"]
    assert shown(stale) == [("ignore-stale", "dev/policy.yaml:6")] * with_app


@pytest.mark.parametrize(
    ("text", "said", "advice"),
    [
        (CODE, "it gives no reason", f"write {CODE} -- <reason>"),
        (f"{CODE} --", f"'{CODE} --' is not the code of a problem", f"did you mean {CODE}?"),
        ("policy-without-clustertypes -- x", "'policy-without-clustertypes' is not the code of a problem", f"did you mean {CODE}?"),
        ("template-missing -- x", "'template-missing' is an error, which cannot be acknowledged", "repair it"),
    ],
)  # fmt: skip
def test_a_faulty_annotation_is_a_warning_and_acknowledges_nothing(
    text: str, said: str, advice: str
) -> None:
    diagnostics = findings(annotated(text))
    assert diagnostics.acknowledged == []
    assert {item.code for item in diagnostics.warnings} == {CODE, "ignore-invalid"}
    fault = next(item for item in diagnostics.warnings if item.code == "ignore-invalid")
    assert said in fault.message
    assert fault.advice == advice
    assert fault.where is not None
    assert (fault.where.path, fault.where.line) == ("policy.yaml", 6)


def test_an_annotation_covers_its_own_document_only() -> None:
    plane = annotated(f"{CODE} -- waits")
    policy = plane["dev"]["policy.yaml"]
    other = policy.replace("name: tests", "name: others")
    plain = "".join(
        line
        for line in other.splitlines(keepends=True)
        if "annotations" not in line and "kalypso.io/ignore" not in line and "waits" not in line
    )
    plane["dev"]["policy.yaml"] = f"{policy}---\n{plain.replace('egde', 'agde')}"
    diagnostics = findings(plane)
    assert [item.code for item in diagnostics.acknowledged] == [CODE]
    assert [item.code for item in diagnostics.warnings] == [CODE]


def test_a_workload_acknowledges_for_its_targets() -> None:
    plane = edited(sound(), "app/workload.yaml", "environment: dev", "environment: devv")
    code = "target-environment-unknown"
    plane = edited(
        plane,
        "app/workload.yaml",
        "  name: boards\n",
        f"  name: boards\n  annotations:\n    kalypso.io/ignore: {code} -- of a branch in work\n",
    )
    diagnostics = findings(plane)
    assert (diagnostics.warnings, [item.code for item in diagnostics.acknowledged]) == ([], [code])
