"""A value that a Template reads and nothing sets is a warning, or fails the assignment."""

from __future__ import annotations

import dataclasses

import pytest

from kalypso_actions.model.documents import TextPlace
from kalypso_actions.model.kinds import ConfigMap, Template
from kalypso_actions.planning.config_checks import _reads
from kalypso_actions.planning.plan import Plan, PlanOptions
from kalypso_actions.rendering import keys_read
from kalypso_go.gotemplate.analysis import required_fields
from tests.breaks import breaks, turned
from tests.builders import TEMPLATES, cluster_type, config_map, fleet, policy, target, template
from tests.plans import plan

MISSPELLED = template("config", "data:\n  region: {{ .Labels.REGOIN }} # {{ .Workload }}\n")


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
        "Template 'config': '{{ .Labels.REGOIN }}' writes '<no value>' into 2 files (app-web on "
        "large and 1 more)",
    )
    assert warning.where is not None
    assert (warning.where.path, warning.where.line) == ("config.yaml", 9)
    assert made.problems == ()
    assert "large/app-web/platform-config.yaml" in made.changes.files


def test_the_place_is_that_of_the_action_behind_values_that_differ() -> None:
    text = "{{ if .Workload }}a: {{ .Workload }}-{{ .Labels.NONE }} # {{ .Namespace }}\n{{ end }}"
    config = dataclasses.replace(template("config", text), manifest_places=(TextPlace(9, 7),))
    made = planned(PlanOptions(), "web", "worker", config=config)
    (warning,) = made.warnings
    assert warning.where is not None
    assert (warning.where.line, warning.where.column) == (9, 7 + text.index("{{ .Labels"))


def test_as_an_error_it_fails_each_assignment_by_one_cause() -> None:
    made = planned(PlanOptions(missing_values="error"), "web", "worker")
    cause = "Template 'config': '{{ .Labels.REGOIN }}' writes '<no value>'"
    assert [(problem.code, problem.message) for problem in made.problems] == [
        ("template-no-value", f"app-web on large: {cause}"),
        ("template-no-value", f"app-worker on large: {cause}"),
    ]
    assert made.warnings == ()
    assert "large/app-web/platform-config.yaml" not in made.changes.files


def unset(text: str, *config_maps: ConfigMap) -> list[tuple[str, int]]:
    """Return the messages about keys that no layer sets, and their lines."""
    made = plan(
        fleet(
            cluster_types=[cluster_type("large"), cluster_type("small")],
            policies=[policy("all")],
            targets=[target("web")],
            config_maps=config_maps,
            templates=[*TEMPLATES[:2], template("config", text)],
        )
    )
    assert made.problems == ()
    return [
        (warning.message, warning.where.line)
        for warning in made.warnings
        if warning.code == "template-key-unset" and warning.where
    ]


@breaks(
    "a guard does not count",
    turned(required_fields, "_RequiredFields(trees, guards)", "_RequiredFields(trees, ())"),
)
@pytest.mark.parametrize(
    "text",
    [
        "{{ .ConfigData.K | default 1 }}",
        "{{ default 1 .ConfigData.K | quote }}",
        "{{ .ConfigData.K | quote | default 1 }}",
        "{{ printf `%v` (coalesce .ConfigData.K 1) }}",
        "{{ or .ConfigData.K 1 }}",
        "{{ if .ConfigData.K }}{{ .ConfigData.K | upper }}{{ end }}",
        "{{ if not .ConfigData.K }}a{{ else }}{{ .ConfigData.K }}{{ end }}",
        "{{ if and .Workload .ConfigData.K }}{{ $.ConfigData.K.deep }}{{ end }}",
        "{{ if hasKey .ConfigData `K` }}{{ .ConfigData.K | quote }}{{ end }}",
        "{{ with .ConfigData.K }}{{ . }}{{ end }}",
        "{{ with $k := .ConfigData.K }}{{ $k }}{{ end }}",
        "{{ range .ConfigData.K }}{{ . }}{{ else }}none{{ end }}",
        "{{ $k := .ConfigData.K }}{{ $k | default 1 }}",
        "{{ toYaml .ConfigData }}",
        "{{ .Labels.K | default 1 }}",
        "{{ define `t` }}{{ .ConfigData.K }}{{ end }}",
    ],
)
def test_a_guarded_key_may_be_unset(text: str) -> None:
    assert unset(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "{{ .ConfigData.K }}",
        "{{ .ConfigData.K | quote }}",
        "{{ quote .ConfigData.K }}",
        "{{ .ConfigData.K | toYaml | indent 2 }}",
        "{{ $.ConfigData.K | squote }}",
        "{{ index .ConfigData `K` | quote }}",
        "{{ if .Workload }}{{ .ConfigData.K | quote }}{{ end }}",
        "{{ if .ConfigData.OTHER }}a{{ end }}{{ .ConfigData.K }}",
        "{{ with .ConfigData }}{{ .K | quote }}{{ end }}",
        "{{ with .Workload }}{{ $.ConfigData.K | quote }}{{ end }}",
        "{{ range .ConfigData.K }}{{ . }}{{ end }}",
        "{{ $c := .ConfigData }}{{ $c.K | quote }}",
        "{{ $k := .ConfigData.K }}{{ $k | quote }}",
        "{{ $k := 1 }}{{ if .Workload }}{{ $k = .ConfigData.K }}{{ end }}{{ $k }}",
        "{{ define `t` }}{{ .ConfigData.K | quote }}{{ end }}{{ template `t` . }}",
        "{{ define `t` }}{{ .K | quote }}{{ end }}{{ template `t` .ConfigData }}",
    ],
)
def test_a_key_without_guard_is_told_whatever_follows(text: str) -> None:
    message = "no layer sets .ConfigData.K, which Template 'config' reads, for 2 assignments "
    assert unset(f"a: b\n{text}\n") == [(message + "(app-web on large and 1 more)", 9)]


@breaks(
    "only the configuration counts as data of a Template",
    turned(keys_read, "path[0] in MAPS", 'path[0] == "ConfigData"'),
)
@pytest.mark.parametrize(
    ("text", "place", "shown"),
    [
        (
            "{{ .Labels.K | quote }}",
            ("config.yaml", 8),
            "the target has no .Labels.K, which Template 'config' reads, for 1 assignment (app-b on "
            "large)",
        ),
        (
            "{{ .Manifests.url | quote }}",
            ("config.yaml", 8),
            "the target has no .Manifests.url, which Template 'config' reads, for 2 assignments "
            "(app-a on large and 1 more)",
        ),
        (
            "{{ .Manifests.branch | quote }}",
            ("app.yaml", 1),
            "the target has no .Manifests.branch, which Template 'config' reads, for 1 assignment "
            "(app-b on large)",
        ),
    ],
)
def test_a_key_that_targets_lack_is_told_at_its_place(
    text: str, place: tuple[str, int], shown: str
) -> None:
    made = plan(
        fleet(
            cluster_types=[cluster_type("large")],
            policies=[policy("all")],
            targets=[target("a", K="1"), target("b", manifests={"repo": "r", "brnch": "main"})],
            templates=[*TEMPLATES[:2], template("config", text)],
        )
    )
    assert [
        (item.message, (item.where.path, item.where.line))
        for item in made.warnings
        if item.code == "template-key-unset" and item.where
    ] == [(shown, place)]


NESTED = config_map("k", {"K": "a: 1\nb: {c: 2}\nl: [{n: 1}, {n: 2, m: 3}]\ne: []\n"})


@breaks(
    "the keys below a key of the configuration do not count",
    turned(_reads, "len(path)", "min(2, len(path))"),
)
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("{{ .ConfigData.K.z | quote }}", "K.z"),
        ("{{ .ConfigData.K.b.z | quote }}", "K.b.z"),
        ("{{ index .ConfigData `K` `z` | quote }}", "K.z"),
        ("{{ quote (index .ConfigData `K`).z }}", "K.z"),
        ("{{ with .ConfigData.K }}{{ .b.z | quote }}{{ end }}", "K.b.z"),
        ("{{ if .ConfigData.K }}{{ .ConfigData.K.z | quote }}{{ end }}", "K.z"),
        ("{{ $k := .ConfigData.K }}{{ $k.b.z | quote }}", "K.b.z"),
        ("{{ range .ConfigData.K.l }}{{ .z | quote }}{{ end }}", "K.l[].z"),
        ("{{ range $i, $x := .ConfigData.K.l }}{{ $x.z | quote }}{{ end }}", "K.l[].z"),
        ("{{ range .ConfigData.K.z }}{{ .y }}{{ end }}", "K.z"),
    ],
)
def test_a_key_below_another_is_told(text: str, key: str) -> None:
    message = f"no layer sets .ConfigData.{key}, which Template 'config' reads, for 2 assignments "
    assert unset(text, NESTED) == [(message + "(app-web on large and 1 more)", 8)]


@pytest.mark.parametrize(
    "text",
    [
        "{{ .ConfigData.K.a | quote }}",
        "{{ .ConfigData.K.z | default 1 }}",
        "{{ with .ConfigData.K.z }}{{ .y }}{{ end }}",
        "{{ if .ConfigData.K.z }}{{ .ConfigData.K.z.y }}{{ end }}",
        "{{ if .ConfigData.Q }}{{ .ConfigData.Q.z }}{{ end }}",
        "{{ range .ConfigData.K.l }}{{ .m | quote }}{{ end }}",  # some items have it
        "{{ range .ConfigData.K.e }}{{ .z | quote }}{{ end }}",
        "{{ range .ConfigData.K.z }}{{ . }}{{ else }}none{{ end }}",
        "{{ range $name, $value := .ConfigData }}{{ $name }}: {{ $value }}{{ end }}",
    ],
)
def test_a_key_below_another_may_have_a_value_or_a_guard(text: str) -> None:
    assert unset(text, NESTED) == []


def test_only_the_assignments_that_no_layer_reaches_are_told() -> None:
    large = config_map("k", {"K": "1"}, **{"cluster-type": "large"})
    assert unset("{{ .ConfigData.K | quote }}", large) == [
        (
            "no layer sets .ConfigData.K, which Template 'config' reads, for 1 assignment (app-web "
            "on small)",
            8,
        )
    ]
    assert unset("{{ .ConfigData.K | quote }}", config_map("k", {"K": ""})) == []


def test_a_key_without_value_fails_if_wanted() -> None:
    config = template("config", "a: {{ .ConfigData.K | quote }}\n")
    made = planned(PlanOptions(missing_values="error"), "web", config=config)
    assert [(problem.code, problem.message) for problem in made.problems] == [
        (
            "template-key-unset",
            "app-web on large: no layer sets .ConfigData.K, which Template 'config' reads",
        )
    ]
