"""Conditions and defaults of Templates that a valid control plane gives no effect."""

from __future__ import annotations

import pytest

from kalypso_actions.planning.config_checks import ConfigKeyReads
from kalypso_actions.planning.fleet_checks.templates import (
    CONFIG_MISSPELLED,
    _misspelled_entries,
    _misspelled_keys,
    check_templates,
)
from kalypso_actions.planning.validation import _rendered
from kalypso_actions.rendering.template_lint import reversed_defaults, templated_value
from tests.breaks import breaks, turned
from tests.planning.fleet_checks.control_planes import Plane, edited, findings, shown, sound

PLACE = "main/templates.yaml"
JINJA = "kalypso.io/manifests: any, kalypso.io/engine: jinja2"


def plane(text: str, region: str = "West", *, is_jinja: bool = False) -> Plane:
    """Return a control plane whose config Template prints a text on its line 34."""
    made = edited(sound(), "dev/config.yaml", "REGION: West", f"REGION: {region}")
    files = made["main"]["templates.yaml"]
    head, _, _ = files.rpartition("    - 'namespace")
    if is_jinja:
        first, mark, last = head.rpartition("kalypso.io/manifests: any")
        head = first + mark.replace(mark, JINJA) + last
    made["main"] = {**made["main"], "templates.yaml": f"{head}    - |\n      {text}\n"}
    return made


def found(made: Plane) -> list[tuple[str, str, str]]:
    result = findings(made)
    return [
        (code, place, problem.message)
        for problem in (*result.problems, *result.warnings, *result.notes)
        for code, place in shown([problem])
        if code not in {"cluster-type-on-main", "template-not-kubernetes"}
    ]


REVERSED = {
    "a pipeline": '{{ "2" | default .ConfigData.REGION }}',
    "an argument": '{{ default .ConfigData.REGION "2" }}',
    "a variable": '{{ $cpu := "2" }}{{ $cpu | default .ConfigData.REGION }}',
    "coalesce": '{{ coalesce "2" .ConfigData.REGION }}',
    "or": '{{ .ConfigData.REGION | or "2" }}',
    "an index": '{{ "2" | default (index .ConfigData "REGION") }}',
    "a number": "{{ 2 | default .ConfigData.REGION }}",
}


@breaks(
    "a constant may come before the field that is its default",
    turned(reversed_defaults, "first[0].is_set", "not first[0].is_set"),
)
@pytest.mark.parametrize("text", REVERSED.values(), ids=REVERSED)
def test_a_constant_with_a_field_as_its_default(text: str) -> None:
    ((code, place, message),) = found(plane(text))
    assert (code, place.partition(":")[0]) == ("template-default-reversed", PLACE)
    assert "is always '2': .ConfigData.REGION has no effect" in message


def test_a_constant_with_a_field_as_its_default_in_jinja2() -> None:
    text = '{{ "2" | default(ConfigData.REGION) }}'
    assert [code for code, *_ in found(plane(text, is_jinja=True))] == ["template-default-reversed"]


@breaks(
    "a key near to one that a Template reads is told",
    turned(_misspelled_entries, "entry.key not in all_read", "False"),
)
@pytest.mark.parametrize("key", ["REGOIN", "REGON", "Region", "REGIONS"])
def test_a_key_that_no_template_reads_near_to_one_that_it_reads(key: str) -> None:
    made = plane('{{ .ConfigData.REGION | default "x" }}', f"West\n  {key}: East")
    ((code, place, message),) = found(made)
    assert (code, place) == (CONFIG_MISSPELLED, "dev/config.yaml:10")
    assert message.endswith(f"no Template reads {key}")


@pytest.mark.parametrize("key", ["ZONE", "REGION_2", "LEGION"])
def test_other_keys_that_no_template_reads_are_none_of_its(key: str) -> None:
    made = plane('{{ .ConfigData.REGION | default "x" }}', f"West\n  {key}: East")
    assert found(made) == []


TRUE = {
    "if": ("{{ if .ConfigData.REGION }}a{{ end }}", "false"),
    "not": ("{{ if not .ConfigData.REGION }}a{{ end }}", "no"),
    "and": ("{{ if and .ConfigData.REGION .Workload }}a{{ end }}", "off"),
    "or": ("{{ if or .ConfigData.REGION .Workload }}a{{ end }}", "0"),
    "else if": ("{{ if eq .Workload `boards` }}b{{ else if .ConfigData.REGION }}a{{ end }}", "No"),
    "with": ("{{ with .ConfigData.REGION }}a{{ end }}", "FALSE"),
    "a variable": ("{{ $x := .ConfigData.REGION }}{{ if $x }}a{{ end }}", "false"),
    "a definition": (
        "{{ define `x` }}{{ if .REGION }}a{{ end }}{{ end }}{{ template `x` .ConfigData }}",
        "false",
    ),
}


@breaks(
    "every text is true for a condition",
    turned(
        ConfigKeyReads._taken_as_true,
        "text.strip().lower() not in FALSE_TEXTS",
        "text.strip().lower() in FALSE_TEXTS",
    ),
)
@pytest.mark.parametrize(("text", "value"), TRUE.values(), ids=TRUE)
def test_a_text_that_is_meant_as_false_is_true(text: str, value: str) -> None:
    ((code, place, message),) = found(plane(text, f'"{value}"'))
    assert (code, place.partition(":")[0]) == ("template-text-true", PLACE)
    assert "set in config.yaml:9" in message
    assert "for 1 assignment (boards-test on edge)" in message


NOT_TRUE = {
    "a comparison": '{{ if eq .ConfigData.REGION "true" }}a{{ end }}',
    "a comparison beside it": '{{ if and .ConfigData.REGION (ne .ConfigData.REGION "x") }}a{{ end }}',
    "printed where it is set": "{{ if .ConfigData.REGION }}a: {{ .ConfigData.REGION }}{{ end }}",
    "printed as dot": "{{ with .ConfigData.REGION }}a: {{ . }}{{ end }}",
    "the first of two that is set": "{{ or .ConfigData.REGION .Workload }}",
}


@pytest.mark.parametrize("text", NOT_TRUE.values(), ids=NOT_TRUE)
def test_a_text_that_is_compared_or_printed_is_no_condition(text: str) -> None:
    assert found(plane(text, '"false"')) == []


def test_a_text_that_is_true_has_no_finding() -> None:
    assert found(plane("{{ if .ConfigData.REGION }}a{{ end }}")) == []


def test_a_text_in_a_mapping_that_is_meant_as_false() -> None:
    text = "{{ with .ConfigData.LIMITS }}{{ if .up }}a{{ end }}{{ end }}"
    made = plane(text, "West\n  LIMITS: |\n    down: 1\n    up: 'off'")
    ((code, _, message),) = found(made)
    assert (code, "set in config.yaml:10" in message) == ("template-text-true", True)
    assert ".ConfigData.LIMITS.up" in message


def test_a_label_of_a_target_that_is_meant_as_false() -> None:
    made = plane("{{ if .Labels.canary }}a{{ end }}")
    made = edited(
        made,
        "app/workload.yaml",
        "purpose: test\n      manifests: {repo: r}\n    - ",
        'purpose: test\n        canary: "false"\n      manifests: {repo: r}\n    - ',
    )
    (warning,) = [item for item in found(made) if item[0] == "template-text-true"]
    assert "set in workload.yaml:7" in warning[2]


def test_a_default_that_is_meant_as_false() -> None:
    ((code, _, message),) = found(plane('{{ if .ConfigData.X | default "false" }}a{{ end }}'))
    assert (code, "is always true" in message) == ("template-text-true", True)


def test_conditions_of_jinja2() -> None:
    made = plane("{% if not ConfigData.REGION %}a{% endif %}", '"false"', is_jinja=True)
    assert [code for code, *_ in found(made)] == ["template-text-true"]


UNMATCHED = {
    "an environment": ('{{ eq .Environment "staging" }}', "'stage'"),
    "the constant first": ('{{ eq "stagee" .Environment }}', "'stage'"),
    "another than": ('{{ ne .Environment "dve" }}', "'dev'"),
    "a list": ('{{ has .ClusterType (list "edge" "egde") }}', "'edge'"),
    "several": ('{{ eq .Workload "boards" "bords" }}', "'boards'"),
    "a workspace": ('{{ eq .Workspace "teams" }}', "'team'"),
    "a target": ('{{ eq .DeploymentTargetName "boards-tset" }}', "'boards-test'"),
    "a label": ('{{ eq .Labels.purpose "tests" }}', "'test'"),
    "the case of a value": ('{{ eq .ConfigData.REGION "west" }}', "'West'"),
    "a variable": ('{{ $e := .Environment }}{{ if eq $e "devv" }}a{{ end }}', "'dev'"),
    "a start": ('{{ hasPrefix "stagee" .Environment }}', "'stage'"),
}


@breaks(
    "a Template compares with the names that the fleet has",
    turned(check_templates, "use.function in _HOLDS", "False"),
)
@pytest.mark.parametrize(("text", "meant"), UNMATCHED.values(), ids=UNMATCHED)
def test_a_comparison_that_holds_for_no_assignment(text: str, meant: str) -> None:
    (warning,) = findings(plane(text)).warnings
    assert warning.code == "template-comparison-unmatched"
    assert f"did you mean {meant}?" in warning.advice


@pytest.mark.parametrize(
    "text",
    [
        '{{ eq .Environment "dev" }}',
        '{{ eq (lower .Workspace) "team" }}',
        '{{ has .Environment (list "dev" "stage") }}',
        '{{ hasPrefix "boards-" .DeploymentTargetName }}',
        '{{ contains .Environment "dev,stage,production" }}',
        '{{ eq .ConfigData.REGION "East" }}',
        "{{ eq .ConfigData.REGION .Environment }}",
    ],
)
def test_a_comparison_that_may_hold(text: str) -> None:
    assert found(plane(text)) == []


def test_a_comparison_with_an_unlike_text_is_a_note() -> None:
    result = findings(plane('{{ eq .Environment "production" }}'))
    assert (result.problems, result.warnings) == ([], [])
    assert "template-comparison-unmatched" in [note.code for note in result.notes]


def test_a_comparison_waits_for_all_targets() -> None:
    result = findings(plane('{{ eq .Workload "bords" }}'), with_app=False)
    assert "template-comparison-unmatched" not in [item.code for item in result.warnings]


VALUES_AS_TEMPLATES = {
    "a field": (
        '"https://{{ .Enviroment }}.test"',
        "template-failed",
        "did you mean .Environment?",
    ),
    "a function": ('"{{ .Workload | uper }}"', "template-failed", "did you mean upper?"),
    "an action without end": ('"{{ .Workload }"', "template-failed", "correct the value"),
    "a key": ('"a {{ .ConfigData.NONE }}"', "template-no-value", "add the value"),
}


@breaks(
    "a fault in a value that is a template has the value's place",
    turned(templated_value, "best[1:] if best else None", "None"),
)
@pytest.mark.parametrize(
    ("value", "code", "advice"), VALUES_AS_TEMPLATES.values(), ids=VALUES_AS_TEMPLATES
)
def test_a_template_in_a_value_is_told_at_the_value(value: str, code: str, advice: str) -> None:
    result = findings(plane("URL: {{ .ConfigData.REGION }}", value))
    (finding,) = [*result.problems, *result.warnings]
    assert (finding.code, shown([finding])[0][1].rpartition("/")[2]) == (code, "config.yaml:9")
    assert "REGION is a template" in finding.message
    assert advice in finding.advice


MISSPELLED_KEYS = {
    "a letter more": ('{{ .ConfigData.REGIONS | default "x" }}', ".ConfigData.REGION?"),
    "another case": ('{{ .ConfigData.Region | default "x" }}', ".ConfigData.REGION?"),
    "a condition": ("{{ if .ConfigData.REGOIN }}a{{ end }}", ".ConfigData.REGION?"),
    "a label": ('{{ .Labels.purpse | default "x" }}', ".Labels.purpose?"),
}


@breaks(
    "a key behind a default is one that something sets",
    turned(_misspelled_keys, "misspelled(rest[0], keys[field])", "''"),
)
@pytest.mark.parametrize(("text", "meant"), MISSPELLED_KEYS.values(), ids=MISSPELLED_KEYS)
def test_a_misspelled_key_behind_a_guard(text: str, meant: str) -> None:
    (warning,) = findings(plane(text)).warnings
    assert (warning.code, warning.advice) == ("template-key-misspelled", f"did you mean {meant}")


@pytest.mark.parametrize(
    "text",
    ['{{ .ConfigData.ZONE | default "x" }}', '{{ .ConfigData.REGION | default "x" }}'],
)
def test_a_key_that_nobody_sets_yet_may_have_a_default(text: str) -> None:
    assert found(plane(text)) == []


PRINTED = {
    "a list": ("hosts: {{ .ConfigData.REGION }}", '"[a, b]"', "prints a list"),
    "a mapping": ("hosts: {{ .ConfigData.REGION | quote }}", '"{a: b}"', "prints a mapping"),
    "an argument": ("hosts: {{ quote .ConfigData.REGION }}", '"[a, b]"', "prints a list"),
    "with a default": ('a: {{ .ConfigData.REGION | default "x" }}', '"[a, b]"', "prints a list"),
}


@breaks(
    "a Template prints no list as Go writes it",
    turned(ConfigKeyReads._taken_as_true, "isinstance(item, list)", "False"),
)
@pytest.mark.parametrize(("text", "value", "words"), PRINTED.values(), ids=PRINTED)
def test_a_list_or_a_mapping_that_is_printed(text: str, value: str, words: str) -> None:
    warnings = findings(plane(text, value)).warnings
    (warning,) = [item for item in warnings if item.code == "template-collection-printed"]
    assert words in warning.message
    assert "set in config.yaml:9" in warning.message


@pytest.mark.parametrize(
    "text",
    [
        "hosts: {{ .ConfigData.REGION | toJson }}",
        "{{ range .ConfigData.REGION }}- {{ . }}\n{{ end }}",
        '{{ if kindIs "slice" .ConfigData.REGION }}{{ join "," .ConfigData.REGION }}{{ end }}',
    ],
)
def test_a_list_that_is_written_or_walked(text: str) -> None:
    codes = [code for code, *_ in found(plane(text, '"[a, b]"'))]
    assert "template-collection-printed" not in codes


DEPENDING = """\
    - |
      apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata: {name: '{{ .DeploymentTargetName }}', namespace: flux-system}
      spec:
        interval: 5m
        prune: true
        sourceRef: {kind: GitRepository, name: a}
        dependsOn: [{name: NAME}]
"""


@breaks(
    "an object of a target that is like another one does not exist",
    turned(_rendered, "is_wanted(assignment)", "False"),
)
@pytest.mark.parametrize(("name", "expected"), [("boards-late", 1), ("boards-never", 0)])
def test_a_dependency_on_an_object_of_another_cluster_type(name: str, expected: int) -> None:
    """Also if the object is of a target that is like an earlier one: validate renders one alone."""
    made = sound()
    files = made["main"]["templates.yaml"].replace("kalypso.io/manifests: any", "a: b", 1)
    flux, manifests, others = files.partition("    - 'namespace: {{ .Namespace }}'\n")
    assert manifests
    made["main"]["templates.yaml"] = flux + DEPENDING.replace("NAME", name) + others
    made["app"]["workload.yaml"] += "".join(
        f"    - {{name: {name}, environment: dev, labels: {{purpose: {purpose}}}, "
        "manifests: {repo: r}}\n"
        for name, purpose in (("base", "base"), ("late", "base"))
    )
    for kind, old, new in (("edge", "edge", "large"), ("policy", "test", "base")):
        text = made["dev"][f"{kind}.yaml"].replace(f": {old}\n", f": {new}\n")
        made["dev"][f"more-{kind}.yaml"] = text.replace("tests", "base").replace(
            "size: edge", "size: large"
        )
    told = [item for item in findings(made).warnings if item.code == "manifest-reference-unmet"]
    assert len(told) == expected
    assert all("(boards-test on edge)" in item.message for item in told)
