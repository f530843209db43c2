"""`<no value>` in a rendered file is a warning, or fails the assignment."""

from __future__ import annotations

from kalypso_actions.plan import Plan, PlanOptions
from tests.builders import TEMPLATES, cluster_type, fleet, policy, target, template
from tests.plans import plan

MISSPELLED = template("config", "data:\n  region: {{ .ConfigData.REGOIN }} # {{ .Workload }}\n")


def planned(options: PlanOptions, *names: str) -> Plan:
    return plan(
        fleet(
            cluster_types=[cluster_type("large")],
            policies=[policy("all")],
            targets=[target(name) for name in names],
            templates=[*TEMPLATES[:2], MISSPELLED],
        ),
        options=options,
    )


def test_it_is_a_warning_at_the_line_of_the_template() -> None:
    made = planned(PlanOptions(), "web", "worker")
    (warning,) = made.warnings
    assert (warning.code, warning.message) == (
        "template-no-value",
        "Template 'config': 2 files get 'region: <no value>' (app-web on large and 1 more)",
    )
    assert warning.where is not None
    assert (warning.where.path, warning.where.line) == ("config.yaml", 9)
    assert made.problems == ()
    assert "large/app-web/platform-config.yaml" in made.changes.files


def test_as_an_error_it_fails_the_assignment() -> None:
    made = planned(PlanOptions(missing_values="error"), "web")
    assert [problem.code for problem in made.problems] == ["template-no-value"]
    assert made.warnings == ()
    assert "large/app-web/platform-config.yaml" not in made.changes.files
