"""PromotionPolicies that never let a commit in."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kalypso_actions.model.promotion_policy import POLICY_FILE
from kalypso_actions.promotion import environments
from tests.breaks import breaks, returning
from tests.planning.fleet_checks.control_planes import (
    Plane,
    environment,
    findings,
    fleet,
    shown,
    sound,
)

AREAS = ("eu", "us")


def chain(**policies: str) -> Plane:
    """Return dev, which eu and us follow, and stage after both; with the specs of policies."""
    plane = sound()
    plane["main"] |= {f"{name}.yaml": environment(name, "stage") for name in AREAS}
    plane["main"]["dev.yaml"] = environment("dev", "eu,us", first=True)
    plane |= {name: fleet(name) for name in AREAS}
    for name, spec in policies.items():
        text = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: p}\n"
        plane[name] = {
            **plane[name],
            POLICY_FILE: f"{text}spec:\n  requires:\n    deployed:\n{spec}",
        }
    return plane


def deployed(*names: str) -> str:
    return "".join(f"    - {name}\n" for name in names)


@breaks(
    "a policy may require what comes only after its environment",
    returning(environments.requires_later, ()),
    case="itself",
)
@pytest.mark.parametrize(
    ("policies", "expected", "said"),
    [
        pytest.param({"stage": deployed("eu", "us")}, [], "", id="both areas"),
        pytest.param({"eu": deployed("dev", "us")}, [], "", id="one area after the other"),
        pytest.param(
            {"dev": deployed("stage")}, ["dev:7"], "remove stage from spec.requires.deployed",
            id="the last one",
        ),
        pytest.param({"dev": deployed("eu")}, ["dev:7"], "no environment is before dev", id="the next one"),
        pytest.param(
            {"stage": deployed("dev", "stage")}, ["stage:8"], "'stage' itself", id="itself"
        ),
        pytest.param({"eu": deployed("stage"), "us": deployed("stage")}, ["eu:7", "us:7"], "", id="both wait"),
        pytest.param({"eu": deployed("stage")}, [], "", id="stage is reached over the other area"),
        pytest.param(
            {"eu": deployed("us"), "us": deployed("eu")}, ["eu:7", "us:7"],
            "name an environment before eu: dev", id="each for the other",
        ),
        pytest.param(
            {"eu": deployed("us"), "us": deployed("us")}, ["us:7"], "", id="the cause alone"
        ),
    ],
)  # fmt: skip
def test_requirements_that_come_later(
    policies: dict[str, str], expected: list[str], said: str
) -> None:
    found = findings(chain(**policies))
    places = [
        place.partition("/")[0] + ":" + place.rpartition(":")[2]
        for _, place in shown(found.problems)
    ]
    assert {code for code, _ in shown(found.problems)} <= {"policy-environment-later"}
    assert places == expected
    assert said in f"{found.problems[0].message} {found.problems[0].advice}" if expected else True
    assert found.warnings == []


def test_a_required_environment_that_does_not_exist() -> None:
    found = findings(chain(stage=deployed("dev", "stge")))
    assert shown(found.problems) == [("policy-environment-unknown", f"stage/{POLICY_FILE}:8")]
    assert "did you mean 'stage'?" in found.problems[0].advice


def test_a_freeze_that_never_ends() -> None:
    plane = chain()
    plane["stage"][POLICY_FILE] = (
        "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: p}\nspec:\n  freezes:\n"
        '  - {reason: nights, cron: "0 20 * * *", duration: 12h}\n'
        '  - {reason: weekend, cron: "0 15 * * FRI", duration: 168h, timezone: Europe/Berlin}\n'
    )
    found = findings(plane)
    assert shown(found.warnings) == [("policy-freeze-endless", f"stage/{POLICY_FILE}:7")]
    assert "'weekend' of 'stage' never ends" in found.warnings[0].message


@pytest.mark.parametrize(
    ("until", "is_told"),
    [("2025-12-01T12:00:00Z", True), ("2026-01-02T00:00:00+02:00", True), ("2026-01-02T00:00:00Z", False)],
)  # fmt: skip
def test_a_hold_that_has_ended(until: str, is_told: bool) -> None:
    plane = chain()
    plane["stage"][POLICY_FILE] = (
        "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: p}\nspec:\n  holds:\n"
        f"  - {{reason: incident 42, by: alice, until: {until}}}\n"
    )
    told = [
        shown([item for item in findings(plane, now=now).notes if item.code == "policy-hold-ended"])
        for now in (datetime(2026, 1, 1, 23, tzinfo=UTC), None)
    ]
    assert told == [[("policy-hold-ended", f"stage/{POLICY_FILE}:6")] * is_told, []]


def test_a_policy_on_main_is_not_read() -> None:
    plane = chain(stage=deployed("dev"))
    plane["main"][POLICY_FILE] = plane["stage"].pop(POLICY_FILE)
    assert shown(findings(plane).warnings) == [("policy-misplaced", f"main/{POLICY_FILE}:1")]
