"""A warning can be acknowledged at its object, with a reason."""

from __future__ import annotations

import pytest

from tests.planning.fleet_checks.control_planes import Plane, edited, findings, shown, sound

CODE = "policy-without-cluster-types"


def acknowledging(codes: str, reason: str = "until May") -> str:
    lines = [f"    kalypso.io/ignore: {codes}\n"] if codes else []
    lines += [f"    kalypso.io/ignore-reason: {reason}\n"] if reason else []
    return "".join(("  annotations:\n", *lines))


def annotated(codes: str, reason: str = "until May") -> Plane:
    """Return a control plane with that warning, and these annotations at the policy."""
    plane = edited(sound(), "dev/policy.yaml", "size: edge", "size: egde")
    name = "  name: tests\n"
    return edited(plane, "dev/policy.yaml", name, f"{name}{acknowledging(codes, reason)}")


@pytest.mark.parametrize(
    ("codes", "reason"),
    [
        (CODE, "the edge clusters -- all of them -- come in May"),
        (f"policies-equal, {CODE}", "both intended"),
        (f"' {CODE},'", "'until May '"),
    ],
)
def test_acknowledged_warnings_are_set_apart(codes: str, reason: str) -> None:
    diagnostics = findings(annotated(codes, reason))
    assert diagnostics.warnings == []
    assert [item.code for item in diagnostics.acknowledged] == [CODE]
    assert diagnostics.acknowledged[0].reason == reason.strip("' ")


@pytest.mark.parametrize("name", ["tests", "again"])
def test_equal_policies_are_acknowledged_at_either(name: str) -> None:
    plane = sound()
    policy = plane["dev"]["policy.yaml"]
    text = f"{policy}---\n{policy.replace('name: tests', 'name: again')}"
    added = f"name: {name}\n{acknowledging('policies-equal')}"
    plane["dev"]["policy.yaml"] = text.replace(f"name: {name}\n", added)
    diagnostics = findings(plane)
    assert (diagnostics.warnings, diagnostics.notes) == ([], [])
    assert [item.reason for item in diagnostics.acknowledged] == ["until May"]


@pytest.mark.parametrize("with_app", [True, False])
def test_an_acknowledgement_of_nothing_is_a_note_if_everything_was_read(with_app: bool) -> None:
    name = "  name: tests\n"
    plane = edited(sound(), "dev/policy.yaml", name, f"{name}{acknowledging('policies-equal')}")
    diagnostics = findings(plane, with_app=with_app)
    assert diagnostics.warnings == []
    stale = [item for item in diagnostics.notes if item.code == "ignore-stale"]
    assert shown(stale) == [("ignore-stale", "dev/policy.yaml:6")] * with_app


@pytest.mark.parametrize(
    ("codes", "reason", "said", "advice"),
    [
        (CODE, "", "it gives no reason", "add the annotation kalypso.io/ignore-reason with the reason"),
        ("", "x", "it names no code", "name the code that the warning ends with"),
        ("policy-without-clustertypes", "x", "'policy-without-clustertypes' is not the code of a problem", f"did you mean {CODE}?"),
        ("template-missing", "x", "'template-missing' is an error, which cannot be acknowledged", "repair it"),
    ],
    ids=["no reason", "no code", "unknown code", "error"],
)  # fmt: skip
def test_a_faulty_annotation_is_a_warning_and_acknowledges_nothing(
    codes: str, reason: str, said: str, advice: str
) -> None:
    diagnostics = findings(annotated(codes, reason))
    assert diagnostics.acknowledged == []
    assert {item.code for item in diagnostics.warnings} == {CODE, "ignore-invalid"}
    fault = next(item for item in diagnostics.warnings if item.code == "ignore-invalid")
    assert said in fault.message
    assert fault.advice == advice
    assert fault.where is not None
    assert (fault.where.path, fault.where.line) == ("policy.yaml", 6)


def test_an_annotation_covers_its_own_document_only() -> None:
    plane = annotated(CODE, "waits")
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
        f"  name: boards\n{acknowledging(code)}",
    )
    diagnostics = findings(plane)
    assert (diagnostics.warnings, [item.code for item in diagnostics.acknowledged]) == ([], [code])
