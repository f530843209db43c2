"""A text of an application becomes a name or key that Kubernetes or kustomize refuses."""

from __future__ import annotations

import pytest

from tests.breaks import breaks, turned
from tests.hostile.fleet_under_attack import (
    MANIFESTS,
    FleetUnderAttack,
    workload,
)

OBJECT = "apiVersion: v1\nkind: ConfigMap\n"

NAMES = {
    "a branch": ("metadata: {name: app-{{ .Manifests.branch }}}", {"branch": "Feature/X"}, "", 10),
    "a key of its own": (
        "metadata:\n  name: {{ .Manifests.description }}",
        {"description": "Team_A"},
        "",
        12,
    ),
    "nothing": ("metadata: {name: {{ .Manifests.branch | quote }}}", {"branch": "''"}, "", 6),
    "its length": ("metadata: {name: a{{ .Manifests.branch }}}", {"branch": "x" * 253}, "", 10),
    "two dots": ("metadata: {name: {{ .Manifests.description }}}", {"description": "a..b"}, "", 12),
    "a label": ("metadata: {name: app-{{ .Labels.tier }}}", {}, "      labels: {tier: WEB}\n", 6),
    "in a list": (
        "items:\n- metadata: {name: {{ .Manifests.branch }}}",
        {"branch": "UPPER"},
        "",
        10,
    ),
}


@breaks(
    "objects may have any name",
    turned("kalypso_actions.rendering.outline.refused_names", "not suspicious", "suspicious"),
)
@pytest.mark.parametrize(("line", "manifests", "more", "place"), NAMES.values(), ids=NAMES.keys())
def test_a_name_that_kubernetes_refuses(
    fleet: FleetUnderAttack, line: str, manifests: dict[str, str], more: str, place: int
) -> None:
    fleet.commit_main(f"{OBJECT}{line}\n")
    fleet.deliver("calm", workload("calm", MANIFESTS, more=more.lower()))
    fleet.attack(more=more, **manifests)
    fleet.refused("registration-documents", "a document has the name", place)


@breaks(
    "a name that a Template gets wrong is its application's fault",
    turned(
        "kalypso_actions.rendering.renderer.Renderer._with_names", "place not in known", "place"
    ),
)
@pytest.mark.parametrize(
    "line",
    [
        pytest.param("metadata: {name: App-{{ .Manifests.branch }}}", id="for every text"),
        pytest.param("metadata: {name: '{{ .Manifests.branch }}-'}", id="at the end"),
        pytest.param("spec: {name: '{{ .Manifests.branch }}'}", id="of no object"),
        pytest.param("metadata: {name: 'system:{{ .Manifests.branch }}'}", id="of a role"),
    ],
)
def test_a_name_of_the_template(fleet: FleetUnderAttack, line: str) -> None:
    fleet.commit_main(f"{OBJECT}{line}\n")
    fleet.attack(branch="Feature/X")
    fleet.accepted()


EACH = "{{ range $key, $text := .FIELD }}\n  {{ $key }}: {{ $text | quote }}{{ end }}"

KEYS = {
    "of manifests": ("data:\n  ENV: {{ .Environment }}" + EACH, "Manifests", {"ENV": "prod"}, ""),
    "behind it": (
        "data:\n  a: [{b: {c: d}}, {ENV: x}]" + EACH + "\n  'ENV': {{ .Environment }}",
        "Manifests",
        {"ENV": "prod"},
        "",
    ),
    "of labels": (
        "metadata:\n labels:\n  app: {{ .Workload }}" + EACH,
        "Labels",
        {},
        "      labels: {app: calm}\n",
    ),
}


@breaks(
    "an application repeats a key of the Template",
    turned(
        "kalypso_actions.rendering.outline._repeated_in",
        "event.value in mappings[-1] and event.value in keys",
        "not keys",
    ),
)
@pytest.mark.parametrize(("line", "field", "manifests", "more"), KEYS.values(), ids=KEYS.keys())
def test_a_key_that_the_template_writes_as_well(
    fleet: FleetUnderAttack, line: str, field: str, manifests: dict[str, str], more: str
) -> None:
    """kustomize builds nothing of a folder with such a file: all other applications stop."""
    fleet.commit_main(f"{OBJECT}{line.replace('FIELD', field)}\n")
    fleet.attack(more=more, **manifests)
    fleet.refused("registration-documents", "twice: the platform's Template writes it as well")


def test_a_key_in_several_mappings(fleet: FleetUnderAttack) -> None:
    each = EACH.replace("FIELD", "Manifests")
    fleet.commit_main(f"{OBJECT}data:{each}\n---\n{OBJECT}data:{each}\nb: [{{ENV: a}}, ENV]\n")
    fleet.attack(ENV="prod")
    fleet.accepted()


def test_a_key_that_the_template_itself_repeats(fleet: FleetUnderAttack) -> None:
    fleet.commit_main(f"{OBJECT}data: {{ENV: a, ENV: b}}\n")
    fleet.attack(ENV="prod")
    fleet.accepted()
