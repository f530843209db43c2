"""An application fails: all others go on, and a fault of the platform still stops."""

from __future__ import annotations

import pytest

from tests.breaks import breaks, replaced, turned
from tests.hostile.fleet_under_attack import (
    CALM,
    EVIL,
    FLUX,
    MANIFESTS,
    FleetUnderAttack,
    blamed,
    workload,
)

NAMES = {
    "a file of ours": ("readme.md", "name-invalid"),
    "upper case": ("README.md", "name-invalid"),
    "a path": ("../../x", "name-invalid"),
    "a hidden folder": (".github", "name-invalid"),
    "a dot": ("a.b", "name-invalid"),
    "no room with any cluster type": ("a" * 54, "namespace-invalid"),
    "no room with this cluster type": ("a" * 50, "namespace-invalid"),
    "no label": ("a" * 64, "name-invalid"),
    "a look-alike": ("wеb", "name-invalid"),
}


@pytest.mark.parametrize(("name", "code"), NAMES.values(), ids=NAMES.keys())
def test_a_name_that_is_no_folder_or_namespace(
    fleet: FleetUnderAttack, name: str, code: str
) -> None:
    fleet.attack(target=name)
    fleet.refused(code)


@pytest.mark.parametrize(("name", "target"), [("'1e'", "3"), ("2026-11", "23")])
def test_a_name_that_is_no_text_in_yaml(fleet: FleetUnderAttack, name: str, target: str) -> None:
    """`name: {{ .DeploymentTargetName }}` would be a number or a time."""
    fleet.deliver("evil", workload(name, MANIFESTS, f"'{target}'"))
    (warning,) = blamed(fleet.render())
    assert warning.code == "name-invalid"
    assert "is a number or a date" in warning.message


def test_the_longest_name_that_has_room(fleet: FleetUnderAttack) -> None:
    fleet.attack(target="a" * 49)
    assert len("dev-edge-evil-" + "a" * 49) == 63
    assert blamed(fleet.render()) == []


def test_a_cluster_type_without_room_for_anybody(fleet: FleetUnderAttack) -> None:
    """The fault is the platform's own."""
    edge = (fleet.folder / "dev/edge.yaml").read_text()
    fleet.commit("dev", {"edge.yaml": edge.replace("name: edge", f"name: {'e' * 60}")})
    assert {item.code for item in fleet.render().problems} == {"namespace-invalid"}


@breaks(
    "a text that fails is a fault of the platform",
    replaced(
        "kalypso_actions.rendering.delivered._failure",
        lambda real, *values, **options: __import__("dataclasses").replace(
            real(*values, **options), is_delivered=False
        ),
    ),
)
def test_a_text_that_a_template_refuses(fleet: FleetUnderAttack) -> None:
    fleet.commit_main(
        FLUX + '# {{ if contains " " .Manifests.description }}{{ fail "no spaces" }}{{ end }}\n'
    )
    fleet.attack(description="'two words'")
    fleet.refused("registration-render", "no spaces", 12)


OUT_OF_RANGE = FLUX + '# {{ index (splitList "/" .Manifests.path) 1 }}\n'


def test_a_plain_text_that_a_template_refuses(fleet: FleetUnderAttack) -> None:
    """There is no last good commit, but usual texts render."""
    fleet.commit_main(OUT_OF_RANGE)
    fleet.attack(path="x")
    fleet.refused("registration-render")


def test_the_last_good_commit_renders(kept: FleetUnderAttack) -> None:
    kept.commit_main(FLUX + '# {{ if not .Manifests.branch }}{{ fail "no branch" }}{{ end }}\n')
    kept.attack(branch="''")
    document, files = kept.rendered()
    (warning,) = blamed(document)
    assert (warning.code, "no branch" in warning.message) == ("registration-render", True)
    assert "branch: dev" in files[EVIL]


def test_a_key_is_missing_that_the_last_good_commit_has(kept: FleetUnderAttack) -> None:
    kept.commit_main(FLUX + "# {{ len .Manifests.description }}\n")
    kept.deliver(
        "evil", workload("evil", {key: MANIFESTS[key] for key in ("repo", "branch", "path")})
    )
    document, files = kept.rendered()
    (warning,) = blamed(document)
    assert warning.code == "registration-render"
    assert "boards" in files[EVIL]


def test_a_last_good_commit_that_fails_as_well_is_not_used(kept: FleetUnderAttack) -> None:
    """The text is at fault, but the tree stays unchanged."""
    kept.commit_main(
        FLUX + '# {{ if eq .Manifests.description "boards" }}{{ fail "boards" }}{{ end }}'
        '{{ if contains " " .Manifests.description }}{{ fail "spaces" }}{{ end }}\n'
    )
    kept.deliver("calm", workload("calm", {**MANIFESTS, "description": "trains"}))
    kept.attack(description="'two words'")
    document, files = kept.rendered()
    assert {item.code for item in blamed(document)} == {"registration-render"}
    assert files[EVIL] == (kept.folder / "gitops" / EVIL).read_text()
    assert "trains" in files[CALM]


FAULTS = {
    "a field that nothing has": "{{ .Nothing }}",
    "a value that is missing": "{{ len .ConfigData.NOTHING }}",
    "a failure for everybody": '{{ fail "stop" }}',
    "a key that nobody delivers": "{{ len .Manifests.owner }}",
}


@pytest.mark.parametrize("line", FAULTS.values(), ids=FAULTS.keys())
@pytest.mark.parametrize("text", ["boards", "'two words'"])
def test_a_fault_of_a_template_stops(kept: FleetUnderAttack, line: str, text: str) -> None:
    """It also stops for an application with special characters, and for one that has changed."""
    kept.commit_main(f"{FLUX}# {line}\n")
    kept.attack(description=text, branch="other")
    document = kept.render()
    assert [item.where and item.where.path for item in document.problems] == ["flux.yaml"] * 2
    assert [item.code for item in document.problems] == ["template-failed"] * 2
    assert {item.code for item in document.warnings} <= {"template-field-unknown"}


@breaks(
    "a fault of a Template is one of all applications",
    turned(
        "kalypso_actions.planning.registrations.is_own_fault",
        "renderer.renders_other_texts(assignment, item.config, others[:_MAX_OTHERS])",
        "True",
    ),
)
@pytest.mark.parametrize("line", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_of_a_template_stops_a_new_fleet(fleet: FleetUnderAttack, line: str) -> None:
    """No application has a last good commit."""
    fleet.commit_main(f"{FLUX}# {line}\n")
    fleet.attack(description="'two words'")
    document = fleet.render()
    assert [item.code for item in document.problems] == ["template-failed"] * 2


def test_a_fault_of_a_template_is_no_fault_of_an_unchanged_text(kept: FleetUnderAttack) -> None:
    """The new Template renders usual texts, but fails for the last good commit."""
    kept.commit_main(FLUX + '# {{ if eq .Manifests.branch "dev" }}{{ fail "dev" }}{{ end }}\n')
    document = kept.render()
    assert [item.code for item in document.problems] == ["template-failed"] * 2


def test_a_schema_of_its_own(kept: FleetUnderAttack) -> None:
    """The configuration is valid for the last good commit."""
    schema = """      configSchemas: ['{"required": ["NOTHING"]}']\n"""
    kept.attack(more=schema)
    document, files = kept.rendered()
    (warning,) = blamed(document)
    assert "NOTHING is required" in warning.message
    assert EVIL in files


def test_a_schema_of_a_new_application(fleet: FleetUnderAttack) -> None:
    """There is no last good commit, but only its own schema refuses the configuration."""
    fleet.attack(more="""      configSchemas: ['{"required": ["NOTHING"]}']\n""")
    document, files = fleet.rendered()
    (warning,) = blamed(document)
    assert "NOTHING is required" in warning.message
    assert CALM in files
    assert EVIL not in files


@pytest.mark.parametrize("others", [True, False], ids=["others render", "only one application"])
def test_a_new_application_without_a_path(fleet: FleetUnderAttack, *, others: bool) -> None:
    fleet.commit_main(FLUX + '# {{ .Manifests.path | trimPrefix "./" }}{{ len .Path }}\n')
    lacking = {key: text for key, text in MANIFESTS.items() if key != "path"}
    fleet.deliver("evil", workload("evil", lacking))
    if not others:
        fleet.deliver(
            "calm", workload("calm", MANIFESTS).replace("dev\n      man", "qa\n      man")
        )
    document, files = fleet.rendered()
    (warning,) = blamed(document)
    assert warning.code == "registration-render"
    assert (CALM in files) == others


def test_a_label_that_a_template_refuses(fleet: FleetUnderAttack) -> None:
    fleet.commit_main(
        f'{FLUX}# {{{{ if ne .Labels.tier "gold" }}}}{{{{ fail "tier" }}}}{{{{ end }}}}\n'
    )
    fleet.deliver("calm", workload("calm", MANIFESTS, more="      labels: {tier: gold}\n"))
    fleet.attack(more="      labels: {tier: evil}\n")
    (warning,) = blamed(fleet.render())
    assert warning.code == "registration-render"


LABELS = {
    "another value": ("{}", 'if ne .Labels.tier "1" }}{{ fail "tier" }}{{ end'),
    "no value": ("{}", 'if .Labels.tier }}{{ fail "tier" }}{{ end'),
    "the value of others": ("{tier: gold}", 'if ne .Labels.tier "gold" }}{{ fail "tier" }}{{ end'),
    "a label of others": ("{class: a}", 'if not .Labels.class }}{{ fail "c" }}{{ end'),
}


@breaks(
    "a label is never at fault",
    turned(
        "kalypso_actions.rendering.delivered.with_usual_texts",
        "(target.labels, usual, fixed)",
        "(target.labels,)",
    ),
)
@pytest.mark.parametrize(("calm", "action"), LABELS.values(), ids=LABELS.keys())
def test_a_label_on_a_cluster_type_of_its_own(
    fleet: FleetUnderAttack, calm: str, action: str
) -> None:
    """No other target shows that the Templates render there."""
    fleet.separate(calm)
    fleet.commit_main(
        f'{FLUX}# {{{{ if eq .ClusterType "far" }}}}{{{{ {action} }}}}{{{{ end }}}}\n'
    )
    fleet.attack(more="      labels: {tier: evil}\n")
    fleet.refused("registration-render")


@breaks(
    "a failure is its registration's fault if others render elsewhere",
    turned(
        "kalypso_actions.planning.registrations.is_own_fault",
        "cluster_type == assignment.cluster_type.name",
        "True",
    ),
)
def test_a_fault_of_a_template_on_a_cluster_type_of_its_own(fleet: FleetUnderAttack) -> None:
    fleet.separate("{tier: gold}")
    fleet.commit_main(FLUX + '# {{ if eq .ClusterType "far" }}{{ fail "far" }}{{ end }}\n')
    fleet.attack(more="      labels: {tier: evil}\n")
    assert [item.code for item in fleet.render().problems] == ["template-failed"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="no JSON"),
        pytest.param('{"type": 1}', id="no schema"),
    ],
)
def test_an_invalid_schema(fleet: FleetUnderAttack, text: str) -> None:
    fleet.attack(more=f"      configSchemas: ['{text}']\n")
    fleet.refused("schema-invalid")


def test_many_lines_of_a_schema(fleet: FleetUnderAttack) -> None:
    fleet.attack(
        more='      configSchemas:\n        - |\n          {"type":\n            "object"}\n'
    )
    assert blamed(fleet.render()) == []


def test_two_targets_of_which_one_fails(kept: FleetUnderAttack) -> None:
    """A registration is used as a whole."""
    text = workload("evil", MANIFESTS)
    second = text.partition("  deploymentTargets:\n")[2].replace("name: web", "name: other")
    kept.deliver("evil", text + second.replace("boards", '"{{"'))
    document, files = kept.rendered()
    assert len(blamed(document)) == 1
    assert EVIL in files
    assert "edge/evil-other/reconciler.yaml" not in files


def test_block_makes_it_an_error(fleet: FleetUnderAttack) -> None:
    fleet.attack(branch='"{{"')
    document = fleet.render(on_source_failure="block")
    assert [item.code for item in document.problems] == ["registration-template"]
