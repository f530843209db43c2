"""`<no value>` in a rendered file is a warning, or fails the assignment."""

from __future__ import annotations

import dataclasses

from kalypso_actions.model.documents import TextPlace
from kalypso_actions.model.kinds import Template
from kalypso_actions.planning.plan import Plan, PlanOptions
from tests.builders import TEMPLATES, cluster_type, fleet, policy, target, template
from tests.plans import plan

MISSPELLED = template("config", "data:\n  region: {{ .ConfigData.REGOIN }} # {{ .Workload }}\n")


def planned(options: PlanOptions, *names: str, config: Template = MISSPELLED) -> Plan:
    return plan(
        fleet(
            cluster_types=[cluster_type("large")],
            policies=[policy("all")],
            targets=[target(name) for name in names],
            templates=[*TEMPLATES[:2], config],
        ),
        options=options,
    )


def test_it_is_a_warning_at_the_line_of_the_template() -> None:
    made = planned(PlanOptions(), "web", "worker")
    (warning,) = made.warnings
    assert (warning.code, warning.message) == (
        "template-no-value",
        "Template 'config': '{{ .ConfigData.REGOIN }}' writes '<no value>' into 2 files (app-web on "
        "large and 1 more)",
    )
    assert warning.where is not None
    assert (warning.where.path, warning.where.line) == ("config.yaml", 9)
    assert made.problems == ()
    assert "large/app-web/platform-config.yaml" in made.changes.files


def test_the_place_is_that_of_the_action_behind_values_that_differ() -> None:
    text = (
        "{{ if .Workload }}a: {{ .Workload }}-{{ .ConfigData.NONE }} # {{ .Namespace }}\n{{ end }}"
    )
    config = dataclasses.replace(template("config", text), manifest_places=(TextPlace(9, 7),))
    made = planned(PlanOptions(), "web", "worker", config=config)
    (warning,) = made.warnings
    assert warning.where is not None
    assert (warning.where.line, warning.where.column) == (9, 7 + text.index("{{ .Config"))


def test_as_an_error_it_fails_each_assignment_by_one_cause() -> None:
    made = planned(PlanOptions(missing_values="error"), "web", "worker")
    cause = "Template 'config': '{{ .ConfigData.REGOIN }}' writes '<no value>'"
    assert [(problem.code, problem.message) for problem in made.problems] == [
        ("template-no-value", f"app-web on large: {cause}"),
        ("template-no-value", f"app-worker on large: {cause}"),
    ]
    assert made.warnings == ()
    assert "large/app-web/platform-config.yaml" not in made.changes.files
